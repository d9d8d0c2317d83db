package kb

import (
	"strings"
	"unicode/utf8"

	"almanac/text/markdown"
)

// Covers returns the share of a topic's words that a text has, 0 to 1. Words
// are compared by their first six letters, so that inflections count.
func Covers(text, topic string) float64 {
	stems := map[string]bool{}
	for w := range Words(text) {
		stems[stem(w)] = true
	}
	words := Words(topic)
	n := 0
	for w := range words {
		if stems[stem(w)] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

func stem(word string) string {
	runes := []rune(strings.TrimSuffix(word, "s"))
	return string(runes[:min(6, len(runes))])
}

// Words returns the words of a text of at least three letters or digits, in
// lower case, without those that are in every text.
func Words(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range markdown.Words(text) {
		if utf8.RuneCountInString(w) >= 3 && !StopWords[w] {
			words[w] = true
		}
	}
	return words
}

// StopWords are words that are in every text and that no noun phrase has.
var StopWords = WordSet(`a an the this that these those its their our your his her my it they we you i he she
	and or but nor so of in on at to for from with by per as than then when where while if is are was were be
	been being has have had do does did can could may might must shall should will would not no yes each every
	all any some only own same other both few more most such also just still now there here which who whose what
	how about after before between into over under up down out new old version versions release least requires
	require provides provide serves serve exposes expose uses use runs run one two three four five six seven
	eight nine ten re`)

// WordSet is the set of the words of a text, which blanks part.
func WordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}
