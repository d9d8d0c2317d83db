package retrieval_test

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/embed/static"
	"almanac/embed/wordpiece"
	"almanac/retrieval"
	"almanac/retrieval/index"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	vectorembedded "almanac/retrieval/vector/embedded"
)

// fixture is a catalog with engines over it.
type fixture struct {
	store     *sqlstore.Store
	engines   index.Engines
	cross     retrieval.CrossEncoder
	now       func() time.Time // nil: that of the machine
	authority map[string]float64
	follower  *index.Follower
	engine    *retrieval.Engine
}

type option func(*fixture)

func open(t testing.TB, dir string, options ...option) *fixture {
	t.Helper()
	ctx := t.Context()
	f := &fixture{authority: map[string]float64{"site": 1, "mirror": 0.2}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	f.store, err = sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	must(err)
	t.Cleanup(func() { f.store.Close() })
	model, err := static.New()
	must(err)
	f.engines.Embedder = model
	log := slog.New(slog.DiscardHandler)
	f.engines.Keyword, err = keywordembedded.Open(keywordembedded.Config{Path: filepath.Join(dir, "keyword"), Log: log})
	must(err)
	f.engines.Vector, err = vectorembedded.Open(vectorembedded.Config{Path: filepath.Join(dir, "vector"),
		Dimensions: model.Dimensions(), Model: model.Model(), Log: log})
	must(err)
	for _, o := range options {
		o(f)
	}
	generation, err := f.store.OpenGeneration(ctx, index.Fingerprint(model.Model()))
	must(err)
	f.follower = index.New(index.Config{Store: f.store, Generation: generation, Engines: f.engines, Log: log})
	must(f.follower.Load(ctx))
	var profiles []ranking.Profile
	for _, name := range ranking.Names() {
		p, err := ranking.Load(name)
		must(err)
		profiles = append(profiles, p)
	}
	f.engine, err = retrieval.New(retrieval.Config{Follower: f.follower, CrossEncoder: f.cross,
		Relevance: retrieval.Relevance{Profiles: profiles,
			Aliases: map[string][]string{"voting window": {"vwx"}, "traffic": {"gasoline"}}},
		Authority: f.authority, IsWord: wordpiece.IsWord,
		Deadline: time.Minute, Now: f.now, Log: log})
	must(err)
	return f
}

func (f *fixture) put(t *testing.T, records ...catalog.Record) {
	t.Helper()
	bySource := map[string][]catalog.Entry{}
	for _, r := range records {
		if r.Source == "" {
			r.Source = "site"
		}
		if r.Kind == "" {
			r.Kind = catalog.KindDoc
		}
		r.Data = []byte("{}")
		bySource[r.Source] = append(bySource[r.Source], catalog.Entry{Record: r})
	}
	for source, entries := range bySource {
		if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: source, Entries: entries}); err != nil {
			t.Fatal(err)
		}
	}
	f.index(t)
}

func (f *fixture) index(t testing.TB) {
	t.Helper()
	if _, err := f.follower.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.follower.MarkReady()
}

