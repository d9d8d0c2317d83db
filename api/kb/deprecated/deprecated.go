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
