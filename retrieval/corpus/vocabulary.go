package corpus

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
)

// Words of fewer than minExpand characters have no expansions, those of fewer
// than minDistance2 only at distance 1.
const (
	minExpand    = 3
	minDistance2 = 6
	maxPattern   = 64 // characters of a word that has expansions
)

// Expansion is an indexed word near a given one.
type Expansion struct {
	Word      string // folded, not stemmed
	Distance  int    // edits (insertion, deletion, substitution, transposition)
	Documents int    // records that hold it in any of its forms
}

// words are the words of letters that were indexed, with their stems and what a filter
// needs: their first byte, their length in characters and, hashed to 32 bits, which characters occur (low
// half) and which more than once (high half). They only grow at the end, so that
// a published value never changes.
type words struct {
	all     []string
	stems   []analysis.TermID
	firsts  []uint8
	lengths []uint8
	letters []uint64
}

func (w words) with(s string) words {
	n, letters := spell(s)
	return words{append(w.all, s), append(w.stems, analysis.IDOf(analysis.Stem(s))), append(w.firsts, s[0]),
		append(w.lengths, uint8(min(n, math.MaxUint8))), append(w.letters, letters)}
}

// isWord reports whether a word may be read as this one, be it misspelt, begun or a
// character of it: numbers and identifiers are never guessed.
func isWord(s string) bool {
	n, unspaced := 0, false
	for _, r := range s {
		in := analysis.Unspaced(r)
		unspaced = unspaced || in
		if n++; !in && !unicode.IsLetter(r) || n > maxPattern {
			return false
		}
	}
	return n >= minExpand || n > 1 && unspaced
}

func spell(word string) (length int, letters uint64) {
	for _, r := range word {
		length++
		bit := uint64(1) << (r & 31)
		letters |= bit | letters&bit<<32
	}
	return length, letters
}

// Holds reports whether a document holds a word in any of its forms.
func (c *Corpus) Holds(word string) bool {
	return c.counts.of(analysis.IDOf(analysis.Stem(word))).documents > 0
}

// Expand returns up to k indexed words at a distance of 1, or 2 for words of
// six characters or more, in insertions, deletions, substitutions and
// transpositions of neighbours (optimal string alignment); nearest first, then
// the most frequent. The word itself is not among them.
//
// All words are visited, but compared only if they pass a filter (Navarro,
// "A guided tour to approximate string matching", 2001, section 8): an edit
// changes the length by one at most and the bag of letters by two.
func (c *Corpus) Expand(word string, k int) []Expansion {
	p := newPattern(word)
	if p.length < minExpand || p.length > maxPattern || k <= 0 {
		return nil
	}
	most := 1
	if p.length >= minDistance2 {
		most = 2
	}
	var out []Expansion
	lengths := c.words.lengths
	for i, letters := range c.words.letters {
		if bits.OnesCount64(letters^p.letters) > 2*most {
			continue
		}
		if d := int(lengths[i]) - p.length; d > most || d < -most {
			continue
		}
		near := c.words.all[i]
		d := p.distance(near)
		if d == 0 || d > most {
			continue
		}
		if n := c.counts.of(c.words.stems[i]).documents; n > 0 {
			out = append(out, Expansion{Word: near, Distance: d, Documents: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b Expansion) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Documents, a.Documents),
			cmp.Compare(a.Word, b.Word))
	})
	return out[:min(k, len(out))]
}

// Complete returns up to k indexed words that begin with a folded one and are no form of
// it, each in its shortest form: first those that are in the title or path of a
// document, then the most frequent. If there is none, and near is set, it returns those
// whose beginning is one edit away and whose first byte is the same. Function words
// are returned if there is nothing else.
func (c *Corpus) Complete(word string, k int, near bool) []Expansion {
	p := newPattern(word)
	if p.length == 0 || p.length > maxPattern || k <= 0 {
		return nil
	}
	p.stem = analysis.IDOf(analysis.Stem(word))
	found := c.complete(p, k, word[0], 0, func(w string) bool { return strings.HasPrefix(w, word) })
	if len(found) == 0 && near {
		found = c.complete(p, k, word[0], 1, func(w string) bool { return p.beginning(w) == 1 })
	}
	var out []Expansion
	for _, x := range found {
		if x.rank == function && found[0].rank != function {
			break
		}
		out = append(out, x.Expansion)
	}
	return out
}

