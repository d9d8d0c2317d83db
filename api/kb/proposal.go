package kb

import (
	"cmp"
	"context"
	"regexp"
	"strings"
	"time"

	"almanac/api/op"
	"almanac/catalog"
)

// CIPPattern is the form of an improvement proposal's id in a path;
// CIPToolPattern also takes the spellings that tools accept.
const (
	CIPPattern     = `^(\d{1,4}|CIP-\d{1,4}|cip-\d{1,4}|PR-\d+)$`
	CIPToolPattern = `^\s*(?i:(cip[-\s#]?)?\d{1,4}|pr[-\s#]?\d+)\s*$`
)

var cipDigits = regexp.MustCompile(`\d+`)

// CIPRef returns the reference that an id in any accepted spelling names.
func (b Base) CIPRef(id string) (catalog.Ref, error) {
	digits := cipDigits.FindString(id)
	if digits == "" {
		return catalog.Ref{}, op.Invalid("%q must be a number such as 56, CIP-0056, or PR-203 for a draft", id)
	}
	// Digits stay text: a number too long for an integer is one that nothing has.
	digits = strings.TrimLeft(digits, "0")
	if trimmed := strings.ToUpper(strings.TrimSpace(id)); strings.HasPrefix(trimmed, "PR") {
		return catalog.Ref{Kind: catalog.KindCIP, Key: "PR-" + cmp.Or(digits, "0")}, nil
	}
	digits = strings.Repeat("0", max(0, 4-len(digits))) + digits
	return catalog.Ref{Kind: catalog.KindCIP, Key: b.Network.Proposals.Prefix + "-" + digits}, nil
}

// CIPRecord finds the proposal that an id names.
func (b Base) CIPRecord(ctx context.Context, id string) (catalog.Record, error) {
	ref, err := b.CIPRef(id)
	if err != nil {
		return catalog.Record{}, err
	}
	r, err := b.Catalog.Get(ctx, ref)
	return r, NotFound(err, "there is no %s", ref.Key)
}

// CIP is the row of an improvement proposal.
type CIP struct {
	ID        string     `json:"id" doc:"four digits, or PR-n for a draft"`
	Label     string     `json:"label"`
	Title     string     `json:"title"`
	Status    string     `json:"status" enum:"Draft,Review,Final,Withdrawn,Rejected,Superseded"`
	RawStatus string     `json:"raw_status" doc:"as the proposal spells it"`
	Type      string     `json:"type"`
	Author    string     `json:"author"`
	Authors   []string   `json:"authors"`
	Created   string     `json:"created,omitempty" doc:"as written"`
	Approved  string     `json:"approved,omitempty" doc:"as written"`
	Requires  []string   `json:"requires" doc:"ids of prerequisites"`
	Draft     bool       `json:"draft" doc:"an unmerged pull request"`
	TLDR      *string    `json:"tldr"`
	RecordID  int64      `json:"record_id"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	URL       string     `json:"url"`
	Page      string     `json:"page"`
	Path      string     `json:"path,omitempty"`
}

// CIPRow makes the row of a proposal's record.
func (b Base) CIPRow(r catalog.Record) (CIP, error) {
	d, err := Decode[catalog.CIP](r)
	if err != nil {
		return CIP{}, err
	}
	c := CIP{ID: CIPID(r.Key), Label: r.Key, Title: r.Title, Status: r.State, RawStatus: d.RawStatus, Type: r.Category, Author: r.Author,
		Authors: d.Authors, Created: d.Created, Approved: d.Approved, Draft: strings.HasPrefix(r.Key, "PR-"), RecordID: r.ID,
		CreatedAt: Time(r.CreatedAt), UpdatedAt: Time(r.UpdatedAt), URL: b.URL(r), Page: b.PageURL(r), Path: r.Path}
	if r.Summary != "" {
		c.TLDR = &r.Summary
	}
	for _, key := range d.Requires {
		c.Requires = append(c.Requires, CIPID(key))
	}
	return c, nil
}
