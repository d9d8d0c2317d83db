package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/text/dates"
)

// The types of discussions in GraphQL:
// https://docs.github.com/graphql/guides/using-the-graphql-api-for-discussions.

type pageInfo struct {
	HasNext bool   `json:"hasNextPage"`
	End     string `json:"endCursor"`
}

type discussion struct {
	ID       string `json:"id"`
	Number   int    `json:"number"`
	Title    string `json:"title"`
	Body     string `json:"body"`
	URL      string `json:"url"`
	Closed   bool   `json:"closed"`
	Answered bool   `json:"isAnswered"`
	Upvotes  int64  `json:"upvoteCount"`
	Author   *user  `json:"author"`
	Category struct {
		Name string `json:"name"`
	} `json:"category"`
	Labels connection[label] `json:"labels"`
	Answer *struct {
		URL    string `json:"url"`
		Author *user  `json:"author"`
	} `json:"answer"`
	CreatedAt time.Time                   `json:"createdAt"`
	UpdatedAt time.Time                   `json:"updatedAt"`
	ClosedAt  time.Time                   `json:"closedAt"`
	Comments  connection[json.RawMessage] `json:"comments"`
}

// connection is a page of a list in GraphQL.
type connection[T any] struct {
	Total    int64    `json:"totalCount"`
	PageInfo pageInfo `json:"pageInfo"`
	Nodes    []T      `json:"nodes"`
}

// discussionComment is a comment on a discussion or a reply to one.
type discussionComment struct {
	ID          string                      `json:"id"`
	Body        string                      `json:"body"`
	URL         string                      `json:"url"`
	Author      *user                       `json:"author"`
	Association string                      `json:"authorAssociation"`
	Answer      bool                        `json:"isAnswer"`
	Upvotes     int64                       `json:"upvoteCount"`
	Minimized   string                      `json:"minimizedReason"`
	CreatedAt   time.Time                   `json:"createdAt"`
	UpdatedAt   time.Time                   `json:"updatedAt"`
	DeletedAt   time.Time                   `json:"deletedAt"`
	Replies     connection[json.RawMessage] `json:"replies"`
}

const (
	commentFields = `id body url author { login __typename } authorAssociation isAnswer upvoteCount ` +
		`minimizedReason createdAt updatedAt deletedAt`
	replyFields  = `totalCount pageInfo { hasNextPage endCursor } nodes { ` + commentFields + ` }`
	threadFields = `totalCount pageInfo { hasNextPage endCursor } nodes { ` + commentFields +
		` replies(first: 20) { ` + replyFields + ` } }`

	discussionsQuery = `query($owner: String!, $name: String!, $first: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussions(first: $first, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        id number title body url closed closedAt isAnswered upvoteCount createdAt updatedAt
        author { login __typename } category { name } labels(first: 20) { nodes { name } }
        answer { url author { login __typename } }
        comments(first: 30) { ` + threadFields + ` }
      }
    }
  }
}`
	moreComments = `query($id: ID!, $after: String) {
  node(id: $id) { ... on Discussion { more: comments(first: 50, after: $after) { ` + threadFields + ` } } }
}`
	moreReplies = `query($id: ID!, $after: String) {
  node(id: $id) { ... on DiscussionComment { more: replies(first: 100, after: $after) { ` + replyFields + ` } } }
}`
)

// discussionPage is how many discussions are requested at once; fewer if that is
// too much for the forge.
const discussionPage = 20

// discussions reads the discussions, newest first, down to the last one seen.
// One that changes meanwhile moves up, so that none is lost.
func (r *run) discussions(ctx context.Context) error {
	if r.token == "" || !r.info.HasDiscussions {
		return nil
	}
	since := r.marks.Discussions
	if !since.IsZero() {
		since = since.Add(-overlap)
	}
	newest, seen, size := r.marks.Discussions, map[string]bool{}, discussionPage
	variables := r.variables()
	for range maxPages {
		variables["first"] = size
		var answer struct {
			Repository struct {
				Discussions connection[json.RawMessage] `json:"discussions"`
			} `json:"repository"`
		}
		err := r.ask(ctx, discussionsQuery, variables, &answer)
		if err != nil && size > 1 && timedOut(err) {
			size /= 2
			continue
		}
		if err != nil {
			return err
		}
		old := false
		info := answer.Repository.Discussions.PageInfo
		for _, raw := range answer.Repository.Discussions.Nodes {
			var d discussion
			if err := json.Unmarshal(raw, &d); err != nil || d.ID == "" || d.UpdatedAt.IsZero() {
				r.badNode(raw, err)
				continue
			}
			if old = old || d.UpdatedAt.Before(since); old || seen[d.ID] {
				continue
			}
			seen[d.ID] = true
			newest = later(newest, d.UpdatedAt)
			if err := r.discussion(ctx, d); err != nil {
				return err
			}
		}
		if old || !info.HasNext {
			r.marks.Discussions = newest
			return nil
		}
		if info.End == "" || info.End == variables["after"] {
			return fmt.Errorf("discussions: %w", errEndless)
		}
		variables["after"] = info.End
	}
	return fmt.Errorf("discussions: %w after %d of them", errEndless, maxPages)
}