func (f *fixture) search(t *testing.T, r retrieval.Request) retrieval.Response {
	t.Helper()
	res, err := f.engine.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func titles(res retrieval.Response) []string {
	var out []string
	for _, r := range res.Results {
		out = append(out, r.Title)
	}
	return out
}

// library is a small collection with something for every promise below.
func library() []catalog.Record {
	long := strings.Repeat("Operators rotate their keys every quarter and store a backup in two places before "+
		"they begin. ", 12)
	return []catalog.Record{
		{Key: "keys", Title: "Key rotation", Body: "# Key rotation\n\n" + long, Path: "ops/keys.md"},
		{Key: "keys-copy", Title: "Key rotation", Body: "# Key rotation\n\n" + long, Source: "mirror",
			Path: "mirror/keys.md"},
		{Key: "wallet", Title: "Wallet setup",
			Body: "# Wallet setup\n\nInstall the wallet and connect it to a participant node.\n\n## " +
				"Troubleshooting\n\nThe message connection refused by peer 7 means that the port is closed."},
		{Key: "fees", Title: "Traffic fees", Body: "Every transaction pays for its traffic. Fees are burned."},
		{Key: "CIP-0007", Kind: catalog.KindCIP, Title: "Delegated voting", State: "Final",
			Body: "## Abstract\n\nVoters may delegate their vote."},
		{Key: "CIP-0070", Kind: catalog.KindCIP, Title: "Voting windows", State: "Draft",
			Body: "## Abstract\n\nEvery vote closes after seven days, see CIP-0007."},
		{Key: "v1", Kind: catalog.KindRelease, Title: "Release 1.4.2",
			Body: "Fixes a crash of the sequencer during onboarding."},
	}
}

// promises are searches of the library that any engines answer.
var promises = []struct {
	name  string
	req   retrieval.Request
	first string
}{
	{"words find their document", retrieval.Request{Query: "burned fees"}, "Traffic fees"},
	{"an identifier finds its proposal in any spelling", retrieval.Request{Query: "cip 7"}, "Delegated voting"},
	{"a typo is read as the near word", retrieval.Request{Query: "transactoin"}, "Traffic fees"},
	{"a literal message finds the passage that has it", retrieval.Request{Query: `"connection refused by peer"`},
		"Wallet setup"},
	{"a filter narrows", retrieval.Request{Query: "vote",
		Filter: passage.Filter{Kinds: []string{"release", "cip"}, States: []string{"draft"}}}, "Voting windows"},
	{"an operator narrows like a filter", retrieval.Request{Query: "onboarding kind:release"}, "Release 1.4.2"},
}

// holdPromises checks the first result of each, and that scores never increase.
func holdPromises(t *testing.T, f *fixture) {
	for _, tt := range promises {
		t.Run(tt.name, func(t *testing.T) {
			res := f.search(t, tt.req)
			if len(res.Results) == 0 || res.Results[0].Title != tt.first {
				t.Fatalf("results %q, want %q first", titles(res), tt.first)
			}
			for i := 1; i < len(res.Results); i++ {
				if res.Results[i].Score > res.Results[i-1].Score {
					t.Errorf("scores increase at %d", i)
				}
			}
		})
	}
}

func TestSearch(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	holdPromises(t, f)
	t.Run("copies are shown once with the better source", func(t *testing.T) {
		res := f.search(t, retrieval.Request{Query: "rotate keys backup"})
		if n := len(res.Results[0].AlsoAt); n != 1 {
			t.Fatalf("also at %d places, want 1: %q", n, titles(res))
		}
		r, err := f.store.ByID(t.Context(), res.Results[0].Record)
		if err != nil || r.Source != "site" {
			t.Errorf("shown record is of %q (%v), want the more authoritative source", r.Source, err)
		}
	})
	t.Run("of pages that share the best passage, one is shown if asked", func(t *testing.T) {
		shared := strings.Repeat("To drain a lock gate, close both paddles, note the level, wait until the basin has "+
			"settled and open the culvert by a quarter turn a minute. ", 8)
		winter := strings.Repeat("Ice is broken from the lee side with long poles before any barge is moved. ", 20)
		mooring := strings.Repeat("Two ropes hold a barge at the quay over night, a third one in a storm. ", 20)
		f := open(t, t.TempDir())
		f.put(t,
			catalog.Record{Key: "handbook", Title: "Handbook",
				Body: "# Lock gates\n\n" + shared + "\n\n# Winter\n\n" + winter},
			catalog.Record{Key: "faq", Title: "Questions", Source: "mirror",
				Body: "# Mooring\n\n" + mooring + "\n\n# Draining\n\n" + shared},
			catalog.Record{Key: "faq-copy", Title: "Questions", Source: "mirror", Path: "old/faq.md",
				Body: "# Mooring\n\n" + mooring + "\n\n# Draining\n\n" + shared},
			catalog.Record{Key: "gate", Title: "Gates", Body: "A lock gate needs paint every third year."})
		r := retrieval.Request{Query: "drain a lock gate"}
		if res := f.search(t, r); len(res.Results) != 3 || res.Total != 3 {
			t.Fatalf("%q, want all three pages", titles(res))
		}
		r.Distinct = true
		res := f.search(t, r)
		if want := []string{"Handbook", "Gates"}; !slices.Equal(titles(res), want) || res.Total != 2 {
			t.Fatalf("%q of %d, want %q", titles(res), res.Total, want)
		}
		if n := len(res.Results[0].AlsoAt); n != 2 {
			t.Errorf("also at %d places, want that of the questions and of their copy", n)
		}
	})
	t.Run("zero results exist", func(t *testing.T) {
		if res := f.search(t, retrieval.Request{Query: "xylophone zebra"}); len(res.Results) != 0 {
			t.Errorf("got %q for words that nothing holds", titles(res))
		}
	})
	t.Run("the snippet is of the passage that matched, with its anchor", func(t *testing.T) {
		r := f.search(t, retrieval.Request{Query: "port closed connection refused"}).Results[0]
		if !strings.Contains(r.Snippet, "connection refused") || len(r.SnippetSpans) == 0 {
			t.Errorf("snippet %q with spans %v", r.Snippet, r.SnippetSpans)
		}
	})
	t.Run("facets count the records that match", func(t *testing.T) {
		res := f.search(t, retrieval.Request{Query: "vote", Facets: []string{"kind", "state"}})
		if res.Facets["kind"]["cip"] != 2 || res.Facets["state"]["Final"]+res.Facets["state"]["final"] != 1 {
			t.Errorf("facets %v", res.Facets)
		}
	})
	t.Run("pages join without gap or repeat", func(t *testing.T) {
		all := titles(f.search(t, retrieval.Request{Query: "vote keys wallet fees", Limit: 6}))
		var paged []string
		for o := 0; o < 6; o += 2 {
			paged = append(paged,
				titles(f.search(t, retrieval.Request{Query: "vote keys wallet fees", Limit: 2, Offset: o}))...)
		}
		if !slices.Equal(all, paged) {
			t.Errorf("pages %q, whole %q", paged, all)
		}
	})
	t.Run("explain leaves every stage's numbers", func(t *testing.T) {
		res := f.search(t, retrieval.Request{Query: "traffic fees", Explain: true})
		for _, stage := range []string{"plan", "retrieve", "retrieve/dense", "retrieve/passages", "cosines", "show"} {
			if res.Timings[stage] <= 0 {
				t.Errorf("%s took %v", stage, res.Timings[stage])
			}
		}
		for _, r := range res.Results {
			holdExplanation(t, r)
		}
	})
}

// holdExplanation checks that an explanation's parts make up the score shown.
func holdExplanation(t *testing.T, r retrieval.Result) {
	t.Helper()
	x := r.Explanation
	if x == nil || x.Score.Value != r.Score || len(x.Fusion.Parts) == 0 && x.Fusion.Value != 0 {
		t.Fatalf("%s: explanation %+v of %v", r.Title, x, r.Score)
	}
	var hold func(retrieval.Node)
	hold = func(n retrieval.Node) {
		if len(n.Parts) == 0 {
			return
		}
		sum := 0.0
		for _, part := range n.Parts {
			sum += part.Value
			hold(part)
		}
		if n.Name == "logistic" {
			sum = 1 / (1 + math.Exp(-sum/4))
		}
		if math.Abs(sum-n.Value) > 1e-9 {
			t.Errorf("%s: the parts of %s make %v, not %v: %+v", r.Title, n.Name, sum, n.Value, n)
		}
	}
	hold(x.Score)
	hold(x.Fusion)
}

// manyWords returns n distinct words.
func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	return b.String()
}

