package retrieval

import (
	"math"
	"slices"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
	"almanac/retrieval/corpus"
	"almanac/retrieval/ranking"
)

// BM25 parameters: the textbook's for whole documents; titles vary little in
// length, and for good reason, so length counts half; passages are all cut to about
// the same length, so it counts even less.
const (
	documentB    = bm25.B
	titleB       = 0.5
	passageB     = 0.35
	windowWords  = 8
	recencyHalf  = 365 * 24 * time.Hour
	titleFieldTF = 2.0 // a title word counts twice in a passage
	headFieldTF  = 1.0
)

// ahead is how many candidates before its turn a document is fetched from memory.
const ahead = 3

// signals computes every feature of every candidate, and chooses its best passage.
func (p *scorer) signals(candidates []*candidate) {
	var s scan
	free := p.unowned(candidates)
	for i, c := range candidates {
		if next := i + 2*ahead; next < len(candidates) {
			candidates[next].Document.Fetch(p.wanted)
		}
		if next := i + ahead; next < len(candidates) {
			candidates[next].Document.FetchPassages(candidates[next].Passages)
		}
		p.score(c, &s)
		for _, t := range free {
			if c.Document.Headed(t) >= 0 {
				c.Features[ranking.HeadingExact] += p.stats.IDF(t) / p.typedIDF
			}
		}
	}
}

// unowned returns the coined names of the query that are no candidate's own: what is called
// CIP-56 comes before a page that has a section on it.
func (p *scorer) unowned(candidates []*candidate) (free []analysis.TermID) {
	for _, t := range p.coined {
		if !slices.ContainsFunc(candidates, func(c *candidate) bool { return c.Document.Owns(t) }) {
			free = append(free, t)
		}
	}
	return free
}

// Overlap returns a function that scores documents by their words alone: BM25 of
// the whole text, BM25 of title and path, and the share of the query's IDF that is
// found; 0 if nothing is. It is not safe for concurrent use.
func (p *scorer) Overlap() func(*corpus.Document) float64 {
	var w corpus.Wanted
	return func(d *corpus.Document) float64 {
		var f ranking.Vector
		var lexical bool
		d.Want(p.wanted, &w)
		p.documentSignals(d, &w, &f, &lexical)
		return f[ranking.DocumentBM25] + f[ranking.TitleBM25] + f[ranking.Coverage]
	}
}

func (p *scorer) score(c *candidate, s *scan) {
	c.Features, c.Lexical = ranking.Vector{}, false
	f := &c.Features
	s.document(p, c.Document)
	p.documentSignals(c.Document, &s.wanted, f, &c.Lexical)
	f[ranking.TitlePhrase] = p.titlePhrase(c.Document, s)
	c.Best = p.passageSignals(c, s)
	f[ranking.TitleTrigrams] = c.Document.TitleSimilarity(p.trigrams)
	f[ranking.Recency] = p.rules.UndatedRecency
	if d := c.Document.Attributes.Date; !d.IsZero() && !p.stats.Newest.IsZero() {
		f[ranking.Recency] = math.Exp2(-float64(max(0, p.stats.Newest.Sub(d))) / float64(recencyHalf))
	}
	if c.Document.Stub {
		f[ranking.Stub] = 1
	}
	f[ranking.Length] = math.Log1p(float64(c.Document.Length(analysis.Body)))
}

// documentSignals computes the signals from whole-document frequencies.
func (p *scorer) documentSignals(d *corpus.Document, w *corpus.Wanted, f *ranking.Vector, lexical *bool) {
	length := float64(d.Length(analysis.Title) + d.Length(analysis.Body))
	average := p.stats.AverageLength[analysis.Title] + p.stats.AverageLength[analysis.Body]
	titleLength := float64(d.Length(analysis.Title) + d.Length(analysis.Path))
	titleAverage := p.stats.AverageLength[analysis.Title] + p.stats.AverageLength[analysis.Path]
	bodyNorm, titleNorm := norm(length, average, documentB), norm(titleLength, titleAverage, titleB)
	found := 0.0
	for i := range p.ids {
		tf := d.Occurrences(i, w)
		all := float64(tf[analysis.Title]) + float64(tf[analysis.Body])
		title := float64(tf[analysis.Title]) + 0.7*float64(tf[analysis.Path])
		f[ranking.DocumentBM25] += p.idf[i] * bm25.Saturate(all, bm25.K1, bodyNorm)
		f[ranking.TitleBM25] += p.tidf[i] * bm25.Saturate(title, bm25.K1, titleNorm)
		if all+title+float64(tf[analysis.Heading]) > 0 {
			found += p.idf[i]
			*lexical = true
		}
	}
	if p.totalIDF == 0 {
		return
	}
	f[ranking.Coverage] = found / p.totalIDF
	for i, t := range p.terms {
		switch {
		case !t.Identifier:
		case d.Owns(t.ID):
			f[ranking.Identifier] += t.Weight * p.stats.IDF(t.ID) / p.totalIDF
		case d.Occurrences(p.which[i], w)[analysis.Title] > 0:
			f[ranking.Identifier] += p.rules.NamedInTitle * t.Weight * p.stats.IDF(t.ID) / p.totalIDF
		}
	}
}

// Headed returns the passages of a document in which a heading begins that is nothing but a
// coined name of the query.
func (p *scorer) Headed(d *corpus.Document) (ordinals []int) {
	for _, t := range p.coined {
		if o := d.Headed(t); o >= 0 {
			ordinals = append(ordinals, o)
		}
	}
	return ordinals
}

