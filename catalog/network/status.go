package network

import (
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

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
