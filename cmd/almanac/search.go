package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/api/search"
	"almanac/cmd/terminal"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

type searchCmd struct {
	Query   []string `arg:"" help:"What to search for."`
	Type    string   `help:"Only this type: ${enum}." enum:"${types}" default:"all"`
	Kind    string   `help:"Only this kind, finer than type." placeholder:"KIND" complete:"kinds"`
	Source  string   `help:"Only this source of the network." placeholder:"NAME" complete:"sources"`
	Since   string   `help:"Only what is dated this day or later." placeholder:"DAY"`
	Until   string   `help:"Only what is dated before this day." placeholder:"DAY"`
	Sort    string   `help:"relevance, or date: newest of the best." enum:"relevance,date" default:"relevance"`
	Limit   int      `help:"How many results, up to 50." default:"10"`
	Offset  int      `help:"How many to skip." default:"0"`
	Profile string   `help:"Relevance profile: NAME@N, live, ${profiles}, or a YAML file." placeholder:"PROFILE"`
	Explain bool     `help:"Show the numbers behind each result."`
	Why     string   `help:"Say where this record is, or why not (id, kind:key, path, page)." placeholder:"RECORD"`
	JSON    bool     `name:"json" help:"Print JSON, as REST does." xor:"form"`
	CSV     bool     `name:"csv" help:"Print CSV." xor:"form"`
	Files   bool     `help:"Print score, id and path or address only." xor:"form"`
}

func (c *searchCmd) Run(ctx context.Context, a *app) error {
	var profiles []ranking.Profile
	asked := &explaining{explain: c.Explain}
	if c.Profile != "" {
		p, err := a.profile(ctx, c.Profile)
		if err != nil {
			return err
		}
		asked.profile, profiles = p.Name, append(profiles, p)
	}
	s, b, err := a.openSearch(ctx, profiles...)
	if err != nil {
		return err
	}
	defer s.close()
	asked.Searcher, b.Search = b.Search, asked
	answered, err := op.Call(ctx, api.Operations(b), "search", c.words())
	if err != nil {
		return asUsage(err)
	}
	answer := answered.(search.Answer)
	switch {
	case c.Why != "":
		return c.printAbsence(ctx, a, s, b, asked.request)
	case c.JSON:
		return c.printJSON(a, answer, asked.res)
	case c.CSV:
		return printCSV(a.out, answer.Items)
	case c.Files:
		return printFiles(a.out, answer.Items)
	}
	return c.printHits(a, answer, asked.res)
}

// words are the arguments of the operation.
func (c *searchCmd) words() []string {
	words := []string{"query=" + strings.Join(c.Query, " ")}
	for _, given := range []struct{ name, value string }{
		{"type", c.Type}, {"kind", c.Kind}, {"source", c.Source}, {"since", c.Since}, {"until", c.Until}, {"sort", c.Sort},
		{"limit", strconv.Itoa(c.Limit)}, {"offset", strconv.Itoa(c.Offset)},
	} {
		if given.value != "" {
			words = append(words, given.name+"="+given.value)
		}
	}
	return words
}

// printAbsence says where a record is among the results of a request.
func (c *searchCmd) printAbsence(ctx context.Context, a *app, s *library, b kb.Base, r retrieval.Request) error {
	record, err := b.Locate(ctx, c.Why)
	if err != nil {
		return err
	}
	absence, err := s.Searcher.Absent(ctx, r, record.ID)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return a.printJSON(absence)
	}
	_, err = fmt.Fprint(a.out, absence.Text())
	return err
}

// printJSON prints the answer as REST does, with explanations if they are wanted.
func (c *searchCmd) printJSON(a *app, answer search.Answer, res retrieval.Response) error {
	raw, err := op.Encode(answer)
	if err != nil || !c.Explain {
		return errors.Join(err, a.printJSON(json.RawMessage(raw)))
	}
	var explained map[string]any
	if err := json.Unmarshal(raw, &explained); err != nil {
		return err
	}
	explained["class"], explained["timings"] = res.Class, res.Timings
	items, _ := explained["items"].([]any)
	for i, item := range items {
		item.(map[string]any)["explanation"] = res.Explanation(answer.Items[i].RecordID)
	}
	return a.printJSON(explained)
}

// printCSV prints results as a table for other programs (RFC 4180).
func printCSV(out io.Writer, hits []find.Hit) error {
	w := csv.NewWriter(out)
	rows := [][]string{{"score", "id", "kind", "title", "date", "source", "path", "url", "heading", "snippet"}}
	for _, h := range hits {
		date := ""
		if h.Date != nil {
			date = h.Date.Format(time.RFC3339)
		}
		rows = append(rows, []string{score(h), h.ID, h.Kind, h.Title, date, h.Source, h.Path, h.URL, h.Heading, h.Snippet})
	}
	return w.WriteAll(rows)
}

// printFiles prints where the results are, for other programs.
func printFiles(out io.Writer, hits []find.Hit) (err error) {
	for _, h := range hits {
		_, err = fmt.Fprintf(out, "%s\t%s\t%s\n", score(h), h.ID, cmp.Or(h.Path, h.URL, h.Page))
	}
	return err
}

func score(h find.Hit) string { return strconv.FormatFloat(h.Score, 'f', 2, 64) }

// explaining searches with a profile and keeps the last request and response.
type explaining struct {
	retrieval.Searcher
	profile string
	explain bool
	request retrieval.Request
	res     retrieval.Response
}

// Search implements retrieval.Searcher.
func (e *explaining) Search(ctx context.Context, r retrieval.Request) (res retrieval.Response, err error) {
	r.Profile, r.Explain = e.profile, e.explain
	e.request = r
	e.res, err = e.Searcher.Search(ctx, r)
	return e.res, err
}

// printHits prints results for people.
func (c *searchCmd) printHits(a *app, answer search.Answer, res retrieval.Response) error {
	w := a.out
	if res.Corrected != "" {
		fmt.Fprintf(w, "corrected to: %s\n\n", res.Corrected)
	}
	if len(res.Degraded) > 0 {
		fmt.Fprintf(w, "partial results: %s did not answer\n\n", strings.Join(res.Degraded, ", "))
	}
	if len(answer.Items) == 0 {
		_, err := fmt.Fprintln(w, answer.Hint)
		return err
	}
	if answer.Hint != "" {
		fmt.Fprintf(w, "%s\n\n", answer.Hint)
	}
	for i, h := range answer.Items {
		head := a.style.Bold(h.Title) + "  " + a.style.Dim("["+h.Kind+"]") + "  " + a.style.Dim(h.ID+"  "+score(h))
		fmt.Fprintf(w, "%2d. %s\n", c.Offset+i+1, terminal.Wrapped(w, head, 4))
		for line := range strings.SplitSeq(h.Snippet, "\n") {
			fmt.Fprintf(w, "    %s\n", terminal.Wrapped(w, line, 4))
		}
		fmt.Fprintf(w, "    %s\n", h.URL)
		if x := res.Explanation(h.RecordID); x != nil {
			fmt.Fprintf(w, "%s%s", x.Score.Tree(4), x.Fusion.Tree(4))
		}
	}
	if c.Explain {
		for _, stage := range slices.Sorted(maps.Keys(res.Timings)) {
			fmt.Fprintf(w, "%8.2f ms  %s\n", float64(res.Timings[stage].Microseconds())/1000, stage)
		}
	}
	results := "results"
	if answer.Total == 1 {
		results = "result"
	}
	_, err := fmt.Fprintf(w, "\n%d %s in %s\n", answer.Total, results, res.Took.Round(10_000))
	return err
}
