package onboarding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

type goalIn struct {
	Goal string `json:"goal" required:"true" maxLength:"1000" doc:"what to learn, in your own words"`
}

// Path is a sequence of what to read and watch.
type Path struct {
	Goal    string   `json:"goal"`
	Steps   []Lesson `json:"steps" doc:"in this order"`
	Minutes int      `json:"minutes" doc:"of all steps"`
	kb.Grounds
	Degraded []string `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
	Hint     string   `json:"hint,omitempty" doc:"if there is no step: what to try"`
}

// Lesson is one step of it; the evidence says more of its record.
type Lesson struct {
	Step int `json:"step" doc:"from 1"`
	kb.Brief
	Why     string `json:"why" doc:"what this step is for"`
	Minutes int    `json:"minutes" doc:"to read or to watch"`
}

// lessonsFound is how many search results lessons are picked from, and
// leastScore the share of the best score that each of them has at least.
const (
	lessonsFound = 50
	leastScore   = 0.65
)

var learningPath = kb.New(op.Spec{
	ID: "learning_path", Tool: "learning_path", MayFail: unavailable,
	Doc: `
Learning path
What to read and watch for a goal, from introduction to detail.

Orders the best whitepaper, pages, proposals, threads and talks for a goal from introduction to detail, with minutes
and reasons. For a newcomer's first steps use get_started_guide.
`,
}, func(ctx context.Context, b kb.Base, in goalIn) (out Path, err error) {
	found, err := lessons(ctx, b, in.Goal)
	if err != nil {
		return out, err
	}
	out.Goal, out.Degraded, out.Hint = in.Goal, found.Degraded, found.Hint
	var full []catalog.Record
	for _, r := range pickLessons(kb.Records(found.Items)) {
		if r, err = whole(ctx, b, r); err != nil {
			return out, err
		}
		full = append(full, r)
	}
	for i, l := range inOrder(full) {
		out.Steps = append(out.Steps, Lesson{i + 1, kb.Brief{Item: b.Item(l.Record)}, l.Why, l.Minutes})
		out.Minutes += l.Minutes
	}
	picked := slices.DeleteFunc(found.Items, func(m kb.Match) bool {
		return !slices.ContainsFunc(full, func(r catalog.Record) bool { return r.ID == m.Record.ID })
	})
	out.Evidence = b.Weighed(picked, "found for the goal")
	out.Method = fmt.Sprintf("The best search results of each kind with at least %.0f %% of the best score, ordered by "+
		"kind, then by folders in the path, age and length; 200 words a minute, recordings by their length.", 100*leastScore)
	if len(out.Steps) == 0 && out.Hint == "" {
		out.Hint = "all that was found is not in force or not current: search shows it"
	}
	return out, nil
})

// lessons finds what is about a goal, the best first, each once. A forum thread
// is found by its posts too.
func lessons(ctx context.Context, b kb.Base, goal string) (kb.Found[kb.Match], error) {
	s := kb.Search{
		Field: "goal", Query: goal, Limit: lessonsFound, Kinds: append(kindsOfLessons(), catalog.KindPost),
	}
	found, err := b.Matches(ctx, s)
	all := found.Items
	found.Items = nil
	for i, h := range kb.Hits(all) {
		if h.Relevance < leastScore {
			break
		}
		m := all[i]
		if m.Record.Kind == catalog.KindPost {
			parents, err := b.Catalog.Heads(ctx, []int64{m.Record.Parent})
			if err != nil {
				return found, err
			}
			for _, topic := range parents { // none: deleted since, and a post is no lesson
				m.Record = topic
			}
		}
		if !slices.ContainsFunc(found.Items, func(x kb.Match) bool { return x.Record.ID == m.Record.ID }) {
			found.Items = append(found.Items, m)
		}
	}
	return found, err
}

// whole returns a record with its text, a forum thread with its posts.
func whole(ctx context.Context, b kb.Base, r catalog.Record) (catalog.Record, error) {
	r, err := b.Catalog.ByID(ctx, r.ID)
	if err != nil || r.Kind != catalog.KindTopic {
		return r, err
	}
	posts, _, err := b.Catalog.List(ctx, catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPost}, Parent: r.ID, WithBody: true,
	})
	var text []string
	for _, p := range posts {
		text = append(text, p.Body)
	}
	r.Body = cmp.Or(strings.Join(text, "\n\n"), r.Body)
	return r, err
}
