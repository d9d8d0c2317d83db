package corpus

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/catalog"
	"almanac/retrieval/analysis"
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
		if got, want := newPattern(string(a)).distance(string(b)), alignment(a, b); got != want {
			t.Fatalf("%q %q: %d, want %d", string(a), string(b), got, want)
		}
		nearest := len(a)
		for i := range b {
			nearest = min(nearest, alignment(a, b[:i+1]))
		}
		if got := newPattern(string(a)).beginning(string(b)); got != nearest {
			t.Fatalf("%q, a beginning of %q: %d, want %d", string(a), string(b), got, nearest)
		}
	})
}

// titled returns the writer of a corpus of records that have these titles and nothing else.
func titled(t interface {
	Helper()
	Fatal(...any)
}, titles ...string) *Writer {
	t.Helper()
	w := NewWriter(time.Now, nil)
	for i, title := range titles {
		tokens := analysis.Analyze(title)
		packed := analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Title: tokens})
		terms, err := analysis.View(packed)
		if err != nil {
			t.Fatal(err)
		}
		words := w.UnknownWords(maps.All(map[string][]analysis.Token{title: tokens}))
		r := catalog.Record{ID: int64(i + 1), Kind: catalog.KindDoc, Key: "k", Title: title}
		apply(t, w, []*Document{NewDocument(r, []analysis.Packed{terms})}, nil, words)
	}
	return w
}

func TestExpandFindsAllWordsNearby(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("bcxzé")), 1, 9, -1)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(word, 1, 60, rapid.ID).Draw(t, "words")
		corpus := titled(t, words...).Corpus()
		var held []string
		for _, w := range words {
			if folded := analysis.Fold(w); !slices.Contains(held, folded) {
				held = append(held, folded)
			}
		}
		asked := rapid.OneOf(word, rapid.SampledFrom(held)).Draw(t, "word")
		var want []string
		n := len([]rune(asked))
		for _, w := range held {
			if d := alignment([]rune(asked), []rune(w)); n >= 3 && len([]rune(w)) >= 3 && d > 0 &&
				(d == 1 || d == 2 && n >= 6) {
				want = append(want, w)
			}
		}
		var got []string
		for _, x := range corpus.Expand(asked, 1000) {
			got = append(got, x.Word)
			if x.Distance != alignment([]rune(asked), []rune(x.Word)) || x.Documents < 1 {
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

func TestExpand(t *testing.T) {
	writer := titled(t, "quartz ledger", "harbor ledger", "harbor falcon", "falcon москва", "zenit",
		"node-7 v2.1 sha256", strings.Repeat("y", 70),
		"Validators", "validator's buyTraffic", "Operator's multi-sig")
	corpus := writer.Corpus()
	for _, c := range []struct {
		name, word string
		want       Expansion
	}{
		{"two edits", "lagder", Expansion{"ledger", 2, 2}},
		{"not a letter of ASCII", "москво", Expansion{"москва", 1, 1}},
		{"a word, not its stem", "vaildators", Expansion{"validators", 1, 2}},
		{"counted in any of its forms", "vaildator", Expansion{"validator", 1, 2}},
		{"a word of a name in camelCase", "trafic", Expansion{"traffic", 1, 1}},
		{"a possessive", "operater", Expansion{"operator", 1, 1}},
		{"joined by a hyphen", "multisg", Expansion{"multisig", 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if found := corpus.Expand(c.word, 5); !slices.Contains(found, c.want) {
				t.Errorf("%q: %+v, want %+v", c.word, found, c.want)
			}
		})
	}
	for _, word := range []string{"", "a", "xylophone", "sha255", "v2.2", strings.Repeat("y", 69),
		strings.Repeat("y", 5000)} {
		if found := corpus.Expand(word, 5); len(found) > 0 {
			t.Errorf("%.20q: %+v", word, found)
		}
	}
	if found := corpus.Expand("harbr", 0); len(found) > 0 {
		t.Errorf("k 0: %+v", found)
	}
	apply(t, writer, nil, []int64{5}, nil)
	if found := writer.Corpus().Expand("zenitt", 5); len(found) > 0 {
		t.Errorf("a word that only a deleted record held is an expansion: %+v", found)
	}
}

// TestCompleteFindsAllWordsThatBeginSo: those and no others, and if there is none, those that nearly do.
func TestCompleteFindsAllWordsThatBeginSo(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("bcxzé")), 3, 9, -1)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfNDistinct(word, 1, 60, analysis.Fold).Draw(t, "words")
		corpus := titled(t, words...).Corpus()
		begun := analysis.Fold(rapid.StringOfN(rapid.SampledFrom([]rune("bcxzé")), 1, 6, -1).Draw(t, "begun"))
		var same, near []string
		for _, w := range words {
			w = analysis.Fold(w)
			letters, nearest := []rune(w), 9
			for i := range letters {
				nearest = min(nearest, alignment([]rune(begun), letters[:i+1]))
			}
			switch {
			case analysis.Stem(w) == analysis.Stem(begun):
			case strings.HasPrefix(w, begun):
				same = append(same, w)
			case nearest == 1 && w[0] == begun[0]:
				near = append(near, w)
			}
		}
		for _, also := range []bool{false, true} {
			want := same
			if also && len(same) == 0 {
				want = near
			}
			var got []string
			for _, x := range corpus.Complete(begun, 1000, also) {
				got = append(got, x.Word)
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%q of %q: %q, want %q", begun, words, got, want)
			}
		}
	})
}

