package meili

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/keyword"
)

// How a search queries the server.
//
// The server has no OR: a search of several words finds documents with all of
// them and then, dropping words from the end of the query (matching strategy
// "last"), documents with fewer; the first word is always required. It reads
// ten words. Its own order is unrelated to BM25.
//
// So a query is sent as several lists in one request. Each has one of the
// rarest terms first, required and exact, followed by the others in the order
// of their rarity, wrapping around: it finds the passages with that term, those
// with the most of the following ones first, and the score of a hit says how
// many of them it has. Together the lists determine which terms a passage has,
// and so its score: the sum of the weights times the rarities of these terms.
// That is BM25 without the frequencies; they are approximated in two levels, by
// lists of the passages in which a term is outstanding (see outstanding), which
// count for more.
//
// Measurements on the judged collections are in docs/reference/measurements.md.
const (
	maxTerms         = 64  // of a query: one bit each
	maxWords         = 10  // of a query that the server reads; a phrase is one
	headLists        = 10  // of a search
	outstandingHeads = 6   // of terms that also get a list of where they are outstanding
	assisted         = 1   // list next to an engine that finds passages by all of their terms and their frequencies
	plainShare       = 0.6 // of its weight that a term counts where it is not outstanding
	leastDepth       = 200 // hits of a list, however few are wanted: scores depend on the lists having hits in common
	// Most of the cost of a search is reading hits: this many for each possible
	// list, but at least half the depth. Fewer lists are read deeper.
	listRead = 100
)

var errPhrases = errors.New("meili: more than 9 phrases in a query")

// plan is a query prepared for the server.
type plan struct {
	terms []term // rarest first
	lists []list
	most  int // lists that there can be
}

type term struct {
	spelling string
	weight   float64
}

// list is one search of the server.
type list struct {
	query       string
	fixed       int   // words of the query that every hit has: those of phrases
	words       int   // all words
	chain       []int // the other words, as terms in the order of the query
	outstanding bool  // only the passages in which the first of them is outstanding
}

// newPlan returns a plan without lists for a query that finds nothing.
func newPlan(q keyword.Query) (plan, error) {
	p := plan{terms: termsOf(q.Terms)}
	heads, marked := headLists, outstandingHeads
	if q.Assisted {
		heads, marked = assisted, 0
	}
	p.most = heads + marked
	var phrases []string
	fixed := 0
	for _, phrase := range q.Phrases {
		if words := spellings(phrase); len(words) > 0 {
			phrases = append(phrases, quote(words...))
			fixed += len(words)
		}
	}
	if len(phrases) >= maxWords {
		return plan{}, errPhrases
	}
	if len(phrases) > 0 {
		p.lists = append(p.lists, list{query: strings.Join(phrases, " "), fixed: fixed, words: fixed})
	}
	for i := range min(heads, len(p.terms)) {
		l := p.chain(i, maxWords-len(phrases))
		l.fixed, l.words = fixed, fixed+len(l.chain)
		l.query = p.write(phrases, l, p.terms[i].spelling)
		p.lists = append(p.lists, l)
		if i < marked {
			l.outstanding, l.query = true, p.write(phrases, l, p.terms[i].spelling+outstandingSuffix)
			p.lists = append(p.lists, l)
		}
	}
	return p, nil
}

// termsOf returns the distinct terms that can match, rarest first.
func termsOf(of []keyword.Term) []term {
	var terms []term
	at := map[string]int{}
	for _, t := range of {
		spelling := spell(t.Text)
		if t.Text == "" || !(t.Weight > 0) {
			continue
		}
		weight := t.Weight
		if t.Rarity > 0 {
			weight *= t.Rarity
		}
		i, known := at[spelling]
		if !known {
			i = len(terms)
			at[spelling] = i
			terms = append(terms, term{spelling: spelling})
		}
		terms[i].weight = max(terms[i].weight, weight)
	}
	slices.SortStableFunc(terms, func(a, b term) int { return cmp.Compare(b.weight, a.weight) })
	return terms[:min(maxTerms, len(terms))]
}

// chain returns the list of a term: itself and the terms after it, wrapping
// around.
func (p *plan) chain(head, words int) list {
	var l list
	for n := range min(words, len(p.terms)) {
		l.chain = append(l.chain, (head+n)%len(p.terms))
	}
	return l
}

// write returns a list's query. Its first word is in quotes, which make it
// required; the space at the end says that its last one is no prefix.
func (p *plan) write(phrases []string, l list, head string) string {
	words := append(slices.Clone(phrases), quote(head))
	for _, i := range l.chain[1:] {
		words = append(words, p.terms[i].spelling)
	}
	return strings.Join(words, " ") + " "
}

func spellings(terms []keyword.Term) []string {
	var out []string
	for _, t := range terms {
		if s := spell(t.Text); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func quote(words ...string) string { return `"` + strings.Join(words, " ") + `"` }

// depth returns how many hits each list has for k hits in all.
func (p *plan) depth(k int) int {
	k = min(max(k, leastDepth), maxHits)
	return min(k, max(k/2, p.most*listRead/len(p.lists)))
}

// spell encodes a term as a word that the server indexes unchanged: its
// tokenizer splits words at punctuation, segments and normalises scripts by
// dictionaries that differ between builds, and guesses languages, none of which
// may happen to our terms. Letters a to y and digits stay, z is zz, frequent
// punctuation is z and a letter, everything else zx or zy and its code point.
// Spellings are unique, and one term is a prefix of another exactly if their
// spellings are. Terms have at most 64 bytes and their spellings under 200,
// within the 250 that the server indexes of a word.
func spell(term string) string {
	if strings.IndexFunc(term, spelt) < 0 {
		return term
	}
	var b strings.Builder
	for _, r := range term {
		switch {
		case !spelt(r):
			b.WriteRune(r)
		case r == 'z':
			b.WriteString("zz")
		case r == '-':
			b.WriteString("zm")
		case r == '.':
			b.WriteString("zp")
		case r == '_':
			b.WriteString("zu")
		case r == '/':
			b.WriteString("zs")
		case r == ':':
			b.WriteString("zc")
		case r <= 0xffff:
			fmt.Fprintf(&b, "zx%04x", r)
		default:
			fmt.Fprintf(&b, "zy%06x", r)
		}
	}
	return b.String()
}

// spelt reports whether a character must be encoded.
func spelt(r rune) bool { return (r < 'a' || r > 'y') && (r < '0' || r > '9') }

// outstandingSuffix follows the spelling of a term that is outstanding in a passage; no spelling ends in it.
const outstandingSuffix = "zq"
