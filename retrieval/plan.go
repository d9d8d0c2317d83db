package retrieval

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/query"
	"almanac/retrieval/ranking"
)

// state is what there is when a search begins.
type state struct {
	Corpus *corpus.Corpus
	Time   time.Time // decides which pins are in force
	// Usable reports whether the engine of a retriever answers and has everything.
	Usable  func(retriever string) bool
	Crossed bool // there is a cross-encoder
	// IsWord reports whether a folded word is known to be spelt right, however rare
	// in the corpus.
	IsWord func(string) bool
	// Authority is the prior of a record by its source, else by its kind; empty: that
	// of its role.
	Authority map[string]float64
	// Unrelated is a cosine that texts of other subjects have by the model too; the floor
	// of a profile is at least that.
	Unrelated float64
}

// plan is a request prepared for every engine and every stage. It does not change
// while a search runs.
type plan struct {
	state
	Request Request
	Query   query.Query
	Keyword keyword.Query
	Filter  passage.Filter // with the query's operators
	Profile ranking.Profile
	Lists   []planList

	Operators   operators
	Decisions   *decisions      // of Operators
	Places      []ranking.Place // fixed by a pin
	Model       ranking.Model
	Scorer      *scorer
	Statistics  corpus.Statistics
	scored      []query.Term // of Scorer: the weight of a stop word is 0
	corrections []correction
	completion  completion
	pairs       []string // in which characters that were typed alone stand
	set         *ranking.Set
}

// planList is a list of the profile that takes part.
type planList struct {
	ranking.List
	Read    int  // hits to ask for, of which Depth are kept
	StandIn bool // for one that cannot be used now
}

// newPlan prepares a request. Its own Relevance is left to the caller, who gives the
// set of it.
func newPlan(r Request, set *ranking.Set, state state) (*plan, error) {
	prof, ok := set.Profile(r.Profile)
	if !ok {
		return nil, fmt.Errorf("%w: there is no profile %q", ErrBadQuery, r.Profile)
	}
	parse := query.Parse
	if r.Plain {
		parse = query.Plain
	}
	r.Query = query.Cut(r.Query)
	q, err := parse(r.Query)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuery, err)
	}
	p := plan{state: state, Request: r, Profile: prof, set: set}
	return p.With(q)
}

// With returns the plan with another query.
func (p *plan) With(q query.Query) (*plan, error) {
	prof := p.Profile
	p = &plan{state: p.state, Request: p.Request, Query: q, Filter: p.Request.Filter, Profile: prof,
		Operators: newOperators(q), Places: p.set.Places(q, p.Time), Model: p.set.Model(prof.Name), set: p.set}
	var err error
	if p.Filter, err = narrow(p.Filter, q); err != nil {
		return nil, err
	}
	p.chooseLists()
	p.weighTerms()
	p.Scorer = newScorer(q.Text, p.scored, p.Profile.Rules, p.Statistics)
	for _, phrase := range q.Phrases {
		p.Keyword.Phrases = append(p.Keyword.Phrases, keywordTerms(phrase.Terms))
	}
	if !p.Operators.None() {
		p.Decisions = p.Operators.Decide(p.Corpus)
		p.Keyword.Accept = p.Decisions.Allow
	}
	return p, nil
}

// Reranks reports whether the profile's model orders the candidates; else they
// keep the order of the fused lists.
func (p *plan) Reranks() bool { return p.Profile.Order == ranking.Rerank }

// authority is the prior of records in a network that gives none to any source or kind.
var authority = map[catalog.Role]float64{catalog.RoleProposal: 1, catalog.RolePage: 0.8, catalog.RoleChange: 0.7,
	catalog.RolePublication: 0.6, catalog.RoleFact: 0.6, catalog.RoleFile: 0.5, catalog.RoleThread: 0.4,
	catalog.RoleWork: 0.4, catalog.RoleMessage: 0.2}

