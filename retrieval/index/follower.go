package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/catalog/recent"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

// Fingerprint identifies everything that passages, words and vectors depend on:
// a change of any starts a new generation of the index.
func Fingerprint(model string) string {
	return rules + model
}

const rules = "analysis " + analysis.Version + ", passages " + passage.Version + ", corpus " + corpus.Version +
	", model "

// Changed says in which parts the fingerprint of an earlier generation differs from another.
func Changed(was, is string) (parts []string) {
	was, _, _ = strings.Cut(was, "\n") // what says that it was retired
	before := map[string]string{}
	for part := range strings.SplitSeq(was, ", ") {
		name, value, _ := strings.Cut(part, " ")
		before[name] = value
	}
	for part := range strings.SplitSeq(is, ", ") {
		name, value, _ := strings.Cut(part, " ")
		if before[name] != value {
			parts = append(parts, fmt.Sprintf("%s %s instead of %s", name, value, cmp.Or(before[name], "none")))
		}
	}
	return parts
}

// Engines hold an index.
type Engines struct {
	Keyword  keyword.Engine
	Vector   vector.Index
	Embedder embed.Embedder
	// KeywordServer, VectorServer and EmbedderServer: it is a server, which can be
	// slow or down, or a model in this process that is slow. What depends on it is
	// fed separately, so that it delays nothing else.
	KeywordServer, VectorServer, EmbedderServer bool
}

// Config configures a Follower.
type Config struct {
	Engines
	Store      *sqlstore.Store
	Generation catalog.Generation
	// ReadOnly follows the change log in memory and leaves the passages table
	// and the servers to the process that writes the index.
	ReadOnly bool
	// Stored leaves documents in the catalog: memory goes with the words of the corpus, not
	// with its passages. A process that is ReadOnly then takes from the catalog what the
	// one that writes has stored, and analyses nothing. Both engines are on servers.
	Stored bool
	// Yield waits while searches are under way, not for ever: it is called before each
	// record and each piece of embedding while another generation answers, so that these
	// are as quick as ever. nil: there is no need to wait.
	Yield func(context.Context)
	// Poll is the interval between reads of the change log; default 300 ms.
	Poll time.Duration
	// Now is the clock; default time.Now.
	Now func() time.Time
	Log *slog.Logger
}

// Follower keeps corpus and engines up to date with the catalog.
type Follower struct {
	cfg      Config
	corpus   *corpus.Writer
	local    *feed   // corpus and passages table, and the engines in this process
	separate []*feed // the others, each fed separately

	ready   atomic.Bool
	promote atomic.Bool
	head    atomic.Int64 // newest sequence seen
	stored  atomic.Int64 // the generation's checkpoint at Load, or as written since
	counted counted      // statistics that it stores
	begun   bool         // there was an index at Load
	pace    pace         // of the corpus

	mu    sync.Mutex     // guards texts
	texts map[int64]kept // of records cut here (ReadOnly)

	applied atomic.Int64                          // changes of the corpus
	shown   *recent.Cache[int64, catalog.Passage] // by id, at a number of changes
}

