package sample

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/text/pdf"
)

var ebb = time.Date(2031, 6, 17, 0, 0, 0, 0, time.UTC)

func TestReadPage(t *testing.T) {
	text := "---\ntitle: Tea\nsince: -3 08:00\n---\n=== ottoline -22 14:05 likes=3\nWhat do I show?\n\nTwice.\n\n=== " +
		"Jetty & Daughters -2 09:00 re=1 answer\nThis.\n"
	fields, attributes := []string{"title", "since", "tags"}, []string{"re", "likes", "answer"}
	got, err := readPage("forum/7.md", text, fields, attributes, ebb)
	if err != nil {
		t.Fatal(err)
	}
	head := map[string]any{"title": "Tea", "since": time.Date(2031, 6, 14, 8, 0, 0, 0, time.UTC), "tags": nil}
	want := []*entry{
		{got, 1, "ottoline", time.Date(2031, 5, 26, 14, 5, 0, 0, time.UTC),
			map[string]any{"likes": 3, "re": nil, "answer": nil}, "What do I show?\n\nTwice."},
		{got, 2, "Jetty & Daughters", time.Date(2031, 6, 15, 9, 0, 0, 0, time.UTC),
			map[string]any{"likes": nil, "re": 1, "answer": true}, "This."},
	}
	if diff := cmp.Diff(want, got.Entries, cmpopts.IgnoreFields(entry{}, "Page")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(head, got.Head); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct{ text, want string }{
		"no head":               {"=== a -1 10:00\n", "want a head"},
		"a head without an end": {"---\ntitle: x\n", "want a head"},
		"an unknown field":      {"---\ntitel: x\n---\n=== a -1 10:00\n", "titel; want one of title"},
		"a moment to come":      {"---\nsince: -0 10:00\n---\n=== a -1 10:00\n", "since: lies on or after the anchor"},
		"no entry":              {"---\ntitle: x\n---\n\n", "no entry"},
		"a text before":         {"---\ntitle: x\n---\nhello\n=== a -1 10:00\n", "before the first entry"},
		"no time":               {"---\ntitle: x\n---\n=== a -1\n", "want === WRITER"},
		"a time to come":        {"---\ntitle: x\n---\n=== a -0 10:00\n", "on or after the anchor"},
		"an unknown attribute":  {"---\ntitle: x\n---\n=== a -1 10:00 hearts=2\n", "hearts; want one of re"},
		"a count that is not":   {"---\ntitle: x\n---\n=== a -1 10:00 re=b\n", "not a number"},
		"an answer to itself":   {"---\ntitle: x\n---\n=== a -1 10:00 re=1\n", "does not come before it"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := readPage("forum/7.md", c.text, fields, attributes, ebb)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v; want %q", err, c.want)
			}
		})
	}
}

// TestPapersAreReadable holds a PDF against the text it was made of.
func TestPapersAreReadable(t *testing.T) {
	text := strings.Repeat("A paragraph of words that have to be broken into lines because it is long.\n", 100) +
		"\n## 2. Figures\n\n```\nlow   1\nhigh  2\n```\n\nThe end.\n"
	got, pages, err := pdf.Text([]byte(writePDF("On (small) tides", "Osric Tidewell", text)), 0)
	if err != nil || pages < 2 {
		t.Fatalf("%d pages, %v", pages, err)
	}
	words := strings.Join(strings.Fields(got), " ")
	for _, want := range []string{"On (small) tides",
		"A paragraph of words that have to be broken into lines because it is long. A paragraph of words",
		"2. Figures low 1 high 2 The end."} {
		if !strings.Contains(words, want) {
			t.Errorf("%q is not in …%s", want, words[max(0, len(words)-300):])
		}
	}
}

func TestCaptions(t *testing.T) {
	got, err := captions("[0:01] Mirela Eelgrass: Two chairs and a teapot.\n\n[1:05] Applause.")
	want := "\n00:00:01.000 --> 00:00:03.050\n<v Mirela Eelgrass>Two chairs " +
		"and a teapot.\n" +
		"\n00:01:05.000 --> 00:01:05.410\nApplause."
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, text := range []string{"No time.", "[0:01] One two three four five six.\n\n[0:02] Too early."} {
		if _, err := captions(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
