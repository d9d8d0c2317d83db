package embedded_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
)

// alignment is the optimal string alignment distance by its definition.
func alignment(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestDistanceIsOptimalStringAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := []rune("aabbcdé日")
		a := rapid.SliceOfN(rapid.SampledFrom(letters), 1, 64).Draw(t, "a")
		b := rapid.OneOf(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 70), rapid.Permutation(a)).Draw(t, "b")
		if got, want := embedded.Distance(string(a), string(b)), alignment(a, b); got != want {
			t.Fatalf("%q %q: %d, want %d", string(a), string(b), got, want)
		}
	})
}

func TestExpandFindsAllTermsNearby(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abcé")), 1, 9, -1)
	rapid.Check(t, func(t *rapid.T) {
		vocabulary := rapid.SliceOfNDistinct(word, 1, 60, rapid.ID).Draw(t, "vocabulary")
		e, err := embedded.Open(embedded.Config{})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range vocabulary {
			b := keyword.Batch{Records: []keyword.Record{{ID: int64(i), Title: text(w)}}}
			if err := e.Apply(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		asked := rapid.OneOf(word, rapid.SampledFrom(vocabulary)).Draw(t, "word")
		var want []string
		n := len([]rune(asked))
		for _, w := range vocabulary {
			if d := alignment([]rune(asked), []rune(w)); n >= 3 && d > 0 && (d == 1 || d == 2 && n >= 6) {
				want = append(want, w)
			}
		}
		found, err := e.Expand(t.Context(), asked, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range found {
			got = append(got, x.Term)
			if x.Distance != alignment([]rune(asked), []rune(x.Term)) || x.Documents != 1 {
				t.Fatalf("%q: %+v", asked, x)
			}
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %q, want %q", asked, got, want)
		}
	})
}