// New returns a follower; Load must run before anything else.
func New(cfg Config) *Follower {
	if cfg.Poll == 0 {
		cfg.Poll = 300 * time.Millisecond
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	f := &Follower{cfg: cfg, texts: map[int64]kept{},
		shown: recent.New[int64, catalog.Passage](recentTexts), local: &feed{name: "index", corpus: true}}
	f.empty()
	switch {
	case !cfg.KeywordServer:
		f.local.keyword = cfg.Keyword
	case !cfg.ReadOnly:
		f.separate = append(f.separate, &feed{name: "keyword", keyword: cfg.Keyword})
	}
	switch {
	case !cfg.VectorServer && !cfg.EmbedderServer:
		f.local.vector = cfg.Vector
	case !cfg.VectorServer || !cfg.ReadOnly:
		f.separate = append(f.separate, &feed{name: "vector", vector: cfg.Vector})
	}
	return f
}

// empty begins with an empty corpus.
func (f *Follower) empty() {
	var store *corpus.Store
	if f.cfg.Stored {
		read := func(ctx context.Context, records []int64, fn func(record int64, data []byte) error) error {
			if err := f.cfg.Store.Documents(ctx, f.cfg.Generation.ID, records, fn); err != nil {
				return fmt.Errorf("index: read documents: %w", err)
			}
			return nil
		}
		store = corpus.NewStore(read, recentDocuments)
	}
	f.corpus = corpus.NewWriter(f.cfg.Now, store)
}

// recentDocuments is how many bytes of documents in the catalog are kept after they were read.
const recentDocuments = 64 << 20

// Engines returns the engines that the follower feeds.
func (f *Follower) Engines() Engines { return f.cfg.Engines }

// Corpus returns the documents and statistics as they are now.
func (f *Follower) Corpus() *corpus.Corpus { return f.corpus.Corpus() }

// Ready reports whether the index has been complete once.
func (f *Follower) Ready() bool { return f.ready.Load() }

// MarkReady declares the first index complete: only the caller knows when the first sync is over.
func (f *Follower) MarkReady() {
	f.ready.Store(true)
	for _, fd := range f.separate {
		f.settle(fd)
	}
}

// Promote has servers serve this generation in place of the previous one, as
// soon as each is complete. Searches of other processes in that one fail from
// then on.
func (f *Follower) Promote() { f.promote.Store(true) }

// Lag returns the number of changes that are not indexed, and the share of the
// first index that is done.
func (f *Follower) Lag() (changes int64, progress float64) {
	lag, done := f.behind(f.local), f.local.done.Load()
	if f.Ready() || lag == 0 {
		return lag, 1
	}
	return lag, float64(done) / float64(done+lag)
}

// behind returns the number of changes that a feed has not taken. It counts them
// when it looks at the log, which another feed may have done before.
func (f *Follower) behind(fd *feed) int64 {
	if fd.position.Load() >= f.head.Load() {
		return 0
	}
	return max(1, fd.lag.Load())
}

// Behind is for how long the corpus has not had everything that was in the change log
// then, be it that it takes long or that the log cannot be read.
func (f *Follower) Behind() time.Duration { return f.pace.behind(f.cfg.Now()) }

// Filled returns how many passages have their vectors, of how many that are cut.
func (f *Follower) Filled() (vectors, passages int) {
	_, passages = f.corpus.Corpus().Size()
	for _, fd := range append([]*feed{f.local}, f.separate...) {
		if fd.vector != nil {
			vectors = int(fd.embedded.Load())
		}
	}
	if sized, ok := f.cfg.Vector.(interface{ Size() int }); ok {
		vectors = sized.Size()
	}
	return min(vectors, passages), passages
}

// Health is the state of an engine that is fed separately.
type Health struct {
	Name     string // keyword, vector
	Lag      int64  // changes it has not taken
	Complete bool   // it has held everything since the index was ready, and was not emptied
	Refused  int64  // passages without a vector, as the model refused their texts
	Err      error  // why it takes no changes now; nil if it does
}

// Health returns the state of the engines that are fed separately.
func (f *Follower) Health() []Health {
	out := make([]Health, 0, len(f.separate))
	for _, fd := range f.separate {
		h := Health{Name: fd.name, Lag: f.behind(fd), Complete: fd.complete.Load(), Refused: fd.refused.Load()}
		if failure := fd.failure.Load(); failure != nil {
			h.Err = *failure
		}
		out = append(out, h)
	}
	return out
}

// ErrReplaced is the cause with which the ctx of Run ends when the generation is removed.
var ErrReplaced = errors.New("the generation is removed")

// Run follows the change log until ctx ends, then makes the engines durable, unless the
// cause is ErrReplaced: a disk may have no room for what is deleted a moment later.
func (f *Follower) Run(ctx context.Context) error {
	var wg sync.WaitGroup
	for _, fd := range f.separate {
		wg.Go(func() { f.drive(ctx, fd) })
	}
	f.drive(ctx, f.local)
	wg.Wait()
	if errors.Is(context.Cause(ctx), ErrReplaced) {
		return nil
	}
	var errs []error
	for _, fd := range append([]*feed{f.local}, f.separate...) {
		errs = append(errs, f.flush(context.WithoutCancel(ctx), fd))
	}
	return errors.Join(errs...)
}

// CatchUp indexes all changes, makes the engines durable and returns the number
// of changes. It is for programs that do not Run. The failure of an engine that
// is fed separately is not an error: Health reports it.
func (f *Follower) CatchUp(ctx context.Context) (moved int, err error) {
	for _, fd := range append([]*feed{f.local}, f.separate...) {
		n, err := f.catchUp(ctx, fd)
		moved = max(moved, n)
		switch {
		case ctx.Err() != nil:
			return moved, ctx.Err()
		case fd.corpus && err != nil:
			return moved, err
		}
		f.recordFailure(fd, err)
	}
	return moved, nil
}

func (f *Follower) catchUp(ctx context.Context, fd *feed) (moved int, err error) {
	if err := f.resume(ctx, fd); err != nil {
		return 0, err
	}
	if moved, err = f.follow(ctx, fd); err != nil {
		return moved, err
	}
	if moved > 0 {
		if err := f.flush(ctx, fd); err != nil {
			return moved, fmt.Errorf("index: flush: %w", err)
		}
	}
	return moved, f.promoteFeed(ctx, fd)
}

// Wait returns when everything up to a change-log sequence can be searched; Run
// must be running. It does not wait for vectors that a server makes, which can
// take hours, nor for an engine that is down; nor, if there was an index
// before, longer than longSilence for one that does not report its checkpoint.
func (f *Follower) Wait(ctx context.Context, seq int64) error {
	begun := time.Now()
	return f.wait(ctx, seq, func(fd *feed) bool {
		return fd.keyword == nil || fd.failure.Load() != nil || f.begun && !fd.heard.Load() &&
			time.Since(begun) > longSilence
	})
}

// longSilence is how long an engine has to report its checkpoint.
const longSilence = 2 * time.Second

// WaitAll waits for every engine, however long that takes.
func (f *Follower) WaitAll(ctx context.Context, seq int64) error {
	return f.wait(ctx, seq, func(*feed) bool { return false })
}

func (f *Follower) wait(ctx context.Context, seq int64, without func(*feed) bool) error {
	reached := func() bool {
		for _, fd := range f.separate {
			if fd.position.Load() < seq && !without(fd) {
				return false
			}
		}
		return f.local.position.Load() >= seq
	}
	for !reached() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(f.cfg.Poll / 10):
		}
	}
	return nil
}

// pace measures how far a position is behind the head of a log in time, on the clock of
// this process alone.
type pace struct {
	mu      sync.Mutex
	current time.Time // everything of then is taken; zero: nothing was looked at
	awaited []sight   // of what is not, oldest first
}

// sight is a head of the log when it was seen.
type sight struct {
	head int64
	at   time.Time
}

// At most mostSights are kept, sightEvery apart: more than it takes to be late.
const (
	mostSights = 120
	sightEvery = time.Second
)

// look takes note of a position and of the head of the log.
func (p *pace) look(position, head int64, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.awaited) > 0 && position >= p.awaited[0].head {
		p.current, p.awaited = p.awaited[0].at, p.awaited[1:]
	}
	n := len(p.awaited)
	switch {
	case position >= head || p.current.IsZero():
		p.current, p.awaited = now, nil
	case n == 0 || n < mostSights && now.Sub(p.awaited[n-1].at) >= sightEvery:
		p.awaited = append(p.awaited, sight{head, now})
	}
}

// behind is the time since everything was taken.
func (p *pace) behind(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current.IsZero() {
		return 0
	}
	return now.Sub(p.current)
}
