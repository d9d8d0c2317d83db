package community

import (
	"context"
	"strconv"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var discussionSpec = op.Spec{
	ID: "get_discussion", Path: "/api/v1/discussions/{id}", Tool: "get_discussion", Title: "Read a forum thread",
	MayFail: []error{op.ErrNotFound},
	Summary: "One forum thread with its posts, oldest first.",
	Description: "Reads one forum thread by its numeric topic id: title, category, view and post counts, and its posts, " +
		"15 at a time. Find threads with search and type discussion.",
}

type discussionIn struct {
	ID     kb.NumberID `json:"id" required:"true" doc:"topic id, or the id of a search result"`
	Cursor kb.Cursor   `json:"cursor"`
}

// Discussion is a forum topic with some of its posts.
type Discussion struct {
	ID int `json:"id"`
	kb.Item
	Category  string     `json:"category"`
	Views     int64      `json:"views"`
	Posts     int        `json:"posts" doc:"number of posts"`
	CreatedAt *time.Time `json:"created_at"`
	kb.Thread[Post]
}

// Post is one post of it.
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

// postsShown is how many posts one answer has at most.
const postsShown = 15

func (s service) discussion(ctx context.Context, in discussionIn) (Discussion, error) {
	r, err := s.Numbered(ctx, catalog.KindTopic, in.ID)
	if err != nil {
		return Discussion{}, kb.NotFound(err, "there is no forum topic %s", in.ID)
	}
	d, err := kb.Decode[catalog.Topic](r)
	if err != nil {
		return Discussion{}, err
	}
	number, err := strconv.Atoi(r.Key)
	if err != nil {
		return Discussion{}, err
	}
	posts, err := kb.Children(ctx, s.Base, r, catalog.KindPost, postsShown, in.Cursor, s.post)
	return Discussion{
		ID: number, Item: s.Item(r), Category: r.Category, Views: r.Views, Posts: d.Posts,
		CreatedAt: kb.Time(r.CreatedAt), Thread: posts,
	}, err
}

func (s service) post(r catalog.Record) (Post, error) {
	d, err := kb.Decode[catalog.Post](r)
	return Post{
		Number: d.Number, Author: r.Author, Role: d.Role, ReplyTo: d.ReplyTo, Likes: r.Votes, Accepted: d.Accepted,
		Date: kb.Time(r.CreatedAt), URL: s.URL(r), Content: r.Body,
	}, err
}
