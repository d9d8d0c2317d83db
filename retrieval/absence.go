package retrieval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"almanac/retrieval/corpus"
	"almanac/retrieval/dedup"
	"almanac/retrieval/passage"
	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
)

// Cause is why a record is not among the results of a search.
type Cause string

// The causes, in the order they apply.
const (
	NotIndexed Cause = "not indexed" // deleted, without text, or newer than the index
	Filtered   Cause = "filter"      // the request's filter leaves it out
	Excluded   Cause = "operator"    // a phrase or an exclusion of the query does
	Unfound    Cause = "not found"   // no list has it
	TooDeep    Cause = "too deep"    // lists have it below what the profile reads of them
	Crowded    Cause = "crowded out" // too many records have better places in the lists
	BelowFloor Cause = "floor"       // no word of the query, and not near enough
	Collapsed  Cause = "copy"        // another record stands for it
	Present    Cause = ""            // it is a result
)

// Absence says where a record is in a search, or why it is not there.
type Absence struct {
	Record int64  `json:"record"`
	Title  string `json:"title"`
	Cause  Cause  `json:"cause"`
	Why    string `json:"why"`            // a sentence
	Rank   int    `json:"rank,omitempty"` // among the results, from 1; 0: it is not there
	// Place is the rank that it would have if it were scored like the results; 0:
	// unknown, as where the lists alone decide the order.
	Place int      `json:"place,omitempty"`
	Lists []InList `json:"lists"`
	// Explanation is of the score that it has, or would have; nil: it has none.
	Explanation *Explanation `json:"explanation,omitempty"`
	// Beside is the result at the end of the first page, to compare with.
	Beside *Result `json:"beside,omitempty"`
	Into   int64   `json:"into,omitempty"` // the record that stands for it
	// Behind is how many changes the index has still to take: one may be of the record.
	Behind   int64    `json:"behind,omitempty"`
	Degraded []string `json:"degraded,omitempty"` // as in Response; their lists are not among Lists
}

// Text writes the absence as lines for people.
func (a Absence) Text() string {
	lines := fmt.Sprintf("%s: %s\n", cmp.Or(a.Title, fmt.Sprint("record ", a.Record)), a.Why)
	for _, l := range a.Lists {
		rank := fmt.Sprintf("not in %d", l.Read)
		if l.Rank > 0 {
			rank = fmt.Sprintf("rank %d, hit %d, %.4g there", l.Rank, l.Hit, l.Score)
		}
		lines += fmt.Sprintf("  %-10s %s; the profile reads %d\n", l.Retriever, rank, l.Depth)
	}
	if a.Behind > 0 {
		lines += fmt.Sprintf("  the index has still to take %d changes\n", a.Behind)
	}
	if len(a.Degraded) > 0 {
		lines += fmt.Sprintf("  without %s\n", strings.Join(a.Degraded, ", "))
	}
	if a.Explanation != nil {
		lines += a.Explanation.Score.Tree(2) + a.Explanation.Fusion.Tree(2)
	}
	return lines
}

// InList is where one retriever's list has a record.
type InList struct {
	Retriever string  `json:"retriever"`
	Rank      int     `json:"rank,omitempty"` // among records, from 1; 0: not in the first Read hits
	Hit       int     `json:"hit,omitempty"`  // among hits, of which a record has one a passage, from 1
	Score     float64 `json:"score,omitempty"`
	Depth     int     `json:"depth"` // hits that the profile reads
	Read      int     `json:"read"`  // hits that were read to find it
}

// Absent says where a record is among the results of a request, or why it is
// not. It costs several searches.
func (e *Engine) Absent(ctx context.Context, request Request, record int64) (Absence, error) {
	request.Explain = true
	t := trace.New(ctx, e.now)
	p, err := e.plan(request, t)
	if err != nil {
		return Absence{}, err
	}
	a := Absence{Record: record, Lists: []InList{}}
	a.Behind, _ = e.follower.Lag()
	d, err := p.Corpus.Document(ctx, record)
	if err != nil {
		return Absence{}, err
	}
	if d == nil {
		a.Cause, a.Why = NotIndexed, "the index has no such record: it was deleted, or it has no text"
		if a.Behind > 0 {
			a.Why = fmt.Sprintf("the index has no such record yet: it is %d changes behind the catalog", a.Behind)
		}
		return a, nil
	}
	a.Title = d.Title
	if why := filteredBy(p.Filter, d); why != "" {
		a.Cause, a.Why = Filtered, why
	} else if why := excludedBy(p.Query, d); why != "" {
		a.Cause, a.Why = Excluded, why
	}
	lists, err := e.deep(ctx, p, t)
	if err != nil {
		return a, err
	}
	passages := a.locate(p, lists)
	r, err := e.gather(ctx, p, t)
	if err != nil {
		return a, err
	}
	defer r.close()
	at := slices.IndexFunc(r.Candidates, func(c *candidate) bool { return c.Record == record })
	found := at >= 0
	if !found {
		if a.Cause == Present {
			a.missed(len(r.Candidates))
		}
		at = len(r.Candidates)
		r.add(d, passages)
	}
	was := r.Candidates[at]
	a.settle(r, was, r.arrange(stages), found)
	a.Degraded = r.degraded()
	return a, ctx.Err()
}

