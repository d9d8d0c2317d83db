package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/catalog/network"
)

func contextQuestions(t *testing.T, l *library) []question {
	posts, _, err := l.store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindPost},
		Parent: l.record(t, catalog.KindTopic, "1234").ID, Order: catalog.ByKey})
	if err != nil || len(posts) < 2 {
		t.Fatal(len(posts), err)
	}
	doc := l.record(t, catalog.KindDoc, "docs/guide/berths.md").ID
	return []question{
		{name: "everything on a topic", tool: "full_context", args: `{"topic":"tide oracle","limit_per_source":1}`,
			want: fields{"topic": "tide oracle", "sources.0.source": "cip", "sources.0.items.#": 1,
				"sources.0.items.0.key": "CIP-0056",
				"sources.0.items.0.id":  int(l.record(t, catalog.KindCIP, "CIP-0056").ID),
				"budget":                6000, "left_out": 0}},
		{name: "nothing on a topic", tool: "full_context", args: `{"topic":"xylophone zebra"}`,
			want: fields{"sources.#": 0, "tokens": 0}, check: func(t *testing.T, answer any) {
				if hint, _ := at(answer, "hint"); hint == nil {
					t.Error("no hint")
				}
			}},
		{name: "a topic of marks", tool: "full_context", args: `{"topic":"?"}`, status: 400,
			message: "topic cannot be searched for"},
		{name: "too many of each", tool: "full_context", args: `{"topic":"tide","limit_per_source":11}`, status: 400,
			message: "limit_per_source must be between 1 and 10"},
		{name: "a short text is read whole", target: "/api/v1/search?q=reserve+a+mooring", tool: "search",
			args: `{"query":"reserve a mooring"}`, want: fields{"items.0.read": fmt.Sprint(doc)}},
		{name: "a status in the network's own word", target: "/api/v1/search?q=cip+56", tool: "search",
			args: `{"query":"cip 56"}`, want: fields{"items.0.state": "Review", "items.0.status_raw": "Approved"}},
		{name: "whoever likes can write a draft", target: "/api/v1/search?q=PR-203", tool: "search",
			args: `{"query":"PR-203"}`, want: fields{"items.0.id": "PR-203", "items.0.third_party": true}},
		{name: "a post with what is after it", target: fmt.Sprintf("/api/v1/docs/%d", posts[0].ID), tool: "get_doc",
			args: fmt.Sprintf(`{"id":%d}`, posts[0].ID),
			want: fields{"after": fmt.Sprint(posts[1].ID), "third_party": true}},
		{name: "a post with what is before it", tool: "get_doc", args: fmt.Sprintf(`{"id":%d}`, posts[1].ID),
			want: fields{"before": fmt.Sprint(posts[0].ID)}},
		{name: "a section that is not there", target: "/api/v1/docs/" + fmt.Sprint(doc) + "%23engines", tool: "get_doc",
			args: fmt.Sprintf(`{"id":"%d#engines"}`, doc), status: 404, message: `there is no section "engines"`},
	}
}

// long is a text of sections that are too long to be read at once together.
func long() string {
	var b strings.Builder
	section := func(mark, heading, word string, sentences int) {
		fmt.Fprintf(&b, "%s %s\n\n", mark, heading)
		for i := range sentences {
			fmt.Fprintf(&b, "The %s of berth %d is looked after by its keeper every morning. ", word, i)
			if i%10 == 9 {
				b.WriteString("\n\n")
			}
		}
		b.WriteString("\n\n")
	}
	b.WriteString("Before you sail, read this.\n\n")
	section("##", "Going out", "lantern", 40)
	section("###", "At night", "foghorn", 10)
	section("##", "Going back", "capstan", 20)
	section("##", "At night", "bilge", 150)
	return b.String()
}

