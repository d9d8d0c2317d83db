package retrieval

import (
	"context"
	"sync"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// cosines are those of passages with the query, collected while the search's lists are
// being read.
type cosines struct {
	mu    sync.Mutex
	known map[passage.ID]float32 // in the search's scratch
	asked map[passage.ID]bool    // known, or under way
	out   sync.WaitGroup         // what is under way
	err   error                  // of what was
}

// learn keeps the cosines that the dense list has computed.
func (c *cosines) learn(hits []keyword.Hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, h := range hits {
		c.known[h.Passage] = float32(h.Score)
	}
}

// scoreEarly begins to fetch the cosines of a list's passages from a vector engine on
// a server while other lists are still being read. Most of these passages become
// candidates, and scoring one that the dense list has too costs less than another
// round trip.
func (r *run) scoreEarly(hits []keyword.Hit) {
	c := &r.cosines
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked = make(map[passage.ID]bool, len(hits))
	}
	var ids []passage.ID
	for _, h := range hits {
		if _, known := c.known[h.Passage]; known || c.asked[h.Passage] || h.Passage == wholeRecord ||
			!r.Plan.Decisions.Allow(h.Record) {
			continue
		}
		c.asked[h.Passage] = true
		ids = append(ids, h.Passage)
	}
	if len(ids) == 0 {
		return
	}
	c.out.Go(func() {
		scores, err := r.scores(ids)
		c.mu.Lock()
		defer c.mu.Unlock()
		if err != nil {
			c.err = err
			return
		}
		for i, id := range ids {
			c.known[id] = scores[i]
		}
	})
}

// lookUpCosines puts those of passages with the query into out.
func (r *run) lookUpCosines(ids []passage.ID, out []float32) error {
	c := &r.cosines
	others, at := make([]passage.ID, 0, len(ids)), make([]int, 0, len(ids)) // with their places
	c.mu.Lock()
	for i, id := range ids {
		if cosine, known := c.known[id]; known {
			out[i] = cosine
		} else if !c.asked[id] {
			others, at = append(others, id), append(at, i)
		}
	}
	c.mu.Unlock()
	if len(others) > 0 {
		scores, err := r.scores(others)
		if err != nil {
			return err
		}
		for i, score := range scores {
			out[at[i]] = score
		}
	}
	c.out.Wait()
	for i, id := range ids {
		if c.asked[id] {
			out[i] = c.known[id]
		}
	}
	return c.err
}

// scores asks the vector engine for the cosines of passages.
func (r *run) scores(ids []passage.ID) ([]float32, error) {
	v, err := r.vector(r.scoring)
	if err != nil {
		return nil, err
	}
	return ask(r.scoring, r.uses[engineVector],
		func(ctx context.Context) ([]float32, error) { return r.engine.Vector.Scores(ctx, v, ids) })
}