// settle says what became of a candidate that was ordered with the others.
// found: the search itself had it.
func (a *Absence) settle(r *run, was *candidate, ordered []*candidate, found bool) {
	if r.Plan.Reranks() || found {
		a.Explanation = explain(r, was)
	}
	at := slices.IndexFunc(ordered, func(c *candidate) bool { return c.Record == a.Record })
	if at >= 0 && ordered[at].Pin != nil && ordered[at].Pin.Position > 0 && a.Cause != Filtered {
		a.Cause, found, was = Present, true, ordered[at] // whether a list has it or not
		a.Explanation = explain(r, was)
	}
	if at >= 0 {
		if a.Explanation != nil {
			a.Place = at + 1
		}
	} else if was.Into != nil {
		into := was.Into
		for into.Into != nil {
			into = into.Into
		}
		alike := dedup.Similarity(was.Document.Signature(), into.Document.Signature())
		is := cmp.Or(was.Is, fmt.Sprintf("is a copy (%.0f %% alike) of", 100*alike))
		a.Place, a.Into = slices.Index(ordered, into)+1, into.Record
		if a.Cause == Present {
			a.Cause = Collapsed
			a.Why = fmt.Sprintf("it %s record %d, %q, which is shown in its place at rank %d", is, a.Into,
				into.Document.Title, a.Place)
		}
	} else if a.Cause == Present || a.Cause == Unfound || a.Cause == TooDeep {
		a.Cause = BelowFloor
		a.Why = fmt.Sprintf("it has no word of the query, and its cosine %.3f is below the floor %.3g",
			was.Features[ranking.Dense], r.Plan.Profile.Floor)
	}
	if found && a.Cause == Present {
		a.Rank = a.Place
		a.Why = fmt.Sprintf("it is result %d of %d", a.Rank, len(ordered))
		if was.Pin != nil {
			a.Why += ", " + was.Pin.String()
		}
	}
	if last := min(len(ordered), 10) - 1; last >= 0 && ordered[last].Record != a.Record {
		c := ordered[last]
		a.Beside = &Result{Record: c.Record, Title: c.Document.Title, Score: c.Shown, Explanation: explain(r, c)}
	}
}

// missed says why no list brought the record into the search, which had the given
// number of candidates.
func (a *Absence) missed(candidates int) {
	var below []string
	within := false
	for _, l := range a.Lists {
		if l.Hit > l.Depth {
			below = append(below, fmt.Sprintf("%s has it as hit %d and the profile reads %d", l.Retriever, l.Hit, l.Depth))
		}
		within = within || l.Hit > 0 && l.Hit <= l.Depth
	}
	switch {
	case within:
		a.Cause, a.Why = Crowded, fmt.Sprintf("a list has it, but only the best %d records are scored", candidates)
	case len(below) > 0:
		a.Cause, a.Why = TooDeep, strings.Join(below, "; ")
	default:
		a.Cause, a.Why = Unfound, "no list has it: it shares no word with the query and is not near it"
	}
}

// locate fills in where lists that are read deeply have the record, and returns its
// passages that they name.
func (a *Absence) locate(p *plan, lists []foundList) (passages []int) {
	for _, l := range lists {
		in, seen := InList{Retriever: l.Retriever, Depth: l.Depth, Read: len(l.Hits)}, map[int64]bool{}
		allowed := 0
		for _, h := range l.Hits {
			if h.Record != a.Record && !p.Decisions.Allow(h.Record) {
				continue
			}
			allowed++
			seen[h.Record] = true
			if h.Record != a.Record {
				continue
			}
			if in.Rank == 0 {
				in.Rank, in.Hit, in.Score = len(seen), allowed, h.Score
			}
			if h.Passage != wholeRecord && !slices.Contains(passages, h.Passage.Ordinal()) {
				passages = append(passages, h.Passage.Ordinal())
			}
		}
		a.Lists = append(a.Lists, in)
	}
	return passages
}

// filteredBy says which part of a filter leaves a document out; "" if it passes.
func filteredBy(f passage.Filter, d *corpus.Document) string {
	a := d.Attributes
	for _, part := range []struct {
		name  string
		one   passage.Filter
		value string
	}{
		{"kind", passage.Filter{Kinds: f.Kinds}, a.Kind},
		{"source", passage.Filter{Sources: f.Sources}, a.Source},
		{"container", passage.Filter{Containers: f.Containers}, a.Container},
		{"state", passage.Filter{States: f.States}, a.State},
		{"date", passage.Filter{Since: f.Since, Until: f.Until}, a.Date.Format(time.DateOnly)},
		{"id", passage.Filter{Records: f.Records}, strconv.FormatInt(d.Record, 10)},
	} {
		if !part.one.Admits(d.Record, a) {
			return fmt.Sprintf("the filter leaves it out by its %s, which is %q", part.name, part.value)
		}
	}
	return ""
}

// excludedBy says which operator leaves a document out; "" if they allow it.
func excludedBy(q query.Query, d *corpus.Document) string {
	allows := func(one query.Query) bool {
		o := newOperators(one)
		return o.Allow(d)
	}
	for _, x := range q.Exclude {
		if !allows(query.Query{Exclude: []query.Quoted{x}}) {
			return fmt.Sprintf("it has %q, which the query excludes", x.Text)
		}
	}
	for _, x := range q.Phrases {
		if !allows(query.Query{Phrases: []query.Quoted{x}}) {
			return fmt.Sprintf("it does not have the phrase %q", x.Text)
		}
	}
	return ""
}
