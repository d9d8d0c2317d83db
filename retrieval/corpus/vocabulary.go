package corpus

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
)

// WordsVersion identifies which words of a text are kept.
const WordsVersion = "2"

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

// vocabulary holds all words of letters that were ever indexed, with what a
// filter needs: their length in characters and, hashed to 32 bits, which
// characters occur (low half) and which more than once (high half).
type vocabulary struct {
	words   []string
	known   map[string]struct{}
	lengths []uint8
	letters []uint64
}

// isWord reports whether a misspelt word may be read as this one: numbers and
// identifiers are never guessed.
func isWord(s string) bool {
	n := 0
	for _, r := range s {
		if n++; !unicode.IsLetter(r) || n > maxPattern {
			return false
		}
	}
	return n >= minExpand
}

// unknown returns the words that are not in the vocabulary, each once. They are
// as in the texts, not stemmed: people misspell words, and stems are in no list
// of known words. Two words joined by a hyphen, which are also one term, are
// kept as that term.
func (v *vocabulary) unknown(texts iter.Seq2[string, []analysis.Token]) []string {
	fresh := map[string]struct{}{}
	for text, tokens := range texts {
		for _, t := range tokens {
			if _, ok := v.known[text[t.Start:t.End]]; ok {
				continue // most words are lower case and need no folding
			}
			word := t.Word(text)
			if !isWord(word) {
				word = t.Term
			}
			if _, ok := v.known[word]; !ok && isWord(word) {
				fresh[word] = struct{}{}
			}
		}
	}
	out := make([]string, 0, len(fresh))
	for w := range fresh {
		out = append(out, w)
	}
	slices.Sort(out)
	return out
}

func (v *vocabulary) add(words []string) {
	if v.known == nil {
		v.known = make(map[string]struct{}, len(words))
	}
	for _, w := range words {
		if _, ok := v.known[w]; ok {
			continue
		}
		n, letters := spell(w)
		v.known[w] = struct{}{}
		v.words, v.lengths, v.letters = append(v.words, w), append(v.lengths, uint8(min(n, 255))),
			append(v.letters, letters)
	}
}

func spell(word string) (length int, letters uint64) {
	for _, r := range word {
		length++
		bit := uint64(1) << (r & 31)
		letters |= bit | letters&bit<<32
	}
	return length, letters
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
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []Expansion
	lengths := c.vocabulary.lengths
	for i, letters := range c.vocabulary.letters {
		if bits.OnesCount64(letters^p.letters) > 2*most {
			continue
		}
		if d := int(lengths[i]) - p.length; d > most || d < -most {
			continue
		}
		near := c.vocabulary.words[i]
		d := p.distance(near)
		if d == 0 || d > most {
			continue
		}
		if n := c.counts[analysis.IDOf(analysis.Stem(near))].documents; n > 0 {
			out = append(out, Expansion{Word: near, Distance: d, Documents: int(n)})
		}
	}
	slices.SortFunc(out, func(a, b Expansion) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(b.Documents, a.Documents),
			cmp.Compare(a.Word, b.Word))
	})
	return out[:min(k, len(out))]
}

// pattern is a word prepared for bit-parallel comparison.
type pattern struct {
	length  int
	letters uint64
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

// distance is the optimal string alignment distance to a word, computed a
// column at a time in the bits of a word (Hyyrö, "A bit-vector algorithm for
// computing Levenshtein and Damerau edit distances", 2003).
func (p *pattern) distance(word string) int {
	vp, vn := ^uint64(0), uint64(0)
	var d0, before uint64 // before: matches of the previous character
	distance := p.length
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
	}
	return distance
}
