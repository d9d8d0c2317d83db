package derive

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Covers returns the share of a topic's words that a text has, 0 to 1. Words
// are compared by their first six letters, so that inflections count.
func Covers(text, topic string) float64 {
	stems := map[string]bool{}
	for w := range wordsOf(text) {
		stems[stem(w)] = true
	}
	words := wordsOf(topic)
	n := 0
	for w := range words {
		if stems[stem(w)] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

func stem(word string) string {
	runes := []rune(singular(word))
	return string(runes[:min(6, len(runes))])
}

// wordsOf returns the words of a text of at least three letters or digits, in
// lower case, without those that are in every text.
func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if utf8.RuneCountInString(w) >= 3 && !stopWords[w] {
			words[w] = true
		}
	}
	return words
}
