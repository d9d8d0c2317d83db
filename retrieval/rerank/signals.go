package rerank

import (
	"math"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
	"almanac/retrieval/corpus"
)

// Candidate is a record to be scored.
type Candidate struct {
	Document *corpus.Document
	// Passages are the ordinals to score: those the engines found, and enough
	// others to include the best.
	Passages  []int
	Cosines   []float32 // of Passages; nil without a dense side
	Authority float64
}

// Scored is a candidate's signals and its best passage.
type Scored struct {
	Features Vector
	Best     int // ordinal of the best passage
	Lexical  bool
}

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

// Signals computes every feature of every candidate.
func Signals(q Query, stats corpus.Statistics, candidates []Candidate) []Scored {
	p := prepare(q, stats)
	out := make([]Scored, len(candidates))
	var s scan
	for i, c := range candidates {
		if next := i + 2*ahead; next < len(candidates) {
			candidates[next].Document.Fetch(p.wanted)
		}
		if next := i + ahead; next < len(candidates) {
			candidates[next].Document.FetchPassages(candidates[next].Passages)
		}
		out[i] = p.score(c, &s)
	}
	return out
}

// Overlap returns a function that scores documents by their words alone: BM25 of
// the whole text, BM25 of title and path, and the share of the query's IDF that is
// found; 0 if nothing is. It is not safe for concurrent use.
func Overlap(q Query, stats corpus.Statistics) func(*corpus.Document) float64 {
	p := prepare(q, stats)
	var w corpus.Wanted
	return func(d *corpus.Document) float64 {
		var f Vector
		var lexical bool
		d.Want(p.wanted, &w)
		p.documentSignals(d, &w, &f, &lexical)
		return f[DocumentBM25] + f[TitleBM25] + f[Coverage]
	}
}

func (p *prepared) score(c Candidate, s *scan) Scored {
	var out Scored
	f := &out.Features
	s.document(p, c.Document)
	p.documentSignals(c.Document, &s.wanted, f, &out.Lexical)
	f[TitlePhrase] = p.titlePhrase(c.Document, s)
	out.Best = p.passageSignals(c, f, s)
	f[TitleTrigrams] = c.Document.TitleSimilarity(p.trigrams)
	f[Recency] = p.undatedRecency
	if d := c.Document.Attributes.Date; !d.IsZero() && !p.stats.Newest.IsZero() {
		f[Recency] = math.Exp2(-float64(max(0, p.stats.Newest.Sub(d))) / float64(recencyHalf))
	}
	f[Authority] = c.Authority
	if c.Document.Stub {
		f[Stub] = 1
	}
	f[Length] = math.Log1p(float64(c.Document.Length(analysis.Body)))
	return out
}

// documentSignals computes the signals from whole-document frequencies.
func (p *prepared) documentSignals(d *corpus.Document, w *corpus.Wanted, f *Vector, lexical *bool) {
	length := float64(d.Length(analysis.Title) + d.Length(analysis.Body))
	average := p.stats.AverageLength[analysis.Title] + p.stats.AverageLength[analysis.Body]
	titleLength := float64(d.Length(analysis.Title) + d.Length(analysis.Path))
	titleAverage := p.stats.AverageLength[analysis.Title] + p.stats.AverageLength[analysis.Path]
	found := 0.0
	for i := range p.ids {
		tf := d.Occurrences(i, w)
		all := float64(tf[analysis.Title]) + float64(tf[analysis.Body])
		title := float64(tf[analysis.Title]) + 0.7*float64(tf[analysis.Path])
		f[DocumentBM25] += p.idf[i] * saturate(all, length, average, documentB)
		f[TitleBM25] += p.tidf[i] * saturate(title, titleLength, titleAverage, titleB)
		if all+title+float64(tf[analysis.Heading]) > 0 {
			found += p.idf[i]
			*lexical = true
		}
	}
	if p.totalIDF == 0 {
		return
	}
	f[Coverage] = found / p.totalIDF
	for i, t := range p.terms {
		switch {
		case !t.Identifier:
		case d.Owns(t.ID):
			f[Identifier] += t.Weight * p.stats.IDF(t.ID) / p.totalIDF
		case d.Occurrences(p.which[i], w)[analysis.Title] > 0:
			f[Identifier] += p.namedInTitle * t.Weight * p.stats.IDF(t.ID) / p.totalIDF
		}
	}
}

// saturate returns BM25's term-frequency part.
func saturate(tf, length, average, b float64) float64 {
	if tf == 0 {
		return 0
	}
	return bm25.Saturate(tf, bm25.K1, bm25.Norm(bm25.K1, b, length, math.Max(average, 1)))
}

// passageSignals scans the candidate's passages and returns the ordinal of
// the best: the greatest sum of lexical and dense evidence.
func (p *prepared) passageSignals(c Candidate, f *Vector, s *scan) (best int) {
	bestScore := math.Inf(-1)
	bigrams, window := 0.0, 0.0
	for i, ordinal := range c.Passages {
		terms := c.Document.Terms(ordinal)
		s.passage(p, terms)
		length := float64(terms.Field(analysis.Title).Len() + terms.Field(analysis.Heading).Len() +
			terms.Field(analysis.Body).Len())
		average := p.stats.PassageLength[analysis.Title] + p.stats.PassageLength[analysis.Heading] +
			p.stats.PassageLength[analysis.Body]
		bm25, covered := 0.0, 0.0
		for t := range p.ids {
			tf := s.tf[t]
			w := float64(tf[analysis.Body]) + titleFieldTF*float64(tf[analysis.Title]) +
				headFieldTF*float64(tf[analysis.Heading])
			if w > 0 {
				bm25 += p.pidf[t] * saturate(w, length, average, passageB)
				covered += p.idf[t]
			}
		}
		score := bm25
		if c.Cosines != nil {
			cos := float64(c.Cosines[i])
			f[Dense] = math.Max(f[Dense], cos)
			score += p.totalIDF * math.Max(0, cos)
		}
		if bm25 > f[PassageBM25] {
			f[PassageBM25] = bm25
		}
		if p.totalIDF > 0 {
			f[PassageCoverage] = math.Max(f[PassageCoverage], covered/p.totalIDF)
		}
		bigrams, window = math.Max(bigrams, s.bigrams), math.Max(window, s.window)
		if score += s.run; score > bestScore {
			best, bestScore = ordinal, score
		}
	}
	f[Bigrams] = bigrams
	if p.totalIDF > 0 {
		f[Window] = window / p.totalIDF
	}
	return best
}

// titlePhrase returns the longest run of the query in the title: its share of
// the query times its share of the title.
func (p *prepared) titlePhrase(d *corpus.Document, s *scan) float64 {
	n := d.Length(analysis.Title)
	if n == 0 || p.total == 0 {
		return 0
	}
	return s.title.run / p.total * math.Min(1, float64(s.title.runLength)/float64(n))
}