// AuthorityOf returns the prior of a document.
func (p *plan) AuthorityOf(d *corpus.Document) float64 {
	a, ok := p.Authority[d.Attributes.Source]
	switch {
	case ok:
	case len(p.Authority) == 0:
		a = authority[catalog.Kind(d.Attributes.Kind).Role()]
	default:
		a = p.Authority[d.Attributes.Kind]
	}
	if d.Secondary {
		a -= p.Profile.Rules.SecondaryPenalty
	}
	return a
}

// Text returns the query as it is embedded: a model knows what words mean, but
// hardly what a misspelt one was meant to be, or one that is begun.
func (p *plan) Text() string {
	text := cmp.Or(p.Corrected(), p.Query.Text)
	if begun, ok := strings.CutSuffix(text, p.completion.word); ok && p.Unfinished() {
		return begun + p.completion.words[0].Word
	}
	return text
}

// weighTerms weighs what was typed and adds what it is also read as.
func (p *plan) weighTerms() {
	q := p.Query
	ids := make([]analysis.TermID, len(q.Terms))
	for i, t := range q.Terms {
		ids[i] = t.ID
	}
	p.Statistics = p.Corpus.Statistics(ids)
	onlyStops := !slices.ContainsFunc(q.Terms, func(t query.Term) bool { return !t.Stop })
	for _, t := range q.Terms {
		if t.Stop && !onlyStops {
			t.Weight = 0
		}
		p.scored = append(p.scored, t)
		if t.Weight == 0 {
			continue
		}
		p.Keyword.Terms = append(p.Keyword.Terms,
			keyword.Term{Text: t.Text, Weight: t.Weight, Rarity: p.Statistics.IDF(t.ID)})
	}
	p.pair()
	p.complete(false)
	if p.Profile.Correct {
		p.correct()
		p.complete(true)
	}
	slices.SortStableFunc(p.scored, func(a, b query.Term) int { return cmp.Compare(a.Position, b.Position) })
	for _, t := range p.set.Alternatives(q.Terms, p.Profile.Rules.AliasWeight) {
		p.add(t.Text, untypedPosition, t.Weight)
	}
}

// Held returns the terms that occur in some document. The others find nothing, yet an
// engine that makes lists for the rarest terms would spend its lists on them.
func (p *plan) Held() []keyword.Term {
	var terms []keyword.Term
	for _, t := range p.Keyword.Terms {
		if p.Statistics.DocumentFrequency(analysis.IDOf(t.Text)) > 0 {
			terms = append(terms, t)
		}
	}
	return terms
}

// Lists are read deeper where phrases and exclusions remove hits from them.
const (
	deeper  = 4    // times as many hits
	deepest = 1000 // hits
)

// Deepest returns the plan with every list as deep as any is read.
func (p *plan) Deepest() *plan {
	deep := *p
	deep.Lists = slices.Clone(p.Lists)
	for i := range deep.Lists {
		deep.Lists[i].Read = deepest
	}
	return &deep
}

// chooseLists leaves out a list while the one that replaces it is usable.
func (p *plan) chooseLists() {
	for _, l := range p.Profile.Lists {
		if p.Usable(l.Unless) {
			continue
		}
		read := l.Depth
		if !p.Operators.None() {
			read = max(read, min(deepest, deeper*read))
		}
		standIn := slices.ContainsFunc(p.Profile.Lists, func(x ranking.List) bool { return x.Retriever == l.Unless })
		p.Lists = append(p.Lists, planList{l, read, standIn})
		p.Keyword.Assisted = p.Keyword.Assisted || l.Retriever == "sparse" && p.Usable(l.Retriever)
	}
}

func keywordTerms(terms []query.Term) []keyword.Term {
	var out []keyword.Term
	for _, t := range terms {
		out = append(out, keyword.Term{Text: t.Text, Weight: 1})
	}
	return out
}

