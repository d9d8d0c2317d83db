package snippet

import (
	"strings"
	"unicode/utf8"
)

// PassageLength is the length of a passage that is shown whole, in characters.
const PassageLength = 1200

// Passage returns a text of more than one line, or, if it is longer than limit
// characters, the part of it that covers the query best, as Snippet chooses: it
// begins and ends with a sentence, a list item or a row of a table or of code
// where they fit. … marks omitted text; the fields at the head of a text are left out
// unmarked.
func (m *Matcher) Passage(text string, limit int) string {
	text = withoutHeader(strings.TrimSpace(text))
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	want := best(text, m.matches(text), m.weights, limit)
	start, end := 0, 0
	room := limit - 2*len("… ") // the marks
	for _, stop := range stops(text) {
		// To make room, sentences before the match are dropped; then the passage ends.
		for utf8.RuneCountInString(text[start:stop]) > room && start < end && end <= want[0] {
			start = nextStart(text, start, end)
		}
		if utf8.RuneCountInString(text[start:stop]) > room {
			break
		}
		end = stop
	}
	if end <= want[0] { // one sentence that is too long
		start, end = window(text, want, limit-2)
	}
	shown := strings.TrimSpace(text[start:end])
	if strings.TrimSpace(text[:start]) != "" {
		shown = "… " + shown
	}
	if strings.TrimSpace(text[end:]) != "" {
		shown += " …"
	}
	return shown
}

// nextStart returns where the sentence or line after the one at start begins,
// at most end.
func nextStart(text string, start, end int) int {
	for _, stop := range stops(text[start:end]) {
		if stop > 0 {
			return start + stop
		}
	}
	return end
}

// stops returns where lines end, and sentences that are followed by a space
// and no lower-case letter.
func stops(text string) []int {
	var all []int
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\n':
			all = append(all, i+1)
		case '.', '?', '!':
			if i+2 < len(text) && text[i+1] == ' ' && !('a' <= text[i+2] && text[i+2] <= 'z') {
				all = append(all, i+2)
			}
		}
	}
	return append(all, len(text))
}
