package retrieval

import (
	"slices"

	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
)

// gathered is a record that was gathered. It does not change once Run has returned.
type gathered struct {
	fused    // its Score is that of the fusion
	Document *corpus.Document
	Passages []int     // ordinals the engines found, best first
	Cosines  []float32 // of Passages; nil without a dense side
}

// maxCandidates is the number of records that are reranked. nDCG@10 of the
// judged collections is the same with twice as many; with two thirds it falls.
const maxCandidates = 300

// fuse makes candidates of the lists, with the passages that were found of each
// record, and leaves out what the operators exclude. It reads the documents of all that
// the order may need.
func (f *gathering) fuse() (err error) {
	s := f.scratch
	fused := s.fusion.Reciprocal(f.allowedLists(), f.Plan.Profile.RankK, maxCandidates)
	s.fused = s.fused[:0]
	for _, c := range fused {
		s.fused = append(s.fused, c.Record)
	}
	// What an engine found may have been deleted or replaced since.
	s.documents, err = f.Plan.Corpus.AppendDocuments(f.ctx, s.documents[:0], s.fused)
	if err != nil {
		return err
	}
	for _, x := range f.Plan.Places {
		d, err := f.Plan.Corpus.Document(f.ctx, x.Record)
		if err != nil {
			return err
		}
		f.Placed = append(f.Placed, d)
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
		if !f.Plan.Operators.Allow(d) {
			continue
		}
		s.candidates[i] = gathered{fused: fused[at], Document: d, Passages: s.passages[few*i : few*i : few*i+few]}
		out, of[d.Record] = append(out, &s.candidates[i]), &s.candidates[i]
	}
	s.order = out
	for _, l := range f.Lists {
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
	f.Candidates = out
	return nil
}

// allowedLists returns the records of each list that the operators allow, as
// many as the profile wants hits.
func (f *gathering) allowedLists() []rankedList {
	lists := make([]rankedList, len(f.Lists))
	for i := range f.Lists {
		l := &f.Lists[i]
		if decisions := f.Plan.Decisions; decisions != nil {
			l.Hits = slices.DeleteFunc(l.Hits, func(h keyword.Hit) bool { return !decisions.Allow(h.Record) })
			l.Hits = l.Hits[:min(len(l.Hits), l.Depth)]
		}
		lists[i] = rankedList{Weight: l.Weight, Records: make([]int64, len(l.Hits))}
		for j, h := range l.Hits {
			lists[i].Records[j] = h.Record
		}
	}
	return lists
}

// unnamedPassages is how many of its first passages are scored for a candidate
// that was found only as a whole document; for the others, the retrievers named
// the passages worth scoring. Those headed by a name of the query are scored always.
const unnamedPassages = 4

// score selects the passages of candidates to score, and gets their cosines with
// the query from the vector engine.
func (f *gathering) score(candidates []*gathered) {
	ids := f.scratch.asked[:0]
	for _, c := range candidates {
		for o := 0; len(c.Passages) == 0 && o < unnamedPassages && o < c.Document.Len(); o++ {
			c.Passages = append(c.Passages, o)
		}
		for _, o := range f.Plan.Scorer.Headed(c.Document) {
			if !slices.Contains(c.Passages, o) {
				c.Passages = append(c.Passages, o)
			}
		}
		for _, o := range c.Passages {
			ids = append(ids, passage.NewID(c.Record, o))
		}
	}
	f.scratch.asked = ids
	if slices.Contains(f.without, ranking.VectorEngine) {
		return
	}
	cosines := sized(f.scratch.cosines, len(ids))
	f.scratch.cosines = cosines
	if err := f.Cosines(ids, cosines); err != nil {
		f.Without(ranking.VectorEngine)
		return
	}
	for _, c := range candidates {
		n := len(c.Passages)
		c.Cosines, cosines = cosines[:n], cosines[n:]
	}
}

// Add makes a record a candidate that was not found, with the passages to score.
func (f *gathering) Add(d *corpus.Document, passages []int) {
	c := &gathered{Document: d, Passages: passages}
	c.Record, c.Ranks = d.Record, make([]int, len(f.Lists))
	f.Candidates = append(f.Candidates, c)
	if f.Plan.Reranks() {
		f.score(f.Candidates)
	}
}

// gatherScratch is the memory of one search, some 300 kB, which a later search uses again.
// Whoever runs a search provides it. Everything that a gathering refers to may lie in it
// and must be read before Close. It is never passed to an engine, which may go on
// reading after the search has given up on it, and never becomes part of an answer.
type gatherScratch struct {
	fusion     fusion
	fused      []int64 // records
	documents  []corpus.Document
	candidates []gathered
	order      []*gathered
	passages   []int // of candidates
	of         map[int64]*gathered
	known      map[passage.ID]float32
	asked      []passage.ID
	cosines    []float32
}

// newGatherScratch returns one.
func newGatherScratch() *gatherScratch {
	return &gatherScratch{of: make(map[int64]*gathered), known: make(map[passage.ID]float32)}
}

// release drops what a search found, which must not be kept alive.
func (s *gatherScratch) release() {
	clear(s.documents)
	clear(s.candidates)
	clear(s.of)
	clear(s.known)
}

// sized returns a slice of n arbitrary values that reuses the memory of another.
func sized[S ~[]E, E any](s S, n int) S { return slices.Grow(s[:0], n)[:n] }
