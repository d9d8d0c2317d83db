package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/query"
)

// While a query is being typed, its last word is also read as those that begin with
// it, unless it is a word that is more frequent than any of them. What it may become
// weighs as often as it occurs beside the most frequent of them: that is how likely it
// is meant. A word is known to every process that searches, so that all engines find
// the same by it, also those that match beginnings of terms themselves: of a stem
// nobody types the end.
const (
	completions    = 8 // of a word
	completionNear = 5 // letters from which one of them may be wrong
)

// completion is what the last word may become.
type completion struct {
	word  string             // as typed, folded
	words []corpus.Expansion // the likeliest first
}

// complete adds what the last word may become. Before corrections it looks for words
// that begin with it, after them, if that found none, for those that nearly do.
func (p *plan) complete(near bool) {
	if !p.Request.Typing || p.completion.words != nil {
		return
	}
	for _, t := range p.last() {
		frequent := p.Statistics.DocumentFrequency(t.ID)
		near := near && frequent == 0 && utf8.RuneCountInString(t.Word) >= completionNear &&
			!slices.ContainsFunc(p.corrections, func(c correction) bool { return slices.Contains(c.typed, t.Word) })
		found := p.Corpus.Complete(t.Word, completions, near)
		most := 0
		for _, x := range found {
			most = max(most, x.Documents)
		}
		if most <= frequent {
			continue
		}
		p.completion = completion{t.Word, found}
		for _, x := range found {
			p.add(analysis.Stem(x.Word), t.Position,
				p.Profile.Rules.CorrectionWeight*t.Weight*float64(x.Documents)/float64(most))
		}
		return
	}
}

// last returns the terms that end where the query does, the longest first; none if it
// does not end in a word.
func (p *plan) last() (terms []query.Term) {
	fields := strings.Fields(p.Request.Query)
	if len(fields) == 0 || strings.HasPrefix(fields[len(fields)-1], "-") {
		return nil
	}
	text := p.Query.Text
	tokens := analysis.Analyze(text)
	for _, t := range tokens {
		if t.End != len(text) || !strings.HasSuffix(p.Request.Query, text[t.Start:t.End]) {
			continue
		}
		at := slices.IndexFunc(p.Query.Terms, func(q query.Term) bool { return q.Text == t.Term })
		if at < 0 || strings.ContainsFunc(p.Query.Terms[at].Word, func(r rune) bool { return !unicode.IsLetter(r) }) {
			continue
		}
		terms = append(terms, p.Query.Terms[at])
	}
	return terms
}

// Unfinished reports whether the last word is read as the beginning of others.
func (p *plan) Unfinished() bool { return p.completion.words != nil }

// Named reports whether title, path or key of a document hold every word of the query,
// or what it is also read as.
func (p *plan) Named(d *corpus.Document) bool {
	for i := 0; i < len(p.scored); {
		t := p.scored[i]
		held, weighs := false, false
		for ; i < len(p.scored) && p.scored[i].Position == t.Position; i++ {
			if x := p.scored[i]; x.Weight > 0 {
				f := d.Frequencies(x.ID)
				weighs = true
				held = held || f[analysis.Title] > 0 || f[analysis.Path] > 0 || d.Owns(x.ID)
			}
		}
		if weighs && !held && t.Position != untypedPosition {
			return false
		}
	}
	return true
}
