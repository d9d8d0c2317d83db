// Package community holds the operations on what the community says, whether
// it agrees, and what is new.
package community

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{changes, trending, discussions, discussion, consensus}

// numberID is the number of a forum topic, or a record id: an integer on REST.
// Tools take the read of a search result, a string, too.
type numberID string

// Constraints implements op.Constrained.
func (numberID) Constraints() reflect.StructTag {
	return `pattern:"^\\d{1,18}$" toolpattern:"^\\d+(#.*)?$" type:"integer" tooltype:"string,integer" like:"1234" ` +
		`doc:"topic id, or the id of a search result" tooldoc:"topic id, or read of a search result"`
}

type discussionIn struct {
	ID     numberID   `json:"id" required:"true"`
	Cursor arg.Cursor `json:"cursor"`
}

// Discussion is a forum topic with some of its posts, oldest first.
type Discussion struct {
	Topic
	read.Thread[Post]
}

// Topic is a forum topic.
type Topic struct {
	ID int `json:"id"`
	kb.Item
	Category  string     `json:"category"`
	Views     int64      `json:"views"`
	Posts     int        `json:"posts" doc:"number of posts"`
	CreatedAt *time.Time `json:"created_at"`
}

// Post is one post of a topic.
type Post struct {
	Number   int        `json:"number"`
	Author   string     `json:"author"`
	Role     string     `json:"role,omitempty"`
	ReplyTo  int        `json:"reply_to,omitempty"`
	Likes    int64      `json:"likes"`
	Accepted bool       `json:"accepted,omitempty"`
	Date     *time.Time `json:"date"`
	URL      string     `json:"url"`
	Content  string     `json:"content"`
}

var discussion = kb.New(op.Spec{
	ID: "get_discussion", Path: "/api/v1/discussions/{id}", Tool: "get_discussion",
	Kinds: []catalog.Kind{catalog.KindTopic}, MayFail: []error{op.ErrNotFound},
	Doc: `
Read a forum thread
One forum thread with its posts, oldest first.

Reads one forum thread by its numeric topic id: title, category, view and post counts, and its posts, 15 at a
time. Find threads with search and type discussion.
`,
}, func(ctx context.Context, b kb.Base, in discussionIn) (Discussion, error) {
	row, posts, err := forum.Read(ctx, b, string(in.ID), in.Cursor)
	return Discussion{row, posts}, err
})

// forum reads topics with their posts, 15 at a time.
var forum = read.Conversations[Topic, Post]{
	Kind: catalog.KindTopic, Row: topic, Children: catalog.KindPost, Child: post, Most: 15,
}

func topic(b kb.Base, r catalog.Record) (Topic, error) {
	d, err := kb.Decode[catalog.Topic](r)
	if err != nil {
		return Topic{}, err
	}
	number, err := strconv.Atoi(r.Key)
	return Topic{number, b.Item(r), r.Category, r.Views, d.Posts, kb.Time(r.CreatedAt)}, err
}

func post(b kb.Base, r catalog.Record) (Post, error) {
	d, err := kb.Decode[catalog.Post](r)
	return Post{
		Number: d.Number, Author: r.Author, Role: d.Role, ReplyTo: d.ReplyTo, Likes: r.Votes, Accepted: d.Accepted,
		Date: kb.Time(r.CreatedAt), URL: b.URL(r), Content: r.Body,
	}, err
}

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

// Community is the content of the resource kb://community: where people talk,
// and how much of it is indexed.
type Community struct {
	Places      []network.Place `json:"places" doc:"where people talk"`
	Topics      int             `json:"forum_topics"`
	Posts       int             `json:"forum_posts"`
	Discussions int             `json:"forge_discussions"`
	Lists       []MailingList   `json:"mailing_lists"` // by group
}

// MailingList is what is indexed of a mailing list.
type MailingList struct {
	Group    string `json:"group"`
	Threads  int    `json:"threads"`
	Messages int    `json:"messages"`
}

// CommunityResource returns where people talk, as the network's file says, and how
// much of it is indexed.
func CommunityResource(ctx context.Context, b kb.Base) (any, error) {
	counts, err := b.Counts(ctx)
	out := Community{Places: b.Network.Community}
	lists := map[string]MailingList{}
	for _, c := range counts {
		l := lists[c.Container]
		l.Group = c.Container
		switch c.Kind {
		case catalog.KindTopic:
			out.Topics += c.N
		case catalog.KindPost:
			out.Posts += c.N
		case catalog.KindDiscussion:
			out.Discussions += c.N
		case catalog.KindMailThread:
			l.Threads += c.N
			lists[l.Group] = l
		case catalog.KindMailMessage:
			l.Messages += c.N
			lists[l.Group] = l
		}
	}
	for _, group := range slices.Sorted(maps.Keys(lists)) {
		out.Lists = append(out.Lists, lists[group])
	}
	return out, err
}
