// Package snippet shows why a passage matched: the best window of its text
// and the byte ranges of the matches.
package snippet

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/query"
)

// MaxLength is the length of a snippet, in characters.
const MaxLength = 300

// Snippet is a piece of text with its matches.
type Snippet struct {
	Text  string
	Spans [][2]int // byte ranges in Text, ascending, not overlapping
}

const (
	ellipsis = "…"
	codeMark = "`" // around code
)

// Matcher finds the terms of a query in texts. It is not safe for concurrent use.
type Matcher struct {
	terms    map[string]int // index of weights by term
	initials analysis.Initials
	weights  []float64
	tokens   []analysis.Token // of the last text, whose memory the next one uses
}

// New returns a matcher for a query. weight returns a term's weight, such as its
// inverse document frequency; nil weighs all alike.
func New(q query.Query, weight func(analysis.TermID) float64) *Matcher {
	m := &Matcher{terms: make(map[string]int, len(q.Terms))}
	for _, t := range q.Terms {
		if t.Stop {
			continue
		}
		w := t.Weight
		if weight != nil {
			w *= max(weight(t.ID), 0)
		}
		m.terms[t.Text] = len(m.weights)
		m.initials.Add(t.Text)
		m.weights = append(m.weights, w)
	}
	return m
}

// Snippet returns the window of text, of at most limit characters, that covers the
// query best: the sum of the weights of the distinct terms in it, a tenth for
// repeated ones, and among equals the first. It begins at a sentence or line if
// one is near and cuts no word that fits; … marks omitted text. Without a match the
// window is the beginning. A limit of 2 or less is MaxLength.
//
// The text is that of sentences: see tidy.
func (m *Matcher) Snippet(text string, limit int) Snippet {
	if limit <= 2 {
		limit = MaxLength
	}
	text = tidy(text)
	if utf8.RuneCountInString(text) <= limit {
		return Snippet{Text: text, Spans: m.Highlight(text)}
	}
	coded := limit > 2+2*len(codeMark) && strings.Contains(text, codeMark)
	if coded {
		limit -= 2 * len(codeMark)
	}
	matches := m.matches(text)
	start, end := window(text, best(text, matches, m.weights, limit), limit)
	before, after := "", ""
	if start > 0 {
		before = ellipsis
	}
	if end < len(text) {
		after = ellipsis
	}
	if coded && strings.Count(text[:start], codeMark)%2 != 0 { // code that is cut is still code
		before += codeMark
	}
	if coded && strings.Count(text[:end], codeMark)%2 != 0 {
		after = codeMark + after
	}
	s := Snippet{Text: before + text[start:end] + after}
	shift := len(before) - start
	var inside []match
	for _, x := range matches {
		if x.start >= start && x.end <= end {
			inside = append(inside, match{term: x.term, start: x.start + shift, end: x.end + shift})
		}
	}
	s.Spans = spans(inside)
	return s
}

// First returns where the matches begin that a snippet of the limit is chosen for; 0 without one.
func (m *Matcher) First(text string, limit int) int {
	if limit <= 2 {
		limit = MaxLength
	}
	return best(text, m.matches(text), m.weights, limit)[0]
}

// Highlight returns the byte ranges of the query's matches in a text,
// ascending and not overlapping.
func (m *Matcher) Highlight(text string) [][2]int { return spans(m.matches(text)) }

// match is an occurrence of a query term.
type match struct {
	term, start, end int
}

func (m *Matcher) matches(text string) []match {
	var list []match
	m.tokens = analysis.AppendFor(&m.initials, m.tokens[:0], text)
	for _, t := range m.tokens {
		if i, ok := m.terms[t.Term]; ok {
			list = append(list, match{i, t.Start, t.End})
		}
	}
	return list
}

// spans joins overlapping matches.
func spans(matches []match) [][2]int {
	var list [][2]int
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(a.start, b.start) })
	for _, x := range matches {
		if n := len(list); n > 0 && x.start < list[n-1][1] {
			list[n-1][1] = max(list[n-1][1], x.end)
			continue
		}
		list = append(list, [2]int{x.start, x.end})
	}
	return list
}

// repeated is the weight of a further occurrence of a term in the window.
const repeated = 0.1