// TestSections reads a long text as its hits name it.
func TestSections(t *testing.T) {
	n := network.Network{Name: "harbour", Title: "Harbour", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store catalog.Store) {
		data, err := catalog.Encode(catalog.Doc{})
		if err != nil {
			t.Fatal(err)
		}
		entry := func(key, title, body string) catalog.Entry {
			return catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Path: key, Title: title,
				URL: "https://docs.example/" + key, Body: body, Data: data}}
		}
		_, err = store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
			entry("long.md", "Harbour rules", long()), entry("copy.md", "Harbour rules", long()),
			entry("other.md", "Weather", "Fog comes in the morning."),
		}})
		if err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	ask := func(tool, args string) any {
		t.Helper()
		text, failed := call(t, l.public, tool, args)
		if failed {
			t.Fatalf("%s %s: %s", tool, args, text)
		}
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	hold := func(v any, want fields) {
		t.Helper()
		for path, w := range want {
			if got, _ := at(v, path); fmt.Sprint(got) != fmt.Sprint(w) {
				t.Errorf("%s is %.200v, want %v", path, got, w)
			}
		}
	}
	hits := ask("semantic_search", `{"query":"who looks after the capstan"}`)
	shown, _ := at(hits, "items.0.id")
	id := fmt.Sprint(int(shown.(float64)))
	passage, _ := at(hits, "items.0.passage")
	if p := passage.(string); !strings.Contains(p, "capstan") || utf8.RuneCountInString(p) > 1200 {
		t.Errorf("the passage is %q", p)
	}
	hold(hits, fields{"items.0.read": id + "#going-back", "items.0.also.#": 1, "items.0.heading": "Going back"})
	if _, ok := at(hits, "items.0.snippet"); ok {
		t.Error("a passage has its snippet again")
	}

	read := ask("get_doc", `{"id":"`+id+`#going-back"}`)
	hold(read, fields{"section": id + "#going-back", "heading": "Going back", "before": id + "#at-night",
		"after": id + "#at-night-1", "truncated": false, "url": "https://docs.example/" + keyOf(t, l, id)})
	if content, _ := at(read, "content"); !strings.HasPrefix(content.(string), "## Going back") ||
		strings.Contains(content.(string), "bilge") || strings.Contains(content.(string), "foghorn") {
		t.Errorf("the section is %.200q", content)
	}
	hold(ask("get_doc", `{"id":"`+id+`#top"}`),
		fields{"content": "Before you sail, read this.", "after": id + "#going-out"})
	hold(ask("get_doc", `{"id":"`+id+`#at-night-1~2"}`), fields{"before": id + "#at-night-1", "after": nil})
	whole := ask("get_doc", `{"id":`+id+`}`)
	hold(whole, fields{"outline.*.read": id + "#going-out," + id + "#at-night," + id + "#going-back," + id +
		"#at-night-1",
		"outline.*.level": "2,3,2,2", "section": nil})
	if text, failed := call(t, l.public, "get_doc", `{"id":"`+id+`#going-bakc"}`); !failed ||
		!strings.Contains(text, "nearest are "+id+"#going-back, "+id+"#going-out,") {
		t.Errorf("of an unknown section get_doc says %s", text)
	}
}

func keyOf(t *testing.T, l *library, id string) string {
	t.Helper()
	for _, key := range []string{"long.md", "copy.md"} {
		if l.id(t, catalog.KindDoc, key) == id {
			return key
		}
	}
	t.Fatalf("no record %s", id)
	return ""
}

// TestFullContextKeepsToItsBudget fills it with one kind of content.
func TestFullContextKeepsToItsBudget(t *testing.T) {
	l := openPreset(t, "sample", "")
	text, failed := call(t, l.public, "full_context",
		`{"topic":"how is the conversion rate reported","limit_per_source":10}`)
	if failed {
		t.Fatal(text)
	}
	var got struct {
		Tokens, Budget int
		LeftOut        int `json:"left_out"`
		Sources        []struct {
			Source string
			Items  []struct{ Type, Kind, Passage, URL, Read string }
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if got.Tokens > got.Budget || got.LeftOut == 0 || len(got.Sources) < 6 {
		t.Errorf("%d tokens of %d, %d left out, %d sources", got.Tokens, got.Budget, got.LeftOut, len(got.Sources))
	}
	if n := utf8.RuneCountInString(text) / 4; n > got.Budget*5/4 || n < got.Tokens/2 {
		t.Errorf("the answer has %d tokens, estimated %d", n, got.Tokens)
	}
	for _, s := range got.Sources {
		for _, x := range s.Items {
			if x.Passage == "" || x.URL == "" || x.Read == "" {
				t.Errorf("%s: %+v", s.Source, x)
			}
		}
	}
}
