package releases

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/api/kb/deprecated"
	"almanac/api/kb/evidence"
	"almanac/catalog"
	"almanac/text/markdown"
)

// usage is a deprecated item that a text mentions as if it were current.
type usage struct {
	Text        catalog.Record
	Deprecation catalog.Record
	Use
	At time.Time // when the text was last changed, as far as known
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

// usagesIn finds the texts that mention deprecated items by their patterns, newest
// text first, then the items mentioned most. A pattern matches whole words in any
// case; where two match at the same place, the longer one counts. A mention does not
// count in a sentence that itself says so (deprecated, replaced, no longer …), nor
// anywhere in a text whose title says so of the item.
func usagesIn(texts, deprecations []catalog.Record) []usage {
	items := deprecated.Of(deprecations)
	var out []usage
	for _, text := range texts {
		if text.Kind.Role() == catalog.RoleChange { // says itself what is deprecated, or did before it was
			continue
		}
		announced := make([][][]int, len(items))
		if warns.MatchString(text.Title) {
			announced = items.Find(text.Title)
		}
		for i, spans := range items.Find(text.Body) {
			if len(announced[i]) > 0 {
				continue
			}
			item := items[i]
			u := usage{Text: text, Deprecation: item.Record, At: cmp.Or(text.UpdatedAt, text.CreatedAt)}
			u.Deprecated, u.Replacement, u.Since = item.Record.Title, item.Data.Replacement, item.Data.Since
			for _, s := range spans {
				sentence := sentenceAround(text.Body, s)
				if warns.MatchString(sentence) {
					continue
				}
				if u.Mentions++; u.Mentions == 1 {
					u.Snippet = markdown.Clip(markdown.Inline(sentence), usageShown)
				}
			}
			if u.Mentions > 0 {
				u.Replaced = item.Replaced(text.Body) >= 0
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

// Use is a deprecated item that a text mentions.
type Use struct {
	Deprecated  string `json:"deprecated" doc:"name of the item"`
	Replacement string `json:"replacement"`
	Since       string `json:"since,omitempty" doc:"version"`
	Mentions    int    `json:"mentions"`
	Replaced    bool   `json:"names_replacement" doc:"the text names the replacement too: it may be about moving to it"`
	Snippet     string `json:"snippet" doc:"around the first mention"`
}

// usageProofs are the items that are used, weighed by their share of all
// mentions.
func usageProofs(usages []usage) (out []evidence.Proof) {
	mentions, texts := map[int64]int{}, map[int64]int{}
	all := 0
	for _, u := range usages {
		id := u.Deprecation.ID
		if texts[id] == 0 {
			out = append(out, evidence.Proof{Record: u.Deprecation})
		}
		mentions[id] += u.Mentions
		texts[id]++
		all += u.Mentions
	}
	for i := range out {
		id := out[i].Record.ID
		out[i].Why = fmt.Sprintf("deprecated; mentions: %d, in texts: %d", mentions[id], texts[id])
		out[i].Weight = float64(mentions[id]) / float64(all)
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
	items := deprecated.Of(deprecations)
	type first struct{ at, item int }
	var found []first
	for i, spans := range items.Find(text) {
		if len(spans) > 0 {
			found = append(found, first{spans[0][0], i})
		}
	}
	slices.SortFunc(found, func(a, b first) int { return a.at - b.at })
	out := make([]catalog.Record, len(found))
	for i, f := range found {
		out[i] = items[f.item].Record
	}
	return out
}