// Containing returns up to k indexed pairs that a character of a script without spaces
// stands in, the most frequent first.
func (c *Corpus) Containing(character string, k int) []Expansion {
	_, letters := spell(character)
	var out []Expansion
	for i, w := range c.words.all {
		if letters&^c.words.letters[i] != 0 || w == character || !strings.Contains(w, character) {
			continue
		}
		if n := c.counts.of(c.words.stems[i]).documents; n > 0 {
			out = append(out, Expansion{Word: w, Documents: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b Expansion) int {
		return cmp.Or(cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Word, b.Word))
	})
	return out[:min(k, len(out))]
}

// completion is a word that may be meant by its beginning.
type completion struct {
	Expansion
	id   analysis.TermID
	rank int
}

// Ranks of completions.
const (
	inTitle  = iota // a title or path holds it
	inText          // only texts do
	function        // it is a function word
)

func (a completion) compare(b completion) int {
	return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.Documents, a.Documents), cmp.Compare(a.Word, b.Word))
}

// complete returns the best k words that match, one of each stem. They have the first
// byte, and the pattern is at that many edits from their beginning.
func (c *Corpus) complete(p *pattern, k int, first uint8, edits int, match func(string) bool) (best []completion) {
	for i, x := range c.words.firsts {
		if x != first || bits.OnesCount64(p.letters&^c.words.letters[i]) > edits || !match(c.words.all[i]) {
			continue
		}
		id := c.words.stems[i]
		n := c.counts.of(id)
		if id == p.stem || n.documents == 0 {
			continue
		}
		w := c.words.all[i]
		x := completion{Expansion{w, edits, int(n.documents)}, id, inText}
		switch {
		case analysis.IsStop(w):
			x.rank = function
		case n.titles > 0:
			x.rank = inTitle
		}
		if at := slices.IndexFunc(best, func(b completion) bool { return b.id == id }); at >= 0 {
			if have := best[at].Word; len(w) < len(have) || len(w) == len(have) && w < have {
				best[at].Word = w
			}
			continue
		}
		if len(best) == k && x.compare(best[k-1]) > 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, x, completion.compare)
		best = slices.Insert(best, at, x)
		best = best[:min(k, len(best))]
	}
	return best
}

// pattern is a word prepared for bit-parallel comparison.
type pattern struct {
	length  int
	letters uint64
	stem    analysis.TermID       // if it matters
	ascii   [utf8.RuneSelf]uint64 // where in the word each character stands
	other   map[rune]uint64
}

func newPattern(word string) *pattern {
	p := &pattern{}
	p.length, p.letters = spell(word)
	i := 0
	for _, r := range word {
		if i == maxPattern {
			break
		}
		if r < utf8.RuneSelf {
			p.ascii[r] |= 1 << i
		} else {
			if p.other == nil {
				p.other = map[rune]uint64{}
			}
			p.other[r] |= 1 << i
		}
		i++
	}
	return p
}

// distance is the optimal string alignment distance to a word.
func (p *pattern) distance(word string) int {
	whole, _ := p.distances(word)
	return whole
}

// beginning is the distance to the nearest beginning of a word.
func (p *pattern) beginning(word string) int {
	_, nearest := p.distances(word)
	return nearest
}

// distances are the optimal string alignment distances to a word and to the nearest
// beginning of it, computed a column at a time in the bits of a word (Hyyrö, "A
// bit-vector algorithm for computing Levenshtein and Damerau edit distances", 2003).
func (p *pattern) distances(word string) (whole, nearest int) {
	vp, vn := ^uint64(0), uint64(0)
	var d0, before uint64 // before: matches of the previous character
	distance := p.length
	nearest = distance
	last := uint64(1) << (p.length - 1)
	for _, r := range word {
		var match uint64
		if r < utf8.RuneSelf {
			match = p.ascii[r]
		} else {
			match = p.other[r]
		}
		transposed := (^d0 & match) << 1 & before
		d0 = ((match & vp) + vp ^ vp) | match | vn | transposed
		hp := vn | ^(d0 | vp)
		hn := vp & d0
		if hp&last != 0 {
			distance++
		}
		if hn&last != 0 {
			distance--
		}
		hp = hp<<1 | 1
		hn <<= 1
		vp = hn | ^(d0 | hp)
		vn = hp & d0
		before = match
		nearest = min(nearest, distance)
	}
	return distance, nearest
}
