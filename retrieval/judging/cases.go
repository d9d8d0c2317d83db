package judging

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/retrieval/eval"
)

// MaxGrade is the best grade: 3 is the answer, 2 clearly useful, 1 related, 0 read
// and not relevant.
const MaxGrade = 3

// Named returns the case of a name. ErrNotFound.
func Named(ctx context.Context, store catalog.RelevanceStore, name string) (catalog.Case, error) {
	cases, err := store.Cases(ctx)
	if err != nil {
		return catalog.Case{}, err
	}
	at := slices.IndexFunc(cases, func(c catalog.Case) bool { return c.Name == name })
	if at < 0 {
		return catalog.Case{}, fmt.Errorf("case %q: %w", name, catalog.ErrNotFound)
	}
	return cases[at], nil
}

// Collection returns the case of a name as people judged it, with the queries that
// they judged, of which there must be one.
func Collection(ctx context.Context, store catalog.RelevanceStore, name string) (eval.Collection, error) {
	c, err := Named(ctx, store, name)
	if err != nil {
		return eval.Collection{}, err
	}
	out, err := eval.Case(ctx, store, c)
	if err == nil && len(out.Queries) == 0 {
		err = fmt.Errorf("no person judged a query of case %s", name)
	}
	return out, err
}

// Summary is how far a case is.
type Summary struct {
	ID          int64        `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Queries     int          `json:"queries"`
	Judged      int          `json:"judged"` // queries with a judgment
	Judgments   int          `json:"judgments"`
	Judges      []JudgeCount `json:"judges"` // by name
}

// Unjudged is how many queries have no judgment.
func (s Summary) Unjudged() int { return s.Queries - s.Judged }

// JudgeCount is how much one judge graded.
type JudgeCount struct {
	Name      string `json:"name"`
	Judgments int    `json:"judgments"`
}

// Summarize counts what a case has.
func Summarize(c catalog.Case, queries []catalog.CaseQuery, judgments []catalog.Judgment) Summary {
	s := Summary{ID: c.ID, Name: c.Name, Description: c.Description, Queries: len(queries), Judgments: len(judgments),
		Judges: []JudgeCount{}}
	judged, byJudge := map[string]bool{}, map[string]int{}
	for _, j := range judgments {
		judged[j.Query] = true
		byJudge[j.Judge]++
	}
	s.Judged = len(judged)
	for name, n := range byJudge {
		s.Judges = append(s.Judges, JudgeCount{name, n})
	}
	slices.SortFunc(s.Judges, func(a, b JudgeCount) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// String says it in words.
func (s Summary) String() string {
	return fmt.Sprintf("%s: %d queries, %d judged, %d judgments", s.Name, s.Queries, s.Judged, s.Judgments)
}

// Summaries are cases by name.
type Summaries []Summary

// String has a line for each.
func (list Summaries) String() string {
	lines := make([]string, len(list))
	for i, s := range list {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

// List summarizes all cases.
func List(ctx context.Context, store catalog.RelevanceStore) (Summaries, error) {
	cases, err := store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	list := make(Summaries, len(cases))
	for i, c := range cases {
		queries, err := store.Queries(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		judgments, err := store.Judgments(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		list[i] = Summarize(c, queries, judgments)
	}
	return list, nil
}

// First makes the first case of a catalog from the judged queries that come with its
// network. It does nothing if there is any other case, or all of this one.
func First(ctx context.Context, store catalog.RelevanceStore, name string, files fs.FS) error {
	cases, err := store.Cases(ctx)
	if err != nil {
		return err
	}
	switch {
	case len(cases) > 1 || len(cases) == 1 && cases[0].Name != name:
		return nil
	case len(cases) == 1:
		if judgments, err := store.Judgments(ctx, cases[0].ID); err != nil || len(judgments) > 0 {
			return err
		}
	}
	in, err := eval.ReadCase(files, name)
	if err != nil {
		return err
	}
	const by = "almanac"
	if len(cases) == 0 {
		_, err = store.PutCase(ctx, catalog.Case{Name: name, Description: "The judged queries that come with the network."}, by)
		if err != nil {
			return err
		}
	}
	_, err = Import(ctx, store, name, in, eval.ImportJudge+name, by)
	if errors.Is(err, catalog.ErrConflict) { // another process does the same
		return nil
	}
	return err
}

// Missing says which judged documents of a case are not in the catalog, and which
// are nearest to them by name; "" if all are, or if the catalog is empty.
func Missing(ctx context.Context, store catalog.Store, c catalog.Case) (string, error) {
	judgments, err := store.Judgments(ctx, c.ID)
	if err != nil {
		return "", err
	}
	all := eval.Collection{Judgments: map[string]map[string]int{}}
	for _, j := range judgments {
		if all.Judgments[j.Query] == nil {
			all.Judgments[j.Query] = map[string]int{}
			all.Queries = append(all.Queries, eval.Query{ID: j.Query})
		}
		all.Judgments[j.Query][j.Target] = max(j.Grade, all.Judgments[j.Query][j.Target])
	}
	names, err := eval.Names(ctx, store, all)
	if err != nil || len(names) == 0 {
		return "", err
	}
	return eval.Missing(all, names, 1), nil
}
