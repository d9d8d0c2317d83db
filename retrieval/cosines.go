package retrieval

import (
	"sync"

	"almanac/retrieval/passage"
)

// cosines are those of passages with the query, which a search gathers while its
// lists are out.
type cosines struct {
	mu    sync.Mutex
	known map[passage.ID]float32 // of the dense list, which has computed them; of the search's memory
	asked map[passage.ID]answer
	under []*scoring // all requests
}

// scoring is a request for cosines, under way.
type scoring struct {
	scores []float32
	err    error
	done   chan struct{} // closed when the others are there
}

// answer is where the cosine of a passage will be.
type answer struct {
	*scoring
	at int
}

// learn keeps the cosines that the dense list has computed.
func (c *cosines) learn(hits []Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range hits {
		c.known[h.Passage] = float32(h.Score)
	}
}

// expect returns a request for the passages of a list that nobody has asked for,
// nil if there are none.
func (c *cosines) expect(hits []Hit, allowed func(record int64) bool) (*scoring, []passage.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []passage.ID
	request := &scoring{done: make(chan struct{})}
	for _, h := range hits {
		_, known := c.known[h.Passage]
		_, asked := c.asked[h.Passage]
		if known || asked || h.Passage == whole || allowed != nil && !allowed(h.Record) {
			continue
		}
		if c.asked == nil {
			c.asked = make(map[passage.ID]answer, len(hits))
		}
		c.asked[h.Passage] = answer{request, len(ids)}
		ids = append(ids, h.Passage)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	c.under = append(c.under, request)
	return request, ids
}

// wait returns when no request is under way.
func (c *cosines) wait() {
	for _, request := range c.under {
		<-request.done
	}
}

// scoreEarly begins to get the cosines of a list from a vector engine on a server
// while other lists are out: most of its passages become candidates, and one that
// the dense list has too is scored twice for less than a round trip costs.
func (s *search) scoreEarly(hits []Hit) {
	request, ids := s.near.expect(hits, s.plan.allowed)
	if request == nil {
		return
	}
	go func() {
		defer close(request.done)
		request.scores, request.err = s.scores(ids)
	}()
}

// cosinesOf puts those of passages with the query into out.
func (s *search) cosinesOf(ids []passage.ID, out []float32) error {
	others, at := make([]passage.ID, 0, len(ids)), make([]int, 0, len(ids)) // with their places
	for i, id := range ids {
		if cosine, known := s.near.known[id]; known {
			out[i] = cosine
		} else if _, asked := s.near.asked[id]; !asked {
			others, at = append(others, id), append(at, i)
		}
	}
	if len(others) > 0 {
		scores, err := s.scores(others)
		if err != nil {
			return err
		}
		for i, score := range scores {
			out[at[i]] = score
		}
	}
	if len(s.near.asked) == 0 {
		return nil
	}
	for i, id := range ids {
		if _, known := s.near.known[id]; known {
			continue
		}
		if a, asked := s.near.asked[id]; asked {
			if <-a.done; a.err != nil {
				return a.err
			}
			out[i] = a.scores[a.at]
		}
	}
	return nil
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