// defines returns what it adds to the score of a passage that such a heading begins in it:
// as much as any number of mentions of the name elsewhere.
func (p *scorer) defines(d *corpus.Document, ordinal int) (score float64) {
	for _, t := range p.coined {
		if d.Headed(t) == ordinal {
			score += p.stats.PassageIDF(t) * (bm25.K1 + 1)
		}
	}
	return score
}

// norm returns BM25's part for the length of a text.
func norm(length, average, b float64) float64 { return bm25.Norm(bm25.K1, b, length, max(average, 1)) }

// passageSignals scans the candidate's passages and returns the ordinal of
// the best: the greatest sum of lexical and dense evidence.
func (p *scorer) passageSignals(c *candidate, s *scan) (best int) {
	f := &c.Features
	bestScore := math.Inf(-1)
	bigrams, window := 0.0, 0.0
	average := p.stats.PassageLength[analysis.Title] + p.stats.PassageLength[analysis.Heading] +
		p.stats.PassageLength[analysis.Body]
	for i, ordinal := range c.Passages {
		terms := c.Document.Terms(ordinal)
		s.passage(p, terms)
		length := float64(terms.Field(analysis.Title).Len() + terms.Field(analysis.Heading).Len() +
			terms.Field(analysis.Body).Len())
		norm := norm(length, average, passageB)
		lexical, covered := 0.0, 0.0
		for t := range p.ids {
			tf := s.tf[t]
			w := float64(tf[analysis.Body]) + titleFieldTF*float64(tf[analysis.Title]) +
				headFieldTF*float64(tf[analysis.Heading])
			if w > 0 {
				lexical += p.pidf[t] * bm25.Saturate(w, bm25.K1, norm)
				covered += p.idf[t]
			}
		}
		score := lexical
		if c.Cosines != nil {
			cos := float64(c.Cosines[i])
			f[ranking.Dense] = max(f[ranking.Dense], cos)
			score += p.totalIDF * max(0, cos)
		}
		f[ranking.PassageBM25] = max(f[ranking.PassageBM25], lexical)
		if p.totalIDF > 0 {
			f[ranking.PassageCoverage] = max(f[ranking.PassageCoverage], covered/p.totalIDF)
		}
		bigrams, window = max(bigrams, s.bigrams), max(window, s.window)
		if score += s.run + p.defines(c.Document, ordinal); score > bestScore {
			best, bestScore = ordinal, score
		}
	}
	f[ranking.Bigrams] = bigrams
	if p.totalIDF > 0 {
		f[ranking.Window] = window / p.totalIDF
	}
	return best
}

// titlePhrase returns the longest run of the query in the title: its share of
// the query times its share of the title.
func (p *scorer) titlePhrase(d *corpus.Document, s *scan) float64 {
	n := d.Length(analysis.Title)
	if n == 0 || p.total == 0 {
		return 0
	}
	return s.title.run / p.total * min(1, float64(s.title.runLength)/float64(n))
}

// nearness is what a cosine of 1 is worth in Locate, as a share of the query's
// IDF.
const nearness = 0.5

// Locate scores the passages of one document, of the given ordinals, by how
// well each answers the query. Unlike signals, which compares documents, it
// weighs a term by its rarity in this document too, and not in the title: what
// all passages say tells nothing about where the answer is. cosines are those
// of the passages, nil without a dense side.
func (p *scorer) Locate(d *corpus.Document, ordinals []int, cosines []float32) []float64 {
	var s scan
	s.document(p, d)
	tfs := make([]float64, len(ordinals)*len(p.ids)) // by ordinal, then by term
	scores, df := make([]float64, len(ordinals)), make([]float64, len(p.ids))
	for i, o := range ordinals {
		s.passage(p, d.Terms(o))
		for t := range p.ids {
			tf := float64(s.tf[t][analysis.Body]) + headFieldTF*float64(s.tf[t][analysis.Heading])
			if tf > 0 {
				df[t]++
			}
			tfs[i*len(p.ids)+t] = tf
		}
		scores[i] = s.run + s.window + p.defines(d, o)
		if cosines != nil {
			scores[i] += nearness * p.totalIDF * math.Max(0, float64(cosines[i]))
		}
	}
	n := float64(len(ordinals))
	average := p.stats.PassageLength[analysis.Heading] + p.stats.PassageLength[analysis.Body]
	for i, o := range ordinals {
		terms := d.Terms(o)
		length := float64(terms.Field(analysis.Heading).Len() + terms.Field(analysis.Body).Len())
		norm := norm(length, average, documentB)
		for t, tf := range tfs[i*len(p.ids):][:len(p.ids)] {
			rarity := math.Log1p((n-df[t]+0.5)/(df[t]+0.5)) / math.Log1p((n-0.5)/1.5)
			scores[i] += p.pidf[t] * rarity * bm25.Saturate(tf, bm25.K1, norm)
		}
	}
	return scores
}

// normalise sets the features of candidates as z-scores over all of them: distances from
// the mean in standard deviations, 0 where all are equal.
func normalise(candidates []*candidate) {
	values := make([]float64, len(candidates))
	for f := range ranking.NumFeatures {
		for i, c := range candidates {
			values[i] = c.Features[f]
		}
		ranking.Normalise(values)
		for i, c := range candidates {
			c.Z[f] = values[i]
		}
	}
}
