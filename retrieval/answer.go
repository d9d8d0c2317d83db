package retrieval

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/query"
	"almanac/retrieval/snippet"
)

// Response is a ranking.
type Response struct {
	Query     string
	Class     string // of the query: identifier, keyword, question, code
	Results   []Result
	Total     int                       // records that can be paged through
	Facets    map[string]map[string]int // of all that can be paged through, by attribute and value
	Relaxed   []Relaxed                 // of a search with operators that found nothing
	Degraded  []string                  // what took no part: "vector", "keyword", "cross-encoder"
	Read      []ReadTerm                // what the query was read as, if it is explained
	Corrected string                    // the query as it was read, if corrected; "" as typed
	Kept      []string                  // words behind a hyphen that are text, as the query was pasted
	Unknown   []string                  // words of a query that was typed that no document has
	Took      time.Duration
	Timings   map[string]time.Duration // by stage; of each retriever "retrieve/NAME", of the query's vector "embed"
}

// Relaxed is what a search finds without one of its operators, or without any.
type Relaxed struct {
	Without string `json:"without"` // as typed
	Total   int    `json:"total"`
}

// Result is one found record. Title and snippet are plain text; the spans
// are byte ranges of matches in them.
type Result struct {
	Record       int64
	Passage      passage.ID
	Score        float64 // never increases down the list
	Title        string
	TitleSpans   [][2]int
	Section      string // what to read around it, as package passage names it; "" for the whole record
	Further      []int  // ordinals of the passages of the record that answer next best, if Text is given
	Text         string // the best passage, if Request.Whole covers the result
	Anchor       string // of the heading in the best passage that is the query or above its matches, without #
	Heading      string // path of that heading
	Snippet      string
	SnippetSpans [][2]int
	AlsoAt       []int64 // records collapsed into this one: with the same text, or the same best passage
	Explanation  *Explanation
}

// Explanation returns the explanation of a record's result; nil if there is
// none.
func (r Response) Explanation(record int64) *Explanation {
	for _, x := range r.Results {
		if x.Record == record {
			return x.Explanation
		}
	}
	return nil
}

// lengths are those of whole passages that share a room with snippets, by rank: what is
// less likely to answer takes less.
var lengths = [...]int{snippet.PassageLength, 700, 600}

