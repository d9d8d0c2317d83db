package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/kb/read"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/prose"
)

const (
	// budget is how many tokens a full context may take.
	budget = 6_000
	// tokenChars is the number of characters taken for a token.
	tokenChars = 4
	// itemChars is what an item has beside title, heading, text and address.
	itemChars = 180
	// compared is the depth of the ranking over everything that orders the types.
	compared = 50
)

type contextIn struct {
	Topic string `json:"topic" required:"true" maxLength:"4000" doc:"a question or topic in your own words"`
	Limit int    `json:"limit_per_source" default:"3" minimum:"1" maximum:"10" doc:"passages of each kind of content"`
}

// Context is what the whole corpus says on a topic.
type Context struct {
	Topic   string          `json:"topic"`
	Sources []ContextSource `json:"sources" doc:"kinds of content, the most relevant first"`
	Tokens  int             `json:"tokens" doc:"estimate for the items: a token is taken for four characters"`
	Budget  int             `json:"budget" doc:"most tokens of one answer"`
	LeftOut int             `json:"left_out" doc:"passages that the budget has no room for"`
	Hint    string          `json:"hint,omitempty" doc:"if nothing was found: what to try"`
}

// ContextSource are the passages of a search type.
type ContextSource struct {
	Source   string    `json:"source" doc:"search type"`
	Items    []Passage `json:"items" doc:"best first"`
	Total    int       `json:"total" doc:"number of records found"`
	Degraded []string  `json:"degraded,omitempty" doc:"parts of the search that did not answer"`
}

var fullContext = kb.New(op.Spec{
	ID: "full_context", Tool: "full_context", MayFail: unavailable,
	Doc: `
Everything on a topic
The best passages of every kind of content on one topic.

Answers one question from the entire corpus: the best passages of each kind of content in full, with their sources,
within 6,000 tokens. For one kind, or for a list to choose from, use semantic_search.
`,
}, func(ctx context.Context, b kb.Base, in contextIn) (Context, error) {
	lists := [][]catalog.Kind{nil} // the first is everything
	for _, t := range arg.SearchTypes[1:] {
		lists = append(lists, arg.SearchType(t).Kinds())
	}
	s := find.Search{Field: "topic", Query: in.Topic, Limit: max(in.Limit, compared)}
	all, err := find.HitsOfEach(ctx, b, s, lists[:1])
	if err != nil {
		return Context{}, err
	}
	s.Limit, s.Whole = in.Limit, true
	found, err := find.HitsOfEach(ctx, b, s, lists[1:])
	if err != nil {
		return Context{}, err
	}
	out := Context{Topic: in.Topic, Budget: budget, Hint: all[0].Hint}
	var passages [][]Passage
	for i, f := range found {
		source := ContextSource{Source: arg.SearchTypes[i+1], Total: f.Total, Degraded: f.Degraded}
		for _, h := range f.Items {
			source.Items = append(source.Items, Passage{h.RecordID, h})
		}
		out.Sources = append(out.Sources, source)
	}
	orderBy(out.Sources, all[0].Items, func(s ContextSource, h find.Hit) bool { return s.Source == h.Type })
	for _, s := range out.Sources {
		passages = append(passages, s.Items)
	}
	passages, chars, left := fit(passages, budget*tokenChars, func(p Passage) int {
		return itemChars + utf8.RuneCountInString(p.Title+p.Heading+p.Passage+p.URL) + read.Size(p.Cites)
	})
	for i := range out.Sources {
		out.Sources[i].Items = passages[i]
	}
	out.Sources = slices.DeleteFunc(out.Sources, func(s ContextSource) bool { return len(s.Items) == 0 })
	out.Tokens, out.LeftOut = chars/tokenChars, left
	return out, nil
})

// orderBy puts those first that match what stands first in a ranking. Those
// that match nothing come last, in their order.
func orderBy[T, R any](items []T, ranking []R, match func(T, R) bool) {
	place := func(x T) int {
		at := slices.IndexFunc(ranking, func(r R) bool { return match(x, r) })
		if at < 0 {
			return len(ranking)
		}
		return at
	}
	slices.SortStableFunc(items, func(x, y T) int { return cmp.Compare(place(x), place(y)) })
}

// fit keeps of every list what a budget has room for: the first of every list,
// then the second of every list, and so on. What is too large is left out, what
// comes after it may still fit. It returns what is kept of each list, its size
// and the number of those left out.
func fit[T any](lists [][]T, budget int, size func(T) int) (kept [][]T, used, left int) {
	kept = make([][]T, len(lists))
	for rank, more := 0, true; more; rank++ {
		more = false
		for i, list := range lists {
			if rank >= len(list) {
				continue
			}
			more = true
			if n := size(list[rank]); used+n <= budget {
				used += n
				kept[i] = append(kept[i], list[rank])
			} else {
				left++
			}
		}
	}
	return kept, used, left
}

// bestBlock returns the block that has most words of a topic, of equal ones the
// first with a language, else the first. It is the zero block if there is none.
func bestBlock(blocks []derive.CodeBlock, topic string) derive.CodeBlock {
	words := prose.Words(topic)
	var best derive.CodeBlock
	most := -1
	for _, b := range blocks {
		n := 0
		text := strings.ToLower(b.Code)
		for w := range words {
			if strings.Contains(text, w) {
				n += 2
			}
		}
		if b.Language != "" {
			n++
		}
		if n > most {
			best, most = b, n
		}
	}
	return best
}
