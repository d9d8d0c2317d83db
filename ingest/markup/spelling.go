package markup

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSpelling is how much of a text is searched for the spelling of a name,
// in bytes.
const maxSpelling = 64 << 10

// Respell writes a name that was made of a file's name ("Json api guide") as
// the text does ("JSON API guide"), and reports whether the text has the whole
// of it. What the text does not have stays as it is, and so does a name that
// was written with capital letters.
func Respell(name, text string) (spelled string, found bool) {
	words := strings.Fields(name)
	if len(words) == 0 {
		return name, false
	}
	s := speller{text: text[:min(len(text), maxSpelling)]}
	s.tokenize()
	forms := make([]map[int]spellings, len(words)) // by first and last word of a run
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

// isCased reports words that somebody wrote with capital letters: most of
// those behind the first have one.
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

// best is the usual way with a capital letter. Of a name of several words it
// is any, but not all in capitals, as headings are; of a single word one that
// has a capital behind its first letter, an acronym or a coined word, in a
// third of all places at least.
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
	joined     bool // only a blank or hyphen stands before it
	first      bool // it may begin a name: no part of a path, address or longer identifier
	last       bool // it may end one
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

// runs finds how the text writes words[0], words[0] words[1], …; the key is
// the number of the last word. It may write them in one or with hyphens.
func (s *speller) runs(words []string) map[int]spellings {
	ends := map[string]int{} // the letters of the first words → number of the last of them
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

// letters is a word without what is no letter or digit, in lower case.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, word)
}

// upperWord begins a name with a capital letter, unless its first word has
// one inside.
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
