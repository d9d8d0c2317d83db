package onboarding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
)

type goalIn struct {
	Goal string `json:"goal" required:"true" maxLength:"1000" doc:"what to learn, in your own words"`
}

// Path is a sequence of what to read and watch.
type Path struct {
	Goal    string   `json:"goal"`
	Steps   []Lesson `json:"steps" doc:"in this order"`
	Minutes int      `json:"minutes" doc:"of all steps"`
	evidence.Grounds
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
	ID: "learning_path", Tool: "learning_path", MayFail: unavailable, Kinds: kindsOfLessons(),
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
	for _, r := range pickLessons(find.Records(found.Items)) {
		if r, err = whole(ctx, b, r); err != nil {
			return out, err
		}
		full = append(full, r)
	}
	for i, l := range inOrder(full) {
		out.Steps = append(out.Steps, Lesson{i + 1, kb.Brief{Item: b.Item(l.Record)}, l.Why, l.Minutes})
		out.Minutes += l.Minutes
	}
	picked := slices.DeleteFunc(found.Items, func(m find.Match) bool {
		return !slices.ContainsFunc(full, func(r catalog.Record) bool { return r.ID == m.Record.ID })
	})
	out.Evidence = evidence.Found(b, picked, "found for the goal")
	out.Method = fmt.Sprintf("The best search results of each kind with at least %.0f %% of the best score, ordered by "+
		"kind, then by folders in the path, age and length; 200 words a minute, recordings by their length.", 100*leastScore)
	if len(out.Steps) == 0 && out.Hint == "" {
		out.Hint = "all that was found is not in force or not current: search shows it"
	}
	return out, nil
})

// lessons finds what is about a goal, the best first, each once. A forum thread
// is found by its posts too.
func lessons(ctx context.Context, b kb.Base, goal string) (find.Found[find.Match], error) {
	s := find.Search{
		Field: "goal", Query: goal, Limit: lessonsFound, Kinds: append(kindsOfLessons(), catalog.KindPost),
	}
	found, err := s.Run(ctx, b)
	all := found.Items
	found.Items = nil
	for _, m := range all {
		if m.Relevance < leastScore {
			break
		}
		if m.Record.Kind == catalog.KindPost {
			parents, err := b.Catalog.Heads(ctx, []int64{m.Record.Parent})
			if err != nil {
				return found, err
			}
			for _, topic := range parents { // none: deleted since, and a post is no lesson
				m.Record = topic
			}
		}
		if !slices.ContainsFunc(found.Items, func(x find.Match) bool { return x.Record.ID == m.Record.ID }) {
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

// lessonKinds are the kinds that a learning path consists of, in its order, how
// many there are of each, and what each is read for.
var lessonKinds = []struct {
	kind catalog.Kind
	most int
	why  string
}{
	{catalog.KindWhitepaper, 1, "gives the idea and its reasons before any detail"},
	{catalog.KindDoc, 3, "explains how it works and is used today"},
	{catalog.KindCIP, 2, "specifies it exactly"},
	{catalog.KindTopic, 2, "shows what people met in practice, with their answers"},
	{catalog.KindVideo, 1, "shows it, told by those who built or run it"},
}

// kindsOfLessons are the kinds of records that lessons are picked from.
func kindsOfLessons() []catalog.Kind {
	var kinds []catalog.Kind
	for _, k := range lessonKinds {
		kinds = append(kinds, k.kind)
	}
	return kinds
}

// pickLessons returns the first of each kind, as many as a path has, from
// records in the order of their relevance. Proposals that are not in force and
// will not be, stubs, pages of other versions and pages that are there for a
// newer version too are left out.
func pickLessons(records []catalog.Record) []catalog.Record {
	var out []catalog.Record
	for _, k := range lessonKinds {
		n := 0
		for _, r := range records {
			if r.Kind == k.kind && n < k.most && !past(r) && !slices.ContainsFunc(records, newerThan(r)) {
				out = append(out, r)
				n++
			}
		}
	}
	return out
}

func past(r catalog.Record) bool {
	return slices.Contains(r.Tags, catalog.TagStub) || slices.Contains(r.Tags, catalog.TagOtherVersion) ||
		r.Kind == catalog.KindCIP && slices.Contains([]string{"Withdrawn", "Rejected", "Superseded"}, r.State)
}

// newerThan returns whether a page is the same page as r of a newer version; no
// version is the current one.
func newerThan(r catalog.Record) func(catalog.Record) bool {
	version := func(r catalog.Record) (v derive.Version, current bool) {
		d, err := catalog.Decode[catalog.Doc](r)
		v, ok := derive.ParseVersion(d.Version)
		return v, err != nil || !ok
	}
	v, current := version(r)
	return func(x catalog.Record) bool {
		if current || x.Kind != r.Kind || x.Title != r.Title {
			return false
		}
		w, newest := version(x)
		return newest || w.Compare(v) > 0
	}
}

// lesson is one step of a learning path.
type lesson struct {
	Record  catalog.Record
	Why     string
	Minutes int // to read or to watch, at least 1
}

// wordsPerMinute is how fast technical prose is read.
const wordsPerMinute = 200

// inOrder orders picked records, with their bodies, from introduction to
// detail: by kind; pages of the documentation with fewer folders in their path
// first; then the oldest, because later ones build on it; then the shortest.
func inOrder(records []catalog.Record) []lesson {
	var out []lesson
	rank := map[catalog.Kind]int{}
	for i, k := range lessonKinds {
		rank[k.kind] = i
	}
	for _, r := range records {
		out = append(out, lesson{r, lessonKinds[rank[r.Kind]].why, minutes(r)})
	}
	slices.SortStableFunc(out, func(a, b lesson) int {
		x, y := a.Record, b.Record
		return cmp.Or(rank[x.Kind]-rank[y.Kind], folders(x)-folders(y), x.CreatedAt.Compare(y.CreatedAt),
			len(x.Body)-len(y.Body))
	})
	return out
}

func folders(r catalog.Record) int {
	if r.Kind != catalog.KindDoc {
		return 0
	}
	return strings.Count(r.Path, "/")
}

// minutes is the length of a recording, if it is known, else the time that its
// words take.
func minutes(r catalog.Record) int {
	seconds := len(strings.Fields(r.Body)) * 60 / wordsPerMinute
	if v, err := catalog.Decode[catalog.Video](r); err == nil && r.Kind == catalog.KindVideo {
		if n := len(v.Cues); n > 0 {
			seconds = int(v.Cues[n-1].Seconds)
		}
		if v.Seconds != nil {
			seconds = *v.Seconds
		}
	}
	return max(1, (seconds+59)/60)
}