// narrow adds the operators of the query to the filter: the intersection if both have values.
func narrow(f passage.Filter, q query.Query) (passage.Filter, error) {
	var err error
	merge := func(operator string, have, add []string) []string {
		if len(add) == 0 {
			return have
		}
		if len(have) == 0 {
			return add
		}
		var both []string
		for _, v := range have {
			if slices.ContainsFunc(add, func(a string) bool { return strings.EqualFold(a, v) }) {
				both = append(both, v)
			}
		}
		if both == nil {
			err = fmt.Errorf("%w: the %s: operator of the query contradicts the filter", ErrBadQuery, operator)
		}
		return both
	}
	f.Kinds, f.Sources = merge("kind", f.Kinds, q.Kinds), merge("source", f.Sources, q.Sources)
	return f, err
}

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
	Relevance *ranking.Relevance
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
	originTyped    Origin = ""
	originSpelling Origin = "spelling" // of a word that was typed, or was begun, or of a character alone
	originAlias    Origin = "alias"    // equivalent to what was typed
	originPhrase   Origin = "phrase"   // must occur
	originWithout  Origin = "without"  // must not occur
)

// Read returns what the query is read as, for explanations.
func (p *plan) Read() (out []ReadTerm) {
	alike := p.Highlighted().Terms[len(p.Query.Terms):]
	equivalent := p.set.Alternatives(p.Query.Terms, p.Profile.Rules.AliasWeight)
	for _, t := range p.Keyword.Terms {
		text, origin := t.Text, originSpelling
		for _, from := range []struct {
			terms  []query.Term
			origin Origin
		}{{p.Query.Terms, originTyped}, {equivalent, originAlias}, {alike, originSpelling}} {
			id := analysis.IDOf(t.Text)
			if at := slices.IndexFunc(from.terms, func(q query.Term) bool { return q.ID == id }); at >= 0 {
				text, origin = cmp.Or(from.terms[at].Word, text), from.origin
				break
			}
		}
		out = append(out, ReadTerm{text, t.Weight, origin})
	}
	for _, x := range p.Query.Phrases {
		out = append(out, ReadTerm{Text: x.Text, Origin: originPhrase})
	}
	for _, x := range p.Query.Exclude {
		out = append(out, ReadTerm{Text: x.Text, Origin: originWithout})
	}
	return out
}

// endpoint is an endpoint of an API as a query or a title names it.
type endpoint struct {
	Method string // in capitals; "" = any
	path   []string
}

var endpointForm = regexp.MustCompile(
	`^(?:(?i:(get|put|post|delete|options|head|patch|trace|query))\s+)?(/[^\s?#]*[\pL{][^\s?#]*)(?:[?#]\S*)?$`)

// readEndpoint reads a method and a path, or a path alone.
func readEndpoint(text string) (e endpoint, ok bool) {
	m := endpointForm.FindStringSubmatch(strings.Trim(text, " \"'`"))
	if m == nil {
		return e, false
	}
	return endpoint{strings.ToUpper(m[1]), strings.Split(strings.Trim(m[2], "/"), "/")}, true
}

// endpoint is the endpoint that the query names and asks for nothing else.
func (p *plan) endpoint() (endpoint, bool) { return readEndpoint(p.Query.Text) }

// How an endpoint is named.
const (
	exactly    = iota // as its API describes it
	belowABase        // behind the path of its server
	byExample         // with values in place of {parameters}
	notNamed
)

// Names says how an endpoint is named by another one, which a query has.
func (e endpoint) Names(described endpoint) int {
	further := len(e.path) - len(described.path)
	if further < 0 || e.Method != "" && e.Method != described.Method {
		return notNamed
	}
	how := exactly
	if further > 0 {
		how = belowABase
	}
	same := 0 // segments besides parameters
	for i, want := range described.path {
		switch got := e.path[further+i]; {
		case got == want:
			if !strings.HasPrefix(want, "{") {
				same++
			}
		case strings.HasPrefix(want, "{") && strings.HasSuffix(want, "}"):
			how = byExample
		default:
			return notNamed
		}
	}
	if how != exactly && same < 2 { // any path ends in one like it
		return notNamed
	}
	return how
}
