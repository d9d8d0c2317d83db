package proposal

import (
	"slices"
	"strings"

	"almanac/text/markdown"
)

// Register holds the numbered proposals of a repository, to tell a draft that
// is a text of one of them from a draft with a number that another proposal got
// in the end.
type Register struct {
	byNumber map[string]string   // number → title
	byTitle  map[string][]string // folded title → numbers
	words    map[string]int      // number of titles with the word
}

// add registers a numbered proposal.
func (r *Register) add(number, title string) {
	if r == nil {
		return
	}
	if r.byNumber == nil {
		r.byNumber, r.byTitle, r.words = map[string]string{}, map[string][]string{}, map[string]int{}
	}
	if _, ok := r.byNumber[number]; ok {
		return
	}
	r.byNumber[number] = title
	folded := strings.Join(markdown.Words(title), " ")
	r.byTitle[folded] = append(r.byTitle[folded], number)
	for w := range distinct(title) {
		r.words[w]++
	}
}

// of returns the numbered proposal that a draft with this title is a text of,
// or "": the one with the draft's own number if their titles are equal or share
// a word that no other numbered proposal has, else the only one with the title.
func (r *Register) of(number, title string) string {
	if r == nil {
		return ""
	}
	same := r.byTitle[strings.Join(markdown.Words(title), " ")]
	if slices.Contains(same, number) {
		return number
	}
	if numbered, ok := r.byNumber[number]; ok {
		words := distinct(numbered)
		for w := range distinct(title) {
			if words[w] && r.words[w] == 1 {
				return number
			}
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	return ""
}

// distinct returns the set of a title's words.
func distinct(title string) map[string]bool {
	set := map[string]bool{}
	for _, w := range markdown.Words(title) {
		if strings.Trim(w, "0123456789") != "" {
			set[w] = true
		}
	}
	return set
}
