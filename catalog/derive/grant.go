package derive

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/text/markdown"
)

// Grant proposals are pull requests with a text. These functions read what the
// text states; the same are used for drafts and for those in the catalog.

var (
	// fundingKey matches the start of a line that states the requested amount.
	fundingKey = regexp.MustCompile(`(?i)^[\s>*_#|+-]*(?:\d+(?:\.\d+)*\.?\s+)?(?:(?:total|grand|overall|requested|` +
		`development|project|grant|funding|budget|amount|request|ask|sum|` +
		`cost)\b[\s*_]*){1,5}(?:\([^()]*\)[\s*_]*)?[:|]`)
	// fundingSum matches a number, or a range, with its currency and its
	// explanation.
	fundingSum = regexp.MustCompile(`(?:[Uu]p to\s+|~|≈|≈\s|\d[\d,.]{2,20}\s?[kKmM]?\s?(?:-|–|to)\s?)?` +
		`(?:(?:US|CA)?[$€£]\s?\d[\d,.]*\d?\s?(?:[kKmM]\b|million\b)?|` +
		`\d[\d,.]*\s?(?:[kKmM]\s|million\s)?\s?\$?(?:[A-Z]{2,5}\b|[A-Z][a-z]+ [Cc]oins?\b))(?:[^|;.\n]|\.\d)*`)
)

// fundingKeyOf finds the key in a line that states an amount. Most lines have
// no colon and no bar, and need no search.
func fundingKeyOf(line string) []int {
	if !strings.ContainsAny(line, ":|") {
		return nil
	}
	return fundingKey.FindStringIndex(line)
}

// maxFunding is the maximum length of a statement of an amount, in bytes.
const maxFunding = 160

// AmountIn returns the first amount of a text with its explanation, as written.
func AmountIn(text string) string {
	s := fundingSum.FindString(Inline(text))
	if len(s) > maxFunding {
		s = strings.ToValidUTF8(s[:maxFunding], "")
	}
	return strings.TrimSpace(s)
}

// FundingIn returns the amount that a grant proposal requests, as written: from
// the first line that states a total, else a request, else any amount of
// funding. A heading counts together with the line below it.
func FundingIn(text string) string {
	best, bestRank := "", -1
	asked := "" // the heading above
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, rest, above := "", line, asked
		asked = ""
		if at := fundingKeyOf(line); at != nil {
			key, rest = line[:at[1]], line[at[1]:]
		} else if atxHeading.MatchString(line) {
			if fundingKeyOf(Inline(line)+":") != nil {
				asked = line
			}
			continue
		} else if key = above; key == "" {
			continue
		}
		rank := 0
		if lower := strings.ToLower(key); strings.Contains(lower, "total") {
			rank = 2
		} else if strings.Contains(lower, "request") || strings.Contains(lower, "ask") {
			rank = 1
		}
		if rank <= bestRank {
			continue
		}
		if a := AmountIn(rest); a != "" {
			best, bestRank = a, rank
		}
	}
	return best
}

var milestoneHeading = regexp.MustCompile(`(?i)^(?:milestone|phase|` +
	`deliverable)\s*#?\s*(\d{1,2}(?:\.\d+)?[a-z]?)\s*(?:[:.—–|-]|\s-|$)+\s*(.*)$`)

// GrantMilestone is a step with the text below its heading.
type GrantMilestone struct {
	catalog.Milestone
	Text string
}

// MilestonesIn returns the steps that a grant proposal numbers in its headings
// or in bold lines, once each. A step ends where the next heading begins that is
// not below its own.
func MilestonesIn(text string) []GrantMilestone {
	var out []GrantMilestone
	seen := map[string]bool{}
	var fence markdown.Fence
	level := 0 // level of the open step's heading, 0: none is open
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		code := fence.Next(line) != markdown.Text
		title, depth := "", 7 // a bold line is below every heading
		if m := match(atxHeading, line, line, "#"); m != nil {
			title, depth = m[2], len(m[1])
		} else if strings.HasPrefix(line, "**") {
			title = line
		}
		var m []string
		if !code && title != "" {
			m = milestoneHeading.FindStringSubmatch(Inline(title))
		}
		switch {
		case m != nil && !seen[m[1]]:
			seen[m[1]], level = true, depth
			step := catalog.Milestone{Number: m[1], Title: strings.Trim(cutText(m[2], 200), " :*")}
			out = append(out, GrantMilestone{Milestone: step})
		case m != nil, !code && depth <= min(level, 6):
			level = 0
		case level > 0:
			out[len(out)-1].Text += line + "\n"
		}
	}
	for i := range out {
		out[i].Text = strings.TrimSpace(out[i].Text)
	}
	return out
}

// cutText returns at most n bytes of a text.
func cutText(s string, n int) string {
	for n < len(s) && n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:min(n, len(s))]
}
