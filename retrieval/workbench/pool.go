package workbench

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// Depth is how many results of each list are judged, unless somebody chooses.
const Depth = 20

// Document is what a judge sees of a document. It says neither who found it nor
// how well.
type Document struct {
	Target  string         // as judgments name it
	Record  catalog.Record // without its body
	Heading string         // of the passage
	Text    string         // the best passage; "" if no list found it
}

// Pool is what is to be judged for a query.
type Pool struct {
	Documents []Document
	Faults    []string // profiles that could not be searched, and why
}

// Find returns the place of a target; -1 if it is not in the pool.
func (p Pool) Find(target string) int {
	return slices.IndexFunc(p.Documents, func(d Document) bool { return d.Target == target })
}

// Pool returns the first depth results of each profile, by the names of package
// revision, and what anybody judged of the query, in an order that is random but the
// same whenever this judge judges this query.
func (b *Bench) Pool(ctx context.Context, c catalog.Case, q catalog.CaseQuery, profiles []string, depth int,
	judge string) (p Pool, err error) {
	judgments, err := b.Store.Judgments(ctx, c.ID)
	if err != nil {
		return p, err
	}
	judged := targets(judgments) // in the whole case, as it is the case that names records
	seen := map[int64]bool{}
	for _, name := range profiles {
		results, err := b.results(ctx, q.Text, name, depth)
		if errors.Is(err, retrieval.ErrBadQuery) || gone(err) {
			p.Faults = append(p.Faults, fmt.Sprintf("%s: %v", name, err))
			continue
		}
		if err != nil {
			return p, err
		}
		found, err := b.documents(ctx, results, judged, seen)
		if err != nil {
			return p, err
		}
		for _, d := range found {
			if p.Find(d.Target) < 0 {
				p.Documents = append(p.Documents, d)
			}
		}
	}
	for _, j := range judgments {
		if j.Query != q.ID || p.Find(j.Target) >= 0 {
			continue
		}
		record, err := Resolve(ctx, b.Store, j.Target)
		if gone(err) {
			continue
		}
		if err != nil {
			return p, err
		}
		record.Body = ""
		p.Documents = append(p.Documents, Document{Target: j.Target, Record: record})
	}
	order := make(map[string]string, len(p.Documents))
	for _, d := range p.Documents {
		sum := sha256.Sum256([]byte(strings.Join([]string{strconv.FormatInt(c.ID, 10), q.ID, judge, d.Target}, "\x00")))
		order[d.Target] = string(sum[:])
	}
	slices.SortFunc(p.Documents, func(a, b Document) int { return cmp.Compare(order[a.Target], order[b.Target]) })
	return p, nil
}

// targets are the documents that are judged.
func targets(judgments []catalog.Judgment) map[string]bool {
	judged := map[string]bool{}
	for _, j := range judgments {
		judged[j.Target] = true
	}
	return judged
}

// results searches with a profile.
func (b *Bench) results(ctx context.Context, query, name string, depth int) ([]retrieval.Result, error) {
	named, err := b.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	found, err := b.Index.Search(ctx, retrieval.Request{Query: query, Limit: depth, Whole: depth, Diversify: true,
		Relevance: &named.Relevance})
	return found.Results, err
}

// documents names the records of results that were not seen, and adds them to
// seen. Records of one path that is judged are one document.
func (b *Bench) documents(ctx context.Context, results []retrieval.Result, judged map[string]bool,
	seen map[int64]bool) ([]Document, error) {
	var ids []int64
	of := map[int64]retrieval.Result{}
	for _, r := range results {
		if !seen[r.Record] {
			seen[r.Record], of[r.Record] = true, r
			ids = append(ids, r.Record)
		}
	}
	heads, err := b.Store.Heads(ctx, ids)
	if err != nil {
		return nil, err
	}
	names, err := Targets(ctx, b.Store, heads, judged)
	if err != nil {
		return nil, err
	}
	var out []Document
	for _, head := range heads {
		r, target := of[head.ID], names[head.ID]
		if !slices.ContainsFunc(out, func(d Document) bool { return d.Target == target }) {
			out = append(out, Document{Target: target, Record: head, Heading: r.Heading, Text: cmp.Or(r.Text, r.Snippet)})
		}
	}
	return out, nil
}

// Find searches as readers do, for what no list of a pool found.
func (b *Bench) Find(ctx context.Context, c catalog.Case, query string) ([]Document, error) {
	judgments, err := b.Store.Judgments(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	results, err := b.results(ctx, query, ranking.Live, Depth)
	if err != nil {
		return nil, err
	}
	return b.documents(ctx, results, targets(judgments), map[int64]bool{})
}

// maxText bounds what a judge reads of a document that no list found, in runes.
const maxText = 1500

// Read fills in the text of a document that has none: the beginning of its body.
func (b *Bench) Read(ctx context.Context, d *Document) error {
	if d.Text != "" {
		return nil
	}
	r, err := b.Store.ByID(ctx, d.Record.ID)
	if err != nil {
		return err
	}
	text := []rune(cmp.Or(r.Body, r.Summary))
	d.Text = string(text[:min(len(text), maxText)])
	if len(text) > maxText {
		d.Text += " …"
	}
	return nil
}
