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
