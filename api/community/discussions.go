package community

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type discussionsIn struct {
	Q        arg.Query `json:"q"`
	Source   Place     `json:"source" doc:"only this source; without q the forum by default"`
	Category string    `json:"category" maxLength:"200" doc:"only this category of forum or forge"`
	arg.Paging
}

// Place is where people discuss.
type Place string

// Constraints implements op.Constrained.
func (Place) Constraints() reflect.StructTag {
	var names []string
	for _, p := range places {
		names = append(names, string(p.name))
	}
	return reflect.StructTag(`enum:"` + strings.Join(names, ",") + `"`)
}

// Discussions are threads, or what a search found in them.
type Discussions struct {
	kb.List[Talk]
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
}

// Talk is a thread, a post, a message or a comment.
type Talk struct {
	kb.Item
	Source   Place   `json:"source"`
	Category string  `json:"category,omitempty"`
	Views    int64   `json:"views"`
	Replies  int64   `json:"replies"`
	Solved   bool    `json:"-"` // it has an accepted answer; for pages
	Snippet  string  `json:"snippet,omitempty" doc:"of a search: why it was found"`
	Score    float64 `json:"score,omitempty" doc:"of a search: 0 to 1; comparable within one answer only"`
}

// place is a source of discussions: the kind of its threads, and of what is in
// them.
type place struct {
	name          Place
	thread, child catalog.Kind
}

func (p place) has(k catalog.Kind) bool { return p.thread == k || p.child == k }

var places = func() (all []place) {
	for _, thread := range catalog.KindsOf(catalog.RoleThread) {
		for _, child := range catalog.KindsAt(thread.Place(), catalog.RoleMessage) {
			all = append(all, place{Place(thread.Place()), thread, child})
		}
	}
	return all
}()

var discussions = kb.New(op.Spec{
	ID: "list_discussions", Path: "/api/v1/discussions", MayFail: []error{op.ErrUnavailable},
	Example: discussionsIn{Paging: arg.Paging{Limit: 5}},
	Doc: `
Forum threads, newest activity first; with q a search of forum, mailing lists and forge discussions.

With source alone it lists the threads of that source.
`,
}, func(ctx context.Context, b kb.Base, in discussionsIn) (Discussions, error) {
	if in.Q != "" {
		return searchDiscussions(ctx, b, in)
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindTopic}, Order: catalog.ByLastActivity}
	for _, p := range places {
		if p.name == in.Source {
			q.Kinds = []catalog.Kind{p.thread}
		}
	}
	q.Categories = arg.Only(in.Category, "")
	list, err := kb.Rows(ctx, b, q, in.Paging, func(b kb.Base, r catalog.Record) (Talk, error) { return talk(b, r), nil })
	return Discussions{List: list}, err
})

func searchDiscussions(ctx context.Context, b kb.Base, in discussionsIn) (Discussions, error) {
	search := find.Search{Field: "q", Query: string(in.Q), Limit: in.Limit, Offset: in.Offset}
	for _, p := range places {
		if in.Source == "" || in.Source == p.name {
			search.Kinds = append(search.Kinds, p.thread, p.child)
		}
	}
	if in.Category != "" { // engines do not filter by category
		records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: search.Kinds, Categories: []string{in.Category}})
		if err != nil {
			return Discussions{}, err
		}
		search.Filter.Records = find.Among(records)
	}
	found, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (Talk, error) {
		t, why := talk(b, m.Record), m.Why()
		t.Snippet, t.Score = why.Snippet, why.Score
		return t, nil
	})
	return Discussions{found.Page(in.Paging), found.Degraded}, err
}

// talk makes the row of a record of places.
func talk(b kb.Base, r catalog.Record) Talk {
	i := slices.IndexFunc(places, func(p place) bool { return p.has(r.Kind) })
	return Talk{Item: b.Item(r), Source: places[i].name, Category: r.Category, Views: r.Views, Replies: r.Replies,
		Solved: solved(r)}
}

// solved says whether a thread has an accepted answer. Data of another form has none.
func solved(r catalog.Record) bool {
	switch r.Kind {
	case catalog.KindTopic:
		d, _ := catalog.Decode[catalog.Topic](r)
		return d.Accepted > 0
	case catalog.KindDiscussion:
		d, _ := catalog.Decode[catalog.Discussion](r)
		return d.Answered
	}
	return false
}
