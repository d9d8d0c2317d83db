package find

import (
	"context"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/retrieval"
)

// Match is a search result with its record.
type Match struct {
	Record    catalog.Record
	Result    retrieval.Result
	Relevance float64 // the score as a share of the best one's in the answer, 0 to 1
}

// Why is the part of a result's row that says why it was found.
type Why struct {
	Snippet string  `json:"snippet,omitempty" required:"true" doc:"why it was found, at most 300 characters"`
	Heading string  `json:"heading,omitempty" doc:"heading path of the best passage"`
	Score   float64 `json:"score,omitempty" required:"true" doc:"0 to 1; comparable within one answer only"`
}

// Why returns why the record was found.
func (m Match) Why() Why { return Why{m.Result.Snippet, m.Result.Heading, kb.Score(m.Result.Score)} }

// join returns the matches of results, without those deleted since.
func join(ctx context.Context, b kb.Base, results []retrieval.Result, bodies bool) ([]Match, error) {
	ids := make([]int64, len(results))
	for i, x := range results {
		ids[i] = x.Record
	}
	read := b.Heads
	if bodies {
		read = b.Bodies
	}
	records, err := read(ctx, ids)
	if err != nil {
		return nil, err
	}
	matches := make([]Match, 0, len(results))
	for _, x := range results {
		r, ok := records[x.Record]
		if !ok {
			continue
		}
		m := Match{r, x, 1}
		if best := results[0].Score; best > 0 {
			m.Relevance = x.Score / best
		}
		matches = append(matches, m)
	}
	return matches, nil
}

// Relevant returns the matches of at least some relevance.
func Relevant(matches []Match, least float64) (out []Match) {
	for _, m := range matches {
		if m.Relevance >= least {
			out = append(out, m)
		}
	}
	return out
}

// Records returns the records of matches.
func Records(matches []Match) (records []catalog.Record) {
	for _, m := range matches {
		records = append(records, m.Record)
	}
	return records
}
