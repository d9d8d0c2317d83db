package query

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
)

// split is a query split at its operators.
type split struct {
	text     string
	phrases  []string // without quotes; also part of text
	excluded []string // without hyphen; phrases in their quotes
	kept     []string // without hyphen: words that would be excluded but for what was pasted around them
	refused  string   // an exclusion of what cannot be left out
	kinds    []string
	sources  []string
	quoted   bool // all of text is in phrases
}

// pastedLines is the number of lines from which a query has no operators.
const pastedLines = 3

// splitAt splits a query at its operators, which are at its start or after a
// space. What is quoted in code is text.
func splitAt(raw string, code bool) split {
	if strings.Count(strings.TrimSpace(raw), "\n") >= pastedLines-1 {
		return split{text: collapse(raw)}
	}
	s := split{quoted: true}
	var text strings.Builder
	quotes := !code // a closing quote may still follow
	pasted := isPasted(raw)
	before := "" // the last word outside of quotes
	for i := 0; i < len(raw); {
		r, size := utf8.DecodeRuneInString(raw[i:])
		if unicode.IsSpace(r) {
			text.WriteByte(raw[i]) // any white space: text is collapsed below
			i += size
			continue
		}
		rest := raw[i:]
		end := strings.IndexFunc(rest, unicode.IsSpace)
		if end < 0 {
			end = len(rest)
		}
		word := rest[:end]
		if phrase, after, ok := excludedPhrase(rest); ok {
			s.excluded = append(s.excluded, phrase)
			i = len(raw) - len(after)
			continue
		}
		switch {
		case quotes && (r == '"' || r == '“' || r == '„') && !(pasted && len(before) > 1 && before[0] == '-'):
			inside, after, closed := cutQuote(rest[size:])
			if quotes = closed; closed {
				s.phrases = append(s.phrases, inside)
				text.WriteString(" " + inside + " ")
				i = len(raw) - len(after)
				continue
			}
		case excludes(word) && pasted:
			s.kept = append(s.kept, word[1:])
		case excludes(word):
			s.excluded = append(s.excluded, word[1:])
			if restricts(word[1:]) {
				s.refused = word
			}
			i += end
			continue
		default:
			if name, values := operator(word); name != "" {
				if name == "kind" {
					s.kinds = appendNew(s.kinds, values)
				} else {
					s.sources = appendNew(s.sources, values)
				}
				i += end
				continue
			}
		}
		before = word
		text.WriteString(word)
		s.quoted = false
		i += end
	}
	s.text = collapse(text.String())
	return s
}

// isPasted reports whether a query was copied from a terminal or a file: it has several
// lines or, outside of quotes, a path or an option that begins with two hyphens.
func isPasted(raw string) bool {
	return strings.Contains(strings.TrimSpace(raw), "\n") ||
		slices.ContainsFunc(strings.Fields(inQuotes.ReplaceAllString(raw, " ")), func(word string) bool {
			name, long := strings.CutPrefix(word, "--")
			first, _ := utf8.DecodeRuneInString(name)
			return long && unicode.IsLetter(first) || isPath(word) || strings.HasPrefix(word, "./") ||
				strings.HasPrefix(word, "~/")
		})
}

// excludedPhrase cuts a hyphen and words in quotes off a text, and returns them
// without the hyphen.
func excludedPhrase(raw string) (phrase, after string, ok bool) {
	m := hyphenQuote.FindString(raw)
	if m == "" {
		return "", raw, false
	}
	inside, after, ok := cutQuote(raw[len(m):])
	return `"` + inside + `"`, after, ok && len(analysis.Analyze(inside)) > 0
}

var (
	hyphenQuote = regexp.MustCompile(`^-["“„]`)
	inQuotes    = regexp.MustCompile(`["“„][^"“”]*["“”]`)
)

// restricts reports whether a word is an address, or is, or looks like, an operator that
// says what is searched.
func restricts(word string) bool {
	name, operand, _ := strings.Cut(strings.ToLower(word), ":")
	if strings.HasPrefix(operand, "//") {
		return true
	}
	switch name {
	case "kind", "source", "type", "site", "url", "inurl":
		return operand != ""
	}
	return false
}

// cutQuote cuts at the first closing quote.
func cutQuote(s string) (inside, after string, closed bool) {
	i := strings.IndexAny(s, `"”“`)
	if i < 0 {
		return "", "", false
	}
	_, size := utf8.DecodeRuneInString(s[i:])
	return s[:i], s[i+size:], true
}

// excludes reports whether the word is a hyphen and a word to exclude: it
// begins with a letter and is neither a one-letter flag nor an assignment, nor
// a function word, which would exclude nearly everything.
func excludes(word string) bool {
	if word[0] != '-' {
		return false
	}
	r, size := utf8.DecodeRuneInString(word[1:])
	if !unicode.IsLetter(r) || r < utf8.RuneSelf && len(word) == 1+size || strings.ContainsAny(word, "=(){}\"") {
		return false
	}
	return !analysis.IsStop(analysis.Fold(word[1:]))
}

// operator reads kind:a,b or source:a,b; name is empty for other words.
func operator(word string) (name string, values []string) {
	name, operand, found := strings.Cut(word, ":")
	name = strings.ToLower(name)
	if !found || name != "kind" && name != "source" {
		return "", nil
	}
	for _, v := range strings.Split(strings.ToLower(operand), ",") {
		if v == "" {
			continue
		}
		if strings.IndexFunc(v, notName) >= 0 {
			return "", nil
		}
		values = append(values, v)
	}
	if len(values) == 0 {
		return "", nil
	}
	return name, values
}

func notName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
}

func appendNew(list, values []string) []string {
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// collapse makes runs of white space one space, or one line break if they
// contain one: lines distinguish code from prose.
func collapse(s string) string {
	var b strings.Builder
	space, line := false, false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space, line = true, line || r == '\n'
			continue
		}
		if space && b.Len() > 0 {
			if line {
				b.WriteByte('\n')
			} else {
				b.WriteByte(' ')
			}
		}
		space, line = false, false
		b.WriteRune(r)
	}
	return b.String()
}
