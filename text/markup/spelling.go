package markup

import (
	"regexp"
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
	forms := formsIn(text[:min(len(text), maxSpelling)], letters(name))
	_, found = forms[letters(name)]
	if isCased(words) {
		return name, found
	}
	var out []string
	for i := 0; i < len(words); {
		n, form := 1, words[i]
		for several := len(words) - i; several > 0; several-- {
			best := forms[letters(strings.Join(words[i:i+several], ""))].best(several > 1)
			if best != "" && (several == 1 || several == len(words) || isCased(strings.FieldsFunc(best, isGap))) {
				n, form = several, best
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

var wordForm = regexp.MustCompile(`[\pL\pN]+`)

// formsIn lists how a text writes the parts of a name, by their letters: its
// words may be joined or hyphenated. What belongs to a path, an address or a
// longer identifier does not count.
func formsIn(text, name string) map[string]spellings {
	forms := map[string]spellings{}
	at := wordForm.FindAllStringIndex(text, -1)
	for i, first := range at {
		if before, _ := utf8.DecodeLastRuneInString(text[:first[0]]); strings.ContainsRune(`_/\.@#-=`, before) {
			continue
		}
		for j := i; j < len(at); j++ {
			if j > i && !joins(text[at[j-1][1]:at[j][0]]) {
				break
			}
			form := text[first[0]:at[j][1]]
			key := letters(form)
			if !strings.Contains(name, key) {
				break
			}
			after := strings.TrimPrefix(text[at[j][1]:], ".")
			if r, _ := utf8.DecodeRuneInString(after); strings.ContainsRune(`_/\@#-=`, r) || unicode.IsLetter(r) ||
				unicode.IsDigit(r) {
				continue
			}
			if forms[key] == nil {
				forms[key] = spellings{}
			}
			forms[key][strings.ReplaceAll(form, "\n", " ")]++
		}
	}
	return forms
}

// joins reports whether the words around a gap may be one name.
func joins(gap string) bool { return gap == " " || gap == "-" || gap == "\n" || gap == " & " }

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
