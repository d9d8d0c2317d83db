// Package community holds the operations on what the community says and what
// is new. It imports kb and op.
package community

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

const group = "community"

type service struct{ kb.Base }

// Operations returns the group's operations.
func Operations(b kb.Base) []op.Operation {
	s := service{b}
	return []op.Operation{
		op.New(op.Spec{ID: "get_recent_changes", Group: group, Path: "/api/v1/changes", Tool: "get_recent_changes", Title: "What is new",
			Summary:     "The activity stream: what is new, newest first.",
			Description: "Lists what changed in the last days, newest first: proposal status changes, new proposals, grants, forum topics, blog posts, releases and radar items."}, s.changes),
	}
}

type changesIn struct {
	Days  int       `json:"days" default:"7" minimum:"1" maximum:"90" doc:"length of the window"`
	Limit int       `json:"limit" default:"100" minimum:"1" maximum:"500" doc:"how many to return"`
	Since time.Time `json:"since" tool:"-" doc:"start of the window instead of days: a day, or a time"`
}

// ActivityStream is what happened in a window. Counts and total cover the
// window before the limit.
type ActivityStream struct {
	WindowDays int    `json:"window_days" doc:"begun days count whole"`
	Total      int    `json:"total"`
	Counts     Counts `json:"counts"`
	Items      []Item `json:"items"`
}

// Counts counts the items of the window by kind.
type Counts struct {
	StatusChange int `json:"cip_status_change"`
	NewCIP       int `json:"new_cip"`
	NewProposal  int `json:"new_proposal"`
	NewTopic     int `json:"new_forum_topic"`
	NewBlog      int `json:"new_blog_post"`
	NewRelease   int `json:"new_release"`
	NewRadar     int `json:"new_radar_item"`
}

// Item is one thing that happened.
type Item struct {
	Kind  string         `json:"kind"`
	When  time.Time      `json:"when"`
	ID    string         `json:"id"`
	Title string         `json:"title"`
	URL   *string        `json:"url" format:"uri"`
	Meta  map[string]any `json:"meta"`
}

// streams are the kinds of records that are news when they are created.
var streams = []struct {
	kind  catalog.Kind
	name  string
	count func(*Counts) *int
}{
	{catalog.KindCIP, "new_cip", func(c *Counts) *int { return &c.NewCIP }},
	{catalog.KindProposal, "new_proposal", func(c *Counts) *int { return &c.NewProposal }},
	{catalog.KindTopic, "new_forum_topic", func(c *Counts) *int { return &c.NewTopic }},
	{catalog.KindBlog, "new_blog_post", func(c *Counts) *int { return &c.NewBlog }},
	{catalog.KindRelease, "new_release", func(c *Counts) *int { return &c.NewRelease }},
	{catalog.KindRadar, "new_radar_item", func(c *Counts) *int { return &c.NewRadar }},
}

func (s service) changes(ctx context.Context, in changesIn) (ActivityStream, error) {
	now := s.Now().UTC()
	since := now.AddDate(0, 0, -in.Days)
	out := ActivityStream{WindowDays: in.Days}
	if !in.Since.IsZero() {
		if in.Since.After(now) {
			return ActivityStream{}, op.Invalid("since must be in the past: a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
		}
		since = in.Since
		out.WindowDays = max(1, int(math.Ceil(now.Sub(since).Hours()/24)))
	}
	until := now.Add(time.Microsecond) // the catalog's times are whole ones; what happens now is in
	if err := s.statusChanges(ctx, since, until, &out); err != nil {
		return ActivityStream{}, err
	}
	for _, st := range streams {
		records, _, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{st.kind}, TopLevel: true, Since: since, Until: until, Order: catalog.ByCreated})
		if err != nil {
			return ActivityStream{}, err
		}
		*st.count(&out.Counts) = len(records)
		for _, r := range records {
			out.Items = append(out.Items, s.item(r, st.name))
		}
	}
	slices.SortStableFunc(out.Items, func(a, b Item) int {
		return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	out.Total = len(out.Items)
	out.Items = out.Items[:min(in.Limit, len(out.Items))]
	return out, nil
}

func (s service) item(r catalog.Record, kind string) Item {
	url := s.URL(r)
	meta := map[string]any{"record_id": r.ID}
	for name, v := range map[string]string{"author": r.Author, "state": r.State, "category": r.Category, "container": r.Container} {
		if v != "" {
			meta[name] = v
		}
	}
	return Item{Kind: kind, When: r.CreatedAt.UTC(), ID: fmt.Sprint(kb.ID(r)), Title: r.Title, URL: &url, Meta: meta}
}

// statusChanges adds the status changes of proposals; the first status of a
// proposal is not a change.
func (s service) statusChanges(ctx context.Context, since, until time.Time, out *ActivityStream) error {
	events, err := s.Catalog.Events(ctx, catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindCIP}, Field: "status", Since: since, Until: until})
	if err != nil || len(events) == 0 {
		return err
	}
	proposals, _, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}})
	if err != nil {
		return err
	}
	byKey := make(map[string]catalog.Record, len(proposals))
	for _, r := range proposals {
		byKey[r.Key] = r
	}
	for _, e := range events {
		if e.RawFrom == "" && e.From == "" {
			continue
		}
		item := Item{Kind: "cip_status_change", When: e.At.UTC(), ID: kb.CIPID(e.Ref.Key), Title: e.Ref.Key + ": " + e.RawFrom + " → " + e.RawTo,
			Meta: map[string]any{"from": e.From, "to": e.To, "raw_from": e.RawFrom, "raw_to": e.RawTo, "via": e.Via}}
		if r, ok := byKey[e.Ref.Key]; ok {
			url := s.URL(r)
			item.Title, item.URL = r.Key+" "+r.Title+": "+e.RawFrom+" → "+e.RawTo, &url
		} else if e.URL != "" {
			item.URL = &e.URL
		}
		out.Counts.StatusChange++
		out.Items = append(out.Items, item)
	}
	return nil
}
