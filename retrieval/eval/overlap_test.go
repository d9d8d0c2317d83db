package eval_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/eval"
)

// The values are those of RankingSimilarity(a, b).rbo_ext(p) in version 0.1.3 of
// the Python package rbo; a letter is a document.
func TestRBOIsThatOfTheReference(t *testing.T) {
	for _, tt := range []struct {
		a, b    string
		p, want float64
	}{
		{"abcde", "abcde", 0.9, 1},
		{"abcde", "edcba", 0.5, 0.151041666666667},
		{"abcde", "edcba", 0.9, 0.737775},
		{"abcde", "edcba", 0.98, 0.942888706666667},
		{"abc", "xyz", 0.9, 0},
		{"abcdefgh", "bacdx", 0.5, 0.4875},
		{"abcdefgh", "bacdx", 0.9, 0.76878},
		{"bacdx", "abcdefgh", 0.98, 0.795526368},
		{"a", "zya", 0.5, 0.083333333333333},
		{"a", "zya", 0.9, 0.27},
		{"abcdefghij", "cabxyfg", 0.5, 0.337202380952381},
		{"abcdefghij", "cabxyfg", 0.9, 0.639007714285714},
		{"abcdefghij", "cabxyfg", 0.98, 0.698991132970667},
		{"xyzabc", "abc", 0.9, 0.339714},
		{"ab", "cdefab", 0.98, 0.304996404906667},
		{"abcdefghijklmnopqrst", "bdfhjlnprtacegikmoqs", 0.5, 0.225500219214187},
		{"abcdefghijklmnopqrst", "bdfhjlnprtacegikmoqs", 0.98, 0.8623046719032499},
		{"", "", 0.9, 1},
		{"", "ab", 0.9, 0},
	} {
		if got := eval.RBO(letters(tt.a), letters(tt.b), tt.p); !near(got, tt.want, 1e-12) {
			t.Errorf("RBO(%s, %s, %g) = %.15f, want %.15f", tt.a, tt.b, tt.p, got, tt.want)
		}
	}
}

func TestJaccard(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		k    int
		want float64
	}{
		{"abcd", "dcba", 4, 1},
		{"abcd", "dcba", 2, 0},
		{"abcd", "abxy", 10, 2. / 6},
		{"abcd", "a", 3, 1. / 3},
		{"", "", 10, 1},
		{"a", "", 10, 0},
	} {
		if got := eval.Jaccard(letters(tt.a), letters(tt.b), tt.k); got != tt.want {
			t.Errorf("Jaccard(%s, %s, %d) = %v, want %v", tt.a, tt.b, tt.k, got, tt.want)
		}
	}
}

// TestOverlapIsASimilarity: from 0 to 1, 1 for the same, and the same both ways.
func TestOverlapIsASimilarity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.StringMatching("[a-m]"), 0, 12, rapid.ID[string])
		a, b := list.Draw(t, "a"), list.Draw(t, "b")
		p := rapid.Float64Range(0.01, 0.99).Draw(t, "p")
		ab, ba := eval.RBO(a, b, p), eval.RBO(b, a, p)
		if ab < 0 || ab > 1+1e-12 || !near(ab, ba, 1e-12) || eval.Jaccard(a, b, 5) != eval.Jaccard(b, a, 5) {
			t.Fatalf("RBO is %v and %v", ab, ba)
		}
		if same := eval.RBO(a, slices.Clone(a), p); !near(same, 1, 1e-12) {
			t.Fatalf("of a ranking with itself RBO is %v", same)
		}
	})
}

func letters(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "")
}
