package markdown_test

import (
	"slices"
	"testing"

	"almanac/text/markdown"
)

func TestAnchors(t *testing.T) {
	a := markdown.Anchors{}
	var got []string
	for _, h := range [][2]string{{"", "Was ist Neu?"}, {"", "was ist neu"}, {"own", "Setup"}, {"", "Own"}, {"", "own-1"},
		{"", "snake_case & C++"}, {"", "Größe – 5 m²"}} {
		got = append(got, a.Add(h[0], h[1]))
	}
	want := []string{"was-ist-neu", "was-ist-neu-1", "own", "own-1", "own-1-1", "snake_case--c", "größe--5-m"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
