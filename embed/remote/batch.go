package remote

import (
	"context"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"almanac/embed"
	"almanac/text/prose"
)

const (
	maxBatch    = 32 // texts of a request
	maxRequests = 2  // of one call at once

	maxTries   = 4
	firstPause = 50 * time.Millisecond
	maxPause   = 30 * time.Second // a server that asks for more is unavailable

	// maxText bounds a text in bytes. Models hold some thousand tokens, and a
	// passage has some hundred.
	maxText = 32 << 10
	minText = 64 // a text refused at this length was not refused for its length
)

// probe is a text that every model can embed.
const probe = "almanac"

// all sends any number of texts. With an error it returns the vectors it has.
func (e *Embedder) all(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxRequests)
	for from := 0; from < len(texts); from += maxBatch {
		to := min(from+maxBatch, len(texts))
		g.Go(func() error { return e.some(ctx, texts[from:to], vectors[from:to]) })
	}
	return vectors, g.Wait()
}

// some fills the vectors of a batch, in halves if the server does not take the
// whole. When a single text fails, the rest of the batch is not sent.
func (e *Embedder) some(ctx context.Context, texts []string, vectors [][]float32) error {
	answer, err := e.patiently(ctx, texts)
	if err == nil {
		copy(vectors, answer)
		return nil
	}
	k := kindOf(err)
	switch {
	case k != slow && k != long && k != refused:
		return err
	case len(texts) > 1:
		half := len(texts) / 2
		if err := e.some(ctx, texts[:half], vectors[:half]); err != nil {
			return err
		}
		return e.some(ctx, texts[half:], vectors[half:])
	case k == long && len(texts[0]) > minText:
		return e.some(ctx, []string{prose.FirstBytes(texts[0], len(texts[0])*7/8)}, vectors)
	case k == slow:
		return err
	}
	if _, failed := e.post(ctx, []string{probe}); failed != nil {
		return err // the server embeds nothing
	}
	return fmt.Errorf("%w: %w", embed.ErrRefused, err)
}

// patiently sends one request and retries while the server asks to wait.
func (e *Embedder) patiently(ctx context.Context, texts []string) ([][]float32, error) {
	pauses := &backoff.ExponentialBackOff{InitialInterval: firstPause, RandomizationFactor: 0.2, Multiplier: 3,
		MaxInterval: maxPause}
	return backoff.Retry(ctx, func() ([][]float32, error) {
		answer, err := e.post(ctx, texts)
		if kindOf(err) != busy {
			err = backoff.Permanent(err)
		}
		return answer, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(maxTries))
}

// post sends one request and checks its answer.
func (e *Embedder) post(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.server.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%s returned %d vectors for %d texts", e.server, len(vectors), len(texts))
	}
	for _, v := range vectors {
		if e.size > 0 && len(v) != e.size {
			return nil, fmt.Errorf("%s returned vectors of %d dimensions, but those in the index have %d: restart "+
				"almanac to build a new index", e.server, len(v), e.size)
		}
		if err := normalise(v); err != nil {
			return nil, &Error{text: fmt.Sprintf("%s returned an invalid vector: %v", e.server, err), cause: err,
				kind: refused}
		}
	}
	return vectors, nil
}
