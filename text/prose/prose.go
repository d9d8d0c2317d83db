// Package prose reads what people write in sentences: the words that tell a text from others.
package prose

import (
	"strings"
	"unicode/utf8"

	"almanac/text/markdown"
)

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

// StopWords are words that are in every text and that name nothing.
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

// FirstBytes returns at most n bytes of a text, cut between characters.
func FirstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// First returns the first n characters.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