func TestBadQueries(t *testing.T) {
	f := open(t, t.TempDir())
	if _, err := f.engine.Search(t.Context(), retrieval.Request{Query: "x"}); !errors.Is(err, retrieval.ErrNotReady) {
		t.Errorf("before the first index: %v, want ErrNotReady", err)
	}
	f.put(t, library()...)
	for name, r := range map[string]retrieval.Request{
		"empty": {Query: ""}, "blank": {Query: " \t\n"}, "only punctuation": {Query: "?!… —"},
		"too deep": {Query: "vote", Offset: 1000, Limit: 10}, "unknown profile": {Query: "vote", Profile: "nope"},
		"contradicting operator": {Query: "vote kind:doc", Filter: passage.Filter{Kinds: []string{"cip"}}},
	} {
		if _, err := f.engine.Search(t.Context(), r); !errors.Is(err, retrieval.ErrBadQuery) {
			t.Errorf("%s: %v, want ErrBadQuery", name, err)
		}
	}
	for _, q := range []string{"the of and", strings.Repeat("vote ", 2000), "🙂", "投票 系統", "שלום עולם", `"unbalanced`,
		"kind:", "kind: source: -", "-", "-vote", "-(", "a\x00b", manyWords(500), strings.Repeat("x", 10_000),
		"vote 投票 голос صوت", "\xff\xfe vote", "cip-", `""`} {
		if _, err := f.engine.Search(t.Context(), retrieval.Request{Query: q}); err != nil &&
			!errors.Is(err, retrieval.ErrBadQuery) {
			t.Errorf("%.20q: %v", q, err)
		}
	}
}

