package corpus

import (
	"slices"
	"strings"
	"unicode"
)

// Trigrams returns the hashed character trigrams of a text's words, folded to
// lower case and padded at the words' ends, ascending and distinct.
func Trigrams(text string) []uint32 {
	var out []uint32
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		a, b := rune(' '), rune(' ')
		for _, r := range word {
			out = append(out, trigram(a, b, r))
			a, b = b, r
		}
		out = append(out, trigram(a, b, ' '))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func trigram(a, b, c rune) uint32 {
	return uint32(a)*0x9e3779b1 ^ uint32(b)*0x85ebca6b ^ uint32(c)*0xc2b2ae35
}

// TrigramSet holds the trigrams of a text, to compare others with.
type TrigramSet struct {
	trigrams []uint32
	marked   [1 << markedBits]bool // by their highest bits
}

const markedBits = 10

// NewTrigramSet returns the trigrams of a text.
func NewTrigramSet(text string) *TrigramSet {
	s := &TrigramSet{trigrams: Trigrams(text)}
	for _, t := range s.trigrams {
		s.marked[t>>(32-markedBits)] = true
	}
	return s
}

func (s *TrigramSet) has(t uint32) bool {
	if !s.marked[t>>(32-markedBits)] {
		return false
	}
	_, ok := slices.BinarySearch(s.trigrams, t)
	return ok
}
