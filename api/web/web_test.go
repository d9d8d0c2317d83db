package web

import (
	"html/template"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/ecosystem"
	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/kb/read"
	"almanac/api/library"
	"almanac/api/look"
	"almanac/api/onboarding"
	"almanac/api/search"
	"almanac/catalog"
	"almanac/catalog/network"
)

func TestCutBlock(t *testing.T) {
	for _, tt := range []struct {
		text string
		n    int
		want string
	}{
		{"short", 10, "short"},
		{"one\n\ntwo\n\nthree", 10, "one\n\ntwo\n\n"},
		{"aaaa\n\n```\nb\n\nc\n```\n\nd", 14, "aaaa\n\n"},
		{"aa\n\n````\n```\nb\n\nc\n```\n````\n\nd", 16, "aa\n\n"},
		{"```aa```\n\nb\n\nccc", 15, "```aa```\n\nb\n\n"},
		{strings.Repeat("é", 10), 5, "éé"},
	} {
		if got := cutBlock(tt.text, tt.n); got != tt.want {
			t.Errorf("%q at %d: %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([a-zé]{0,9}\n{0,2}(```)?){0,20}").Draw(t, "text")
		n := rapid.IntRange(4, 60).Draw(t, "n")
		got := cutBlock(text, n)
		if !strings.HasPrefix(text, got) || got == "" && text != "" || !utf8.ValidString(got) || len(got) > n {
			t.Errorf("%q at %d: %q", text, n, got)
		}
	})
}

