package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/outbound"
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

// pullDetails is the data of a pull request that the list of issues lacks.
type pullDetails struct {
	Number      int    `json:"number"`
	Head        string `json:"headRefName"`
	Base        string `json:"baseRefName"`
	Additions   int    `json:"additions"`
	Deletions   int    `json:"deletions"`
	MergeCommit struct {
		OID string `json:"oid"`
	} `json:"mergeCommit"`
	Files struct {
		Nodes []struct {
			Path string `json:"path"`
		} `json:"nodes"`
	} `json:"files"`
}

func (d pullDetails) paths() []string {
	paths := []string{}
	for _, n := range d.Files.Nodes {
		paths = append(paths, n.Path)
	}
	return paths
}

const detailFields = `number headRefName baseRefName additions deletions mergeCommit { oid } ` +
	`files(first: 100) { nodes { path } }`

// details queries the pull requests of a page at once: REST would need two
// requests for each. Without a token there are none.
func (r *run) details(ctx context.Context, numbers []int) (map[int]pullDetails, error) {
	if r.token == "" || len(numbers) == 0 {
		return nil, nil
	}
	var q strings.Builder
	q.WriteString("query($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n")
	for _, n := range numbers {
		fmt.Fprintf(&q, "    p%d: pullRequest(number: %d) { %s }\n", n, n, detailFields)
	}
	q.WriteString("  }\n}")
	var answer struct {
		Repository map[string]json.RawMessage `json:"repository"`
	}
	err := r.ask(ctx, q.String(), r.variables(), &answer)
	if graph, ok := errors.AsType[*graphError](err); ok && graph.is("NOT_FOUND") && answer.Repository != nil {
		err = nil // one was deleted after it was listed
	}
	if err != nil {
		if smaller := len(numbers) / 2; smaller > 0 && timedOut(err) {
			return r.halves(ctx, numbers[:smaller], numbers[smaller:])
		}
		return nil, err
	}
	details := map[int]pullDetails{}
	for _, raw := range answer.Repository {
		var d pullDetails
		if err := json.Unmarshal(raw, &d); err != nil {
			return nil, fmt.Errorf("GraphQL: a pull request: %w", broken(err))
		}
		details[d.Number] = d
	}
	return details, nil
}

// halves queries a page that was too large in two parts.
func (r *run) halves(ctx context.Context, parts ...[]int) (map[int]pullDetails, error) {
	all := map[int]pullDetails{}
	for _, part := range parts {
		details, err := r.details(ctx, part)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, details)
	}
	return all, nil
}

// timedOut reports whether a query may have been too much for the forge, which
// gives up after ten seconds with a 502 or an error without a type.
func timedOut(err error) bool {
	graph, ok := errors.AsType[*graphError](err)
	return ok && graph.is("") || outbound.StatusOf(err) >= 500
}
