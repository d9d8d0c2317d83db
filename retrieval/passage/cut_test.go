package passage_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// words returns n words that occur nowhere else.
func words(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s%c%c", prefix, 'a'+i/26%26, 'a'+i%26)
	}
	return b.String()
}

// show writes a passage as #anchor [heading] text.
func show(pieces []passage.Piece) []string {
	var list []string
	for _, p := range pieces {
		list = append(list, fmt.Sprintf("#%s [%s] %s", p.Anchor, p.Heading, p.Text))
	}
	return list
}

func TestCut(t *testing.T) {
	long := words("la", 70)
	for _, c := range []struct {
		name, title, body string
		want              []string
	}{
		{"an empty body gives the title", "A title", "", []string{"# [] A title"}},
		{"a body of drawing gives the title", "A title", "---\n\n| - | - |\n<br>\n", []string{"# [] A title"}},
		{"text without headings", "T", "One.\n\nTwo.", []string{"# [] One.\n\nTwo."}},
		{"headings make a path", "T", "# Upper\n" + long + "\n## Lower\n" + long,
			[]string{"#upper [Upper] " + long, "#lower [Upper › Lower] " + long}},
		{"a heading that repeats the title is not in the path", "The Title", "# The title\nIntro.\n## Part\n" + long,
			[]string{"#the-title [] Intro.\n\nPart\n\n" + long}},
		{"small sections share a passage and keep their headings", "T", "# A\n## B\nOne.\n## C\nTwo.",
			[]string{"#b [A] B\n\nOne.\n\nC\n\nTwo."}},
		{"sections of other parents do not", "T", "# A\n## B\n" + long + "\n# C\n## D\nTwo words.",
			[]string{"#b [A › B] " + long, "#d [C › D] Two words."}},
		{"marks of notes are not text", "T", "One\n:::caution[Mind the **tide**]\ntwo\n:::\nthree\n\n> [!TIP]\n> four\n\n```\n:::tip\n" +
			"```", []string{"# [] One\nCaution: Mind the tide\ntwo\nthree\n\n> Tip:\n> four\n\n```\n:::tip\n```"}},
		{"an underlined heading is text", "T", "# A\nOne\n===\ntwo\n- three\n---\nfour\n\n    # five\n#\n> # six\n\n| a |\n|---|\nb",
			[]string{"#a [A] One\ntwo\n- three\nfour\n\n    # five\n#\n> # six\n\n| a |\n\nb"}},
		{"a heading without text is found", "T", "# A\n## B\n## C\n",
			[]string{"#b [A] B\n\nC"}},
		{"a page of one heading", "T", "## Only", []string{"#only [Only] Only"}},
		{"a heading of nothing but tags is none", "T", "# <br>\n# A\n" + long, []string{"#a [A] " + long}},
		{"skipped levels", "T", "### Deep\n" + long + "\n# Top\n" + long,
			[]string{"#deep [Deep] " + long, "#top [Top] " + long}},
		{"repeated headings get numbers", "T", "# A\n" + long + "\n# A\n" + long + "\n# A-1\n" + long + "\n# A\n" +
			long,
			[]string{"#a [A] " + long, "#a-1 [A] " + long, "#a-1-1 [A-1] " + long, "#a-2 [A] " + long}},
		{"an anchor of its own", "T", "# Some Name {#own}\n" + long, []string{"#own [Some Name] " + long}},
		{"anchors as forges make them", "T", "# What's `new` in v1.2 – _é_? ##\n" + long,
			[]string{"#whats-new-in-v12--_é_ [What's `new` in v1.2 – _é_?] " + long}},
		{"no heading in code", "T", "```sh\n# comment\n```", []string{"# [] ```sh\n# comment\n```"}},
		{"a longer fence holds a shorter", "T", "````\n```\n# x\n```\n````\nend",
			[]string{"# [] ````\n```\n# x\n```\n````\n\nend"}},
		{"an open fence ends with the body", "T", "~~~\nx = [a](b)", []string{"# [] ~~~\nx = [a](b)\n~~~"}},
		{"no heading without space, or of seven marks", "T", "#tag\n####### x", []string{"# [] #tag\n####### x"}},
		{"links and images leave their text", "T",
			`See [the *guide*](https://a.example/x_(y) "t") and ![a diagram](img.png), [[1]](u).`,
			[]string{"# [] See the *guide* and a diagram, [1]."}},
		{"brackets that are no links stay", "T", "a[0](x, y) [note] [a][b] \\[c](d) `[e](f)`",
			[]string{"# [] a[0](x, y) [note] [a][b] \\[c](d) `[e](f)`"}},
		{"definitions of links go", "T", "Text.\n[ref]: https://a.example\n[note]: two words",
			[]string{"# [] Text.\n[note]: two words"}},
		{"tags and emphasis go, placeholders stay", "T", `<div class="x">A **bold** <party-id> List<Text> a < b</div>`,
			[]string{"# []  A bold <party-id> List<Text> a < b"}},
		{"tables keep their rows", "T", "| a | b |\n|---|:-:|\n| 1 | 2 |\nend",
			[]string{"# [] | a | b |\n| 1 | 2 |\n\nend"}},
		{"NUL, broken bytes and CRLF", "T", "a\x00b\xffc\r\nd", []string{"# [] a b c\nd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := c.want
			for i := range want {
				want[i] = strings.Replace(want[i], "]  ", "] ", 1)
			}
			if diff := cmp.Diff(want, show(passage.Cut(passage.Source{Title: c.title, Body: c.body}))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithoutTitleAndBodyThePathIsThePassage(t *testing.T) {
	got := passage.Cut(passage.Source{Path: "docs/a.md"})
	if diff := cmp.Diff([]passage.Piece{{Text: "docs/a.md"}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := passage.Cut(passage.Source{}); len(got) != 1 {
		t.Errorf("%d passages of nothing, want 1", len(got))
	}
}

func TestLargeBlocksAreCutWhereTheyMayBe(t *testing.T) {
	sentence := "Validators " + words("w", 20) + ". "
	line := words("x", 12) + "\n"
	for name, c := range map[string]struct{ body, ends string }{
		"prose between sentences": {strings.Repeat(sentence, 40), "."},
		"lists between items":     {strings.Repeat("- "+words("y", 9)+" stop\n", 60), " stop"},
		"code between lines": {"```go\n" + strings.Repeat(strings.TrimSpace(line)+" ;;\n", 60) + "```",
			" ;;\n```"},
		"tables between rows":      {strings.Repeat("| "+words("z", 12)+" |\n", 60), " |"},
		"Chinese after full stops": {strings.Repeat("今天天气很好我们去公园散步。", 80), "。"},
	} {
		t.Run(name, func(t *testing.T) {
			pieces := passage.Cut(passage.Source{Title: "T", Body: c.body})
			if len(pieces) < 3 {
				t.Fatalf("%d passages", len(pieces))
			}
			for _, p := range pieces {
				if !strings.HasSuffix(p.Text, c.ends) {
					t.Errorf("passage %d ends in %q, want %q", p.Ordinal, p.Text[max(0, len(p.Text)-20):], c.ends)
				}
				if n := len(strings.Fields(p.Text)); n > 230 {
					t.Errorf("passage %d has %d words", p.Ordinal, n)
				}
			}
		})
	}
}

// TestAPassageKnowsItsHeadings: where each begins, what it is called on the page, and which
// begin in this passage.
func TestAPassageKnowsItsHeadings(t *testing.T) {
	filler := words("la", 170)
	body := "Intro.\n\n# Codes\n\n## GAP_A\n\nOne.\n\n## GAP_B {#b}\n\n```\ntwo\n```\n\n# Long\n\n" + filler + "\n\n" +
		filler + "\n\n## Tail\n\nLast."
	var got []string
	for _, p := range passage.Cut(passage.Source{Title: "T", Body: body}) {
		line := strings.Join(p.Headings, ",") + " |"
		for _, x := range p.Places {
			after, _, _ := strings.Cut(strings.TrimSpace(p.Text[x.At:]), "\n")
			line += fmt.Sprintf(" #%s [%s] %.6s", x.Anchor, x.Heading, after)
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{
		"Codes,GAP_A,GAP_B,Long | # [] Intro. #codes [Codes] Codes #gap_a [Codes › GAP_A] GAP_A " +
			"#b [Codes › GAP_B] GAP_B #long [Long] Long",
		"Tail | #long [Long] laaa l #tail [Long › Tail] Tail",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCodeStaysWholeWithTheLineBeforeIt(t *testing.T) {
	code := "```\n" + strings.Repeat("call(a)\n", 20) + "```"
	pieces := passage.Cut(passage.Source{Title: "T", Body: words("a", 150) + "\n\nRun:\n\n" + code})
	if got := pieces[len(pieces)-1].Text; !strings.Contains(got, code) {
		t.Errorf("the last passage is %q", got)
	}
	pieces = passage.Cut(passage.Source{Title: "T", Body: "# A\nRun:\n\n" + code})
	if len(pieces) != 1 {
		t.Errorf("%d passages, want 1", len(pieces))
	}
}

func TestNoTinyPassages(t *testing.T) {
	body := words("a", 175) + "\n\nfive words at the end"
	if pieces := passage.Cut(passage.Source{Title: "T", Body: body}); len(pieces) != 1 {
		t.Errorf("passages:\n%s", strings.Join(show(pieces), "\n"))
	}
}

func TestEmbedText(t *testing.T) {
	for _, c := range []struct {
		name, title string
		piece       passage.Piece
		want        string
	}{
		{"title, heading and text", "T", passage.Piece{Heading: "A › B", Text: "x\ny"}, "T\nA › B\nx\ny"},
		{"nothing but text", "", passage.Piece{Text: "x"}, "x"},
		{"fences go", "T", passage.Piece{Text: "a\n```go\nb\n```\nc"}, "T\na\nb\nc"},
		{"a long title is cut between words", words("t", 40), passage.Piece{Text: "x"}, words("t", 32) + "\nx"},
		{"a long heading path loses its beginning", "T",
			passage.Piece{Heading: words("a", 30) + " › " + words("b", 30), Text: "x"}, "T\n" + words("b", 30) + "\nx"},
		{"without a word there is no meaning", "Re: Vote on nets", passage.Piece{Text: "+1 👍"}, ""},
		{"numbers below a heading have that", "T", passage.Piece{Heading: "Fees", Text: "3 | 5"}, "T\nFees\n3 | 5"},
		{"the name of a file is no meaning", "votes: nets.pdf", passage.Piece{Text: "votes: nets.pdf"}, ""},
		{"code may end in a name", "", passage.Piece{Text: "return net.size"}, "return net.size"},
		{"a version is no extension", "Release 2.9.7", passage.Piece{Text: "Release 2.9.7"},
			"Release 2.9.7\nRelease 2.9.7"},
		{"a text may end in a file's name", "Nets", passage.Piece{Text: "See nets.pdf"}, "Nets\nSee nets.pdf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, passage.EmbedText(c.title, c.piece)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// checkCut fails for passages that break a promise of Cut.
func checkCut(t interface {
	Helper()
	Fatalf(string, ...any)
}, s passage.Source) []passage.Piece {
	t.Helper()
	pieces := passage.Cut(s)
	if len(pieces) == 0 || len(pieces) > passage.MaxPerRecord {
		t.Fatalf("%d passages", len(pieces))
	}
	for i, p := range pieces {
		switch {
		case p.Ordinal != i:
			t.Fatalf("passage %d has ordinal %d", i, p.Ordinal)
		case !utf8.ValidString(p.Text + p.Heading + p.Anchor), strings.ContainsRune(p.Text+p.Heading+p.Anchor, 0):
			t.Fatalf("passage %d of %q is not valid text", i, s.Body)
		case len(pieces) > 1 && strings.TrimSpace(p.Text) == "":
			t.Fatalf("passage %d of %q is empty", i, s.Body)
		}
	}
	return pieces
}

// Every word of the generated bodies occurs once. Headings, which begin with
// an h, may be in several passages.
func TestNoWordIsLostOrRepeated(t *testing.T) {
	count := 0
	word := rapid.Custom(func(t *rapid.T) string {
		count++
		return fmt.Sprintf("q%dz%s", count, strings.Repeat("x", rapid.IntRange(0, 60).Draw(t, "length")))
	})
	sentence := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(word, 1, 60).Draw(t, "words"), " ") +
			rapid.SampledFrom([]string{".", "!", " ", ". A", "\n- "}).Draw(t, "end")
	})
	block := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(sentence, 1, 8).Draw(t, "sentences"), " ")
		switch rapid.IntRange(0, 6).Draw(t, "block") {
		case 0:
			return strings.Repeat("#", rapid.IntRange(1, 4).Draw(t, "level")) + " h" + word.Draw(t, "heading")
		case 1:
			return "```\n" + strings.ReplaceAll(text, " ", rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "break")) +
				"\n```"
		case 2:
			return "| " + strings.ReplaceAll(strings.ReplaceAll(text, "\n", " "), ". ", " |\n| ") + " |"
		case 3:
			return "**" + word.Draw(t, "bold") + "** [" + word.Draw(t, "link") + "](https://a.example) " + text
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(block, 1, 25).Draw(t, "blocks"),
			rapid.SampledFrom([]string{"\n\n", "\n"}).Draw(t, "join"))
		pieces := checkCut(t, passage.Source{Title: "title", Body: body})
		times, headed := map[string]int{}, map[string]bool{}
		for _, p := range pieces {
			for _, w := range terms(p.Text) {
				times[w]++
			}
			for _, w := range terms(p.Heading) {
				headed[w] = true
			}
		}
		for _, w := range terms(strings.ReplaceAll(body, "(https://a.example)", "")) {
			if times[w] == 0 && !headed[w] {
				t.Fatalf("%s of %q is lost", w, body)
			}
			if times[w] > 1 && w[0] == 'q' {
				t.Fatalf("%s of %q is repeated", w, body)
			}
		}
	})
}

func terms(text string) []string {
	var list []string
	for _, k := range analysis.Analyze(text) {
		list = append(list, k.Term)
	}
	return list
}

func TestWhateverIsCutKeepsThePromises(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{"# ", "## a\n", "```", "\n", "|", "[", "](", ")", "<b", ">", "`",
		"**", "{#x}", ". ", "東京", "\x00", "\xff", "- ", "\\"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		checkCut(t, passage.Source{Title: rapid.String().Draw(t, "title"),
			Body: strings.Join(rapid.SliceOfN(piece, 0, 80).Draw(t, "body"), "")})
	})
}

func TestLongBodiesTakeLinearTime(t *testing.T) {
	for name, body := range map[string]string{
		"one word": strings.Repeat("a", 1<<20), "Han": strings.Repeat("東", 1<<18), "dots": strings.Repeat(".", 1<<20),
		"brackets": strings.Repeat("[", 1<<20),
		"links":    strings.Repeat("[a](b)", 1<<17), "half links": strings.Repeat("[a](", 1<<18),
		"angles": strings.Repeat("<b ", 1<<18), "ticks": strings.Repeat("` `` ", 1<<17),
		"headings": strings.Repeat("# a\n", 1<<16), "deeper headings": strings.Repeat("# a\n## b\n### c\nx\n", 1<<14),
		"fences": strings.Repeat("```\nx\n", 1<<17),
		"lines":  strings.Repeat("x\n", 1<<19), "sentences": strings.Repeat("A b. ", 1<<18),
		"spaces": strings.Repeat(" ", 1<<20), "words": strings.Repeat("ab ", 1<<18), "code": "```\n" +
			strings.Repeat("x", 1<<20),
		"backslashes": strings.Repeat("\\", 1<<20), "pipes": strings.Repeat("|\n", 1<<19),
	} {
		t.Run(name, func(t *testing.T) { checkCut(t, passage.Source{Title: "T", Body: body}) })
	}
}

func FuzzCut(f *testing.F) {
	for _, s := range []string{"", "# A\ntext\n## B\n```go\nx\n```\n| a |\n", "[a](b) ![c](d \"e\") <br> **f**",
		"\xff\x00", "# {#x}", "```\n# a"} {
		f.Add("title", s)
	}
	f.Fuzz(func(t *testing.T, title, body string) {
		for _, p := range checkCut(t, passage.Source{Title: title, Body: body}) {
			passage.EmbedText(title, p)
		}
	})
}
