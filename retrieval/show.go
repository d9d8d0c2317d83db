package retrieval

import (
	"context"
	"fmt"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/query"
	"almanac/retrieval/rerank"
	"almanac/retrieval/snippet"
)

// show turns a page of candidates into results, the best with their text.
func (e *Engine) show(
	ctx context.Context, p *Plan, r Request, page, best []*candidate, lists []ranked,
) ([]Result, error) {
	ids := make([]passage.ID, len(page))
	for i, c := range page {
		ids[i] = passage.NewID(c.Record, c.best)
	}
	ids, whole := wholeOf(best, ids, r.Joined)
	texts, err := e.follower.Texts(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("retrieval: %w", err)
	}
	q := p.Query
	for _, read := range p.readings {
		// Corrections are highlighted like the words they stand for.
		for _, w := range read.words {
			term := analysis.Stem(w)
			q.Terms = append(q.Terms[:len(q.Terms):len(q.Terms)],
				query.Term{Text: term, ID: analysis.IDOf(term), Weight: correctWeight, Word: w})
		}
	}
	weight := func(t analysis.TermID) float64 { return p.statistics.IDF(t) }
	out := make([]Result, len(page))
	for i, c := range page {
		s := snippet.Make(texts[i].Text, q, r.Snippet, weight)
		out[i] = Result{Record: c.Record, Passage: ids[i], Score: c.score,
			Title: c.document.Title, TitleSpans: snippet.Highlight(c.document.Title, q),
			Section: texts[i].Section, Anchor: texts[i].Anchor, Heading: texts[i].Heading, AlsoAt: c.alsoAt,
			Snippet: s.Text, SnippetSpans: s.Spans}
		if i < len(whole) {
			var b strings.Builder
			for k, j := range whole[i] {
				if k > 0 {
					follow(&b, texts[whole[i][k-1]].Heading, texts[j].Heading)
				}
				b.WriteString(texts[j].Text)
			}
			out[i].Text = snippet.Passage(b.String(), q, len(whole[i])*snippet.PassageLength, weight)
		}
		if r.Explain {
			out[i].Explanation = e.explain(p, c, lists)
		}
	}
	return out, nil
}

// explain gathers every stage's numbers.
func (e *Engine) explain(p *Plan, c *candidate, lists []ranked) *Explanation {
	x := &Explanation{Fused: c.Candidate.Score, Features: map[string]Feature{}, Pin: c.pin}
	for i, rank := range c.Ranks {
		if rank == 0 {
			continue
		}
		l := ListRank{Retriever: lists[i].list.Retriever, Rank: rank}
		for _, h := range lists[i].hits {
			if h.Record == c.Record {
				l.Score = h.Score
				break
			}
		}
		x.Lists = append(x.Lists, l)
	}
	if p.Profile.Order != "rerank" {
		return x
	}
	model := p.model()
	for f := range rerank.Feature(rerank.NumFeatures) {
		x.Features[f.String()] = Feature{Value: c.features[f], Z: c.z[f], Weight: model.Weights[f],
			Contribution: model.Weights[f]*c.z[f] + model.Fixed[f]*c.features[f]}
	}
	return x
}
