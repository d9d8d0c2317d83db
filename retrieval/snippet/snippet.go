// Package snippet shows why a passage matched: the best window of its text
// and the byte ranges of the matches.
package snippet

import (
	"cmp"
	"regexp"
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

// field matches a line that begins with the name of a field: of front matter, of the
// header of a proposal, of a generated text, of reStructuredText.
var field = regexp.MustCompile(`^\s*([-*+] )?(?:\*\*|:)?` +
	`([A-Za-z][A-Za-z0-9_()/-]*(?: [A-Za-z0-9_()/-]+){0,2}):(?:\*\*)?(?:\s+(.*))?$`)

// headers are fields that the head of a text has and no other list of fields.
var headers = map[string]bool{"author": true, "authors": true, "author(s)": true, "status": true, "created": true,
	"license": true, "licence": true, "discussions-to": true}

// fieldWords is how many words a field of a generated text has on average, at most:
// what two people say to each other has more.
const fieldWords = 8

// isFields reports whether the lines of a paragraph are fields and their values.
func isFields(lines []string) bool {
	fields, listed, words, head := readFields(lines)
	return fields >= 2 && (head || !listed && words <= fieldWords*fields)
}

// isHeader reports whether they are the head of a text.
func isHeader(lines []string) bool {
	fields, _, _, head := readFields(lines)
	return fields >= 2 && head
}

// readFields counts the fields, none if there are other lines, and says whether they
// are the items of a list, how many words their values have, and whether one is of the
// head of a text.
func readFields(lines []string) (fields int, listed bool, words int, head bool) {
	open := false // a field whose value is on the next lines
	for _, line := range lines {
		m := field.FindStringSubmatch(line)
		bare := strings.TrimSpace(line)
		switch {
		case open && (line != strings.TrimLeft(line, " \t") || strings.HasPrefix(bare, "- ")):
			// an item of its value
		case m != nil:
			fields++
			listed = listed || m[1] != ""
			words += len(strings.Fields(m[3]))
			head = head || headers[strings.ToLower(m[2])]
			open = m[3] == ""
		case strings.Trim(bare, "-+=.") == "", line != strings.TrimLeft(line, " \t") && fields > 0:
			// a mark around them, or more of a value
		default:
			return 0, false, 0, false
		}
	}
	return fields, listed, words, head
}

// headerBlocks is how many paragraphs of a text are looked at for its head.
const headerBlocks = 3

// withoutHeader returns a text without the fields at its head, which are told beside
// it.
func withoutHeader(text string) string {
	at := 0
	for range headerBlocks {
		block, _, more := strings.Cut(text[at:], "\n\n")
		if isHeader(strings.Split(strings.TrimRight(block, "\n"), "\n")) {
			rest := strings.TrimLeft(text[at+len(block):], "\n")
			if rest == "" {
				return text
			}
			return text[:at] + rest
		}
		if !more {
			break
		}
		at += len(block) + 2
	}
	return text
}
