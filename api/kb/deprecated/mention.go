package deprecated

import (
	"regexp"
	"strings"
)

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
