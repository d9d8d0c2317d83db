package retrieval

import "almanac/retrieval/passage"

// scoring is a request for the cosines of passages, under way.
type scoring struct {
	at     map[passage.ID]int // place of each passage in scores
	scores []float32
	err    error
	done   chan struct{} // closed when the others are there
}

// scoreEarly keeps the cosines that the dense list has computed, and asks for those
// of the sparse list's other passages: most of them become candidates, and lists of
// a keyword engine are longer under way. The lists of the vector engine are there.
func (s *search) scoreEarly() {
	s.near = map[passage.ID]float32{}
	var dense, sparse []Hit
	for i, l := range s.plan.lists {
		switch l.Retriever {
		case "dense":
			dense = s.lists[i].hits
		case "sparse":
			sparse = s.lists[i].hits
		}
	}
	for _, h := range dense {
		s.near[h.Passage] = float32(h.Score)
	}
	if len(dense) == 0 {
		return
	}
	var ids []passage.ID
	early := &scoring{at: map[passage.ID]int{}, done: make(chan struct{})}
	for _, h := range sparse {
		if _, known := s.near[h.Passage]; !known {
			early.at[h.Passage] = len(ids)
			ids = append(ids, h.Passage)
		}
	}
	if len(ids) == 0 {
		return
	}
	s.early = early
	go func() {
		defer close(early.done)
		early.scores, early.err = s.scores(ids)
	}()
}

// cosines returns those of passages with the query.
func (s *search) cosines(ids []passage.ID) ([]float32, error) {
	out := make([]float32, len(ids))
	var others []passage.ID
	var at, early []int // places of the others, of those that were asked for early
	for i, id := range ids {
		known := false
		if out[i], known = s.near[id]; known {
			continue
		}
		if s.early != nil {
			if _, asked := s.early.at[id]; asked {
				early = append(early, i)
				continue
			}
		}
		others, at = append(others, id), append(at, i)
	}
	if len(others) > 0 {
		scores, err := s.scores(others)
		if err != nil {
			return nil, err
		}
		for i, score := range scores {
			out[at[i]] = score
		}
	}
	if len(early) > 0 {
		<-s.early.done
		if s.early.err != nil {
			return nil, s.early.err
		}
		for _, i := range early {
			out[i] = s.early.scores[s.early.at[ids[i]]]
		}
	}
	return out, nil
}

// scores asks the vector engine for the cosines of passages.
func (s *search) scores(ids []passage.ID) ([]float32, error) {
	v, err := s.plan.Vector(s.scoring)
	if err != nil {
		return nil, err
	}
	return ask(s.scoring, s.plan.trials.vector,
		func() ([]float32, error) { return s.vector.Scores(s.scoring, v, ids) })
}
