package retrieval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// aliases are those of the set of every plan.
var aliases = map[string][]string{"extra traffic": {"xt"}, "gasoline": {"traffic"}}

// planOf makes the plan of a request over documents of a passage each. What is usable
// are retrievers; the profile names those of all engines.
func planOf(t *testing.T, r Request, usable []string, texts ...string) (*plan, error) {
	t.Helper()
	w := corpus.NewWriter(time.Now, nil)
	var documents []*corpus.Document
	var words []string
	for i, text := range texts {
		terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
			analysis.Body: analysis.Analyze(text)}))
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, corpus.NewDocument(catalog.Record{ID: int64(i + 1)}, []analysis.Packed{terms}))
		words = append(words, strings.Fields(text)...)
	}
	c, err := w.Change(t.Context(), documents, nil, words)
	if err != nil {
		t.Fatal(err)
	}
	w.Apply(c)
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	set, err := ranking.Compile(ranking.Relevance{Profiles: []ranking.Profile{p}, Aliases: aliases},
		func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	return newPlan(r, set, state{Corpus: w.Corpus(), Time: time.Now(),
		Usable: func(retriever string) bool { return slices.Contains(usable, retriever) },
		IsWord: func(word string) bool { return word == "charter" }})
}

func mustPlan(t *testing.T, r Request, usable []string, texts ...string) *plan {
	t.Helper()
	p, err := planOf(t, r, usable, texts...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestWhatIsLeftOutOfAQuery: each operator by itself while they are few, then all of them.
func TestWhatIsLeftOutOfAQuery(t *testing.T) {
	for query, want := range map[string]string{
		"fees":                               "",
		`"fees burn"`:                        `"fees burn"`,
		`fees -price`:                        "-price",
		`fees -"a price" kind:doc`:           `kind:doc | -"a price" || kind:doc -"a price"`,
		`"fees burn" -price source:a,b`:      `"fees burn" | source:a,b | -price || "fees burn" source:a,b -price`,
		`"fees burn" -price -gas source:a`:   `|| "fees burn" source:a -price -gas`,
		`fees kind:doc kind:cip -price -gas`: `kind:doc,cip | -price | -gas || kind:doc,cip -price -gas`,
	} {
		each, without := mustPlan(t, Request{Query: query}, nil).looser()
		var one []string
		for _, l := range each {
			one = append(one, l.Without)
		}
		got := strings.Join(one, " | ")
		for _, l := range without {
			got = strings.TrimSpace(got + " || " + l.Without)
			if q := l.Query; len(q.Phrases)+len(q.Exclude)+len(q.Kinds)+len(q.Sources) > 0 {
				t.Errorf("%s: something is left: %+v", query, q)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestWhatAQueryIsAlsoReadAs: only words that hardly any document has, and only as what is
// far more frequent; aliases weigh less than words, however many words they have.
func TestWhatAQueryIsAlsoReadAs(t *testing.T) {
	texts := []string{"chapter", "wallst"}
	for range 30 {
		texts = append(texts, "wallet rotation traffic", "extra key")
	}
	texts = append(texts, "閘門", "水閘", "閘門")
	for _, c := range []struct{ query, corrected, read string }{
		{"wallet rotation", "", "wallet rotation"},
		{"wallst rotation", "wallet rotation", "wallst rotation wallet*0.8"},
		{"charter", "", "charter"},
		{"wal let rotation", "wallet rotation", "wal rotation wallet*0.8"},
		{"keyrotation", "key rotation", "keyrotation key*0.8 rotation*0.8"},
		{"wallst1 xyzzy", "", "wallst1 wallst*0.2 1*0.2 xyzzy"},
		{"gasoline", "", "gasoline traffic@0.2"},
		{"extra traffic", "", "extra traffic xt@0.4 gasoline@0.2"},
		{"xt", "", "xt extra@0.1 traffic@0.1"},
		{"traffic of extra traffic", "", "traffic extra xt@0.4 gasoline@0.2"},
		{"extra long traffic", "", "extra long traffic gasoline@0.2"},
		{"閘", "", "閘 閘門*0.8 水閘*0.8"},
		{"閘 rotation", "", "閘 rotation 閘門*0.8 水閘*0.8"},
		{"水閘", "", "水閘"},
	} {
		p := mustPlan(t, Request{Query: c.query}, nil, texts...)
		var read []string
		for _, x := range p.Read() {
			switch x.Origin {
			case originAlias:
				x.Text += fmt.Sprintf("@%.3g", x.Weight)
			default:
				if x.Weight < 1 {
					x.Text += fmt.Sprintf("*%.3g", x.Weight)
				}
			}
			read = append(read, x.Text)
		}
		if got := strings.Join(read, " "); p.Corrected() != c.corrected || got != c.read {
			t.Errorf("%s: corrected %q and read as %q, want %q and %q", c.query, p.Corrected(), got, c.corrected, c.read)
		}
	}
	var held []string
	for _, x := range mustPlan(t, Request{Query: "xyzzy wallst"}, nil, texts...).Held() {
		held = append(held, x.Text)
	}
	if want := []string{"wallst", "wallet"}; !slices.Equal(held, want) {
		t.Errorf("engines are asked for %q, want %q", held, want)
	}
}

// TestWhichListsAreRead, how deep, and which of them stand in for one that is away.
func TestWhichListsAreRead(t *testing.T) {
	for _, c := range []struct {
		query  string
		usable []string
		want   string
	}{
		{"fees", []string{"sparse"}, "passages 200, sparse 400, dense 200, assisted"},
		{"fees", nil, "documents 200 stands in, passages 200, sparse 400, dense 200"},
		{"fees -price", []string{"sparse"}, "passages 800, sparse 1000, dense 800, assisted"},
	} {
		p := mustPlan(t, Request{Query: c.query}, c.usable)
		var lists []string
		for _, l := range p.Lists {
			text := fmt.Sprintf("%s %d", l.Retriever, l.Read)
			if l.StandIn {
				text += " stands in"
			}
			lists = append(lists, text)
		}
		if p.Keyword.Assisted {
			lists = append(lists, "assisted")
		}
		if got := strings.Join(lists, ", "); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.query, c.usable, got, c.want)
		}
		for _, l := range p.Deepest().Lists {
			if l.Read != 1000 {
				t.Errorf("%s is read to %d at most", l.Retriever, l.Read)
			}
		}
	}
}

// TestOperatorsNarrowTheFilter: what both allow; nothing is a contradiction.
func TestOperatorsNarrowTheFilter(t *testing.T) {
	filter := passage.Filter{Kinds: []string{"Doc", "cip"}}
	p := mustPlan(t, Request{Query: "fees kind:doc,blog source:forum", Filter: filter}, nil)
	if !slices.Equal(p.Filter.Kinds, []string{"Doc"}) || !slices.Equal(p.Filter.Sources, []string{"forum"}) {
		t.Errorf("filter %+v", p.Filter)
	}
	for request, want := range map[string]Request{
		"contradicts the filter":    {Query: "fees kind:blog", Filter: filter},
		"there is no profile":       {Query: "fees", Profile: "swift"},
		"cannot be left out":        {Query: "fees -kind:doc"},
		"nothing to search for":     {Query: "kind:doc"},
		"it has 9 phrases in quote": {Query: strings.Repeat(`"fees burn" `, 9)},
	} {
		if _, err := planOf(t, want, nil); !errors.Is(err, ErrBadQuery) || !strings.Contains(err.Error(), request) {
			t.Errorf("%+v: %v, want %q", want, err, request)
		}
	}
}

// TestAuthorityIsThatOfTheRole in a network that gives none; in one that gives some it
// says of what.
func TestAuthorityIsThatOfTheRole(t *testing.T) {
	p := mustPlan(t, Request{Query: "gauge"}, nil, "gauge")
	of := func(kind catalog.Kind, source string) float64 {
		return p.AuthorityOf(corpus.NewDocument(catalog.Record{Kind: kind, Source: source}, nil))
	}
	if of(catalog.KindCIP, "a") <= of(catalog.KindMailThread, "a") ||
		of(catalog.KindMailThread, "a") <= of(catalog.KindMailMessage, "a") || of(catalog.KindMailMessage, "a") <= 0 {
		t.Errorf("proposal %v, thread %v, message %v", of(catalog.KindCIP, "a"), of(catalog.KindMailThread, "a"),
			of(catalog.KindMailMessage, "a"))
	}
	p.Authority = map[string]float64{"a": 0.9, "post": 0.3}
	if of(catalog.KindCIP, "a") != 0.9 || of(catalog.KindPost, "b") != 0.3 || of(catalog.KindCIP, "b") != 0 {
		t.Errorf("by source %v, by kind %v, else %v", of(catalog.KindCIP, "a"), of(catalog.KindPost, "b"),
			of(catalog.KindCIP, "b"))
	}
}

// TestOnlyWordsHaveAMeaning: of what is no word a model has a vector too, which lies near
// every text.
func TestOnlyWordsHaveAMeaning(t *testing.T) {
	for query, want := range map[string]bool{
		"fees": true, "charter": true, "the fees": true, "zorblatt fees": true,
		"a": false, "what is it": false, "zorblatt": false, `\u0000`: false, "费": true,
	} {
		p := mustPlan(t, Request{Query: query}, nil, "fees burn in a harbour", "the price of a gas")
		if got := p.Meant(); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}
