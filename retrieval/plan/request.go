package plan

import (
	"cmp"
	"errors"
	"slices"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/query"
)

// ErrBadQuery is wrapped by the errors of requests that have nothing to search for
// or contradict themselves; the wrapping error tells the user why.
var ErrBadQuery = errors.New("bad query")

// Request is one search.
type Request struct {
	Query     string
	Plain     bool // the query is text: quotes, hyphens and colons in it mean nothing
	Typing    bool // the query is still being typed: its last word may be the beginning of one
	Filter    passage.Filter
	Limit     int // results; default 10, at most MaxResults with Offset
	Offset    int
	Facets    []string // attributes to count: kind, source, container, state
	Distinct  bool     // of records whose best passages are near-identical, or in one thread, one is shown
	Apart     int      // how many of the best results are not to quote one passage, if there are others
	Diversify bool     // mix kinds where scores allow it: type=all
	Snippet   int      // characters of a snippet; 0: snippet.MaxLength
	Room      int      // characters of all whole passages and snippets: what is left lets snippets be twice as long
	Whole     int      // of the best results to give the whole passage
	Joined    bool     // a whole passage has the neighbours that were found too
	Explain   bool
	Profile   string // "" = the default profile
	// Relevance, if set, decides the order in place of what is published, to try a
	// change before it is published.
	Relevance *profile.Relevance
}

// ReadTerm is a term that a query is read as.
type ReadTerm struct {
	Text   string  // a word as it was typed, and not its stem
	Weight float64 // relative to a word that was typed; 0 of phrases and exclusions
	Origin Origin
}

// Origin is why a query is read as having a term.
type Origin string

// The origins of terms.
const (
	Typed    Origin = ""
	Spelling Origin = "spelling" // of a word that was typed, or was begun, or of a character alone
	Alias    Origin = "alias"    // equivalent to what was typed
	Phrase   Origin = "phrase"   // must occur
	Without  Origin = "without"  // must not occur
)

// Read returns what the query is read as, for explanations.
func (p *Plan) Read() (out []ReadTerm) {
	alike := p.Highlighted().Terms[len(p.Query.Terms):]
	equivalent := p.set.Alternatives(p.Query.Terms, p.Profile.Rules.AliasWeight)
	for _, t := range p.Keyword.Terms {
		text, origin := t.Text, Spelling
		for _, from := range []struct {
			terms  []query.Term
			origin Origin
		}{{p.Query.Terms, Typed}, {equivalent, Alias}, {alike, Spelling}} {
			id := analysis.IDOf(t.Text)
			if at := slices.IndexFunc(from.terms, func(q query.Term) bool { return q.ID == id }); at >= 0 {
				text, origin = cmp.Or(from.terms[at].Word, text), from.origin
				break
			}
		}
		out = append(out, ReadTerm{text, t.Weight, origin})
	}
	for _, x := range p.Query.Phrases {
		out = append(out, ReadTerm{Text: x.Text, Origin: Phrase})
	}
	for _, x := range p.Query.Exclude {
		out = append(out, ReadTerm{Text: x.Text, Origin: Without})
	}
	return out
}
