package retrieval

import (
	"math"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
)

// scan walks the tokens of a document's title and of passages once and keeps what
// the proximity signals need. It is reused from document to document.
type scan struct {
	matches
	title   matches       // those of the document's title, which is part of every passage
	bigrams float64       // share of the neighbouring pairs' IDF
	wanted  corpus.Wanted // terms of the query, in the document being scanned

	ends    [maxTerms]int     // of terms: position in the field where a run ending here ended
	values  [maxTerms]float64 // of terms: the run's value
	lengths [maxTerms]int     // of terms: the run's length in positions
	last    [maxTerms]int     // by index into ids: last position seen
}

// matches are what was found in the fields scanned.
type matches struct {
	tf        [maxTerms][analysis.NumFields]uint16 // by index into scorer.ids
	pairHit   [maxTerms]bool
	window    float64 // IDF
	run       float64 // value of the longest run
	runLength int     // its positions
}

const never = math.MinInt32

// document begins with a document: it looks up the terms and reads the title.
func (s *scan) document(p *scorer, d *corpus.Document) {
	d.Want(p.wanted, &s.wanted)
	s.matches = matches{}
	if d.Len() > 0 {
		s.field(p, d.Terms(0).Field(analysis.Title), analysis.Title)
	}
	s.title = s.matches
}

// passage reads heading and body beside the title; runs and windows do not span fields.
func (s *scan) passage(p *scorer, terms corpus.Passage) {
	s.matches = s.title
	s.field(p, terms.Field(analysis.Heading), analysis.Heading)
	s.field(p, terms.Field(analysis.Body), analysis.Body)
	s.bigrams = 0
	total := 0.0
	for i, v := range p.pairIDF {
		total += v
		if s.pairHit[i] {
			s.bigrams += v
		}
	}
	if total > 0 {
		s.bigrams /= total
	}
}

func (s *scan) field(p *scorer, terms corpus.Terms, f analysis.Field) {
	i, which := terms.Find(0, &s.wanted)
	if which < 0 {
		return
	}
	for i := range p.terms {
		s.ends[i] = never
	}
	for i := range p.ids {
		s.last[i] = never
	}
	position, before := 0, 0
	for ; which >= 0; i, which = terms.Find(i+1, &s.wanted) {
		position += terms.Distance(before, i)
		before = i
		for t := p.same.first[which]; t >= 0; t = p.same.next[t] {
			s.extend(p, t, position)
		}
		if which < len(p.ids) {
			s.match(p, which, f, position)
		}
	}
}

// match counts a weighted term and looks back over the window and for pairs.
func (s *scan) match(p *scorer, slot int, f analysis.Field, position int) {
	s.tf[slot][f]++
	s.last[slot] = position
	sum := 0.0
	for i := range p.ids {
		if s.last[i] > position-windowWords {
			sum += p.idf[i]
		}
	}
	s.window = max(s.window, sum)
	for i := p.ending.first[slot]; i >= 0; i = p.ending.next[i] {
		if last := s.last[p.firsts[i]]; last >= position-2 && last < position {
			s.pairHit[i] = true
		}
	}
}

// extend lengthens the runs that end just before this token: a run follows
// the query's positions and the text's in step.
func (s *scan) extend(p *scorer, term, position int) {
	value, length := p.value[term], 1
	here := p.terms[term].Position
	for prev := term - 1; prev >= 0 && p.terms[prev].Position >= here-1; prev-- {
		step := here - p.terms[prev].Position
		if s.ends[prev] != never && position-s.ends[prev] == step && s.values[prev]+p.value[term] > value {
			value, length = s.values[prev]+p.value[term], s.lengths[prev]+step
		}
	}
	s.ends[term], s.values[term], s.lengths[term] = position, value, length
	if value > s.run {
		s.run, s.runLength = value, length
	}
}
