package search

import (
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/retrieval"
)

// Meant are the passages found by meaning.
type Meant struct {
	Answer
	Items []Passage `json:"items"`
}

// Lean implements op.Leaner: the client knows its query.
func (m *Meant) Lean() {
	m.Answer.Lean()
	m.Query = ""
}

// Passage is a hit whose id is that of its record.
type Passage struct {
	ID int64 `json:"id" doc:"of the record; get_doc reads it"`
	find.Hit
}

// Lean implements op.Leaner: what is only listed is cited after it was read.
func (p *Passage) Lean() {
	p.Hit.Lean()
	if p.Passage == "" {
		p.URL, p.Key, p.StatusRaw, p.Also = "", "", "", nil
	}
	p.Path, p.Source, p.Score = "", "", 0
}

// listedSnippet is how many characters the snippet of a passage has that is only
// listed, and twice as many where the best passages are short. shownText bounds all
// passages and snippets together.
const (
	listedSnippet = 80
	shownText     = 2_700
)

var semantic = kb.New(op.Spec{
	ID: "semantic_search", Tool: "semantic_search", MayFail: unavailable,
	Doc: `
Search by meaning
Hybrid vector and full-text retrieval with reranking.

Finds passages by meaning and words together, the best three in full; best for questions in your own words. Read the
section around a result with get_doc and its read.
`,
}, func(ctx context.Context, b kb.Base, in semanticIn) (Meant, error) {
	r := retrieval.Request{
		Query: in.Query, Limit: in.Limit, Distinct: true, Diversify: len(in.Types) != 1, Whole: whole, Apart: whole,
		Snippet: listedSnippet, Room: shownText,
	}
	var kinds []catalog.Kind
	of := "all"
	if len(in.Types) == 0 || slices.Contains(in.Types, "all") {
		r.Diversify = true
	} else {
		names := make([]string, len(in.Types))
		for i, t := range in.Types {
			names[i], kinds = string(t), append(kinds, t.Kinds()...)
		}
		of = strings.Join(names, ",")
	}
	a, err := answer(ctx, b, "query", r, kinds, of, false)
	a.more = "a greater limit, to 50"
	out := Meant{Answer: a}
	for _, h := range a.Items {
		out.Items = append(out.Items, Passage{h.RecordID, h})
	}
	return out, err
})

type semanticIn struct {
	Query string           `json:"query" required:"true" doc:"a question or description in your own words"`
	Types []arg.SearchType `json:"source_types" maxItems:"10" doc:"kinds of content; all when left out"`
	Limit int              `json:"limit" default:"10" minimum:"1" maximum:"50" doc:"how many to return"`
}
