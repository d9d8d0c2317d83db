package snippet_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
	"almanac/retrieval/snippet"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func parse(t interface {
	Helper()
	Fatalf(string, ...any)
}, raw string) query.Query {
	t.Helper()
	q, err := query.Parse(raw)
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return q
}

// mark puts brackets around spans.
func mark(text string, spans [][2]int) string {
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(text[at:s[0]] + "[" + text[s[0]:s[1]] + "]")
		at = s[1]
	}
	return b.String() + text[at:]
}

func TestHighlight(t *testing.T) {
	for _, c := range []struct{ name, query, text, want string }{
		{"stems match", "running validators", "Validator runs", "[Validator] [runs]"},
		{"spellings of an identifier match whole", "cip 56", "CIP-0056: Token (CIP56) in cip#56.md",
			"[CIP-0056]: Token ([CIP56]) in [cip#56].md"},
		{"parts of an identifier match", "LOCAL_TIMEOUT", "a timeout", "a [timeout]"},
		{"a version matches without v", "v0.5.9", "Release 0.5.9", "Release [0.5.9]"},
		{"stop words do not match", "the node", "the node of the day", "the [node] of the day"},
		{"accents do not matter", "ecole", "L École", "L [École]"},
		{"pairs join", "東京都", "大東京都へ", "大[東京都]へ"},
		{"nothing matches", "zebra", "a title", "a title"},
		{"an empty text", "zebra", "", ""},
		{"emoji and joiners stay outside", "node", "👩‍💻 node\u200d!", "👩‍💻 [node\u200d]!"},
		{"a phrase marks its words", `"node key"`, "node key, key node", "[node] [key], [key] [node]"},
		{"a part inside a camel-case word", "trigger", "TopupTrigger", "Topup[Trigger]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := mark(c.text, snippet.New(parse(t, c.query), nil).Highlight(c.text)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

const filler = "Nothing of interest stands in this sentence about weather. "

func TestSnippet(t *testing.T) {
	for _, c := range []struct{ name, query, text, want string }{
		{"a short text is shown whole", "node", "The node\nruns.", "The [node] runs."},
		{"a text without match is shown from its beginning", "zebra", strings.Repeat("word ", 30),
			"word word word word word word word word word word word word word word word…"},
		{"the window begins at a sentence", "node", filler + "The node runs here. " + strings.Repeat(filler, 3),
			"…The [node] runs here. Nothing of interest stands in this sentence about weather.…"},
		{"paragraphs, list items and code keep their lines, and code is a span in each", "node",
			"One\nline.\n\n- a  node\n- b\n```go\nfunc  f() {\n\treturn\n}\n```\nend",
			"One line.\na [node]\nb\n`func f() {`\n`return`\n`}`\nend"},
		{"fences inside longer fences stay", "x", "````\n```\nx\n````", "```\n`[x]`"},
		{"a fence with a language in code is code", "x", "```\n```go\nx\n```\na\nb", "```go\n`[x]`\na b"},
		{"a span of code is prose", "x", "```a```\n~~~ b ~ c\nx\n~~~", "```a```\n`[x]`"},
		{"control characters and broken bytes go", "node", "a\x00\x07 no\xffde node", "a no de [node]"},
		{"an empty text", "node", "", ""},
		{"the end of the text fills the window", "node", strings.Repeat(filler, 4) + "The node.",
			"…Nothing of interest stands in this sentence about weather. The [node]."},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := snippet.New(parse(t, c.query), nil).Snippet(c.text, 80)
			if got := mark(s.Text, s.Spans); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestASnippetIsASentenceOfTheText: nothing that a page has beside its text, and no marks.
func TestASnippetIsASentenceOfTheText(t *testing.T) {
	const text = "The tide table is kept by the harbour."
	for name, shape := range map[string]string{
		"front matter": "hip: \"00002\"\ntitle: Tide\nauthors:\n  - name: Ola Skua\n    github: \"@skua\"\n" +
			"status: Landed\n\nBODY",
		"the header of a mail": "HIP: HIP 0001\n  Title: Tide\n  Author: Ola Skua,\n    Ana Gull\n" +
			"  Status: Active\n\nBODY",
		"a header in code":         "```\nHIP: 4\nAuthor: Ola Skua\n```\n\nBODY",
		"a header as a list":       "- Status: Landed\n- Author(s): Ola Skua\n\nBODY",
		"bold names":               "**Author:** Ola Skua\n**Created:** 2031-01-02\n\nBODY",
		"fields of reST":           ":Author: Ola Skua\n:Created: 2031-01-02\n\nBODY",
		"between marks":            "---\nlayout: page\nslug: /tide\n---\n\nBODY",
		"a generated text":         "BODY\n\nCategory: harbours.\nBy: Skua & Gull.\nTags: tide, table.",
		"notes":                    ":::caution[]\nBODY\n:::",
		"a note on a forge":        "> [!WARNING]\n> BODY",
		"a comment of reST":        ".. _tide:\n\nBODY",
		"rules and marks of heads": "***\n\n### BODY\n\n---",
		"links, emphasis, tags": "The [tide **table**](tide.md \"x\") is _kept_ by <Tooltip tip=\"a\">" +
			"the :ref:`harbour <h>`</Tooltip>.![x](y.png)",
		"an item": "- [ ] BODY",
	} {
		s := snippet.New(parse(t, "tide"), nil).Snippet(strings.ReplaceAll(shape, "BODY", text), 300)
		if s.Text != text {
			t.Errorf("%s: %q", name, s.Text)
		}
		want := "The [tide] table is kept by the harbour."
		if got := mark(s.Text, s.Spans); s.Text == text && got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, prose := range []string{
		"Ada: The tide is late, and nobody on the quay knows why.\nBo: It always is, so we wait for it.",
		"port: the left side of a ship, red at night\nand it stays so in the tide.", "Status: Landed\nAuthor: Ola Skua",
		"Affected: ships at the tide gate before 2031, at level low only.\n" +
			"After the upgrade: renew the tide gate's token, and mask logs.",
	} {
		s := snippet.New(parse(t, "tide"), nil).Snippet(prose, 300)
		if want := strings.ReplaceAll(prose, "\n", " "); s.Text != want {
			t.Errorf("%q is read as %q", prose, s.Text)
		}
	}
	const table = "- high: `06:10`\n\n| gate | *open* |\n|---|---|\n| west | ~ |"
	got := snippet.New(parse(t, "tide"), nil).Snippet(table, 300)
	if want := "high: `06:10`\ngate, open\nwest, ~"; got.Text != want {
		t.Errorf("%q", got.Text)
	}
}

func TestTheWindowHoldsTheRarestTerms(t *testing.T) {
	text := "common common common. " + strings.Repeat(filler, 10) + "A rare word. " + strings.Repeat(filler, 10) +
		"common and banana."
	weight := func(id analysis.TermID) float64 {
		if id == analysis.IDOf("rare") {
			return 9
		}
		return 1
	}
	for raw, want := range map[string]string{"common rare": "[rare]", "common banana": "[common] and [banana]"} {
		s := snippet.New(parse(t, raw), weight).Snippet(text, 100)
		if got := mark(s.Text, s.Spans); !strings.Contains(got, want) {
			t.Errorf("snippet for %q is %q, without %s", raw, got, want)
		}
	}
}

func TestSnippetsKeepTheirPromises(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"node", "CIP-0056", " ", "\n", ". ", "```\n", "東京都", "e\u0301",
		"👩‍💻", "\x00", "\xff", "- ", "|"}),
		rapid.String(), rapid.Map(rapid.IntRange(1, 400), func(n int) string { return strings.Repeat("x", n) }))
	queries := rapid.SampledFrom([]string{"node", "cip 56 node", "東京都", "x", "the", strings.Repeat("x", 50)})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "text"), "")
		promises(t, text, queries.Draw(t, "query"), rapid.IntRange(-1, 400).Draw(t, "limit"))
	})
}

