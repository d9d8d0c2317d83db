package library

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
)

type recordsIn struct {
	Kind      arg.Kind     `json:"kind" required:"true" doc:"kind of record"`
	Container string       `json:"container" maxLength:"200" doc:"only this repository, group, channel or category"`
	State     string       `json:"state" maxLength:"50" doc:"only this state, or a proposal's status in the network's word"`
	Source    string       `json:"source" maxLength:"200" doc:"only this source"`
	Parent    arg.RecordID `json:"parent" doc:"only what is part of this record"`

	Order string `json:"order" enum:"activity,created,title,key" default:"activity" doc:"newest first or by name"`
	arg.Paging
}

// Row is a record in a list of any kind.
type Row struct {
	kb.Item
	Category string `json:"category,omitempty"`
	Summary  string `json:"summary,omitempty" doc:"short description, if there is one"`
	Replies  int64  `json:"replies,omitempty" doc:"or messages, comments"`
	Views    int64  `json:"views,omitempty"`
}

var orders = map[string]catalog.Order{
	"activity": catalog.ByLastActivity, "created": catalog.ByCreated, "title": catalog.ByTitle, "key": catalog.ByKey,
}

var records = kb.New(op.Spec{
	ID: "list_records", Path: "/api/v1/records", MayFail: notFound,
	Example: recordsIn{Kind: "release", Order: "created", Paging: arg.Paging{Limit: 5}},
	Doc:     "Records of any kind, by activity, date, title or natural key.",
}, func(ctx context.Context, b kb.Base, in recordsIn) (kb.List[Row], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.Kind(in.Kind)}, Order: orders[in.Order],
		Containers: arg.Only(in.Container, ""), Sources: arg.Only(in.Source, ""),
	}
	if q.States = arg.Only(in.State, ""); in.Kind == arg.Kind(catalog.KindCIP) {
		q = kb.OfStatus(q, in.State)
	}
	if in.Parent != "" {
		r, err := b.Record(ctx, in.Parent)
		if err != nil {
			return kb.List[Row]{}, err
		}
		q.Parent = r.ID
	}
	return kb.Rows(ctx, b, q, in.Paging, row)
})

func row(b kb.Base, r catalog.Record) (Row, error) {
	return Row{b.Item(r), r.Category, r.Summary, r.Replies, r.Views}, nil
}

type recordIn struct {
	ID   arg.RecordID `json:"id" required:"true"`
	Kind arg.Kind     `json:"kind" doc:"then id may be the natural key in this kind"`
}

// The maximum of links in an answer.
const (
	refersShown   = 12
	referredShown = 50
)

// Record is what is known of a record besides its text.
type Record struct {
	kb.Item
	Type        string         `json:"type" doc:"search type"`
	Source      string         `json:"source"`
	Category    string         `json:"category,omitempty"`
	Summary     string         `json:"summary,omitempty"`
	CreatedAt   *time.Time     `json:"created_at"`
	UpdatedAt   *time.Time     `json:"updated_at"`
	StartsAt    *time.Time     `json:"starts_at"`
	EndsAt      *time.Time     `json:"ends_at"`
	FirstSeenAt *time.Time     `json:"first_seen_at"`
	ReadAt      *time.Time     `json:"read_at" doc:"when its source was last read"`
	Views       int64          `json:"views,omitempty"`
	Replies     int64          `json:"replies,omitempty"`
	Votes       int64          `json:"votes,omitempty"`
	Aliases     []string       `json:"aliases" doc:"other keys it is known by"`
	Shelf       []kb.Item      `json:"-"` // of documentation: the pages of its repository, for pages
	Parent      *kb.Item       `json:"parent" doc:"what it is part of; null if it stands alone"`
	Before      *kb.Item       `json:"before" doc:"the one before it in its thread"`
	After       *kb.Item       `json:"after" doc:"the one after it in its thread"`
	Data        map[string]any `json:"data" doc:"what its kind adds"`
	RefersTo    []kb.Reference `json:"refers_to" doc:"at most 12"`
	ReferredBy  []kb.Reference `json:"referred_by" doc:"newest first, at most 50"`
	References  int            `json:"references" doc:"number of those that refer to it"`
}

var record = kb.New(op.Spec{
	ID: "get_record", Path: "/api/v1/records/{id...}", MayFail: notFound,
	Doc: "What is known of a record besides its text: dates, source, the data of its kind, links both ways.",
}, runRecord)

