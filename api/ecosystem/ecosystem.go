// Package ecosystem holds the operations on what is built on the network: its
// repositories, projects and tool servers, and what they lack.
package ecosystem

import (
	"context"
	"errors"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
)

// Operations are those of the group, in the order clients see them.
var Operations = []kb.Op{
	discussions, getDiscussion, repos, projects, works, comments, toolServers, callServer, dependencies, gaps,
}

// Discussion is a discussion on the forge in a list.
type Discussion struct {
	kb.Named
	Number    int        `json:"number"`
	Repo      string     `json:"repo"`
	Category  string     `json:"category"`
	Upvotes   int64      `json:"upvotes"`
	Comments  int64      `json:"comments"`
	Answered  bool       `json:"answered"`
	CreatedAt *time.Time `json:"created_at"`
}

type discussionsIn struct {
	Repo     string `json:"repo" maxLength:"200" doc:"only this repository, as owner/name"`
	Category string `json:"category" maxLength:"200" doc:"only this category"`
	Limit    int    `json:"limit" default:"20" minimum:"1" maximum:"100" doc:"how many to return"`
}

var discussions = kb.New(op.Spec{
	ID: "list_forge_discussions", Path: "/api/v1/forge-discussions", Tool: "list_forge_discussions",
	Kinds: []catalog.Kind{catalog.KindDiscussion},
	Doc: `
List forge discussions
Discussions of the repositories, most upvoted first.

Lists discussions of the repositories, most upvoted first, then newest; filter by repository or category. Read one
with get_forge_discussion.
`,
}, func(ctx context.Context, b kb.Base, in discussionsIn) (kb.List[Discussion], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindDiscussion}, Order: catalog.ByVotes,
		Containers: arg.Only(in.Repo, ""), Categories: arg.Only(in.Category, ""),
	}
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, discussion)
})

func discussion(b kb.Base, r catalog.Record) (Discussion, error) {
	d, err := kb.Decode[catalog.Discussion](r)
	return Discussion{
		Named: b.Named(r), Number: d.Number, Repo: r.Container, Category: r.Category, Upvotes: r.Votes,
		Comments: r.Replies, Answered: d.Answered, CreatedAt: kb.Time(r.CreatedAt),
	}, err
}

// FullDiscussion is a discussion with its text and comments, oldest first.
type FullDiscussion struct {
	Opened
	read.Thread[Comment]
}

// Comment is one comment of a discussion.
type Comment struct {
	ID      string     `json:"id"`
	Author  string     `json:"author"`
	Answer  bool       `json:"answer,omitempty" doc:"the accepted answer"`
	Upvotes int64      `json:"upvotes"`
	Content string     `json:"content"`
	URL     string     `json:"url"`
	Date    *time.Time `json:"date"`
}

var getDiscussion = kb.New(op.Spec{
	ID: "get_forge_discussion", Path: "/api/v1/forge-discussions/{id}", Tool: "get_forge_discussion",
	Kinds: []catalog.Kind{catalog.KindDiscussion}, MayFail: []error{op.ErrNotFound},
	Doc: `
Read a forge discussion
One discussion of a repository with its comments.

Reads the text and the comments of one discussion of a repository, by the node id that list_forge_discussions gives.
`,
}, func(ctx context.Context, b kb.Base, in discussionIn) (FullDiscussion, error) {
	row, comments, err := forge.Read(ctx, b, in.ID, in.Cursor)
	return FullDiscussion{row, comments}, err
})

var forge = read.Conversations[Opened, Comment]{
	Kind: catalog.KindDiscussion, Row: open, Children: catalog.KindComment, Child: comment,
	Opens: true,
}

// Opened is a discussion with its text.
type Opened struct {
	Discussion
	Content string `json:"content" doc:"its own text, or the part that begins at the cursor; empty behind it"`
}

func open(b kb.Base, r catalog.Record) (Opened, error) {
	row, err := discussion(b, r)
	return Opened{row, r.Body}, err
}

type discussionIn struct {
	ID     string     `json:"id" required:"true" maxLength:"200" doc:"node id, or the id of a search result"`
	Cursor arg.Cursor `json:"cursor"`
}

func comment(b kb.Base, r catalog.Record) (Comment, error) {
	d, err := kb.Decode[catalog.Comment](r)
	return Comment{r.Key, r.Author, d.Answer, r.Votes, r.Body, b.URL(r), kb.Time(r.CreatedAt)}, err
}

