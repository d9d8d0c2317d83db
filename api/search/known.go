package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
)

type knownIn struct {
	Description string `json:"description" required:"true" maxLength:"4000" doc:"the problem: an error, a symptom"`
	Limit       int    `json:"limit" default:"5" minimum:"1" maximum:"50" doc:"how many of each source"`
}

// KnownIssues are unresolved problems by source.
type KnownIssues struct {
	Description string         `json:"description"`
	Sources     []KnownOfPlace `json:"sources"`
	Method      string         `json:"method"`
}

// KnownOfPlace are those of one source.
type KnownOfPlace struct {
	Source string `json:"source" enum:"forum,forge"`
	find.Found[KnownIssue]
}

// KnownIssue is one unresolved problem.
type KnownIssue struct {
	kb.Item
	Labels     []string `json:"labels,omitempty"`
	Views      int64    `json:"views,omitempty" doc:"of a thread"`
	Replies    int64    `json:"replies" doc:"or comments"`
	Votes      int64    `json:"votes" doc:"likes or reactions"`
	AgeDays    int      `json:"age_days"`
	Unresolved string   `json:"unresolved" doc:"why it counts as unresolved"`
	find.Why

	weight float64
}

var knownIssues = kb.New(op.Spec{
	ID: "find_known_issues", Tool: "find_known_issues", MayFail: unavailable,
	Kinds: append(catalog.KindsAt(catalog.PlaceForum), catalog.KindIssue),
	Doc: `
Find known issues
Unresolved problems: forum threads without a reply and open issues.

Finds unresolved problems like yours: open forum threads that nobody has answered, much viewed ones first, and open
issues of the repositories. For solved ones use search_community or search_forge_issues.
`,
}, func(ctx context.Context, b kb.Base, in knownIn) (KnownIssues, error) {
	threads, err := unansweredLike(ctx, b, in)
	if err != nil {
		return KnownIssues{}, err
	}
	search := find.Search{
		Field: "description", Query: in.Description, Plain: true, Kinds: []catalog.Kind{catalog.KindIssue},
		Limit: in.Limit,
	}
	search.Filter.States = []string{"open"}
	issues, err := find.Rows(ctx, b, search, openIssue)
	return KnownIssues{in.Description, []KnownOfPlace{{"forum", threads}, {"forge", issues}},
		"Forum: open threads without a reply whose first post matches, by score times (1 + the share of threads with " +
			"fewer views) / 2. Forge: open issues that match, by score."}, err
})

func openIssue(b kb.Base, m find.Match) (KnownIssue, error) {
	d, err := kb.Decode[catalog.Issue](m.Record)
	i := knownIssue(b, m.Record, m)
	i.Labels = d.Labels
	i.Unresolved = fmt.Sprintf("open for %d days, %d comments, %d reactions", i.AgeDays, i.Replies, i.Votes)
	if len(d.Assignees) == 0 {
		i.Unresolved += ", nobody assigned"
	}
	return i, err
}

func knownIssue(b kb.Base, r catalog.Record, m find.Match) KnownIssue {
	return KnownIssue{
		Item: b.Item(r), Views: r.Views, Replies: r.Replies, Votes: r.Votes,
		AgeDays: int(b.Now().Sub(r.CreatedAt) / (24 * time.Hour)), Why: m.Why(),
	}
}

// threadsRead is how many matching threads are ordered by their views.
const threadsRead = 100

func unansweredLike(ctx context.Context, b kb.Base, in knownIn) (find.Found[KnownIssue], error) {
	forum := catalog.ListQuery{Kinds: catalog.KindsAt(catalog.PlaceForum)}
	u, _, err := kb.DerivedFrom(ctx, b, "unanswered threads", 0, forum, unansweredThreads)
	if err != nil {
		return find.Found[KnownIssue]{}, err
	}
	search := find.Search{
		Field: "description", Query: in.Description, Plain: true, Kinds: []catalog.Kind{catalog.KindPost},
		Limit: threadsRead,
	}
	search.Filter.Records = find.Among(u.Posts)
	found, err := find.Rows(ctx, b, search, func(b kb.Base, m find.Match) (KnownIssue, error) {
		i := knownIssue(b, u.Thread[m.Record.ID], m)
		seen := u.Seen(i.Views)
		i.weight = m.Result.Score * (1 + seen) / 2
		i.Unresolved = fmt.Sprintf("no reply in %d days, %d views: more than %.0f %% of the threads",
			i.AgeDays, i.Views, 100*seen)
		return i, nil
	})
	slices.SortStableFunc(found.Items, func(a, b KnownIssue) int { return cmp.Compare(b.weight, a.weight) })
	found.Items = found.Items[:min(in.Limit, len(found.Items))]
	return found, err
}

// unanswered are the open forum threads without a reply.
type unanswered struct {
	Posts  []catalog.Record         // the first of each
	Thread map[int64]catalog.Record // by the id of its first post

	views []int64 // of all threads, ascending
}

// unansweredThreads finds them among topics and posts.
func unansweredThreads(forum []catalog.Record) unanswered {
	u := unanswered{Thread: map[int64]catalog.Record{}}
	open := map[int64]catalog.Record{}
	for _, r := range forum {
		if r.Kind != catalog.KindTopic {
			continue
		}
		u.views = append(u.views, r.Views)
		if kb.Unanswered(r) {
			open[r.ID] = r
		}
	}
	slices.Sort(u.views)
	for _, r := range forum {
		if t, ok := open[r.Parent]; ok && r.Kind == catalog.KindPost {
			u.Posts, u.Thread[r.ID] = append(u.Posts, r), t
		}
	}
	return u
}

// Seen returns the share of all threads that have fewer views, 0 to 1.
func (u unanswered) Seen(views int64) float64 {
	fewer, _ := slices.BinarySearch(u.views, views)
	return float64(fewer) / float64(max(1, len(u.views)))
}