func TestIndexFollowsTheCatalog(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	f.put(t, library()...)
	f.put(t, catalog.Record{Key: "fees", Title: "Traffic fees", Body: "Fees are refunded instead."})
	if res := f.search(t, retrieval.Request{Query: "burned"}); len(res.Results) > 0 &&
		res.Results[0].Title == "Traffic fees" {
		t.Error("the old text is still found")
	}
	if res := f.search(t, retrieval.Request{Query: "refunded"}); len(res.Results) == 0 ||
		res.Results[0].Title != "Traffic fees" {
		t.Errorf("the new text is not found: %q", titles(res))
	}
	r, err := f.store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "fees"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: "site", Delete: []int64{r.ID}}); err != nil {
		t.Fatal(err)
	}
	f.index(t)
	if res := f.search(t, retrieval.Request{Query: "refunded"}); slices.Contains(titles(res), "Traffic fees") {
		t.Error("a deleted record is still found")
	}
	records, _ := f.follower.Corpus().Size()
	if records != len(library())-1 {
		t.Errorf("%d records in the table, want %d", records, len(library())-1)
	}
}

// TestReopening holds that an index is the same after a restart, whether its
// snapshots were written, are gone, or are torn.
func TestReopening(t *testing.T) {
	queries := []string{"vote", "rotate keys", "connection refused", "cip 70", "onboarding crash"}
	answers := func(f *fixture) string {
		var b strings.Builder
		for _, q := range queries {
			for _, r := range f.search(t, retrieval.Request{Query: q}).Results {
				fmt.Fprintf(&b, "%s: %d %.6f %s\n", q, r.Record, r.Score, r.Snippet)
			}
		}
		return b.String()
	}
	dir := t.TempDir()
	f := open(t, dir)
	f.put(t, library()...)
	want := answers(f)
	if err := errors.Join(f.engines.Keyword.Flush(t.Context()), f.engines.Vector.Flush(t.Context()),
		f.store.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		damage func()
	}{
		{"snapshots are whole", func() {}},
		{"the keyword snapshot is torn", func() { truncate(t, filepath.Join(dir, "keyword")) }},
		{"the vector snapshot is torn", func() { truncate(t, filepath.Join(dir, "vector")) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.damage()
			f := open(t, dir)
			f.index(t)
			if got := answers(f); got != want {
				t.Errorf("after a restart:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}