var errNoNode = errors.New("has no id or no updatedAt: is this API of another version?")

// badNode reports a discussion or a comment on one that cannot be read.
func (r *run) badNode(raw json.RawMessage, err error) {
	var item struct {
		ID string `json:"id"`
	}
	_ = json.Unmarshal(raw, &item)
	r.bad(item.ID, cmp.Or(err, errNoNode))
}

// discussion puts a discussion and its comments, each a child of it.
func (r *run) discussion(ctx context.Context, d discussion) error {
	rec := catalog.Record{
		Kind: catalog.KindDiscussion, Key: d.ID,
		Title: cmp.Or(strings.TrimSpace(d.Title), numbered(r.name, d.Number)), URL: d.URL, Container: r.name,
		State: "open", Category: d.Category.Name, Author: r.access.author(d.Author),
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
		LastActivityAt: d.UpdatedAt, Replies: d.Comments.Total, Votes: d.Upvotes, Body: text(d.Body),
		Tags: catalog.Tags(catalog.TagLabel, names(d.Labels.Nodes)...),
	}
	if d.Closed {
		rec.State = "closed"
	}
	data := catalog.Discussion{
		Number: d.Number, Labels: names(d.Labels.Nodes), Answered: d.Answered, ClosedAt: dates.Format(d.ClosedAt),
	}
	if d.Answer != nil {
		data.AnswerURL, data.AnsweredBy = d.Answer.URL, r.access.author(d.Answer.Author)
	}
	e := catalog.Entry{Record: rec, Links: r.grantLinks(d.Title + "\n" + d.Body)}
	if d.Number > 0 {
		e.Aliases = []string{numbered(r.name, d.Number)}
	}
	if err := r.put(ctx, e, data); err != nil {
		return err
	}
	seen := map[string]bool{}
	return r.all(ctx, d.ID, moreComments, d.Comments, func(c discussionComment) error {
		if err := r.discussionComment(ctx, d, c, "", seen); err != nil {
			return err
		}
		return r.all(ctx, c.ID, moreReplies, c.Replies, func(reply discussionComment) error {
			return r.discussionComment(ctx, d, reply, c.ID, seen)
		})
	})
}

// all visits the comments or replies, requesting further pages.
func (r *run) all(
	ctx context.Context, id, query string, s connection[json.RawMessage], visit func(discussionComment) error,
) error {
	for range maxPages {
		for _, raw := range s.Nodes {
			var c discussionComment
			if err := json.Unmarshal(raw, &c); err != nil || c.ID == "" {
				r.badNode(raw, err)
				continue
			}
			if err := visit(c); err != nil {
				return err
			}
		}
		if !s.PageInfo.HasNext {
			return nil
		}
		var answer struct {
			Node struct {
				More connection[json.RawMessage] `json:"more"`
			} `json:"node"`
		}
		if err := r.ask(ctx, query, map[string]any{"id": id, "after": s.PageInfo.End}, &answer); err != nil {
			return err
		}
		if next := answer.Node.More.PageInfo; next.HasNext && (next.End == "" || next.End == s.PageInfo.End) {
			break
		}
		s = answer.Node.More
	}
	return fmt.Errorf("comments of %s: %w", id, errEndless)
}

func (r *run) discussionComment(
	ctx context.Context, d discussion, c discussionComment, replyTo string, seen map[string]bool,
) error {
	body := text(c.Body)
	if seen[c.ID] || r.access.bot(c.Author) || hidden(c.Minimized) || !c.DeletedAt.IsZero() || body == "" {
		return nil
	}
	seen[c.ID] = true
	updated := newer(c.CreatedAt, c.UpdatedAt)
	return r.put(ctx, catalog.Entry{
		Parent: catalog.Ref{Kind: catalog.KindDiscussion, Key: d.ID},
		Record: catalog.Record{
			Kind: catalog.KindComment, Key: c.ID, Title: "Re: " + d.Title, URL: c.URL, Container: r.name,
			Author:    r.access.author(c.Author),
			CreatedAt: c.CreatedAt, UpdatedAt: updated, LastActivityAt: updated, Votes: c.Upvotes, Body: body,
		},
	}, catalog.Comment{ReplyTo: replyTo, Association: association(c.Association), Answer: c.Answer})
}