func TestCompletePutsFirstWhatIsLikely(t *testing.T) {
	writer := titled(t, "traffic", "trade traffic", "train", "trains", "who wrote the theory", "what", "zenith")
	for begun, want := range map[string][]Expansion{
		"tra":   {{"traffic", 0, 2}, {"train", 0, 2}},
		"trai":  {{"train", 0, 2}},
		"train": nil,                // the word itself, and a form of it
		"th":    {{"theory", 0, 1}}, // and no function word
		"wh":    {{"what", 0, 1}, {"who", 0, 1}},
		"zemit": {{"zenith", 1, 1}},
		"xy":    nil,
		"":      nil,
	} {
		if got := writer.Corpus().Complete(begun, 2, true); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", begun, got, want)
		}
	}
	apply(t, writer, nil, []int64{7}, nil)
	if got := writer.Corpus().Complete("zen", 2, true); got != nil {
		t.Errorf("a word that only a deleted record held: %+v", got)
	}
}

// TestContainingFindsThePairsOfACharacter: the most frequent first, and none that is gone.
func TestContainingFindsThePairsOfACharacter(t *testing.T) {
	writer := titled(t, "閘門開啟", "水閘門的鎖", "舊閘口", "ประตูน้ำ", "gate 閘", "등대를 켠다")
	for character, want := range map[string][]Expansion{
		"閘": {{"閘門", 0, 2}, {"水閘", 0, 1}, {"舊閘", 0, 1}, {"閘口", 0, 1}},
		"鎖": {{"的鎖", 0, 1}},
		"ร": {{"ปร", 0, 1}, {"ระ", 0, 1}},
		"대": {{"대를", 0, 1}, {"등대", 0, 1}},
		"魚": nil,
	} {
		if got := writer.Corpus().Containing(character, 9); !slices.Equal(got, want) {
			t.Errorf("%q: %+v, want %+v", character, got, want)
		}
	}
	if got := writer.Corpus().Containing("閘", 1); len(got) != 1 || got[0].Documents != 2 {
		t.Errorf("of several pairs one is %+v", got)
	}
	apply(t, writer, nil, []int64{3}, nil)
	if got := writer.Corpus().Containing("舊", 9); got != nil {
		t.Errorf("a pair that only a deleted record held: %+v", got)
	}
}
