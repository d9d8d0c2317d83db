package remote

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"golang.org/x/sync/errgroup"

	"almanac/embed"
	"almanac/text/prose"
)

const (
	firstBatch = 32 // texts
	maxBatch   = 128
	growAfter  = 8 // quick full batches in a row

	// A full batch that takes longer than longBatch was too large: a query that
	// arrives meanwhile waits for it. One that takes at most half of that is quick.
	longBatch = time.Second

	maxTries   = 4
	firstPause = 50 * time.Millisecond
	maxPause   = 30 * time.Second // a server that asks for more is unavailable

	// maxText bounds a text in bytes. Models hold some thousand tokens, and a
	// passage has some hundred.
	maxText = 32 << 10
	minText = 64 // a text refused at this length was not refused for its length
)

// post sends one request.
type post func(ctx context.Context, texts []string) ([][]float32, error)

// batches sends texts in batches whose size adapts to the server: it is halved
// when a batch takes long, or fails where a smaller one may not, and grows
// slowly otherwise. It is safe for concurrent use.
type batches struct {
	post  post
	slots chan struct{} // one for each request under way
	pause time.Duration // before the second try; grows with each try

	mu   sync.Mutex
	size int
	max  int
	good int // quick full batches in a row
}

func newBatches(p post, concurrency int) *batches {
	return &batches{post: p, slots: make(chan struct{}, concurrency), pause: firstPause, size: firstBatch,
		max: maxBatch}
}

// limit sets how many texts the server accepts at once; 0 = unknown.
func (b *batches) limit(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n <= 0 || n > maxBatch {
		n = maxBatch
	}
	b.max, b.size = n, min(b.size, n)
}

func (b *batches) next() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// went records a batch that succeeded.
func (b *batches) went(n int, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case n < b.size: // says little
	case took > longBatch:
		b.shrinkLocked(n)
	case took > longBatch/2:
		b.good = 0
	default:
		if b.good++; b.good >= growAfter {
			b.good, b.size = 0, min(b.max, b.size+max(1, b.size/4))
		}
	}
}

// shrink records a batch that was too large.
func (b *batches) shrink(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shrinkLocked(n)
}

func (b *batches) shrinkLocked(n int) {
	b.good, b.size = 0, max(1, min(b.size, n/2))
}

// restore undoes that batches shrank.
func (b *batches) restore(size int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size = min(b.max, max(b.size, size))
}

// all sends any number of texts, several requests at once. With an error it
// returns the vectors it has.
func (b *batches) all(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, size := make([][]float32, len(texts)), b.next()
	g, group := errgroup.WithContext(ctx)
send:
	for from := 0; from < len(texts); {
		select {
		case b.slots <- struct{}{}:
		case <-group.Done():
			break send
		}
		at, to := from, min(from+b.next(), len(texts))
		g.Go(func() error {
			defer func() { <-b.slots }()
			return b.some(group, texts[at:to], vectors[at:to], at)
		})
		from = to
	}
	if err := g.Wait(); err != nil {
		if errors.Is(err, embed.ErrRefused) { // it was not the size
			b.restore(size)
		}
		return vectors, err
	}
	return vectors, context.Cause(ctx)
}

// one sends a single text without waiting for a slot.
func (b *batches) one(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	return vectors, b.some(ctx, texts, vectors, 0)
}

// textError is the server's error about a single text. It wraps embed.ErrRefused
// if the server embeds others.
type textError struct {
	at      int
	refused bool
	error
}

func (e *textError) Error() string { return fmt.Sprintf("text %d: %v", e.at+1, e.error) }

func (e *textError) Unwrap() []error {
	if e.refused {
		return []error{e.error, embed.ErrRefused}
	}
	return []error{e.error}
}

// probe is a text that every model can embed.
const probe = "almanac"

// some fills the vectors of a batch that begins with text number at, in halves
// if the whole is too large. When a single text fails, the rest is not sent.
func (b *batches) some(ctx context.Context, texts []string, vectors [][]float32, at int) error {
	start := time.Now()
	answer, err := b.patiently(ctx, texts)
	if err == nil {
		copy(vectors, answer)
		b.went(len(texts), time.Since(start))
		return nil
	}
	k := kindOf(err)
	switch {
	case k != toomuch && k != slow && k != toolong && k != onetext:
		return err
	case len(texts) > 1:
		if k == toomuch || k == slow { // perhaps not the fault of one text
			b.shrink(len(texts))
		}
		half := len(texts) / 2
		if err := b.some(ctx, texts[:half], vectors[:half], at); err != nil {
			return err
		}
		return b.some(ctx, texts[half:], vectors[half:], at+half)
	case k == toolong && len(texts[0]) > minText:
		return b.some(ctx, []string{prose.FirstBytes(texts[0], len(texts[0])*7/8)}, vectors, at)
	}
	_, other := b.post(ctx, []string{probe})
	return &textError{at, other == nil && k != slow, err}
}

// patiently sends one request and retries while the server asks to wait.
func (b *batches) patiently(ctx context.Context, texts []string) ([][]float32, error) {
	p := &pause{BackOff: &backoff.ExponentialBackOff{InitialInterval: b.pause, RandomizationFactor: 0.2, Multiplier: 3,
		MaxInterval: maxPause}}
	return backoff.Retry(ctx, func() ([][]float32, error) {
		answer, err := b.post(ctx, texts)
		if e, ok := errors.AsType[*Error](err); ok && e.kind == later && e.after <= maxPause {
			p.asked = e.after
			return nil, err
		} else if err != nil {
			return nil, backoff.Permanent(err)
		}
		return answer, nil
	}, backoff.WithBackOff(p), backoff.WithMaxTries(maxTries))
}

// pause is a backoff that waits as long as the server asks for.
type pause struct {
	backoff.BackOff
	asked time.Duration
}

func (p *pause) NextBackOff() time.Duration {
	if p.asked > 0 {
		return p.asked
	}
	return p.BackOff.NextBackOff()
}