// results turns a page of candidates into results, the best with their text.
func (r *run) results(page []*candidate) ([]Result, error) {
	req := r.Plan.Request
	best := page[:min(len(page), max(req.Whole-req.Offset, 0))]
	further := make([][]int, len(page))
	if r.Plan.Reranks() {
		locate(r, best, further)
	}
	ids := make([]passage.ID, len(page))
	for i, c := range page {
		ids[i] = passage.NewID(c.Record, c.Best)
	}
	ids, parts := wholeOf(best, ids, req.Joined)
	texts, err := r.texts(ids)
	if err != nil {
		return nil, fmt.Errorf("retrieval: %w", err)
	}
	matcher := snippet.New(r.Plan.Highlighted(), r.Plan.Statistics.IDF)
	whole := make([]string, len(best))
	for i, c := range best {
		text := joined(parts[i], func(j int) (heading, text string) { return texts[j].Heading, texts[j].Text })
		own, most := len(parts[i])-min(len(c.Posts), posted), snippet.PassageLength
		if req.Room > 0 {
			most = lengths[min(i, len(lengths)-1)]
		}
		whole[i] = matcher.Passage(text, own*most)
	}
	length, others := req.Snippet, len(page)-len(best)
	if room := req.Room; room > 0 && others > 0 {
		for _, text := range whole {
			room -= utf8.RuneCountInString(text)
		}
		length = min(max(length, room/others), 2*length)
	}
	out := make([]Result, len(page))
	for i, c := range page {
		shown, at := matcher.Snippet(texts[i].Text, length), place(r.Plan.Query, matcher, texts[i], length)
		out[i] = Result{Record: c.Record, Passage: ids[i], Score: c.Shown,
			Title: c.Document.Title, TitleSpans: matcher.Highlight(c.Document.Title),
			Section: at.Section, Further: further[i], Anchor: at.Anchor, Heading: at.Heading, AlsoAt: c.AlsoAt,
			Snippet: shown.Text, SnippetSpans: shown.Spans}
		if i < len(best) {
			out[i].Text = whole[i]
		}
		if req.Explain {
			out[i].Explanation = explain(r, c)
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

// attributes are counted by facets.
var attributes = map[string]func(passage.Attributes) string{
	"kind":      func(a passage.Attributes) string { return a.Kind },
	"source":    func(a passage.Attributes) string { return a.Source },
	"container": func(a passage.Attributes) string { return a.Container },
	"state":     func(a passage.Attributes) string { return a.State },
}

// countFacets counts candidates by the values of the named attributes, which some lack:
// they add up to what can be paged through, on every stack.
func countFacets(names []string, candidates []*candidate) (map[string]map[string]int, error) {
	if len(names) == 0 {
		return nil, nil
	}
	counts := make(map[string]map[string]int, len(names))
	for _, name := range names {
		attribute := attributes[name]
		if attribute == nil {
			return nil, fmt.Errorf("%w: there is no attribute %q to count", ErrBadQuery, name)
		}
		counts[name] = map[string]int{}
		for _, c := range candidates {
			if value := attribute(c.Document.Attributes); value != "" {
				counts[name][value]++
			}
		}
	}
	return counts, nil
}

// pathMark joins the headings of a path.
const pathMark = " › "

// lastHeading returns the innermost heading of a path.
func lastHeading(path string) string { return path[strings.LastIndex(pathMark+path, pathMark):] }

// place returns where a result leads to in its passage: to the heading that is the query or
// a coined name of it, else to the one above what a snippet of the length shows.
func place(q query.Query, m *snippet.Matcher, p catalog.Passage, length int) catalog.Place {
	if len(p.Places) == 0 {
		return catalog.Place{Anchor: p.Anchor, Section: p.Section, Heading: p.Heading}
	}
	asked := analysis.Fold(q.Text)
	if at := slices.IndexFunc(p.Places, func(x catalog.Place) bool {
		return analysis.Fold(lastHeading(x.Heading)) == asked
	}); at >= 0 {
		return p.Places[at]
	}
	for _, t := range q.Terms {
		if !t.Coined {
			continue
		}
		for _, x := range p.Places {
			if analysis.CoinedTerm(lastHeading(x.Heading)) == t.Text {
				return x
			}
		}
	}
	found, first := p.Places[0], m.First(p.Text, length)
	for _, x := range p.Places {
		if x.At <= first {
			found = x
		}
	}
	return found
}

// nextBest is the number of passages that are read beside the best one of a
// record.
const nextBest = 4

// locate chooses the best of all passages of each candidate, where the rerank
// saw those that retrievers named, and those that answer next best.
func locate(r *run, candidates []*candidate, further [][]int) {
	ordinals := make([][]int, len(candidates))
	var ids []passage.ID // of all
	for i, c := range candidates {
		if c.Document.Len() < 2 || c.Best >= located {
			continue
		}
		for o := range min(c.Document.Len(), located) {
			ordinals[i], ids = append(ordinals[i], o), append(ids, passage.NewID(c.Record, o))
		}
	}
	if len(ids) == 0 {
		return
	}
	cosines := make([]float32, len(ids))
	err := r.lookUpCosines(ids, cosines)
	for i, c := range candidates {
		n := len(ordinals[i])
		if n == 0 {
			continue
		}
		var own []float32 // nil: by words alone
		if err == nil {
			own, cosines = cosines[:n], cosines[n:]
		}
		scores := r.Plan.Scorer.Locate(c.Document, ordinals[i], own)
		ranked := ordinals[i]
		slices.SortStableFunc(ranked, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		c.Best, further[i] = ranked[0], ranked[1:min(len(ranked), 1+nextBest)]
	}
}

// follow writes what stands between two consecutive passages: the heading of
// the second if it is in another section.
func follow(b *strings.Builder, before, heading string) {
	b.WriteString("\n\n")
	if heading != before && heading != "" {
		fmt.Fprintf(b, "%s\n\n", lastHeading(heading))
	}
}

// posted is the maximum of posts of a thread that are shown beside the best.
const posted = 4

// wholeOf returns for each of the best candidates which of ids are the passages of its
// text: its best passage, the neighbours of that which retrievers found if they are to
// be joined, and the best passages of others in its thread. ids holds the best
// passages at first, and the others are appended.
func wholeOf(best []*candidate, ids []passage.ID, joined bool) ([]passage.ID, [][]int) {
	whole := make([][]int, len(best))
	for i, c := range best {
		for o := c.Best - 1; o <= c.Best+1; o++ {
			switch {
			case o == c.Best:
				whole[i] = append(whole[i], i)
			case joined && slices.Contains(c.Passages, o):
				whole[i] = append(whole[i], len(ids))
				ids = append(ids, passage.NewID(c.Record, o))
			}
		}
		for _, post := range c.Posts[:min(len(c.Posts), posted)] {
			whole[i] = append(whole[i], len(ids))
			ids = append(ids, passage.NewID(post.Record, post.Best))
		}
		slices.SortFunc(whole[i], func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	}
	return ids, whole
}
