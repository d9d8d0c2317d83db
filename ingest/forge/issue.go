package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/outbound"
	"almanac/text/dates"
)

// numbered returns the key of an issue or a pull request: owner/name#12.
func numbered(repository string, number int) string { return fmt.Sprintf("%s#%d", repository, number) }

// issues reads issues and pull requests, which the forge lists together.
func (r *run) issues(ctx context.Context) error {
	f := feed[issue]{
		path: "/repos/" + r.name + "/issues", query: url.Values{"state": {"all"}}, since: r.marks.Issues,
		stamp:   func(i issue) (int64, time.Time) { return int64(i.Number), i.UpdatedAt },
		bad:     func(raw json.RawMessage, err error) { r.bad(r.keyOf(raw), err) },
		items:   func(items []issue) error { return r.issuePage(ctx, items) },
		reached: func(t time.Time) { r.marks.Issues = t },
	}
	err := f.read(ctx, r.client)
	if outbound.StatusOf(err) == http.StatusGone {
		r.out.Warn(r.name, "issues are disabled, so pull requests, which are listed with them, cannot be read")
		return nil
	}
	return err
}

// keyOf returns the key of an item that cannot be fully read.
func (r *run) keyOf(raw json.RawMessage) string {
	var item struct {
		Number int `json:"number"`
	}
	if json.Unmarshal(raw, &item) != nil || item.Number <= 0 {
		return ""
	}
	return numbered(r.name, item.Number)
}

func (r *run) issuePage(ctx context.Context, items []issue) error {
	var pulls []int
	for _, i := range items {
		if i.PullRequest != nil && r.opts.pulls(r.name) {
			pulls = append(pulls, i.Number)
		}
	}
	details, err := r.details(ctx, pulls)
	if err != nil {
		return err
	}
	for _, i := range items {
		switch {
		case i.PullRequest == nil:
			err = r.issue(ctx, i)
		case r.opts.pulls(r.name):
			err = r.pull(ctx, i, details[i.Number])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// record returns the common fields of issues and pull requests.
func (r *run) record(kind catalog.Kind, i issue) catalog.Record {
	return catalog.Record{
		Kind: kind, Key: numbered(r.name, i.Number),
		Title: cmp.Or(strings.TrimSpace(i.Title), numbered(r.name, i.Number)),
		URL:   i.HTMLURL, Container: r.name, State: i.State, Category: i.Type.Name, Author: r.access.author(i.User),
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, LastActivityAt: i.UpdatedAt,
		Replies: i.Comments, Votes: i.Reactions.Total, Body: text(i.Body),
		Tags: catalog.Tags(catalog.TagLabel, names(i.Labels)...),
	}
}

func (r *run) issue(ctx context.Context, i issue) error {
	e := catalog.Entry{Record: r.record(catalog.KindIssue, i), Links: r.grantLinks(i.Title + "\n" + i.Body)}
	return r.put(ctx, e, catalog.Issue{
		Number: i.Number, Labels: names(i.Labels), StateReason: i.StateReason, Milestone: i.Milestone.Title,
		Assignees:   logins(i.Assignees),
		Association: association(i.Association), ClosedAt: dates.Format(i.ClosedAt),
	})
}

func (r *run) pull(ctx context.Context, i issue, d pullDetails) error {
	rec := r.record(catalog.KindPull, i)
	if !i.PullRequest.MergedAt.IsZero() {
		rec.State = "merged"
	}
	data := catalog.Pull{
		Number: i.Number, MergedAt: dates.Format(i.PullRequest.MergedAt), Head: d.Head, Base: d.Base, Draft: i.Draft,
		Labels:    names(i.Labels),
		Milestone: i.Milestone.Title, Assignees: logins(i.Assignees), Association: association(i.Association),
		ClosedAt: dates.Format(i.ClosedAt), Files: d.paths(), Additions: d.Additions, Deletions: d.Deletions,
	}
	if rec.State == "merged" {
		data.MergeCommit = d.MergeCommit.OID // a trial merge while open
	}
	return r.put(ctx, catalog.Entry{Record: rec, Links: r.grantLinks(i.Title + "\n" + i.Body)}, data)
}

var (
	ownNumber = regexp.MustCompile(`(?i)(?:^|[\s(\[,;:]|\bPR[\s-]{0,2})#(\d{1,6})\b|\bPR[-\s](\d{1,6})\b`)
	// grantNumber is how people write of a grant; smaller numbers are those of
	// other things: grant 3 users access.
	grantNumber = regexp.MustCompile(`(?i)\bgrant\s(?:proposal\s)?#?(\d{2,6})\b`)
	fullNumber  = regexp.MustCompile(`([A-Za-z0-9-]+/[A-Za-z0-9._-]+)(?:#|/pull/|/issues/)(\d{1,6})\b`)
)

// maxGrantLinks limits the grant proposals that one text refers to.
const maxGrantLinks = 50

// grantLinks finds the grant proposals that a text refers to: as owner/name#12,
// by address, as grant 12, and in their own repository as #12 or PR 12.
func (r *run) grantLinks(text string) []catalog.Link {
	if r.opts.Grants == "" {
		return nil
	}
	var links []catalog.Link
	seen := map[string]bool{}
	add := func(number string, at int) {
		if number = strings.TrimLeft(number, "0"); number == "" || seen[number] || len(links) == maxGrantLinks {
			return
		}
		seen[number] = true
		links = append(links, catalog.Link{
			Relation: catalog.References, To: catalog.Ref{Kind: catalog.KindGrant, Key: number},
			Snippet: lineAt(text, at),
		})
	}
	for _, m := range fullNumber.FindAllStringSubmatchIndex(text, -1) {
		if strings.EqualFold(text[m[2]:m[3]], r.opts.Grants) {
			add(text[m[4]:m[5]], m[0])
		}
	}
	for _, m := range grantNumber.FindAllStringSubmatchIndex(text, -1) {
		add(text[m[2]:m[3]], m[2])
	}
	if r.name == r.opts.Grants {
		for _, m := range ownNumber.FindAllStringSubmatchIndex(text, -1) {
			if m[2] >= 0 {
				add(text[m[2]:m[3]], m[2])
			} else {
				add(text[m[4]:m[5]], m[4])
			}
		}
	}
	return links
}

// lineAt returns the line of a text at an offset.
func lineAt(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return strings.TrimSpace(line)
}
