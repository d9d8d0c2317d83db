package retrieval

import (
	"slices"

	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// candidate is a record that may become a result, with what lists, signals and stages
// say of it.
type candidate struct {
	fused    // its Score is that of the fusion
	Document *corpus.Document
	Passages []int     // ordinals the engines found, best first
	Cosines  []float32 // of Passages; nil without a dense side

	Features ranking.Vector // the signals; zero if the profile does not rerank
	Z        ranking.Vector // normalised over all candidates
	Best     int            // ordinal of the best passage; results may find a better one
	Lexical  bool           // it has a word of the query
	Linear   float64        // score of the linear model

	Shown  float64        // score as it is shown
	AlsoAt []int64        // records that it stands for
	Posts  []*candidate   // others of its thread, shown with it, best first
	Into   *candidate     // the one that is shown in its place; nil: none
	Is     string         // what it is to that one: "is in the thread of"; "": a copy
	Pin    *ranking.Place // that moved it; nil: none
	Steps  []step         // stages that changed the score, if it is to be explained
}

// step is the score after a stage.
type step struct {
	Stage string
	Score float64
}

// maxCandidates is the number of records that are reranked. nDCG@10 of the
// judged collections is the same with twice as many; with two thirds it falls.
const maxCandidates = 300

// fuse makes candidates of the lists, with the passages that were found of each
// record, and leaves out what the operators exclude. It reads the documents of all that
// the order may need.
func (r *run) fuse() (err error) {
	s := r.scratch
	r.dropExcluded()
	fused := s.fusion.reciprocal(r.Lists, r.Plan.Profile.RankK, maxCandidates)
	s.fused = s.fused[:0]
	for _, c := range fused {
		s.fused = append(s.fused, c.Record)
	}
	// What an engine found may have been deleted or replaced since.
	s.documents, err = r.Plan.Corpus.AppendDocuments(r.ctx, s.documents[:0], s.fused)
	if err != nil {
		return err
	}
	for _, x := range r.Plan.Places {
		d, err := r.Plan.Corpus.Document(r.ctx, x.ID)
		if err != nil {
			return err
		}
		r.Placed = append(r.Placed, d)
	}
	const few = 4 // passages of most candidates
	s.candidates, s.passages = sized(s.candidates, len(fused)), sized(s.passages, few*len(fused))
	out, of := s.order[:0], s.of
	at := 0
	for i := range s.documents {
		d := &s.documents[i]
		for fused[at].Record != d.Record {
			at++
		}
		if !r.Plan.Operators.Allow(d) {
			continue
		}
		s.candidates[i] = candidate{fused: fused[at], Document: d, Passages: s.passages[few*i : few*i : few*i+few]}
		out, of[d.Record] = append(out, &s.candidates[i]), &s.candidates[i]
	}
	s.order = out
	for _, l := range r.Lists {
		for _, h := range l.Hits {
			c := of[h.Record]
			if c == nil || h.Passage == wholeRecord {
				continue
			}
			if o := h.Passage.Ordinal(); o < c.Document.Len() && !slices.Contains(c.Passages, o) {
				c.Passages = append(c.Passages, o)
			}
		}
	}
	r.Candidates = out
	return nil
}

// dropExcluded leaves the hits in the lists that the operators allow, as many as the
// profile wants.
func (r *run) dropExcluded() {
	decisions := r.Plan.Decisions
	if decisions == nil {
		return
	}
	for i := range r.Lists {
		l := &r.Lists[i]
		l.Hits = slices.DeleteFunc(l.Hits, func(h keyword.Hit) bool { return !decisions.Allow(h.Record) })
		l.Hits = l.Hits[:min(len(l.Hits), l.Depth)]
	}
}

// unnamedPassages is how many of its first passages are scored for a candidate
// that was found only as a whole document; for the others, the retrievers named
// the passages worth scoring. Those headed by a name of the query are scored always.
const unnamedPassages = 4

// addCosines selects the passages of candidates to score, and gets their cosines with
// the query from the vector engine.
func (r *run) addCosines(candidates []*candidate) {
	ids := r.scratch.asked[:0]
	for _, c := range candidates {
		for o := 0; len(c.Passages) == 0 && o < unnamedPassages && o < c.Document.Len(); o++ {
			c.Passages = append(c.Passages, o)
		}
		for _, o := range r.Plan.Scorer.Headed(c.Document) {
			if !slices.Contains(c.Passages, o) {
				c.Passages = append(c.Passages, o)
			}
		}
		for _, o := range c.Passages {
			ids = append(ids, passage.NewID(c.Record, o))
		}
	}
	r.scratch.asked = ids
	if slices.Contains(r.without, ranking.VectorEngine) {
		return
	}
	cosines := sized(r.scratch.cosines, len(ids))
	r.scratch.cosines = cosines
	if err := r.lookUpCosines(ids, cosines); err != nil {
		r.leaveOut(ranking.VectorEngine)
		return
	}
	for _, c := range candidates {
		n := len(c.Passages)
		c.Cosines, cosines = cosines[:n], cosines[n:]
	}
}

// add makes a record a candidate that was not found, with the passages to score.
func (r *run) add(d *corpus.Document, passages []int) {
	c := &candidate{Document: d, Passages: passages}
	c.Record, c.Ranks = d.Record, make([]int, len(r.Lists))
	r.Candidates = append(r.Candidates, c)
	if r.Plan.Reranks() {
		r.addCosines(r.Candidates)
	}
}

// scratch is the memory of one search, some 400 kB, which a later search uses again.
// Everything that a run refers to may lie in it and must be read before close. It is
// never passed to an engine, which may go on reading after the search has given up on it,
// and never becomes part of an answer.
type scratch struct {
	fusion     fusion
	fused      []int64 // records
	documents  []corpus.Document
	candidates []candidate
	order      []*candidate // of the fusion
	list       []*candidate // of the stages
	passages   []int        // of candidates
	of         map[int64]*candidate
	known      map[passage.ID]float32
	asked      []passage.ID
	cosines    []float32
}

// release drops what a search found, which must not be kept alive.
func (s *scratch) release() {
	clear(s.documents)
	clear(s.candidates)
	clear(s.of)
	clear(s.known)
}

// sized returns a slice of n arbitrary values that reuses the memory of another.
func sized[S ~[]E, E any](s S, n int) S { return slices.Grow(s[:0], n)[:n] }
