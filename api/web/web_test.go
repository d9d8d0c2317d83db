package web

import (
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"almanac/api/cips"
	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/look"
	"almanac/api/search"
	"almanac/catalog"
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

func TestCorrected(t *testing.T) {
	read := "traffic balance error"
	v := &view{Params: url.Values{"q": {"trafic balance error"}, "type": {"doc"}}, Path: "/"}
	s := &searchView{Query: "trafic balance error", Found: search.Answer{Corrected: &read}}
	s.corrected(v)
	if s.Typed != "trafic" || s.Instead != "/?q=%22trafic%22+balance+error&type=doc" {
		t.Errorf("%q %q", s.Typed, s.Instead)
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
