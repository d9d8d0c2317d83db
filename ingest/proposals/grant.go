package proposals

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest"
)

// Grant reads a grant proposal, keyed by the number of its pull request.
// in.Pull must be set.
func (r Reader) Grant(in File) (catalog.Entry, error) {
	if in.Pull == nil || in.Pull.Number <= 0 {
		return catalog.Entry{}, fmt.Errorf("proposals: grant %s: %w", in.Path, ErrNotProposal)
	}
	h := r.header(in.Text)
	data := catalog.Proposal{
		Number: in.Pull.Number, RawStatus: h.Status, Champion: champion(h.Fields["Champion"]),
		Labels: labels(h.Fields["Label"]), Funding: funding(h), Milestones: milestones(h.Body),
		Cites: notNil(r.cited(in.Text)), Files: in.Files, Merged: in.Pull.State == "merged", Pull: in.Pull,
	}
	if len(data.Files) == 0 {
		data.Files = []string{in.Path}
	}
	rec := catalog.Record{
		Kind: catalog.KindProposal, Key: strconv.Itoa(in.Pull.Number), Title: r.title(h, in),
		URL: in.URL, Path: in.Path, Container: in.Repository,
		State: "closed", Author: cmp.Or(strings.Join(h.Authors, ", "), in.Pull.Author),
		Body: in.Text, Summary: derive.TLDR(h.Body), Tags: catalog.Tags(catalog.TagLabel, data.Labels...),
	}
	if in.Pull.State == "open" {
		rec.State = "open"
	}
	if r.isStub(h, in) {
		rec.Tags = append(rec.Tags, catalog.TagStub)
	}
	if len(data.Labels) > 0 {
		rec.Category = data.Labels[0]
	}
	r.date(&rec, in, h)
	return entry(rec, data, nil)
}

// GrantFile reads an additional file of a grant's pull request: a child record
// with its own path, which is not a separate proposal.
func (r Reader) GrantFile(in File) (catalog.Entry, error) {
	e, err := r.Grant(in)
	if err != nil {
		return e, err
	}
	e.Parent = catalog.Ref{Kind: catalog.KindProposal, Key: e.Record.Key}
	e.Record.Key += "/" + in.Path
	return e, nil
}

// What a grant proposal's text contains beyond its header.

var notLabel = regexp.MustCompile(`(?i)^_?\[?(?:tbd|tba|n/?a|none|pick\b.*|need.*|required\b.*|to be .*|open to .*|` +
	`not yet.*|[<\[].*|-+)$`)

// labels splits a label field: by commas, slashes and line breaks.
func labels(s string) []string {
	out := []string{}
	for part := range strings.FieldsFuncSeq(plain(s), func(r rune) bool {
		return r == ',' || r == ';' || r == '/' || r == '|'
	}) {
		part = strings.ToLower(strings.Trim(part, " .\\*_`"))
		if part != "" && !notLabel.MatchString(part) && !strings.HasPrefix(part, "<") && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	return out
}

// champion returns the named sponsor; "TBD" and "need champion" are not names.
func champion(s string) string {
	s = strings.TrimSpace(handle.ReplaceAllString(plain(s), ""))
	if notLabel.MatchString(s) || strings.HasPrefix(s, "<") {
		return ""
	}
	return s
}

var (
	// fundingKey matches the start of a line that states the requested amount.
	fundingKey = regexp.MustCompile(`(?i)^[\s>*_#|+-]*(?:\d+(?:\.\d+)*\.?\s+)?(?:(?:total|grand|overall|requested|` +
		`development|project|grant|funding|budget|amount|request|ask|sum|` +
		`cost)\b[\s*_]*){1,5}(?:\([^()]*\)[\s*_]*)?[:|]`)
	// amount matches a number with its currency and its explanation.
	amount = regexp.MustCompile(`(?:[Uu]p to\s+|~|≈|≈\s)?(?:(?:US|CA)?[$€£]\s?\d[\d,.]*\d?\s?(?:[kKmM]\b|million\b)?|` +
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

// funding returns the requested amount, as written: from the header, else from
// the first line that states a total, else a request, else any amount of
// funding. A heading counts together with the line below it.
func funding(h Header) string {
	if f := amount.FindString(plain(h.Fields["Funding"])); f != "" {
		return strings.TrimSpace(cutBytes(f, maxFunding))
	}
	best, bestRank := "", -1
	asked := "" // the heading above
	for line := range strings.Lines(h.Body) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, text, above := "", line, asked
		asked = ""
		if at := fundingKeyOf(line); at != nil {
			key, text = line[:at[1]], line[at[1]:]
		} else if heading.MatchString(line) {
			if fundingKeyOf(plain(line)+":") != nil {
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
		if a := amount.FindString(plain(text)); a != "" && rank > bestRank {
			best, bestRank = strings.TrimSpace(cutBytes(a, maxFunding)), rank
		}
	}
	return best
}

var milestoneHeading = regexp.MustCompile(`(?i)^(?:milestone|phase|` +
	`deliverable)\s*#?\s*(\d{1,2}(?:\.\d+)?[a-z]?)\s*(?:[:.—–|-]|\s-|$)+\s*(.*)$`)

// milestones returns the steps that a text numbers in its headings or in bold
// lines, once each.
func milestones(body string) []catalog.Milestone {
	out := []catalog.Milestone{}
	seen := map[string]bool{}
	fenced := false
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if fenceLine.MatchString(line) {
			fenced = !fenced
		}
		text := ""
		if m := heading.FindStringSubmatch(line); m != nil {
			text = m[2]
		} else if strings.HasPrefix(line, "**") {
			text = line
		}
		if fenced || text == "" {
			continue
		}
		m := milestoneHeading.FindStringSubmatch(plain(text))
		if m == nil || seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		out = append(out, catalog.Milestone{Number: m[1], Title: strings.Trim(cutBytes(m[2], 200), " :*")})
	}
	return out
}

// cited returns the keys of the proposals that a text cites, in order of their
// numbers.
func (r Reader) cited(text string) []string {
	return slices.Sorted(slices.Values(ingest.Cited(r.Network.Proposals, text)))
}
