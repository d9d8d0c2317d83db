package passage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"almanac/retrieval/passage"
)

// sentences are n of them, of 60 characters each.
func sentences(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%-58s. ", fmt.Sprintf("Sentence %d about the %s", i, word))
		if i%8 == 7 {
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

func TestOutlineNamesSections(t *testing.T) {
	o := passage.NewOutline("T", "intro\n# A\na\n## Same\nb\n## Same\nc\n# ???\nd\n# Top\ne")
	var got []string
	for _, h := range o.Headings() {
		got = append(got, fmt.Sprintf("%s %d %s", h.Name, h.Level, h.Text))
	}
	want := []string{"a 1 A", "same 2 Same", "same-1 2 Same", "top-1 1 ???", "top 1 Top"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, want := range map[string]passage.Reading{
		"top-0":  {Text: "intro", After: "a"},
		"a":      {Heading: "A", Text: "# A\na\n## Same\nb\n## Same\nc", Before: "top-0", After: "top-1"},
		"same":   {Heading: "A › Same", Text: "## Same\nb", Before: "a", After: "same-1"},
		"same-1": {Heading: "A › Same", Text: "## Same\nc", Before: "same", After: "top-1"},
		"top":    {Heading: "Top", Text: "# Top\ne", Before: "top-1"},
	} {
		want.Name = name
		if got, ok := o.Read(name); !ok || !cmp.Equal(want, got) {
			t.Errorf("%s (-want +got):\n%s", name, cmp.Diff(want, got))
		}
	}
	for _, name := range []string{"", "b", "a~2", "a~0", "a~x", "~1"} {
		if r, ok := o.Read(name); ok {
			t.Errorf("%q reads %+v", name, r)
		}
	}
}

// TestLongSectionsAreReadInParts also holds that passages name what is around
// them.
func TestLongSectionsAreReadInParts(t *testing.T) {
	body := "# Short\n" + sentences(10, "sail") + "\n# Long\n" + sentences(passage.ReadingSize*5/2/60, "oar") +
		"\n## Inside\n" + sentences(20, "mast")
	o := passage.NewOutline("T", body)
	first, _ := o.Read("long")
	if n := utf8.RuneCountInString(first.Text); n > passage.ReadingSize || n < passage.ReadingSize/2 ||
		first.After != "long~2" ||
		len(first.Inside) != 1 || first.Inside[0].Name != "inside" || first.Before != "short" {
		t.Errorf("the first part has %d characters, after it %s, in it %v", n, first.After, first.Inside)
	}
	last, ok := o.Read("long~3")
	if !ok || last.Before != "long~2" || last.After != "inside" || !strings.Contains(last.Text, "Sentence 330") {
		t.Errorf("the last part: %v %+v", ok, last)
	}
	for _, p := range passage.Cut(passage.Source{Title: "T", Body: body}) {
		r, ok := o.Read(p.Section)
		if end := p.Text[max(0, len(p.Text)/2-10) : len(p.Text)/2]; !ok || !strings.Contains(r.Text, end) {
			t.Errorf("the passage %.60q… names %q, which lacks %q", p.Text, p.Section, end)
		}
	}
	for _, p := range passage.Cut(passage.Source{Title: "T", Body: "# A\nx\n# B\n" + sentences(20, "mast")}) {
		if p.Section != "" {
			t.Errorf("a short text is read by %q", p.Section)
		}
	}
}

// TestFurtherPassagesAreReadBeside reads a section with passages elsewhere.
func TestFurtherPassagesAreReadBeside(t *testing.T) {
	body := "# A\n" + sentences(30, "sail") + "\n# B\n" + sentences(120, "oar") + "\n# C\n" + sentences(120, "mast")
	o := passage.NewOutline("T", body)
	pieces := passage.Cut(passage.Source{Title: "T", Body: body})
	first := func(section string) int {
		return slices.IndexFunc(pieces, func(p passage.Piece) bool { return p.Section == section })
	}
	a, b, c := first("a"), first("b"), first("c")
	if a != 0 || b <= a || c <= b {
		t.Fatalf("passages %d, %d, %d", a, b, c)
	}
	for name, want := range map[string][]int{
		"a": nil,
		passage.ReadingName("a", []int{c, a, b, c}):              {b, c}, // without its own, once, in their order
		passage.ReadingName("a", []int{len(pieces), -1}):         nil,
		passage.ReadingName("c", []int{b, b + 1, b + 2, a, 1}):   {b}, // as many as are read at once
		passage.ReadingName("b", slices.Repeat([]int{a}, 1_000)): {a},
	} {
		r, ok := o.Read(name)
		var got []int
		for _, p := range r.Further {
			got = append(got, p.Ordinal)
		}
		if !ok || !slices.Equal(got, want) {
			t.Errorf("%.40q reads passages %v (%v), want %v", name, got, ok, want)
		}
	}
	for _, name := range []string{"no such+0", "a+", "a+x", "+1", "+"} {
		if r, ok := o.Read(name); ok {
			t.Errorf("%q reads %+v", name, r)
		}
	}
}

// TestReadingOnReadsAll follows what is after from the first section.
func TestReadingOnReadsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var body strings.Builder
		for i := range rapid.IntRange(1, 12).Draw(t, "sections") {
			fmt.Fprintf(&body, "%s Part %d\n\n%s\n\n", strings.Repeat("#", rapid.IntRange(1, 4).Draw(t, "level")),
				rapid.IntRange(0, 3).Draw(t, "name"),
				sentences(rapid.IntRange(0, 120).Draw(t, "sentences"), fmt.Sprint("boat ", i)))
		}
		o := passage.NewOutline("T", body.String())
		var read strings.Builder
		steps := 0
		for name := o.Headings()[0].Name; name != ""; steps++ {
			r, ok := o.Read(name)
			if !ok || steps > 200 {
				t.Fatalf("after %d steps there is no %q", steps, name)
			}
			read.WriteString(r.Text + "\n")
			name = r.After
		}
		if got, want := strings.Fields(read.String()), strings.Fields(body.String()); !cmp.Equal(want, got) {
			t.Errorf("reading on gives %d words of %d", len(got), len(want))
		}
		for _, p := range passage.Cut(passage.Source{Title: "T", Body: body.String()}) {
			if _, ok := o.Read(p.Section); !ok && p.Section != "" {
				t.Errorf("a passage names %q", p.Section)
			}
		}
	})
}

func FuzzOutline(f *testing.F) {
	f.Add("# A+1\n# A\n", "a+1+0")
	for _, s := range []string{"", "# A\n## A\n# A~2\n", "```\n# a", "\xff\x00# {#x}\n" +
		strings.Repeat("long ", 3_000)} {
		f.Add(s, "a~2")
	}
	f.Fuzz(func(t *testing.T, body, name string) {
		o := passage.NewOutline("title", body)
		seen := map[string]bool{}
		for _, h := range o.Headings() {
			if r, ok := o.Read(h.Name); !ok || seen[h.Name] || !utf8.ValidString(r.Text) {
				t.Errorf("%q of %q", h.Name, body)
			}
			seen[h.Name] = true
		}
		o.Read(name)
	})
}
