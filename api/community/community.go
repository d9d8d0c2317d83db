// Package community holds the operations on what the community says, whether
// it agrees, and what is new.
package community

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strconv"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
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

// Trending is the content of the last week, ranked by engagement.
type Trending struct {
	WindowDays int       `json:"window_days"`
	Items      []Trend   `json:"items"`
	Total      int       `json:"total" doc:"number of records with any engagement"`
	AsOf       time.Time `json:"as_of"`
	Method     string    `json:"method"`
}

// Head says how many there are in all.
func (t Trending) Head() (total int, hint string) { return t.Total, "" }

// Trend is one trending record.
type Trend struct {
	kb.Item
	Score   float64 `json:"score" doc:"comparable across kinds"`
	NewBits int     `json:"new" doc:"posts, messages or comments within the window"`
	Fresh   bool    `json:"fresh" doc:"created within the window"`
}

// What REST shows, and how long scores are cached: they halve in two days.
const trendsShown, trendsAge = 20, 15 * time.Minute

type trendingIn struct {
	Limit int `json:"limit" rest:"-" unlisted:"true" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

var trending = kb.New(op.Spec{
	ID: "get_trending", Path: "/api/v1/trending", Tool: "get_trending", Kinds: trendingKinds,
	Doc: `
What is trending
Content of the last week, ranked by engagement.

Ranks the last week's content by an engagement score: new posts, messages, comments, votes and views, weighted
by age. For a plain list of what is new use get_recent_changes.
`,
}, func(ctx context.Context, b kb.Base, in trendingIn) (Trending, error) {
	trends, at, err := kb.Derived(ctx, b, "trending", trendsAge, func(ctx context.Context) ([]trend, error) {
		now := b.Now()
		records, _, err := b.Catalog.List(ctx, catalog.ListQuery{
			Kinds: slices.Concat(trendingKinds, trendingChildren), Since: now.Add(-trendingWindow),
		})
		if err != nil {
			return nil, err
		}
		parents, err := b.Catalog.Heads(ctx, missingParents(records))
		return trendsOf(append(records, parents...), now), err
	})
	out := Trending{
		WindowDays: int(trendingWindow.Hours() / 24), Total: len(trends), AsOf: at,
		Method: "Engagement decays with a half-life of two days and is compared with the mean of its kind.",
	}
	for _, t := range trends[:min(cmp.Or(in.Limit, trendsShown), len(trends))] {
		out.Items = append(out.Items, Trend{b.Item(t.Record), kb.Score(t.Score), t.New, t.Fresh})
	}
	return out, err
})
