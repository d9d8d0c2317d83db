package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"almanac/api/kb/read"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
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
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
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
	read0, _ := at(hits, "items.0.read")
	if section, further, _ := strings.Cut(fmt.Sprint(read0), "+"); section != id+"#going-back" || further == "" {
		t.Errorf("the first hit is read by %v", read0)
	}
	hold(hits, fields{"items.0.also.#": 1, "items.0.heading": "Going back"})
	hold(ask("semantic_search", `{"query":"in the morning","limit":1}`),
		fields{"hint": "1 more: a greater limit, to 50"})
	if _, ok := at(hits, "items.0.snippet"); ok {
		t.Error("a passage has its snippet again")
	}

	beside := ask("get_doc", fmt.Sprintf(`{"id":%q}`, read0))
	hold(beside, fields{"section": read0, "heading": "Going back", "before": id + "#at-night", "truncated": false})
	if content, _ := at(beside, "content"); !strings.HasPrefix(content.(string), "## Going back") ||
		!strings.Contains(content.(string), "\n\n[…]\n\n") || utf8.RuneCountInString(content.(string)) > 11_000 {
		t.Errorf("the section and what is beside it are %.200q", content)
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

// TestThreadsAreReadAroundAPost reads threads as hits name them.
func TestThreadsAreReadAroundAPost(t *testing.T) {
	n := network.Network{Name: "harbour", Title: "Harbour", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		entry := func(kind catalog.Kind, key, author, body string, data any) catalog.Entry {
			encoded, err := catalog.Encode(data)
			if err != nil {
				t.Fatal(err)
			}
			return catalog.Entry{Record: catalog.Record{Kind: kind, Key: key, Title: "Fog " + key, Body: body, Author: author,
				CreatedAt: now.AddDate(0, 0, -3), Data: encoded}}
		}
		issue := entry(catalog.KindIssue, "harbour/quay#7", "ada", "The bell is silent in fog.", catalog.Issue{})
		issue.Record.Replies = 2
		short := entry(catalog.KindTopic, "1", "bo", "Which lantern?", catalog.Topic{})
		short.Record.Replies = 1
		batch := catalog.Batch{Source: "talk", Entries: []catalog.Entry{issue, short,
			entry(catalog.KindIssue, "harbour/quay#8", "cy", "Nobody has answered about buoys.", catalog.Issue{})}}
		part := func(parent catalog.Entry, e catalog.Entry) {
			e.Parent = parent.Record.Ref()
			batch.Entries = append(batch.Entries, e)
		}
		part(issue, entry(catalog.KindComment, "harbour/quay#c1", "di", "Its clapper is rusty.", catalog.Comment{}))
		part(issue, entry(catalog.KindComment, "harbour/quay#c2", "", "Oil it with tallow.", catalog.Comment{}))
		part(short, entry(catalog.KindPost, "1/1", "bo", "Which lantern?", catalog.Post{Number: 1}))
		part(short, entry(catalog.KindPost, "1/2", "ed", "The green one.", catalog.Post{Number: 2}))
		long := entry(catalog.KindTopic, "2", "flo", "", catalog.Topic{})
		long.Record.Replies = 120
		batch.Entries = append(batch.Entries, long)
		for i := range 120 {
			part(long, entry(catalog.KindPost, fmt.Sprintf("2/%d", i+1), "flo",
				fmt.Sprintf("Berth %d. ", i+1)+strings.Repeat("Nothing new about the rope. ", 10), catalog.Post{Number: i + 1}))
		}
		chat := entry(catalog.KindIssue, "harbour/quay#9", "gus", "Say aye.", catalog.Issue{})
		chat.Record.Replies = 230
		batch.Entries = append(batch.Entries, chat)
		for i := range 230 {
			part(chat, entry(catalog.KindComment, fmt.Sprintf("harbour/quay#%d", 1000+i), "", fmt.Sprintf("Aye %d.", i+1),
				catalog.Comment{}))
		}
		if _, err := store.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	type part struct {
		read.Part
		ThirdParty bool `json:"third_party"`
	}
	get := func(id string) part {
		t.Helper()
		text, failed := call(t, l.public, "get_doc", fmt.Sprintf(`{"id":%q}`, id))
		var p part
		if err := json.Unmarshal([]byte(text), &p); failed || err != nil {
			t.Fatalf("%s: %s", id, text)
		}
		return p
	}
	readOf := func(query string) string {
		t.Helper()
		text, _ := call(t, l.public, "semantic_search", fmt.Sprintf(`{"query":%q,"limit":1}`, query))
		var hits struct{ Items []struct{ Read string } }
		if err := json.Unmarshal([]byte(text), &hits); err != nil || len(hits.Items) == 0 {
			t.Fatalf("%s: %s", query, text)
		}
		return hits.Items[0].Read
	}
	day := now.AddDate(0, 0, -3).Format("2006-01-02")
	issue, topic, posts := l.id(t, catalog.KindIssue, "harbour/quay#7"), l.id(t, catalog.KindTopic, "1"),
		l.id(t, catalog.KindTopic, "2")
	comment := issue + "#" + l.id(t, catalog.KindComment, "harbour/quay#c2")
	whole := "**ada, " + day + "**\n\nThe bell is silent in fog.\n\n**di, " + day +
		"**\n\nIts clapper is rusty.\n\n**" + day + "**\n\nOil it with tallow."
	for query, want := range map[string]string{
		"oil with tallow": comment, "the bell is silent": issue + "#thread",
		"nobody answered about buoys": l.id(t, catalog.KindIssue, "harbour/quay#8"),
	} {
		if got := readOf(query); got != want {
			t.Errorf("%s is read by %s, want %s", query, got, want)
		}
	}
	for _, id := range []string{comment, issue + "#thread"} {
		if p := get(id); p.Content != whole || p.Before != "" || p.After != "" || !p.ThirdParty || p.Section != id {
			t.Errorf("%s reads %+v", id, p)
		}
	}
	if p := get(issue); p.Content != "The bell is silent in fog." || p.After != issue+"#thread" {
		t.Errorf("%s reads %+v", issue, p)
	}
	post := topic + "#" + l.id(t, catalog.KindPost, "1/2")
	if text, failed := call(t, l.public, "get_discussion", fmt.Sprintf(`{"id":%q}`, post)); failed ||
		!strings.Contains(text, "The green one.") {
		t.Errorf("get_discussion of %s: %s", post, text)
	}
	if p := get(topic + "#thread"); strings.Count(p.Content, "Which lantern?") != 1 ||
		!strings.HasSuffix(p.Content, "The green one.") {
		t.Errorf("the thread is %q", p.Content)
	}
	// Reading on reads every part once, be they long or many; the last ones come
	// with some before them.
	for word, thread := range map[string]struct {
		id    string
		parts int
	}{"Berth": {posts, 120}, "Aye": {l.id(t, catalog.KindIssue, "harbour/quay#9"), 230}} {
		var read strings.Builder
		for id, steps := thread.id+"#thread", 0; id != ""; steps++ {
			p := get(id)
			if n := utf8.RuneCountInString(p.Content); n > 9_000 || steps > 20 || steps > 0 && p.Before == "" {
				t.Fatalf("step %d: %d characters, before it %q", steps, n, p.Before)
			}
			if p.After == "" {
				last := strings.Fields(read.String()[strings.LastIndex(read.String(), word+" "):])[1]
				_, p.Content, _ = strings.Cut(p.Content, word+" "+last)
			}
			read.WriteString(p.Content + "\n")
			id = p.After
		}
		for i := range thread.parts {
			if n := strings.Count(read.String(), fmt.Sprintf("%s %d.", word, i+1)); n != 1 {
				t.Errorf("%s %d was read %d times", word, i+1, n)
			}
		}
	}
	if p := get(l.id(t, catalog.KindIssue, "harbour/quay#8") + "#thread"); !strings.Contains(p.Content, "buoys") {
		t.Errorf("an issue without comments is read as %+v", p)
	}
	for _, id := range []string{issue + "#1999999", issue + "#" + l.id(t, catalog.KindPost, "1/2")} {
		if text, failed := call(t, l.public, "get_doc", fmt.Sprintf(`{"id":%q}`, id)); !failed ||
			!strings.Contains(text, "has no part") {
			t.Errorf("%s reads %s", id, text)
		}
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