func TestASnippetIsQuotedInOneLine(t *testing.T) {
	for _, c := range []struct {
		snippet, match, html, text string
	}{
		{"The tide. A <b>gate</b> & `cway` of C#", "tide",
			"The <mark>tide</mark>. A &lt;b&gt;gate&lt;/b&gt; &amp; <code>cway</code> of C#",
			"The tide. A <b>gate</b> & cway of C#"},
		{"Ports:\n`6403`\n`open tide`\nend.\nMore", "tide",
			"Ports: <code>6403</code> · <code>open <mark>tide</mark></code> · end. More",
			"Ports: 6403 · open tide · end. More"},
		{"a `cut span…", "span", "a cut <mark>span</mark>…", "a cut span…"},
		{"a `tide\ngate`", "tide\ngate`", "a <mark>tide · gate</mark>", "a tide · gate"},
	} {
		at := strings.Index(c.snippet, c.match)
		got := look.Quoted(c.snippet, [][2]int{{at, at + len(c.match)}})
		if text := look.Legible(c.snippet); string(got) != c.html || text != c.text {
			t.Errorf("%q: %q, %q", c.snippet, got, text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([a-zé`\n<&]{0,9}){0,6}").Draw(t, "text")
		spans := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]int {
			return [2]int{rapid.IntRange(-2, 60).Draw(t, "from"), rapid.IntRange(-2, 60).Draw(t, "to")}
		}), 0, 3).Draw(t, "spans")
		html := string(look.Quoted(text, spans))
		for _, tag := range []string{"mark", "code"} {
			if strings.Count(html, "<"+tag+">") != strings.Count(html, "</"+tag+">") {
				t.Errorf("%q: %q", text, html)
			}
		}
		if strings.ContainsAny(html, "`\n") {
			t.Errorf("%q: %q", text, html)
		}
	})
}

func TestAResultLinksToItsHeading(t *testing.T) {
	for want, x := range map[string]find.Hit{
		"/docs/tide#s-high-water": {Item: kb.Item{Kind: "doc"}, Anchor: "high-water"},
		"/docs/tide":              {Item: kb.Item{Kind: "doc"}, Read: "7#9"},
		"/issues/7#s-steps":       {Item: kb.Item{Kind: "issue"}, Anchor: "steps"},
		"/discussions/104":        {Item: kb.Item{Kind: "topic"}, Anchor: "edit"},
		"/posts/4":                {Item: kb.Item{Kind: "post"}, Anchor: "edit", Read: "7#9"},
	} {
		x.Page, _, _ = strings.Cut(want, "#")
		if got := (hit{Hit: x}).Link(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestWhatProgramsAreToldIsASentenceForPeople(t *testing.T) {
	for s, want := range map[string]string{
		"there is no CIP-9999": "There is no CIP-9999.", "Ask again.": "Ask again.", "": "", "élan": "Élan.",
		"nothing of this kind is indexed: /api/v1/sources lists what is": "Nothing of this kind is indexed.",
	} {
		if got := sentence(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	result := func(record, parent int64) find.Hit { return find.Hit{Item: kb.Item{RecordID: record}, Parent: parent} }
	got := grouped([]find.Hit{result(1, 9), result(2, 0), result(3, 9), result(9, 0), result(4, 2)})
	if len(got) != 2 || len(got[0].Folded) != 2 || len(got[1].Folded) != 1 {
		t.Errorf("%+v", got)
	}
}

// TestPosts reads the posts of every kind of thread, with all that pages show of them.
func TestPosts(t *testing.T) {
	at := time.Date(2031, 1, 2, 0, 0, 0, 0, time.UTC)
	comments := read.Thread[ecosystem.Comment]{Items: []ecosystem.Comment{{Author: "cy", Answer: true, Upvotes: 4, Content: "c",
		URL: "https://c.example", Date: &at}}, Total: 9, NextCursor: "5"}
	comment := Post{Number: 3, Author: "cy", Accepted: true, Likes: 4, Markdown: "c", URL: "https://c.example", Date: &at}
	for _, tt := range []struct {
		answer any
		want   Post
	}{
		{community.Discussion{Thread: read.Thread[community.Post]{Items: []community.Post{{Number: 7, Author: "ada",
			Role: "admin", ReplyTo: 2, Likes: 9, Accepted: true, Date: &at, URL: "https://a.example", Content: "a"}}}},
			Post{Number: 7, Author: "ada", Role: "admin", ReplyTo: 2, Likes: 9, Accepted: true, Date: &at,
				URL: "https://a.example", Markdown: "a"}},
		{library.FullMailThread{Thread: read.Thread[library.Message]{Items: []library.Message{{Number: 8, Author: "bo",
			Date: &at, Content: "b", URL: "https://b.example"}}}},
			Post{Number: 8, Author: "bo", Date: &at, Markdown: "b", URL: "https://b.example"}},
		{ecosystem.FullDiscussion{Thread: comments}, comment},
		{ecosystem.Comments{Thread: comments}, comment},
	} {
		if got := threadOf(tt.answer, 3); len(got.posts) != 1 || got.posts[0] != tt.want {
			t.Errorf("%T: %+v, want %+v", tt.answer, got.posts, tt.want)
		}
	}
	if got := threadOf(ecosystem.Comments{Thread: comments}, 3); got.total != 9 || got.next != "5" {
		t.Errorf("%d in all, next %q", got.total, got.next)
	}
}

func TestCorrected(t *testing.T) {
	read := "traffic balance error"
	v := &view{Params: url.Values{"q": {"trafic balance error"}, "type": {"doc"}}, Path: "/"}
	s := &searchView{Query: "trafic balance error", Found: search.Answer{Corrected: &read}}
	s.corrected(v)
	if s.Typed != "trafic" || s.Instead != "/?q=%22trafic%22+balance+error&type=doc" {
		t.Errorf("%q %q", s.Typed, s.Instead)
	}
}

func TestWithoutFrontMatter(t *testing.T) {
	for text, want := range map[string]string{
		"---\na: b\n---\ntext": "text", "<pre>\nCIP: 1\n</pre>\ntext": "\ntext", "---\n\ntext\n": "---\n\ntext\n",
		"<pre>code</pre> text": "<pre>code</pre> text", "text": "text",
	} {
		if got := withoutFrontMatter(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWithoutHeader(t *testing.T) {
	for text, want := range map[string]string{
		"# CIP 0004\n\n```\nCIP: 4\nStatus: Draft\nType: Standards\n```\n\n## Abstract\n":   "\n## Abstract\n",
		"<pre>\n  CIP: 4\n  Status: Draft\n  Type: Other\n</pre>\n\ntext":                   "\ntext",
		"**Author:** Ada\n**Status:** Approved\n**Label:** tools\n\n## Summary":             "\n## Summary",
		"# Fog lamps\n\n**Author:** Ada\n**Status:** Open\n**Label:** tools\n\nThey shine.": "\nThey shine.",
		"| Status | Draft |\n|---|---|\n| Type: | x |\n| Layer | y |\n\ntext":               "\ntext",
		"Note: this is text.\nIt goes on.\nNote: and on.\nNote: again.\n\nmore":             "",
		"# CIP-0004: Traffic\n\nIt is counted.\n":                                           "",
		"# Limits of 2031\n\nCIP: 4\nStatus: Draft\nType: x\n\n":                            "",
		"```\nCIP: 4\n```\n\ntext": "",
	} {
		if want == "" {
			want = text
		}
		if got, _ := withoutHeader(text, "CIP-0004", "Fog lamps"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWithRules(t *testing.T) {
	for text, want := range map[string]string{
		"Lamps:\n\n| Name | Oil |\n| a \\| b | olive |\n\nMore.": "Lamps:\n\n| Name | Oil |\n|---|---|\n| a \\| b | olive |\n\nMore.",
		"| Name |\n|:--|\n| a |":                                 "| Name |\n|:--|\n| a |",
		"```\n| Name |\n| a |\n```\n":                            "```\n| Name |\n| a |\n```\n",
		"|\n\n| a | b\n":                                         "|\n\n| a | b\n",
		"| a | b |\n":                                            "| a | b |\n|---|---|\n",
	} {
		if got := withRules(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestUntallied(t *testing.T) {
	if got := untallied("Because.\n\n## Votes\n\n- Reef in favour: I do."); got != "Because.\n" {
		t.Errorf("%q", got)
	}
}

func TestWatchAt(t *testing.T) {
	for address, want := range map[string]string{
		"https://video.example/a":           "https://video.example/a#t=69",
		"https://www.youtube.com/watch?v=x": "https://www.youtube.com/watch?t=69s&v=x",
		"javascript:x":                      "", "": "",
	} {
		if got := watchAt(address, []string{"", "69"}); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

func TestFoldQuotes(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("It holds &amp; rests. ", 10))
	first := template.HTML("<p>Before. " + long + " After.</p>")
	quote := "<blockquote>\n<p>" + strings.Replace(long, " rests", "\n<em>rests</em>", 1) + "</p>\n</blockquote>"
	short := "<blockquote>\n<p>It holds &amp; rests.</p>\n</blockquote>"
	other := "<blockquote>\n<blockquote>\n<p>" + long + " But not this.</p>\n</blockquote>\n</blockquote>"
	want := "a<details class=\"fold\"><summary>Quotes the first message</summary>" + quote + "</details>b" + short +
		other + "c"
	if got := foldQuotes(template.HTML("a"+quote+"b"+short+other+"c"), first); string(got) != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestLead(t *testing.T) {
	v := &view{Record: library.Record{Summary: "It counts *what* nodes send, in bytes, and more."}}
	if got := v.Lead(); got != "It counts what nodes send, in bytes, and more." {
		t.Errorf("%q", got)
	}
	v.Text = &Text{Markdown: "## Abstract\n\nIt counts what `nodes`\nsend, in **bytes**, and more."}
	if got := v.Lead(); got != "" {
		t.Errorf("the text begins with it: %q", got)
	}
}

// TestTree draws proposals that need each other in a circle, too.
func TestTree(t *testing.T) {
	g := cips.Graph{
		Nodes: []cips.Node{{ID: "1", Label: "A", Title: "<b>"}, {ID: "2", Label: "B"}, {ID: "3", Label: "C"},
			{ID: "4", Label: "D"}},
		Edges: []cips.Edge{{From: "2", To: "1"}, {From: "3", To: "2"}, {From: "2", To: "3"}, {From: "3", To: "9"}},
	}
	site, err := look.New(look.Site{PublicURL: "https://kb.example/x"})
	if err != nil {
		t.Fatal(err)
	}
	got := string(Tree(g, site))
	if strings.Count(got, "<rect") != 3 || !strings.Contains(got, `href="/x/cips/1"`) || strings.Contains(got, "<b>") {
		t.Error(got)
	}
	if strings.Count(got, `class="tip"`) != 3 {
		t.Errorf("%d arrows", strings.Count(got, `class="tip"`))
	}
}

// TestColoursOfProposalsSayWhatIsDecided: the network's own word decides, and the legend
// has the words that occur.
func TestColoursOfProposalsSayWhatIsDecided(t *testing.T) {
	g := cips.Graph{Nodes: []cips.Node{
		{ID: "1", Status: "Review", StatusRaw: "Approved"}, {ID: "2", Status: "Review", StatusRaw: "Deferred"},
		{ID: "3", Status: "Final", StatusRaw: "Final"}, {ID: "4", Status: "Rejected", StatusRaw: "Rejected"},
		{ID: "5", Status: "Review", StatusRaw: "Approved"}, {ID: "6", Status: "Draft"}, {ID: "7", Missing: true},
		{ID: "8", Status: "Withdrawn", StatusRaw: "needed by none"},
	}, Edges: []cips.Edge{{From: "1", To: "2"}, {From: "3", To: "4"}, {From: "5", To: "6"}, {From: "6", To: "7"}}}
	for name, c := range map[string]struct {
		decided []string
		want    []sign
		good    int
	}{
		"a network that names them": {[]string{"approved", "Final"}, []sign{{"good", []string{"Approved", "Final"}},
			{"warn", []string{"Deferred"}}, {"calm", []string{"Draft"}}, {"bad", []string{"Rejected"}}}, 3},
		"one that does not": {nil, []sign{{"good", []string{"Final"}}, {"warn", []string{"Approved", "Deferred"}},
			{"calm", []string{"Draft"}}, {"bad", []string{"Rejected"}}}, 1},
	} {
		site, err := look.New(look.Site{Proposals: network.Proposals{Decided: c.decided}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, legend(g, site)); diff != "" {
			t.Errorf("%s: legend (-want +got):\n%s", name, diff)
		}
		if got := strings.Count(string(Tree(g, site)), `<circle class="good"`); got != c.good {
			t.Errorf("%s: %d good dots, want %d", name, got, c.good)
		}
	}
}

func TestUrgency(t *testing.T) {
	now := time.Date(2031, 1, 10, 9, 0, 0, 0, time.UTC)
	h := &Handler{cfg: Config{Now: func() time.Time { return now }}}
	in := func(days int) *time.Time { return new(now.AddDate(0, 0, days)) }
	var all []onboarding.Alert
	for _, x := range []struct {
		level string
		at    *time.Time
	}{{"ecosystem", in(1)}, {"critical", nil}, {"critical", in(-3)}, {"important", in(0)}, {"critical", in(30)},
		{"critical", in(2)}} {
		all = append(all, onboarding.Alert{Level: x.level, Deadline: x.at})
	}
	slices.SortStableFunc(all, func(a, b onboarding.Alert) int { return byUrgency(a, b, now) })
	var got []string
	for _, x := range all {
		got = append(got, x.Level+" "+h.until(x.Deadline))
	}
	want := []string{"critical in 2 days", "critical in 30 days", "critical ", "critical ", "important today",
		"ecosystem tomorrow"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFacts(t *testing.T) {
	v := &view{Kind: kb.PageKind{Kind: catalog.KindPull}, Record: library.Record{Data: map[string]any{
		"labels": []any{"bug", "ui"}, "milestone": "", "draft": false, "merged_at": "2031-01-02T03:04:05Z",
		"additions": 1234.0, "merge_commit": "0123456789abcdef", "files": []any{"a.go", map[string]any{"b": 1.0}},
		"inside": map[string]any{"deep": true},
		"number": 7.0,
	}}}
	want := []Fact{
		{"Labels", "", []Value{{Text: "bug"}, {Text: "ui"}}},
		{"Lines added", "number", []Value{{Text: "1234", Number: 1234}}},
		{"Merged", "day", []Value{{Text: "2031-01-02T03:04:05Z"}}},
		{"Commit", "hash", []Value{{Text: "0123456789abcdef"}}},
	}
	if got := v.Facts(); !reflect.DeepEqual(got, want) {
		t.Errorf("facts %+v, want %+v", got, want)
	}
	if got := v.Fields(); !slices.Equal(got, []Field{{"files", `a.go, {"b":1}`}, {"inside.deep", "yes"}}) {
		t.Errorf("fields %+v", got)
	}
	v = &view{Kind: kb.PageKind{Kind: catalog.KindFAQ}, Record: library.Record{Data: map[string]any{
		"related": []any{map[string]any{"title": "Fees", "url": "https://a.example"}},
	}}}
	if got := v.Facts(); len(got) != 1 || got[0].Values[0] != (Value{Text: "Fees", Link: "https://a.example"}) {
		t.Errorf("links %+v", got)
	}
}

// TestFactsAreFields holds that each fact is a field of the data of its kind.
func TestFactsAreFields(t *testing.T) {
	for kind, facts := range told {
		info, known := catalog.InfoOf(kind)
		for _, f := range facts {
			of := info.Data
			for name := range strings.SplitSeq(f.path, ".") {
				of = fieldOf(of, name)
				if !known || of == nil {
					t.Errorf("%s has no field %s", kind, f.path)
					break
				}
			}
		}
	}
}

// fieldOf is the type of a field by its name in JSON.
func fieldOf(of reflect.Type, name string) reflect.Type {
	if of != nil && of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag == name {
			return of.Field(i).Type
		}
	}
	return nil
}

// TestPrinted reads lines of a PDF: headings, paragraphs, rows and pages.
func TestPrinted(t *testing.T) {
	text := "Mooring without ropes\nAda Reef, Bo Quay (Mole)\nAbstract\n" +
		"A ship that is moored without a rope needs a harbour that holds it in another way, and a way\n" +
		"out.\n1. The rope\nIt is long.\n1. Not a heading, since it ends with a stop.\n# No heading\n2.1 Knots\n" +
		"load 50 200\nmedian 0.8 0.9\n3\n\n2. The harbour\nIt is deep, and as wide as a harbour of the mole can be at low water,\n" +
		"as long.\n7. Of a list\n4\n"
	want := "## Abstract\n\n" +
		"A ship that is moored without a rope needs a harbour that holds it in another way, and a way\n" +
		"out.\n\n## 1. The rope\n\nIt is long.\n\n1\\. Not a heading, since it ends with a stop.\n\n\\# No heading\n\n" +
		"### 2.1 Knots\n\nload 50 200\\\nmedian 0.8 0.9\n\n" + leaf + "4\n\n## 2. The harbour\n\n" +
		"It is deep, and as wide as a harbour of the mole can be at low water,\nas long.\n\n7\\. Of a list\n"
	if got := printed(text, "Mooring without ropes", "Ada Reef, Bo Quay", 2); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching("([0-9A-Za. #\n-]{0,9}\n{0,2}){0,20}").Draw(t, "text")
		printed(text, "A", "B", rapid.IntRange(0, 3).Draw(t, "pages"))
	})
}
