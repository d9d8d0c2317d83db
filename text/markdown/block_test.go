package markdown

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outline writes a block on one line.
func outline(b Block) string {
	name := []string{"paragraph", "heading", "item", "table", "code", "note", "rule"}[b.Kind]
	switch {
	case b.Kind == Heading && b.Underlined:
		name += fmt.Sprintf(" %d underlined", b.Level)
	case b.Kind == Heading:
		name += fmt.Sprint(" ", b.Level)
	case b.Kind == Source:
		name = strings.TrimSpace(name + " " + b.Fence.Info)
	case b.Kind == Callout:
		name += " " + b.Note
	case b.Quoted:
		name += " quoted"
	}
	if b.Indent > 0 {
		name += fmt.Sprint(" +", b.Indent)
	}
	return strings.ReplaceAll(strings.TrimSpace(name)+": "+b.Text, "\n", "|")
}

func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "\n \n", nil},
		{"paragraphs", "One\ntwo  \r\n\n three", []string{"paragraph: One|two", "paragraph +1: three"}},
		{"headings", "# A #\ntext\n   ###\tB\n####### c\n    # d\n#e\n## C#\n#\n", []string{"heading 1: A", "paragraph: text",
			"heading 3 +3: B", "paragraph: ####### c|# d|#e", "heading 2: C#", "heading 1: "}},
		{"headings above a line", "A\nB\n===\nC\n--\n\n- D\n---\n> E\n---\n", []string{"heading 1 underlined: A|B",
			"paragraph: C|--", "item: D", "rule: ", "paragraph quoted: E", "rule: "}},
		{"a long paragraph above a line", strings.Repeat("word ", 30) + "\n---",
			[]string{"paragraph: " + strings.TrimSpace(strings.Repeat("word ", 30)), "rule: "}},
		{"items", "Text\n- a\n  b\n* c\n12) d\n• e\n\n  f\n-g\n1234. h\n1.5 i\n+\nj",
			[]string{"paragraph: Text", "item: a|b", "item: c", "item: d", "item: e", "paragraph +2: f|-g|1234. h|1.5 i|+|j"}},
		{"an item without text", "-\na", []string{"item: |a"}},
		{"tables", "a\n| b |\n|---|\nc", []string{"paragraph: a", "table: | b |||---|", "paragraph: c"}},
		{"rules", "* * *\n___\n- - -\n--", []string{"rule: ", "rule: ", "rule: ", "paragraph: --"}},
		{"code", "a\n ```go x\n # b\n\n```\nc\n~~~\nd", []string{"paragraph: a", "code go x +1:  # b||", "paragraph: c",
			"code: d"}},
		{"code without lines", "```\n```", []string{"code: "}},
		{"quotations", "a\n> b\n>c\nd\n> > # e\n\n> f\n>\n> g", []string{"paragraph: a", "paragraph quoted: b|c", "paragraph: d",
			"paragraph quoted: # e", "paragraph quoted: f||g"}},
		{"indented text", "    a\n    b\nc\n    d", []string{"paragraph +4: a|b", "paragraph: c|d"}},
		{"notes between colons", "a\n:::caution[B *c*]\nd\n:::\ne\n::: details f\n:::{tip} g", []string{"paragraph: a",
			"note Caution: B *c*", "paragraph: d", "note: ", "paragraph: e", "note: f", "note Tip: g"}},
		{"quoted notes", "> [!WARNING]\n> a\n\n>[!tip]+ B\n> c\n\n> [!pier]\n> d\n\ne\n[!note] f", []string{"note Warning: ",
			"paragraph quoted: a", "note Tip: B", "paragraph quoted: c", "paragraph quoted: [!pier]|d", "paragraph: e|[!note] f"}},
		{"no notes in code", "```\n:::tip\n> [!TIP]\n```", []string{"code: :::tip|> [!TIP]|"}},
	} {
		var got []string
		for b := range Blocks(c.text) {
			got = append(got, outline(b))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestUnquotedTextHasTheBlocksOfAnother(t *testing.T) {
	text := "> # A\n>> b\n>\n> ```\n> > c\n> ```\n- d > e"
	var got []string
	for b := range Blocks(Unquote(text)) {
		got = append(got, outline(b))
	}
	want := []string{"heading 1 +2: A", "paragraph +3: b", "code +2:     c|", "item: d > e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadingMayEnd(t *testing.T) {
	for _, text := range []string{"a\n\nb", "# a\n# b", "```\na\n```\nb", "a\n- b\n- c", "> [!TIP]\n> a"} {
		n := 0
		for range Blocks(text) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("%q: %d blocks", text, n)
		}
	}
}

// FuzzBlocks holds what readers build on: blocks are whole lines in order,
// nothing but empty lines is between them, and code is what Fence says.
func FuzzBlocks(f *testing.F) {
	for _, seed := range []string{"", "a\n===\n\n- b\n  c\n> d\n|e|\n```\nf\n```\n:::tip[g]\n# h", "~~~\na", "\t- a\r\n\r\n    b",
		"> [!TIP] a\n>\n---\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, text := range []string{text, Unquote(text)} {
			var fence Fence
			at := 0
			check := func(from, to int, code, empty bool) {
				for line := range strings.Lines(text[from:to]) {
					if part := fence.Next(line); (part != Text) != code || empty && strings.TrimSpace(line) != "" {
						t.Fatalf("%q is part %d, in a block of code: %v, between blocks: %v", line, part, code, empty)
					}
				}
			}
			for b := range Blocks(text) {
				if b.Start < at || b.End <= b.Start || b.Start > 0 && text[b.Start-1] != '\n' ||
					b.End < len(text) && text[b.End-1] != '\n' {
					t.Fatalf("%+v after %d in %q", b, at, text)
				}
				check(at, b.Start, false, true)
				check(b.Start, b.End, b.Kind == Source, false)
				at = b.End
				if b.Kind == Source && !strings.Contains(text[b.Start:b.End], b.Text) {
					t.Fatalf("code %q is not in %q", b.Text, text[b.Start:b.End])
				}
				if (b.Kind == Heading) != (b.Level > 0) || b.Kind != Source && b.Fence != (Fence{}) {
					t.Fatalf("%+v", b)
				}
			}
			check(at, len(text), false, true)
		}
		if u := Unquote(text); len(u) != len(text) || strings.Count(u, "\n") != strings.Count(text, "\n") {
			t.Fatalf("%q became %q", text, u)
		}
	})
}

// FuzzNote holds that a note as a reader sees it is none any more.
func FuzzNote(f *testing.F) {
	for _, seed := range []string{":::tip[a]", "::: {.x}", "> [!WARNING] b", ":::a[:::b]", ":::tip [!TIP]", ":::"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		n, ok := ReadNote(line)
		if !ok {
			return
		}
		if again, ok := ReadNote(n.String()); ok {
			t.Fatalf("%q becomes %q, which is the note %+v", line, n.String(), again)
		}
	})
}