func promises(t interface {
	Helper()
	Fatalf(string, ...any)
}, text, raw string, limit int) {
	t.Helper()
	q, err := query.Parse(raw)
	if err != nil {
		return
	}
	s := snippet.New(q, nil).Snippet(text, limit)
	if limit <= 2 {
		limit = snippet.MaxLength
	}
	if n := utf8.RuneCountInString(s.Text); n > limit || !utf8.ValidString(s.Text) {
		t.Fatalf("%d characters of %d: %q", n, limit, s.Text)
	}
	for _, x := range []struct {
		text  string
		spans [][2]int
	}{{s.Text, s.Spans}, {text, snippet.New(q, nil).Highlight(text)}} {
		last, valid := 0, utf8.ValidString(x.text)
		for _, span := range x.spans {
			if span[0] < last || span[1] <= span[0] || span[1] > len(x.text) {
				t.Fatalf("spans %v of %q", x.spans, x.text)
			}
			if valid && (!utf8.RuneStart(x.text[span[0]]) || span[1] < len(x.text) &&
				!utf8.RuneStart(x.text[span[1]])) {
				t.Fatalf("span %v cuts a rune of %q", span, x.text)
			}
			last = span[1]
		}
	}
	if again := snippet.New(q, nil).Snippet(text, limit); cmp.Diff(s, again) != "" {
		t.Fatalf("a second snippet differs: %q, %q", s.Text, again.Text)
	}
}

func TestLongTextsTakeLinearTime(t *testing.T) {
	for _, text := range []string{strings.Repeat("a", 1<<20), strings.Repeat("node ", 1<<18),
		strings.Repeat("```\n", 1<<18), strings.Repeat("東", 1<<18), strings.Repeat("node", 1<<18)} {
		promises(t, text, "node a 東", 300)
	}
}

func FuzzSnippet(f *testing.F) {
	f.Add("The node runs. ```\ncode\n```", "node code", 20)
	f.Add("東京都 \xff\x00", "東京", 3)
	f.Fuzz(func(t *testing.T, text, raw string, limit int) { promises(t, text, raw, limit) })
}

func TestCodeThatIsCutIsStillCode(t *testing.T) {
	filler := strings.Repeat("Nothing of note is said here. ", 20)
	code := "`relay --sync " + strings.Repeat("--peer node.example:4200 ", 40) + "--capstan now`"
	m := snippet.New(parse(t, "capstan"), nil)
	for name, text := range map[string]string{"begins in it": filler + code + " " + filler,
		"ends in it": "The capstan is turned by " + code, "all within": code} {
		got := m.Snippet(text, 200).Text
		if strings.Count(got, "`")%2 != 0 || !strings.Contains(got, "`") || utf8.RuneCountInString(got) > 200 {
			t.Errorf("%s: %q", name, got)
		}
	}
}
