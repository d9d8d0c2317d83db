package kb

import (
	"cmp"
	"context"
	"slices"
	"time"

	"almanac/catalog"
)

// Matches searches among some kinds and returns the matches themselves.
func (b Base) Matches(ctx context.Context, s Search) (Found[Match], error) {
	return FindRows(ctx, b, s, func(_ Base, m Match) (Match, error) { return m, nil })
}

// BestMatches is Matches of all lists of kinds, as BestOf.
func (b Base) BestMatches(ctx context.Context, s Search, lists [][]catalog.Kind) ([]Found[Match], error) {
	return BestOf(ctx, b, s, lists, func(_ Base, m Match) (Match, error) { return m, nil })
}

// FindTexts is FindRows of records with their bodies, which results lack.
func FindTexts[T any](
	ctx context.Context, b Base, s Search, row func(Base, Match) (T, error),
) (out Found[T], err error) {
	found, err := b.Matches(ctx, s)
	if err != nil {
		return out, err
	}
	out.Total, out.Degraded, out.Hint = found.Total, found.Degraded, found.Hint
	texts, err := b.Texts(ctx, found.Items)
	if err != nil {
		return out, err
	}
	out.Items = make([]T, len(texts))
	for i, m := range texts {
		if out.Items[i], err = row(b, m); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Texts returns the matches with the bodies of their records, without those
// deleted since.
func (b Base) Texts(ctx context.Context, matches []Match) ([]Match, error) {
	ids := make([]int64, len(matches))
	for i, m := range matches {
		ids[i] = m.Record.ID
	}
	records, err := b.Catalog.Records(ctx, ids)
	if err != nil {
		return nil, err
	}
	texts := byID(records)
	var out []Match
	for _, m := range matches {
		if r, ok := texts[m.Record.ID]; ok {
			out = append(out, Match{r, m.Result})
		}
	}
	return out, nil
}

// Page returns what a search found as a page of a list.
func (f Found[T]) Page(p Paging) List[T] {
	return List[T]{Items: f.Items, Total: f.Total, Limit: p.Limit, Offset: p.Offset, Hint: f.Hint}
}

// Records returns the records of matches.
func Records(matches []Match) (records []catalog.Record) {
	for _, m := range matches {
		records = append(records, m.Record)
	}
	return records
}

// Hits returns matches, the best first, as derivations take them: with their
// scores as shares of the best one.
func Hits(matches []Match) (hits []Scored) {
	for _, m := range matches {
		relevance := 1.0
		if best := matches[0].Result.Score; best > 0 {
			relevance = m.Result.Score / best
		}
		hits = append(hits, Scored{Record: m.Record, Relevance: relevance, Snippet: m.Result.Snippet})
	}
	return hits
}

// DerivedFrom is Derived for a value that follows from the records of a query.
func DerivedFrom[T any](
	ctx context.Context, b Base, key string, maxAge time.Duration, q catalog.ListQuery,
	compute func([]catalog.Record) T,
) (T, time.Time, error) {
	return Derived(ctx, b, key, maxAge, func(ctx context.Context) (T, error) {
		records, _, err := b.Catalog.List(ctx, q)
		return compute(records), err
	})
}

// proofSnippet is the maximum of a snippet in evidence, in characters.
const proofSnippet = 300

// Proofs makes evidence of what a derivation rests on, heaviest first.
func (b Base) Proofs(proofs []Proof) (evidence []Evidence) {
	for _, p := range proofs {
		evidence = append(evidence, Evidence{b.Item(p.Record), p.Why, First(p.Snippet, proofSnippet), Score(p.Weight)})
	}
	slices.SortStableFunc(evidence, func(x, y Evidence) int { return cmp.Compare(y.Weight, x.Weight) })
	return evidence
}

// Weighed makes evidence of matches, each weighed by its share of all scores.
func (b Base) Weighed(matches []Match, why string) (evidence []Evidence) {
	for _, m := range matches {
		evidence = append(evidence, b.Evidence(m, why))
	}
	Weigh(evidence)
	return evidence
}

// Brief is an item of an answer whose own fields say what matters: in tools it
// only leads to the record.
type Brief struct{ Item }

// Lean implements op.Leaner.
func (b *Brief) Lean() {
	b.Item.Lean()
	b.Key, b.Path, b.Container, b.Author = "", "", "", ""
}

// Only returns the filter for one value: none if the argument stands for all.
func Only[S ~string](value, all S) []string {
	if value == all {
		return nil
	}
	return []string{string(value)}
}
