package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
)

type searchCmd struct {
	Query   []string `arg:"" help:"What to search for."`
	Type    string   `help:"Only this type: ${enum}." enum:"${types}" default:"all"`
	Limit   int      `help:"How many results." default:"10"`
	Profile string   `help:"Relevance profile: ${profiles}, or a YAML file." placeholder:"NAME|FILE"`
	Explain bool     `help:"Show the numbers behind each result."`
	JSON    bool     `name:"json" help:"Print JSON."`
}

func (c *searchCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Limit > retrieval.MaxResults {
		return fmt.Errorf("%w: --limit must be between 1 and %d", errUsage, retrieval.MaxResults)
	}
	var profiles []profile.Profile
	name := ""
	if c.Profile != "" {
		p, err := profile.Load(c.Profile)
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
	request := retrieval.Request{
		Query: strings.Join(c.Query, " "), Limit: c.Limit, Explain: c.Explain, Profile: name,
		Diversify: c.Type == "all",
	}
	request.Filter.Kinds = kb.Names(kb.KindsOf(kb.SearchType(c.Type)))
	res, err := s.Searcher.Search(ctx, request)
	if errors.Is(err, retrieval.ErrBadQuery) {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err != nil {
		return err
	}
	hits, err := b.Hits(ctx, res.Results, true)
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(a.out)
		enc.SetIndent("", "  ")
		out := map[string]any{
			"query": res.Query, "class": res.Class, "total": res.Total, "corrected": res.Corrected,
			"degraded": res.Degraded, "relaxed": res.Relaxed, "took_ms": float64(res.Took.Microseconds()) / 1000,
			"items": explained(hits, res),
		}
		if c.Explain {
			out["timings"] = res.Timings
		}
		return enc.Encode(out)
	}
	return printHits(a.out, hits, res)
}

// explained joins hits with their explanations.
func explained(hits []kb.Hit, res retrieval.Response) []any {
	out := make([]any, len(hits))
	for i, h := range hits {
		out[i] = struct {
			kb.Hit
			Explanation *retrieval.Explanation `json:"explanation,omitempty"`
		}{h, res.Explanation(h.RecordID)}
	}
	return out
}

func printHits(w io.Writer, hits []kb.Hit, res retrieval.Response) error {
	if res.Corrected != "" {
		fmt.Fprintf(w, "corrected to: %s\n\n", res.Corrected)
	}
	if len(res.Degraded) > 0 {
		fmt.Fprintf(w, "partial results: %s did not answer\n\n", strings.Join(res.Degraded, ", "))
	}
	if len(hits) == 0 {
		_, err := fmt.Fprintln(w, kb.EmptySearch(res.Total, res.Relaxed, passage.Filter{}))
		return err
	}
	for i, h := range hits {
		snippet := strings.ReplaceAll(h.Snippet, "\n", "\n    ")
		fmt.Fprintf(w, "%2d. %s  [%s]\n    %s\n    %s\n", i+1, h.Title, h.Kind, snippet, h.URL)
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