func runRecord(ctx context.Context, b kb.Base, in recordIn) (out Record, err error) {
	r, err := findRecord(ctx, b, in)
	if err != nil {
		return out, err
	}
	out = Record{
		Item: b.Item(r), Type: arg.TypeOf(r.Kind), Source: r.Source, Category: r.Category, Summary: r.Summary,
		CreatedAt: kb.Time(r.CreatedAt), UpdatedAt: kb.Time(r.UpdatedAt), StartsAt: kb.Time(r.StartsAt),
		EndsAt: kb.Time(r.EndsAt), FirstSeenAt: kb.Time(r.FirstSeenAt),
		Views: r.Views, Replies: r.Replies, Votes: r.Votes,
	}
	if len(r.Data) > 0 {
		if err = json.Unmarshal(r.Data, &out.Data); err != nil {
			return out, fmt.Errorf("record %d: %w", r.ID, err)
		}
	}
	if out.Aliases, err = b.Catalog.Aliases(ctx, r.ID); err != nil {
		return out, err
	}
	if out.ReadAt, err = lastRead(ctx, b, r.Source); err != nil {
		return out, err
	}
	if err = out.addThread(ctx, b, r); err != nil {
		return out, err
	}
	if err = out.addShelf(ctx, b, r); err != nil {
		return out, err
	}
	return out, out.addLinks(ctx, b, r)
}

// findRecord finds what an id names: in a kind by its natural key too.
func findRecord(ctx context.Context, b kb.Base, in recordIn) (catalog.Record, error) {
	switch catalog.Kind(in.Kind) {
	case "":
		return b.Record(ctx, in.ID)
	case catalog.KindCIP:
		return b.CIPHead(ctx, arg.CIPID(in.ID))
	}
	return b.Keyed(ctx, catalog.Kind(in.Kind), string(in.ID))
}

// lastRead is when a source was last read without an error.
func lastRead(ctx context.Context, b kb.Base, source string) (*time.Time, error) {
	sources, err := b.Catalog.Sources(ctx)
	for _, s := range sources {
		if s.Name == source {
			return kb.Time(s.LastSuccess), err
		}
	}
	return nil, err
}

// addThread fills in what the record is part of, and its neighbours there.
func (out *Record) addThread(ctx context.Context, b kb.Base, r catalog.Record) error {
	if r.Parent == 0 {
		return nil
	}
	parent, err := b.Catalog.ByID(ctx, r.Parent)
	if errors.Is(err, catalog.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	out.Parent = new(b.Item(parent))
	before, after, err := read.Siblings(ctx, b, r)
	if err != nil {
		return err
	}
	for _, near := range []struct {
		id   string
		item **kb.Item
	}{{before, &out.Before}, {after, &out.After}} {
		if near.id == "" {
			continue
		}
		x, err := b.Record(ctx, arg.RecordID(near.id))
		if err != nil {
			return err
		}
		*near.item = new(b.Item(x))
	}
	return nil
}

// addLinks fills in the links of the record in both directions.
func (out *Record) addLinks(ctx context.Context, b kb.Base, r catalog.Record) error {
	by, err := b.Referrers(ctx, r)
	if err != nil {
		return err
	}
	out.References = len(by)
	for _, l := range by[:min(len(by), referredShown)] {
		out.ReferredBy = append(out.ReferredBy, b.Reference(l))
	}
	links, err := b.Catalog.LinksFrom(ctx, r.ID)
	if err != nil {
		return err
	}
	to, err := b.Resolve(ctx, links)
	for _, l := range to {
		if l.Record.ID != r.ID && len(out.RefersTo) < refersShown {
			out.RefersTo = append(out.RefersTo, b.Reference(l))
		}
	}
	return err
}

// addShelf fills in the pages of the repository that a page of documentation stands in.
func (out *Record) addShelf(ctx context.Context, b kb.Base, r catalog.Record) error {
	if r.Kind != catalog.KindDoc {
		return nil
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, Order: catalog.ByKey}
	shelves, _, err := kb.DerivedFrom(ctx, b, "shelves", 0, q, func(records []catalog.Record) map[string][]kb.Item {
		by := map[string][]kb.Item{}
		for _, x := range records {
			by[x.Container] = append(by[x.Container], b.Item(x))
		}
		return by
	})
	out.Shelf = shelves[r.Container]
	return err
}
