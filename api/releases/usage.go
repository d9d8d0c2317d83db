package releases

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/derive"
)

// usage is a deprecated item that a text mentions as if it were current.
type usage struct {
	Text        catalog.Record
	Deprecation catalog.Record
	Data        catalog.Deprecation
	Written     string // as the text spells it, the first time
	Mentions    int
	Snippet     string    // around the first mention
	Replaced    bool      // the text names the replacement too
	At          time.Time // when the text was last changed, as far as known
}

// guidanceKinds are the kinds of records that tell people what to do.
var guidanceKinds = catalog.KindsOf(catalog.RolePage, catalog.RolePublication, catalog.RoleThread,
	catalog.RoleMessage)

// warns matches sentences that mention something because it is not to be used.
var warns = regexp.MustCompile(`(?i)\b(?:deprecat\w+|obsolete[ds]?|replace[ds]?|replacing|supersede[ds]?|` +
	`removed?|removal|retired?|gone|discontinued|unsupported|unmaintained|formerly|became|instead of|rather than|` +
	`legacy|old|older|still|leav(?:e|ing)|convert(?:s|ed|ing)?|migrat\w+ (?:from|off)|moved? (?:from|off)|no longer|` +
	`any ?more|any longer|not supported|has no|until \d|before \d|end of life|last day|farewell|do not use|` +
	`don't use|does not know)\b`)

// usagesIn finds the texts that mention deprecated items by their patterns,
// newest text first, then those mentioned most. A pattern matches whole words in
// any case; of two that match at the same place the longer counts. Mentions in a
// sentence that says so itself (deprecated, replaced, no longer …) do not count,
// nor any of what the title says so of.
func usagesIn(texts, deprecations []catalog.Record) []usage {
	items := compileItems(deprecations)
	var out []usage
	for _, text := range texts {
		if text.Kind.Role() == catalog.RoleChange { // says itself what is deprecated, or did before it was
			continue
		}
		announced := make([][][]int, len(items))
		if warns.MatchString(text.Title) {
			announced = mentions(text.Title, items)
		}
		for i, spans := range mentions(text.Body, items) {
			if len(announced[i]) > 0 {
				continue
			}
			u := usage{Text: text, Deprecation: items[i].record, Data: items[i].data, At: cmp.Or(text.UpdatedAt, text.CreatedAt)}
			for _, s := range spans {
				sentence := sentenceAround(text.Body, s)
				if warns.MatchString(sentence) {
					continue
				}
				if u.Mentions++; u.Mentions == 1 {
					u.Written, u.Snippet = text.Body[s[0]:s[1]], derive.Clip(derive.Inline(sentence), usageShown)
				}
			}
			if u.Mentions > 0 {
				u.Replaced = items[i].replacement != nil && items[i].replacement.MatchString(text.Body)
				out = append(out, u)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b usage) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Text.ID, b.Text.ID), b.Mentions-a.Mentions,
			cmp.Compare(a.Deprecation.ID, b.Deprecation.ID))
	})
	return out
}

// outdatedText is a text with the deprecated items that it mentions.
type outdatedText struct {
	Record catalog.Record
	At     time.Time // when it was last changed, as far as known
	Uses   []Use     // in the order of the usages
}

// Use is a deprecated item that a text mentions.
type Use struct {
	Deprecated  string `json:"deprecated" doc:"name of the item"`
	Replacement string `json:"replacement"`
	Since       string `json:"since,omitempty" doc:"version"`
	Mentions    int    `json:"mentions"`
	Replaced    bool   `json:"names_replacement" doc:"the text names the replacement too: it may be about moving to it"`
	Snippet     string `json:"snippet" doc:"around the first mention"`
}

// outdatedTexts groups usages by text; those of a text stand together.
func outdatedTexts(usages []usage) (out []outdatedText) {
	for _, u := range usages {
		if n := len(out); n == 0 || out[n-1].Record.ID != u.Text.ID {
			out = append(out, outdatedText{Record: u.Text, At: u.At})
		}
		text := &out[len(out)-1]
		text.Uses = append(text.Uses, Use{
			u.Deprecation.Title, u.Data.Replacement, u.Data.Since, u.Mentions, u.Replaced, u.Snippet,
		})
	}
	return out
}

// usageProofs are the items that are used, weighed by their share of all
// mentions.
func usageProofs(usages []usage) (out []kb.Proof) {
	for _, t := range tallyUsages(usages) {
		why := fmt.Sprintf("deprecated; mentions: %d, in texts: %d", t.Mentions, t.Texts)
		out = append(out, kb.Proof{Record: t.Deprecation, Why: why, Weight: t.Share})
	}
	return out
}

