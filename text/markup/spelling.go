package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpelling is how many bytes of a text are searched for the spelling of a
// name.
const maxSpelling = 64 << 10

// Respell spells a name derived from a file name ("Json api guide") as the text
// does ("JSON API guide"), and reports whether the text contains all of it.
// Words that the text does not contain stay unchanged, and so does a name
// written with capital letters.
func Respell(name, text string) (spelled string, found bool) {
	words := strings.Fields(name)
	if len(words) == 0 {
		return name, false
	}
	s := speller{text: text[:min(len(text), maxSpelling)]}
	s.tokenize()
	forms := make([]map[int]spellings, len(words)) // by first, then last word of a run
	for i := range words {
		forms[i] = s.runs(words[i:])
	}
	_, found = forms[0][len(words)-1]
	if isCased(words) {
		return name, found
	}
	var out []string
	for i := 0; i < len(words); {
		n, form := 1, words[i]
		for last := len(words) - 1 - i; last >= 0; last-- {
			best := forms[i][last].best(last > 0)
			if best != "" && (last == 0 || i == 0 && last == len(words)-1 || isCased(strings.FieldsFunc(best, isGap))) {
				n, form = last+1, best
				break
			}
		}
		out = append(out, form)
		i += n
	}
	return upperWord(strings.Join(out, " ")), found
}

// isCased reports whether words were written with capital letters: most of
// those after the first have one.
func isCased(words []string) bool {
	cased := 0
	for _, w := range words[min(1, len(words)):] {
		if w != strings.ToLower(w) {
			cased++
		}
	}
	return 2*cased > len(words)-1
}

func isGap(r rune) bool { return r == ' ' || r == '-' }

// spellings counts the ways a text writes a name.
type spellings map[string]int

// best returns the most frequent spelling with a capital letter. For several
// words it is any that is not all in capitals, as in headings; for a single
// word it must have a capital after its first letter, as in an acronym or a
// coined word, in at least a third of all places.
func (s spellings) best(several bool) (best string) {
	all := 0
	for form, n := range s {
		all += n
		_, first := utf8.DecodeRuneInString(form)
		switch {
		case form == strings.ToLower(form), several && form == strings.ToUpper(form),
			!several && strings.IndexFunc(form[first:], unicode.IsUpper) < 0:
		case best == "" || n > s[best] || n == s[best] && form < best:
			best = form
		}
	}
	if !several && 3*s[best] < all {
		return ""
	}
	return best
}

// speller finds names in a text.
type speller struct {
	text   string
	tokens []token
}

// token is a run of letters and digits.
type token struct {
	lower      string
	start, end int
	joined     bool // only a blank or hyphen before it
	first      bool // may start a name: not part of a path, address or longer identifier
	last       bool // may end a name
}

func (s *speller) tokenize() {
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for at := 0; at < len(s.text); {
		start := strings.IndexFunc(s.text[at:], isWord)
		if start < 0 {
			return
		}
		start += at
		end := len(s.text)
		if n := strings.IndexFunc(s.text[start:], func(r rune) bool { return !isWord(r) }); n >= 0 {
			end = start + n
		}
		before, _ := utf8.DecodeLastRuneInString(s.text[:start])
		after, n := utf8.DecodeRuneInString(s.text[end:])
		if after == '.' {
			after, _ = utf8.DecodeRuneInString(s.text[end+n:])
		}
		gap := s.text[at:start]
		s.tokens = append(s.tokens, token{
			lower: strings.ToLower(s.text[start:end]), start: start, end: end,
			joined: len(s.tokens) > 0 && (len(gap) == 1 && strings.Contains(" -\n", gap) || gap == " & "),
			first:  !strings.ContainsRune(`_/\.@#-=`, before),
			last:   !strings.ContainsRune(`_/\@#-=`, after) && !isWord(after),
		})
		at = end
	}
}

// runs finds the spellings of words[0], words[0] words[1], …; the key is the
// index of the last word. The text may join or hyphenate them.
func (s *speller) runs(words []string) map[int]spellings {
	ends := map[string]int{} // letters of the first words → index of the last of them
	whole := ""
	for i, w := range words {
		whole += letters(w)
		ends[whole] = i
	}
	found := map[int]spellings{}
	for i, t := range s.tokens {
		if !t.first {
			continue
		}
		have := ""
		for j := i; j < len(s.tokens) && (j == i || s.tokens[j].joined); j++ {
			have += s.tokens[j].lower
			if !strings.HasPrefix(whole, have) {
				break
			}
			last, ok := ends[have]
			if !ok || !s.tokens[j].last {
				continue
			}
			if found[last] == nil {
				found[last] = spellings{}
			}
			form := strings.ReplaceAll(s.text[t.start:s.tokens[j].end], "\n", " ")
			found[last][form]++
		}
	}
	return found
}

// letters returns the letters and digits of a word, in lower case.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, word)
}

// upperWord capitalises a name, unless its first word has a capital letter
// inside.
func upperWord(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first != strings.ToLower(first) {
		return s
	}
	return upperFirst(s)
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
