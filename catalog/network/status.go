package network

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Statuses are the statuses that a proposal of any network can have. The
// network maps its own words to them.
var Statuses = []string{"Draft", "Review", "Final", "Withdrawn", "Rejected", "Superseded"}

// Status maps a raw status word to one of Statuses, ignoring case and
// surrounding space. An unknown word gets the meaning of Default, and known is
// false so that the caller can warn.
func (p Proposals) Status(raw string) (mapped string, known bool) {
	if status, ok := p.meaning(raw); ok {
		return status, true
	}
	status, _ := p.meaning(p.Default)
	return status, false
}

// meaning returns the status that a word means.
func (p Proposals) meaning(word string) (string, bool) {
	word = fold(word)
	if status, ok := status(word); ok {
		return status, true
	}
	for from, target := range p.StatusMap {
		if fold(from) == word {
			return status(target)
		}
	}
	return "", false
}

// status returns the one of Statuses that equals a word, case-insensitively.
func status(word string) (string, bool) {
	for _, s := range Statuses {
		if strings.EqualFold(s, word) {
			return s, true
		}
	}
	return "", false
}

// IsDecided reports whether a proposal is decided that has one of the package's
// Statuses, and a word of the network for it; "" = none is known.
func (p Proposals) IsDecided(status, word string) bool {
	if len(p.Decided) == 0 {
		return status == "Final"
	}
	word = fold(cmp.Or(word, status))
	return slices.ContainsFunc(p.Decided, func(decided string) bool { return fold(decided) == word })
}

// Words returns the words that a status filter accepts: Statuses, then the
// network's own words in the order of its file.
func (p Proposals) Words() []string {
	words := slices.Clone(Statuses)
	for _, word := range p.Statuses {
		if _, ok := status(word); !ok {
			words = append(words, word)
		}
	}
	return words
}

// spellings are all words that have a meaning: Words, then those that only the
// status map has.
func (p Proposals) spellings() []string {
	words := p.Words()
	for _, word := range slices.Sorted(maps.Keys(p.StatusMap)) {
		if !slices.ContainsFunc(words, func(other string) bool { return fold(other) == fold(word) }) {
			words = append(words, word)
		}
	}
	return words
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
