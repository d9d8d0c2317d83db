package rerank

import (
	"math"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
)

// scan walks the tokens of one passage once and keeps what the proximity
// signals need. It is reused from passage to passage.
type scan struct {
	tf        [maxTerms][analysis.NumFields]uint16 // by index into prepared.ids
	bigrams   float64                              // share of the neighbouring pairs' IDF
	window    float64                              // share of IDF
	run       float64                              // value of the longest run
	runLength int                                  // its positions

	ends    [maxTerms]int     // of terms: position in the field where a run ending here ended
	values  [maxTerms]float64 // of terms: the run's value
	lengths [maxTerms]int     // of terms: the run's length in positions
	last    [maxTerms]int     // by index into ids: last position seen
	pairHit [maxTerms]bool
	wanted  corpus.Wanted // terms of the query, in the document being scanned
}

const never = math.MinInt32

func (s *scan) reset(p *prepared) {
	for i := range p.ids {
		s.tf[i] = [analysis.NumFields]uint16{}
	}
	for i := range p.pairs {
		s.pairHit[i] = false
	}
	s.bigrams, s.window, s.run, s.runLength = 0, 0, 0, 0
}

// passage fills the scan from title, heading and body; runs and windows do not span fields.
func (s *scan) passage(p *prepared, terms corpus.Passage) {
	s.reset(p)
	for _, f := range [...]analysis.Field{analysis.Title, analysis.Heading, analysis.Body} {
		s.field(p, terms.Field(f), f)
	}
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
	if p.totalIDF > 0 {
		s.window /= p.totalIDF
	}
}

func (s *scan) field(p *prepared, terms corpus.Terms, f analysis.Field) {
	for i := range p.terms {
		s.ends[i] = never
	}
	for i := range p.ids {
		s.last[i] = never
	}
	n := terms.Len()
	for i := terms.Find(0, &s.wanted); i < n; i = terms.Find(i+1, &s.wanted) {
		id, position, hit := terms.ID(i), terms.Position(i), -1
		for t := range p.terms {
			if p.terms[t].ID == id {
				hit = p.slot[t]
				s.extend(p, t, position)
			}
		}
		if hit >= 0 {
			s.match(p, hit, f, position)
		}
	}
}

// match counts a weighted term and looks back over the window and for pairs.
func (s *scan) match(p *prepared, slot int, f analysis.Field, position int) {
	s.tf[slot][f]++
	s.last[slot] = position
	sum := 0.0
	for i := range p.ids {
		if s.last[i] > position-windowWords {
			sum += p.idf[i]
		}
	}
	s.window = math.Max(s.window, sum)
	for i, pair := range p.pairs {
		if pair[1] == slot && s.last[pair[0]] >= position-2 && s.last[pair[0]] != never && s.last[pair[0]] < position {
			s.pairHit[i] = true
		}
	}
}

// extend lengthens the runs that end just before this token: a run follows
// the query's positions and the text's in step.
func (s *scan) extend(p *prepared, term, position int) {
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
