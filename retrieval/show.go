package retrieval

import (
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/query"
	"almanac/retrieval/snippet"
)

// show turns a page of candidates into results, the best with their text.
func (s *search) show(page []*candidate) ([]Result, error) {
	r := s.request
	best := page[:min(len(page), max(r.Whole-r.Offset, 0))]
	if s.plan.Profile.Order == "rerank" {
		s.locate(best)
	}
	ids := make([]passage.ID, len(page))
	for i, c := range page {
		ids[i] = passage.NewID(c.Record, c.best)
	}
	ids, parts := wholeOf(best, ids, r.Joined)
	texts, err := s.follower.Texts(s.ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("retrieval: %w", err)
	}
	q := s.plan.highlighted()
	weight := func(t analysis.TermID) float64 { return s.plan.statistics.IDF(t) }
	out := make([]Result, len(page))
	for i, c := range page {
		shown := snippet.Make(texts[i].Text, q, r.Snippet, weight)
		out[i] = Result{Record: c.Record, Passage: ids[i], Score: c.score,
			Title: c.document.Title, TitleSpans: snippet.Highlight(c.document.Title, q),
			Section: texts[i].Section, Anchor: texts[i].Anchor, Heading: texts[i].Heading, AlsoAt: c.alsoAt,
			Snippet: shown.Text, SnippetSpans: shown.Spans}
		if i < len(parts) {
			out[i].Text = snippet.Passage(joined(texts, parts[i]), q, len(parts[i])*snippet.PassageLength, weight)
		}
		if r.Explain {
			out[i].Explanation = s.explain(c)
		}
	}
	return out, nil
}

// joined returns the text of consecutive passages.
func joined(texts []catalog.Passage, parts []int) string {
	var b strings.Builder
	for k, j := range parts {
		if k > 0 {
			follow(&b, texts[parts[k-1]].Heading, texts[j].Heading)
		}
		b.WriteString(texts[j].Text)
	}
	return b.String()
}

// highlighted returns the query as it is highlighted: corrections like the words
// they stand for.
func (p *Plan) highlighted() query.Query {
	q := p.Query
	q.Terms = slices.Clip(q.Terms)
	for _, c := range p.corrections {
		for _, w := range c.suggested {
			term := analysis.Stem(w)
			q.Terms = append(q.Terms, query.Term{Text: term, ID: analysis.IDOf(term),
				Weight: p.Profile.Rules.CorrectionWeight, Word: w})
		}
	}
	return q
}
