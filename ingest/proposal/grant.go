package proposal

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/mention"
)

// grant makes the entry of a grant proposal, keyed by the number of its pull request.
func (r Reader) grant(in File) (catalog.Entry, error) {
	h := in.header
	data := catalog.Grant{
		Number: in.Pull.Number, RawStatus: h.Status, Champion: champion(h.Fields["Champion"]),
		Labels: labels(h.Fields["Label"]), Funding: cmp.Or(derive.AmountIn(h.Fields["Funding"]), derive.FundingIn(h.Body)),
		Milestones: milestones(h.Body), Cites: notNil(r.cited(in.Text)), Files: in.Files,
		Merged: in.Pull.State == "merged", Pull: in.Pull,
	}
	if len(data.Files) == 0 {
		data.Files = []string{in.Path}
	}
	rec := catalog.Record{
		Kind: catalog.KindGrant, Key: strconv.Itoa(in.Pull.Number), Title: r.title(h, in),
		URL: in.URL, Path: in.Path, Container: in.Repository,
		State: "closed", Author: cmp.Or(strings.Join(h.Authors, ", "), in.Pull.Author),
		Body: in.Text, Summary: derive.TLDR(h.Body),
	}
	if in.Pull.State == "open" {
		rec.State = "open"
	}
	r.date(&rec, in, h)
	if in.Forge != nil {
		for _, name := range in.Forge.Labels {
			if name = strings.ToLower(name); !slices.Contains(data.Labels, name) {
				data.Labels = append(data.Labels, name)
			}
		}
		if in.Forge.Column != nil {
			data.BoardStatus = *in.Forge.Column
		}
		if in.Forge.Active.After(rec.UpdatedAt) {
			rec.LastActivityAt = in.Forge.Active
		}
	}
	if len(data.Labels) > 0 {
		rec.Category = data.Labels[0]
	}
	rec.Tags = catalog.Tags(catalog.TagLabel, data.Labels...)
	if r.isStub(h, in) {
		rec.Tags = append(rec.Tags, catalog.TagStub)
	}
	facts := map[string]any{"labels": data.Labels, "merged": data.Merged}
	if in.Forge != nil && in.Forge.Column != nil {
		facts["board_status"] = orNull(data.BoardStatus)
	}
	e, err := entry(rec, data, nil, in, facts)
	if e.Facts != nil {
		e.Facts.Category = rec.Category
	}
	return e, err
}

// grantFile makes the entry of an additional file of a grant's pull request: a child
// record with its own path, which is not a separate proposal.
func (r Reader) grantFile(in File) (catalog.Entry, error) {
	e, err := r.grant(in)
	e.Parent = catalog.Ref{Kind: catalog.KindGrant, Key: e.Record.Key}
	e.Record.Key += "/" + in.Path
	return e, err
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

// milestones returns the steps that a text numbers.
func milestones(body string) []catalog.Milestone {
	out := []catalog.Milestone{}
	for _, m := range derive.MilestonesIn(body) {
		out = append(out, m.Milestone)
	}
	return out
}

// cited returns the keys of the proposals that a text cites, in order of their
// numbers.
func (r Reader) cited(text string) []string {
	return slices.Sorted(slices.Values(mention.Cited(r.Network.Proposals, text)))
}
