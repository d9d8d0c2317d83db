package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	matcher := snippet.New(s.plan.highlighted(), func(t analysis.TermID) float64 { return s.plan.statistics.IDF(t) })
	whole := make([]string, len(best))
	for i, c := range best {
		text := joined(parts[i], func(j int) (heading, text string) { return texts[j].Heading, texts[j].Text })
		own := len(parts[i]) - min(len(c.posts), posted)
		whole[i] = matcher.Passage(text, own*snippet.PassageLength)
	}
	length, others := r.Snippet, len(page)-len(best)
	if room := r.Room; room > 0 && others > 0 {
		for _, text := range whole {
			room -= utf8.RuneCountInString(text)
		}
		length = min(max(length, room/others), 2*length)
	}
	out := make([]Result, len(page))
	for i, c := range page {
		shown := matcher.Snippet(texts[i].Text, length)
		out[i] = Result{Record: c.Record, Passage: ids[i], Score: c.score,
			Title: c.document.Title, TitleSpans: matcher.Highlight(c.document.Title),
			Section: texts[i].Section, Further: c.further, Anchor: texts[i].Anchor, Heading: texts[i].Heading, AlsoAt: c.alsoAt,
			Snippet: shown.Text, SnippetSpans: shown.Spans}
		if i < len(best) {
			out[i].Text = whole[i]
		}
		if r.Explain {
			out[i].Explanation = s.explain(c)
		}
	}
	return out, nil
}

// joined returns the text of consecutive passages.
func joined(parts []int, passage func(int) (heading, text string)) string {
	var b strings.Builder
	before := ""
	for i, part := range parts {
		heading, text := passage(part)
		if i > 0 {
			follow(&b, before, heading)
		}
		b.WriteString(text)
		before = heading
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
