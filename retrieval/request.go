package retrieval

import (
	"context"
	"fmt"
	"time"

	"almanac/retrieval/passage"
)

// Request is one search.
type Request struct {
	Query     string
	Plain     bool // the query is text: quotes, hyphens and colons in it mean nothing
	Filter    passage.Filter
	Limit     int // results; default 10, at most MaxResults with Offset
	Offset    int
	Facets    []string // attributes to count: kind, source, container, state
	Distinct  bool     // of records whose best passages are near-identical, or in one thread, one is shown
	Diversify bool     // mix kinds where scores allow it: type=all
	Snippet   int      // characters of a snippet; 0: snippet.MaxLength
	Room      int      // characters of all whole passages and snippets: what is left lets snippets be twice as long
	Whole     int      // of the best results to give the whole passage
	Joined    bool     // a whole passage has the neighbours that were found too
	Explain   bool
	Profile   string // "" = the default profile
	// Relevance, if set, decides the order instead of what is published: to try a
	// change before it is.
	Relevance *Relevance
}

// MaxResults is how deep a ranking can be read: Limit + Offset.
const MaxResults = 1000

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
	Took      time.Duration
	Timings   map[string]time.Duration // by stage, and of each retriever in "retrieve/NAME"
}

// ReadTerm is a term that a query is read as.
type ReadTerm struct {
	Text   string
	Weight float64 // relative to a word that was typed; 0 of phrases and exclusions
	Origin Origin
}

// Origin is why a query is read as having a term.
type Origin string

// The origins of terms.
const (
	Typed    Origin = ""
	Spelling Origin = "spelling" // of a word that was typed
	Alias    Origin = "alias"    // equivalent to what was typed
	Phrase   Origin = "phrase"   // must occur
	Without  Origin = "without"  // must not occur
)

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
	Anchor       string // of the best passage's heading, without #
	Heading      string // the heading path of the best passage
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

// Searcher is the interface of the search engine.
type Searcher interface {
	// Search ranks. A query with nothing to search for or too many operators is
	// ErrBadQuery; before the first index is complete ErrNotReady.
	Search(ctx context.Context, r Request) (Response, error)
	// Status returns what is indexed and how far it is behind the catalog.
	Status(ctx context.Context) Status
}

// Status is the state of the index.
type Status struct {
	Ready    bool
	Progress float64 // 0 to 1 of the first index
	Records  int
	Passages int
	Lag      int64 // changes not yet indexed
	Model    string
	Down     []Down // empty while everything answers and is complete
	// Breakers are those of engines on servers: open ones are not called for now.
	Breakers map[string]bool
}

// Down is an engine that does not answer, or holds only a part.
type Down struct {
	Engine string // keyword, vector, embedder, reranker
	Reason string // for operators: it may name hosts
	ToCome int64  // changes, if it answers and is being filled
}

// Public is the reason for anybody.
func (d Down) Public() string {
	if d.ToCome > 0 {
		return fmt.Sprintf("is being filled; %d changes are to come", d.ToCome)
	}
	return "does not answer"
}