// tally counts the usages of a deprecated item.
type tally struct {
	Deprecation     catalog.Record
	Texts, Mentions int
	Share           float64 // of all mentions
}

// tallyUsages counts usages by item, those mentioned most first.
func tallyUsages(usages []usage) []tally {
	var out []tally
	all := 0
	for _, u := range usages {
		at := slices.IndexFunc(out, func(t tally) bool { return t.Deprecation.ID == u.Deprecation.ID })
		if at < 0 {
			at, out = len(out), append(out, tally{Deprecation: u.Deprecation})
		}
		out[at].Texts++
		out[at].Mentions += u.Mentions
		all += u.Mentions
	}
	for i := range out {
		out[i].Share = float64(out[i].Mentions) / float64(all)
	}
	slices.SortStableFunc(out, func(a, b tally) int { return b.Mentions - a.Mentions })
	return out
}

// deprecatedItem is a deprecation, ready to be looked for.
type deprecatedItem struct {
	record      catalog.Record
	data        catalog.Deprecation
	spellings   []spelling
	replacement *regexp.Regexp
}

// spelling is a pattern with its longest word, folded: to see that a text lacks
// the word, as most do, takes far less time than to run the pattern.
type spelling struct {
	word    string
	pattern *regexp.Regexp
}

func compileItems(deprecations []catalog.Record) []deprecatedItem {
	var items []deprecatedItem
	for _, r := range deprecations {
		d, err := catalog.Decode[catalog.Deprecation](r)
		if err != nil || r.State == catalog.ItemCurrent {
			continue
		}
		item := deprecatedItem{record: r, data: d, replacement: spelled(d.Replacement)}
		for _, p := range d.Patterns {
			if re := spelled(p); re != nil {
				longest := slices.MaxFunc(wordsOfSpelling(p), func(a, b string) int { return len(a) - len(b) })
				item.spellings = append(item.spellings, spelling{folded(longest), re})
			}
		}
		items = append(items, item)
	}
	return items
}

// spelled matches a spelling as whole words, in any case and over line breaks;
// nil for a blank one.
func spelled(s string) *regexp.Regexp {
	quoted := wordsOfSpelling(s)
	if len(quoted) == 0 {
		return nil
	}
	for i, w := range quoted {
		quoted[i] = regexp.QuoteMeta(w)
	}
	whole := strings.TrimSpace(s)
	first, _ := utf8.DecodeRuneInString(whole)
	last, _ := utf8.DecodeLastRuneInString(whole)
	return regexp.MustCompile(`(?i)` + edge(first) + strings.Join(quoted, `\s+`) + edge(last))
}

// wordsOfSpelling are the words that line breaks may part.
func wordsOfSpelling(s string) []string { return strings.Fields(strings.ToValidUTF8(s, "")) }

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

// mentions returns where a text mentions the items, by their index: without
// those inside a longer mention of any.
func mentions(text string, items []deprecatedItem) [][][]int {
	type found struct{ start, end, item int }
	var all []found
	form := folded(text)
	for i, item := range items {
		for _, s := range item.spellings {
			if !strings.Contains(form, s.word) {
				continue
			}
			for _, m := range s.pattern.FindAllStringIndex(text, -1) {
				all = append(all, found{m[0], m[1], i})
			}
		}
	}
	slices.SortFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.item, b.item))
	})
	out := make([][][]int, len(items))
	end := 0
	for _, f := range all {
		if f.end <= end {
			continue // inside the one before
		}
		end = f.end
		out[f.item] = append(out[f.item], []int{f.start, f.end})
	}
	return out
}

// usageShown is the maximum of a snippet, in characters.
const usageShown = 320

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

// deprecationNamed returns the item of a name, in any case, nil if there is
// none, and the names that there are.
func deprecationNamed(items []catalog.Record, name string) (item *catalog.Record, names []string) {
	for i, r := range items {
		names = append(names, r.Title)
		if item == nil && strings.EqualFold(r.Title, strings.TrimSpace(name)) {
			item = &items[i]
		}
	}
	return item, names
}

// mentioned returns the deprecations whose patterns a text matches, in the order
// of the text.
func mentioned(text string, deprecations []catalog.Record) []catalog.Record {
	items := compileItems(deprecations)
	type first struct{ at, item int }
	var found []first
	for i, spans := range mentions(text, items) {
		if len(spans) > 0 {
			found = append(found, first{spans[0][0], i})
		}
	}
	slices.SortFunc(found, func(a, b first) int { return a.at - b.at })
	out := make([]catalog.Record, len(found))
	for i, f := range found {
		out[i] = items[f.item].record
	}
	return out
}
