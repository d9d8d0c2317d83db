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

type changesIn struct {
	Days  int    `json:"days" default:"7" minimum:"1" maximum:"90" doc:"length of the window"`
	Limit int    `json:"limit" default:"100" minimum:"1" maximum:"500" doc:"how many to return"`
	Since kb.Day `json:"since" tool:"-" doc:"start of the window instead of days: a day, or a time"`
}

// ActivityStream lists the activity in a window. Counts and total cover the
// window before the limit. The name is published in OpenAPI.
type ActivityStream struct {
	WindowDays int        `json:"window_days" doc:"rounded up to whole days"`
	Total      int        `json:"total"`
	Counts     Counts     `json:"counts"`
	Items      []Activity `json:"items"`
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

// Activity is one event.
type Activity struct {
	Kind  string         `json:"kind"`
	When  time.Time      `json:"when"`
	ID    string         `json:"id" doc:"reads the full text with get_doc"`
	Title string         `json:"title"`
	URL   *string        `json:"url" format:"uri"`
	Meta  map[string]any `json:"meta"`
}

// streams are the kinds of records whose creation is listed.
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

var changes = kb.New(op.Spec{
	ID: "get_recent_changes", Path: "/api/v1/changes", Tool: "get_recent_changes",
	Example: changesIn{Days: 30, Limit: 20},
	Doc: `
What is new
The activity stream: what is new, newest first.

Lists what changed in the last days, newest first: proposal status changes, new proposals, grants, forum
topics, blog posts, releases and radar items.
`,
}, func(ctx context.Context, b kb.Base, in changesIn) (ActivityStream, error) {
	now := b.Now().UTC()
	since := now.AddDate(0, 0, -in.Days)
	out := ActivityStream{WindowDays: in.Days}
	if start := in.Since.Time(); !start.IsZero() {
		if start.After(now) {
			return out, op.Invalid("since must be in the past: " +
				"a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z")
		}
		since = start
		out.WindowDays = max(1, int(math.Ceil(now.Sub(since).Hours()/24)))
	}
	until := now.Add(time.Microsecond) // exclusive; the catalog stores whole microseconds
	if err := statusChanges(ctx, b, since, until, &out); err != nil {
		return ActivityStream{}, err
	}
	if err := created(ctx, b, since, until, &out); err != nil {
		return ActivityStream{}, err
	}
	slices.SortStableFunc(out.Items, func(a, b Activity) int {
		return cmp.Or(b.When.Compare(a.When), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	out.Total = len(out.Items)
	out.Items = out.Items[:min(in.Limit, len(out.Items))]
	return out, nil
})

// created adds the new records.
func created(ctx context.Context, b kb.Base, since, until time.Time, out *ActivityStream) error {
	q := catalog.ListQuery{TopLevel: true, Since: since, Until: until, Order: catalog.ByCreated}
	for _, st := range streams {
		q.Kinds = append(q.Kinds, st.kind)
	}
	records, _, err := b.Catalog.List(ctx, q)
	for _, r := range records {
		st := streams[slices.Index(q.Kinds, r.Kind)]
		*st.count(&out.Counts)++
		out.Items = append(out.Items, activity(b, r, st.name))
	}
	return err
}

func activity(b kb.Base, r catalog.Record, kind string) Activity {
	meta := map[string]any{"record_id": r.ID}
	for name, v := range map[string]string{
		"author": r.Author, "state": r.State, "category": r.Category, "container": r.Container,
	} {
		if v != "" {
			meta[name] = v
		}
	}
	return Activity{kind, r.CreatedAt.UTC(), b.ID(r), r.Title, new(b.URL(r)), meta}
}

// statusChanges adds the status changes of proposals; the first status of a
// proposal is not a change.
func statusChanges(ctx context.Context, b kb.Base, since, until time.Time, out *ActivityStream) error {
	events, err := b.Catalog.Events(ctx, catalog.EventQuery{
		Ref: catalog.Ref{Kind: catalog.KindCIP}, Field: "status", Since: since, Until: until,
	})
	if err != nil || len(events) == 0 {
		return err
	}
	proposals, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}})
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
		item := Activity{
			Kind: "cip_status_change", When: e.At.UTC(), ID: b.Network.Proposals.ID(e.Ref.Key),
			Title: fmt.Sprintf("%s: %s → %s", e.Ref.Key, e.RawFrom, e.RawTo),
			Meta:  map[string]any{"from": e.From, "to": e.To, "raw_from": e.RawFrom, "raw_to": e.RawTo, "via": e.Via},
		}
		if r, ok := byKey[e.Ref.Key]; ok {
			item.Title = fmt.Sprintf("%s %s: %s → %s", r.Key, r.Title, e.RawFrom, e.RawTo)
			item.URL = new(b.URL(r))
		} else if e.URL != "" { // a proposal without a file
			item.URL = &e.URL
		}
		out.Counts.StatusChange++
		out.Items = append(out.Items, item)
	}
	return nil
}