// Works are issues and pull requests.
type Works struct {
	kb.List[Work]
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
}

// Work is an issue or a pull request.
type Work struct {
	kb.Item
	Number    int        `json:"number"`
	Labels    []string   `json:"labels"`
	Comments  int64      `json:"comments"`
	Reactions int64      `json:"reactions"`
	Opened    *time.Time `json:"opened"`
	Match     *find.Why  `json:"match,omitempty" doc:"with q: why it was found"`
}

type worksIn struct {
	Repo  string `json:"repo" maxLength:"200" doc:"only this repository, as owner/name"`
	State string `json:"state" enum:"open,closed,merged,all" default:"all" doc:"closed: without being merged"`
	Type  string `json:"type" enum:"issue,pull,all" default:"all" doc:"only issues, or only pull requests"`
	Query string `json:"q" maxLength:"4000" doc:"what to search for; all are listed if left out"`
	arg.Paging
}

var workKinds = map[string][]catalog.Kind{
	"all": {catalog.KindIssue, catalog.KindPull}, "issue": {catalog.KindIssue}, "pull": {catalog.KindPull},
}

var works = kb.New(op.Spec{
	ID: "list_code", Path: "/api/v1/code", MayFail: []error{op.ErrUnavailable},
	Example: worksIn{State: "open", Type: "issue", Paging: arg.Paging{Limit: 5}},
	Doc: `
Issues and pull requests of the repositories, the latest activity first.

Lists issues and pull requests by their last activity, or with q the best matches first; filter by repository, state
and type.
`,
}, func(ctx context.Context, b kb.Base, in worksIn) (Works, error) {
	kinds := workKinds[in.Type]
	repos, states := arg.Only(in.Repo, ""), arg.Only(in.State, "all")
	if in.Query == "" {
		list, err := kb.Rows(ctx, b, catalog.ListQuery{
			Kinds: kinds, Containers: repos, States: states, Order: catalog.ByLastActivity,
		}, in.Paging, work)
		return Works{List: list}, err
	}
	s := find.Search{Field: "q", Query: in.Query, Kinds: kinds, Limit: in.Limit, Offset: in.Offset}
	s.Filter.Containers, s.Filter.States = repos, states
	found, err := find.Rows(ctx, b, s, func(b kb.Base, m find.Match) (Work, error) {
		w, err := work(b, m.Record)
		w.Match = new(m.Why())
		return w, err
	})
	return Works{found.Page(in.Paging), found.Degraded}, err
})

func work(b kb.Base, r catalog.Record) (Work, error) {
	w := Work{Item: b.Item(r), Comments: r.Replies, Reactions: r.Votes, Opened: kb.Time(r.CreatedAt)}
	if r.Kind == catalog.KindPull {
		d, err := kb.Decode[catalog.Pull](r)
		w.Number, w.Labels = d.Number, d.Labels
		return w, err
	}
	d, err := kb.Decode[catalog.Issue](r)
	w.Number, w.Labels = d.Number, d.Labels
	return w, err
}

// Comments are what is said on an issue or a pull request.
type Comments struct {
	read.Thread[Comment]
}

type commentsIn struct {
	ID     string     `json:"id" required:"true" maxLength:"300" doc:"owner/name#12, or the id of a search result"`
	Cursor arg.Cursor `json:"cursor"`
}

var comments = kb.New(op.Spec{
	ID: "list_comments", Path: "/api/v1/code/{id}/comments", MayFail: []error{op.ErrNotFound},
	Doc: "What is said on an issue or a pull request: whole comments, oldest first.",
}, func(ctx context.Context, b kb.Base, in commentsIn) (Comments, error) {
	r, err := b.Keyed(ctx, catalog.KindIssue, in.ID)
	if errors.Is(err, op.ErrNotFound) {
		r, err = b.Keyed(ctx, catalog.KindPull, in.ID)
	}
	if errors.Is(err, op.ErrNotFound) {
		err = op.NotFound("there is no issue and no pull request %s: list_code has those", op.Quote(in.ID))
	}
	if err != nil {
		return Comments{}, err
	}
	thread, err := forge.Parts(ctx, b, r.ID, in.Cursor)
	return Comments{thread}, err
})
