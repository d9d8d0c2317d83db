// Package deprecated finds the names of what is deprecated in texts.
package deprecated

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/catalog"
)

// Names are those of deprecated things, ready to be looked for in texts.
type Names []Name

// Name is one of them.
type Name struct {
	Record      catalog.Record
	Data        catalog.Deprecation
	spellings   []spelling
	replacement []spelling // none or one
}

// spelling is a pattern with its longest word, folded: to see that a text lacks
// the word, as most do, takes far less time than to run the pattern.
type spelling struct {
	word    string
	pattern *regexp.Regexp
}

// Of returns the names of what is deprecated, without what is current.
func Of(records []catalog.Record) (out Names) {
	for _, r := range records {
		if d, err := catalog.Decode[catalog.Deprecation](r); err == nil && r.State != catalog.ItemCurrent {
			out = append(out, Name{r, d, spelled(d.Patterns...), spelled(d.Replacement)})
		}
	}
	return out
}

// spelled matches spellings as whole words, in any case and over line breaks;
// blank ones match nothing.
func spelled(all ...string) (out []spelling) {
	for _, s := range all {
		words := strings.Fields(strings.ToValidUTF8(s, "")) // that line breaks may part
		if len(words) == 0 {
			continue
		}
		longest := slices.MaxFunc(words, func(a, b string) int { return len(a) - len(b) })
		first, _ := utf8.DecodeRuneInString(words[0])
		last, _ := utf8.DecodeLastRuneInString(words[len(words)-1])
		for i, w := range words {
			words[i] = regexp.QuoteMeta(w)
		}
		pattern := regexp.MustCompile(`(?i)` + edge(first) + strings.Join(words, `\s+`) + edge(last))
		out = append(out, spelling{folded(longest), pattern})
	}
	return out
}

// folded gives all texts the same form that (?i) takes for the same, and some
// others.
func folded(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// edge is the boundary beside a letter or digit at the end of a spelling.
func edge(r rune) string {
	if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
		return `\b`
	}
	return ""
}

// Find returns where a text has the names, by their index: without those inside a
// longer mention of any.
func (n Names) Find(text string) [][][]int {
	type found struct{ start, end, name int }
	var all []found
	form := folded(text)
	for i, name := range n {
		for _, s := range name.spellings {
			if !strings.Contains(form, s.word) {
				continue
			}
			for _, m := range s.pattern.FindAllStringIndex(text, -1) {
				all = append(all, found{m[0], m[1], i})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.name, b.name))
	})
	out := make([][][]int, len(n))
	end := 0
	for _, f := range all {
		if f.end <= end {
			continue // inside the one before
		}
		end = f.end
		out[f.name] = append(out[f.name], []int{f.start, f.end})
	}
	return out
}

// Mention is what a text says of a name.
type Mention struct {
	Name
	Current  []string // the sentences that mention it as if it were current, in the order of the text
	Replaced string   // the first sentence that names what replaces it, "" if none does
}

// warns matches sentences that mention something because it is not to be used.
var warns = regexp.MustCompile(`(?i)\b(?:deprecat\w+|obsolete[ds]?|replace[ds]?|replacing|supersede[ds]?|` +
	`removed?|removal|retired?|gone|discontinued|unsupported|unmaintained|formerly|became|instead of|rather than|` +
	`legacy|old|older|still|leav(?:e|ing)|convert(?:s|ed|ing)?|migrat\w+ (?:from|off)|moved? (?:from|off)|no longer|` +
	`any ?more|any longer|not supported|has no|until \d|before \d|end of life|last day|farewell|do not use|` +
	`don't use|does not know)\b`)

// In returns what a text says of the names that it mentions as if they were current,
// and of those whose replacement it names. A pattern matches whole words in any case;
// where two match at the same place, the longer one counts. A mention does not count
// in a sentence that itself says so (deprecated, replaced, no longer …), nor anywhere
// in a text whose title says so of the name.
func (n Names) In(title, body string) (out []Mention) {
	announced := make([][][]int, len(n))
	if warns.MatchString(title) {
		announced = n.Find(title)
	}
	for i, spans := range n.Find(body) {
		m := Mention{Name: n[i], Replaced: n[i].replaced(body)}
		if len(announced[i]) > 0 {
			spans = nil
		}
		for _, span := range spans {
			if s := sentenceAround(body, span); !warns.MatchString(s) {
				m.Current = append(m.Current, s)
			}
		}
		if len(m.Current) > 0 || m.Replaced != "" {
			out = append(out, m)
		}
	}
	return out
}

// replaced returns the first sentence of a text that names the replacement.
func (n Name) replaced(text string) string {
	form := folded(text)
	for _, s := range n.replacement {
		if strings.Contains(form, s.word) {
			if span := s.pattern.FindStringIndex(text); span != nil {
				return sentenceAround(text, span)
			}
		}
	}
	return ""
}

// sentenceReach is how far around a mention its sentence is looked for, in
// bytes.
const sentenceReach = 240

// sentenceAround returns the sentence, item or line around a span of a text.
func sentenceAround(text string, span []int) string {
	before := text[max(0, span[0]-sentenceReach):span[0]]
	if at := sentenceEnd.FindAllStringIndex(before, -1); at != nil {
		before = before[at[len(at)-1][1]:]
	}
	after := text[span[1]:min(len(text), span[1]+sentenceReach)]
	if at := sentenceEnd.FindStringIndex(after); at != nil {
		after = after[:at[0]+1]
	}
	return strings.ToValidUTF8(before+text[span[0]:span[1]]+after, "")
}

// sentenceEnd ends a sentence, a paragraph, a list item or a table's row.
var sentenceEnd = regexp.MustCompile(`[.!?]["')\]]*\s|\n\s*(?:\n|[-*+|#>]|\d+[.)]\s)`)
