// Package ecosystem holds the operations on what is built on the network: its
// repositories, projects and tool servers, and what they lack.
package ecosystem

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
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
