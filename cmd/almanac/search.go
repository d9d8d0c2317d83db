package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/line"
	"almanac/cmd/config"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
)

type searchCmd struct {
	Query   []string `arg:"" help:"What to search for."`
	Type    string   `help:"Only this type: ${enum}." enum:"${types}" default:"all"`
	Limit   int      `help:"How many results." default:"10"`
	Profile string   `help:"Relevance profile: NAME@N, published, ${profiles}, or a YAML file." placeholder:"PROFILE"`
	Explain bool     `help:"Show the numbers behind each result."`
	Why     string   `help:"Say where this record is, or why not (id, kind:key, path, page)." placeholder:"RECORD"`
	JSON    bool     `name:"json" help:"Print JSON."`
}

func (c *searchCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Limit > retrieval.MaxResults {
		return fmt.Errorf("%w: --limit must be between 1 and %d", config.ErrUsage, retrieval.MaxResults)
	}
	var profiles []profile.Profile
	name := ""
	if c.Profile != "" {
		p, err := a.profile(ctx, c.Profile)
		if err != nil {
			return err
		}
		name, profiles = p.Name, append(profiles, p)
	}
	s, b, err := a.openSearch(ctx, profiles...)
	if err != nil {
		return err
	}
	defer s.close()
	if c.JSON && c.Why == "" {
		return c.printJSON(ctx, a, b, name)
	}
	request := retrieval.Request{
		Query: strings.Join(c.Query, " "), Limit: c.Limit, Explain: c.Explain, Profile: name,
		Diversify: c.Type == "all",
	}
	request.Filter.Kinds = find.KindNames(arg.SearchType(c.Type).Kinds())
	if c.Why != "" {
		return c.printAbsence(ctx, a, s, b, request)
	}
	res, err := s.Searcher.Search(ctx, request)
	if errors.Is(err, retrieval.ErrBadQuery) {
		return fmt.Errorf("%w: %w", config.ErrUsage, err)
	}
	if err != nil {
		return err
	}
	hits, err := find.Hits(ctx, b, res.Results, true)
	if err != nil {
		return err
	}
	if !c.Explain {
		res.Timings = nil
	}
	return a.printHits(hits, res)
}

// printAbsence says where a record is among the results of a request.
func (c *searchCmd) printAbsence(ctx context.Context, a *app, s *library, b kb.Base, r retrieval.Request) error {
	record, err := b.Locate(ctx, c.Why)
	if err != nil {
		return err
	}
	absence, err := s.Searcher.Absent(ctx, r, record.ID)
	switch {
	case errors.Is(err, retrieval.ErrBadQuery):
		return fmt.Errorf("%w: %w", config.ErrUsage, err)
	case err != nil:
		return err
	case c.JSON:
		return line.Print(a.out, absence)
	}
	_, err = fmt.Fprint(a.out, absence.Text())
	return err
}

// printJSON prints the answer of REST, with explanations if they are wanted.
func (c *searchCmd) printJSON(ctx context.Context, a *app, b kb.Base, profile string) error {
	asked := &explaining{Searcher: b.Search, profile: profile}
	b.Search = asked
	words := []string{"query=" + strings.Join(c.Query, " "), "type=" + c.Type, "limit=" + strconv.Itoa(c.Limit)}
	raw, err := line.Answer(ctx, api.Operations(b), "search", words)
	if err != nil {
		return asUsage(err)
	}
	if !c.Explain {
		return line.Print(a.out, json.RawMessage(raw))
	}
	var answer map[string]any
	if err := json.Unmarshal(raw, &answer); err != nil {
		return err
	}
	answer["class"], answer["timings"] = asked.res.Class, asked.res.Timings
	items, _ := answer["items"].([]any)
	for i, item := range items {
		if i < len(asked.res.Results) {
			item.(map[string]any)["explanation"] = asked.res.Results[i].Explanation
		}
	}
	return line.Print(a.out, answer)
}

// explaining searches with a profile and keeps the last response with its
// explanations.
type explaining struct {
	retrieval.Searcher
	profile string
	res     retrieval.Response
}

// Search implements retrieval.Searcher.
func (e *explaining) Search(ctx context.Context, r retrieval.Request) (res retrieval.Response, err error) {
	r.Profile, r.Explain = e.profile, true
	e.res, err = e.Searcher.Search(ctx, r)
	return e.res, err
}

func (a *app) printHits(hits []find.Hit, res retrieval.Response) error {
	w := a.out
	if res.Corrected != "" {
		fmt.Fprintf(w, "corrected to: %s\n\n", res.Corrected)
	}
	if len(res.Degraded) > 0 {
		fmt.Fprintf(w, "partial results: %s did not answer\n\n", strings.Join(res.Degraded, ", "))
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, find.Empty(res.Total, res.Relaxed, passage.Filter{}))
		return err
	}
	if unknown := find.Unknown(res.Unknown); unknown != "" {
		fmt.Fprintf(w, "%s\n\n", unknown)
	}
	for i, h := range hits {
		snippet := strings.ReplaceAll(h.Snippet, "\n", "\n    ")
		fmt.Fprintf(w, "%2d. %s  %s  %s\n    %s\n    %s\n", i+1, a.style.Bold(h.Title),
			a.style.Dim("["+h.Kind+"]"), a.style.Dim(fmt.Sprint(h.ID)), snippet, h.URL)
		if x := res.Explanation(h.RecordID); x != nil {
			fmt.Fprintf(w, "%s%s", x.Score.Tree(4), x.Fusion.Tree(4))
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(res.Timings)) {
		fmt.Fprintf(w, "%8.2f ms  %s\n", float64(res.Timings[stage].Microseconds())/1000, stage)
	}
	_, err := fmt.Fprintf(w, "\n%d results in %s\n", res.Total, res.Took.Round(10_000))
	return err
}
