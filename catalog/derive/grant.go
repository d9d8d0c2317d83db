package derive

import (
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/text/markdown"
	"almanac/text/prose"
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
	s := fundingSum.FindString(markdown.Inline(text))
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
		} else if level, _ := markdown.ReadHeading(line); level > 0 {
			if fundingKeyOf(markdown.Inline(line)+":") != nil {
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
	level, begun := 0, 0 // of the open step: its level, 0: none is open; where its text begins
	end := func(at int) {
		if level > 0 {
			out[len(out)-1].Text = strings.TrimSpace(text[begun:at])
		}
		level = 0
	}
	line := func(title string, depth, at, next int) {
		m := milestoneHeading.FindStringSubmatch(markdown.Inline(title))
		if m != nil || depth <= min(level, 6) {
			end(at)
		}
		if m != nil && !seen[m[1]] {
			seen[m[1]], level, begun = true, depth, next
			step := catalog.Milestone{Number: m[1], Title: strings.Trim(prose.FirstBytes(m[2], maxStep), " :*")}
			out = append(out, GrantMilestone{Milestone: step})
		}
	}
	for b := range markdown.Blocks(text) {
		switch b.Kind {
		case markdown.Heading:
			line(b.Text, b.Level, b.Start, b.End)
		case markdown.Paragraph, markdown.Item:
			at := b.Start
			for l := range strings.Lines(text[b.Start:b.End]) {
				if title := strings.TrimSpace(l); strings.HasPrefix(title, "**") {
					line(title, 7, at, at+len(l)) // a bold line is below every heading
				}
				at += len(l)
			}
		}
	}
	end(len(text))
	return out
}

// maxStep is the maximum length of a step's title, in bytes.
const maxStep = 200