// best returns the byte range of the matches that the window should hold.
func best(text string, matches []match, weights []float64, limit int) [2]int {
	if len(matches) == 0 {
		return [2]int{0, 0}
	}
	at := characters(text)
	counts := make([]int, len(weights))
	score, top := 0.0, -1.0
	var found [2]int
	last, end := 0, 0 // first match beyond the window; the greatest end inside
	for first, x := range matches {
		for last < len(matches) && (last == first || at(max(end, matches[last].end))-at(x.start) <= limit-2) {
			score += gain(counts, weights, matches[last].term)
			end = max(end, matches[last].end)
			last++
		}
		if score > top+1e-9 {
			top, found = score, [2]int{x.start, end}
		}
		score -= loss(counts, weights, x.term)
	}
	return found
}

// characters returns the function from byte offsets, on rune boundaries, to
// characters.
func characters(text string) func(int) int {
	if utf8.RuneCountInString(text) == len(text) {
		return func(i int) int { return i }
	}
	index := make([]int32, len(text)+1)
	n := int32(0)
	for i := range len(text) {
		index[i] = n
		if i+1 == len(text) || utf8.RuneStart(text[i+1]) {
			n++
		}
	}
	index[len(text)] = n
	return func(i int) int { return int(index[i]) }
}

func gain(counts []int, weights []float64, term int) float64 {
	counts[term]++
	if counts[term] == 1 {
		return weights[term]
	}
	return repeated * weights[term]
}

func loss(counts []int, weights []float64, term int) float64 {
	counts[term]--
	if counts[term] == 0 {
		return weights[term]
	}
	return repeated * weights[term]
}

// window widens the range to limit characters, ellipses included: back to the
// beginning of its sentence or line if that leaves room, then forward, and cuts
// between words.
func window(text string, want [2]int, limit int) (start, end int) {
	room := limit - 2
	matched := utf8.RuneCountInString(text[want[0]:want[1]])
	if matched > room { // a match longer than the window
		return want[0], forward(text, want[0], room)
	}
	lead := (room - matched) / 2
	start = backward(text, want[0], lead)
	end = forward(text, start, room)
	if end == len(text) { // room left at the end: begin earlier
		start = backward(text, len(text), room)
		start = min(start, want[0])
	}
	return trim(text, start, max(end, want[1]), want)
}

// backward returns the beginning of the sentence or line before i, at most n
// characters back, or else of the first word there.
func backward(text string, i, n int) int {
	limit := i
	for ; n > 0 && limit > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:limit])
		limit -= size
	}
	if limit == 0 {
		return 0
	}
	if at := boundary(text[limit:i]); at >= 0 {
		return limit + at
	}
	return wordStart(text, limit, i)
}

// wordStart returns the first start of a word in text[from:to], or to if there is none.
func wordStart(text string, from, to int) int {
	if r, _ := utf8.DecodeLastRuneInString(text[:from]); from == 0 || unicode.IsSpace(r) {
		return from
	}
	if at := strings.IndexFunc(text[from:to], unicode.IsSpace); at >= 0 {
		return from + at + 1
	}
	if to-from > 80 { // no spaces: any character will do
		return from
	}
	return to
}

// boundary returns where the first sentence or line begins within s, -1 if none does.
func boundary(s string) int {
	for i := 0; i+1 < len(s); i++ {
		switch s[i] {
		case '\n':
			return i + 1
		case '.', '?', '!':
			if s[i+1] == ' ' && i+2 <= len(s) {
				return i + 2
			}
		}
	}
	for _, mark := range []string{"。", "！", "？"} {
		if i := strings.Index(s, mark); i >= 0 && i+len(mark) < len(s) {
			return i + len(mark)
		}
	}
	return -1
}

// forward returns the end of the last word within n characters after i.
func forward(text string, i, n int) int {
	end := i
	for ; n > 0 && end < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	if end == len(text) {
		return end
	}
	if r, _ := utf8.DecodeRuneInString(text[end:]); unicode.IsSpace(r) {
		return end
	}
	if at := strings.LastIndexFunc(text[i:end], unicode.IsSpace); at > 0 && end-i-at <= 80 {
		return i + at
	}
	return end
}

// trim drops white space at the edges outside of the wanted range.
func trim(text string, start, end int, want [2]int) (int, int) {
	for start < want[0] && (text[start] == ' ' || text[start] == '\n') {
		start++
	}
	for end > want[1] && end > start && (text[end-1] == ' ' || text[end-1] == '\n') {
		end--
	}
	return start, end
}
