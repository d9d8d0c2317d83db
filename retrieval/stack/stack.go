package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/embed/remote"
	"almanac/embed/transformer"
	"almanac/embed/wordpiece"
	"almanac/retrieval"
	"almanac/retrieval/corpus"
	"almanac/retrieval/index"
)

// Stack is one open generation: engines, the follower that feeds them, and the
// searcher over them.
type Stack struct {
	Follower *index.Follower
	Searcher *retrieval.Engine

	cfg        Config
	lock       catalog.Lock // released by Close; nil: another process writes, or a Keeper holds it
	readOnly   bool         // another process writes the index
	inMemory   bool         // its snapshots are not read
	owner      string       // the catalog's id, part of the names of its indexes on servers
	suffix     string       // of those names
	generation catalog.Generation
	origin     origin
	embedder   *embed.Cache
	lost       bool // its model is gone: it is searched by words alone
	engines    index.Engines
	users      users // of the Keeper's searches
}

// EmbeddingsOf returns the file of a data directory that keeps vectors by text and model.
func EmbeddingsOf(dir string) string { return filepath.Join(dir, "embeddings") }

// Open opens the generation of the configured model, as the writer of the index or,
// while another process is that, as a reader. On an error everything is closed.
func Open(ctx context.Context, cfg Config) (*Stack, error) {
	lock, err := cfg.tryLock(ctx)
	if err != nil {
		return nil, err
	}
	return open(ctx, cfg, lock)
}

// OpenReader is Open for a process that only looks, whether or not another one writes.
// Where there is no generation of the configured model it has an empty one, which the
// catalog does not know; see Earlier.
func OpenReader(ctx context.Context, cfg Config) (*Stack, error) {
	cfg.looks = true
	return openConfigured(ctx, cfg, true)
}

// Earlier is an index that the next start replaces.
type Earlier struct {
	Model    string
	Changed  []string // what the next one is made by, instead of what this one was
	Complete bool     // it answers until the next one is complete
}

// String says what becomes of it.
func (e Earlier) String() string {
	text := "the next start builds the index again from the catalog"
	if len(e.Changed) > 0 {
		text += ", by " + strings.Join(e.Changed, ", ")
	}
	if e.Complete {
		text += "; until it is complete, that of " + e.Model + " answers"
	}
	return text
}

// Earlier returns what the next start replaces by an index that it builds from the
// catalog; nil: it goes on with what is there, or there is nothing.
func (s *Stack) Earlier(ctx context.Context) (*Earlier, error) {
	if s.generation.ID != 0 {
		return nil, nil
	}
	g, o, ok, err := latest(ctx, s.cfg.Store, func(o origin) bool { return o.Model != "" })
	if err != nil || !ok {
		return nil, err
	}
	return &Earlier{o.Model, index.Changed(g.Fingerprint, s.generation.Fingerprint), o.Complete}, nil
}

// ErrBusy is returned by Rebuild while another process writes the index.
var ErrBusy = errors.New("another process writes the index")

// Rebuild removes the index of a directory and builds it again from the
// catalog. ErrBusy.
func Rebuild(ctx context.Context, cfg Config) (*Stack, error) {
	lock, err := cfg.tryLock(ctx)
	if err != nil {
		return nil, err
	}
	if lock == nil {
		return nil, fmt.Errorf("%s: %w", cfg.Dir, ErrBusy)
	}
	cfg.Embed, err = Resolve(ctx, cfg.Store, cfg.Embed)
	if err == nil {
		err = discard(ctx, cfg)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	s, err := open(ctx, cfg, lock)
	if err != nil {
		return nil, err
	}
	s.Follower.Promote()
	err = s.CatchUp(ctx, true)
	if err == nil {
		s.origin.Complete = true
		err = s.origin.save(ctx, cfg.Store, s.generation)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// lookEvery is how often progress is reported.
const lookEvery = 200 * time.Millisecond

// watch reports how many changes are indexed until stop is called.
func (s *Stack) watch() (stop func()) {
	if s.cfg.Progress == nil {
		return func() {}
	}
	set, end := s.cfg.Progress()
	looked := every(context.Background(), lookEvery, s.lagging(set))
	return func() { looked(); end() }
}

// lagging returns a function that reports how many changes of how many are indexed.
func (s *Stack) lagging(progress func(done, total int)) func() {
	var total int64
	return func() {
		lag, _ := s.Follower.Lag()
		total = max(total, lag)
		progress(int(total-lag), int(total))
	}
}

// every calls work at once and again and again until ctx ends or stop is called, which
// waits for its end.
func every(ctx context.Context, pause time.Duration, work func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for work(); sleep(ctx, pause); {
			work()
		}
	}()
	return func() { cancel(); <-ended }
}

// discard removes all generations and snapshots.
func discard(ctx context.Context, cfg Config) error {
	return errors.Join(RemoveSnapshots(cfg.Dir), Forget(ctx, cfg.Store))
}

// RemoveSnapshots removes all snapshots but those to keep from a data directory that has
// no other writer.
func RemoveSnapshots(dir string, keep ...string) error {
	files, err := snapshots(dir)
	for _, path := range files {
		if !slices.Contains(keep, path) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// Forget removes all generations but those to keep from a catalog, as from one that was
// put back: an index that is newer would find records that it does not have.
func Forget(ctx context.Context, store *sqlstore.Store, keep ...int64) error {
	generations, err := store.Generations(ctx)
	for _, g := range generations {
		if !slices.Contains(keep, g.ID) {
			err = errors.Join(err, store.DropGeneration(ctx, g.ID))
		}
	}
	return err
}

// open opens a stack that owns the lock, which is released on an error.
func open(ctx context.Context, cfg Config, lock catalog.Lock) (*Stack, error) {
	if lock != nil {
		cfg.epoch = lock.Epoch()
	}
	s, err := openConfigured(ctx, cfg, lock == nil)
	if err != nil {
		return nil, errors.Join(err, unlock(lock))
	}
	s.lock = lock
	return s, nil
}

// openConfigured opens the generation of the configured model. A reader reads
// snapshots and follows the change log in memory.
func openConfigured(ctx context.Context, cfg Config, readOnly bool) (*Stack, error) {
	var err error
	if cfg.Embed, err = Resolve(ctx, cfg.Store, cfg.Embed); err != nil {
		return nil, err
	}
	known, err := knownOf(ctx, cfg.Store, cfg.Embed)
	if err != nil {
		return nil, err
	}
	model, err := openModel(ctx, cfg, known)
	if err != nil {
		return nil, err
	}
	return openModelled(ctx, cfg, model, readOnly)
}

// openModel opens the configured model; see openEmbedder.
func openModel(ctx context.Context, cfg Config, known remote.Known) (embed.Embedder, error) {
	model, err := openEmbedder(ctx, cfg.Embed, known, cfg.Log)
	if err != nil {
		return nil, fmt.Errorf("embedding model: %w", err)
	}
	return model, nil
}

// openModelled opens the generation of the configured model, which is open.
func openModelled(ctx context.Context, cfg Config, model embed.Embedder, readOnly bool) (*Stack, error) {
	generation, err := cfg.generation(ctx, model.Model())
	if err != nil {
		return nil, fmt.Errorf("index generation: %w", err)
	}
	o, err := originOf(ctx, cfg.Store, generation)
	if err != nil {
		return nil, err
	}
	o.Embed, o.Model, o.Dimensions = cfg.Embed, model.Model(), model.Dimensions()
	if !readOnly {
		if err := o.save(ctx, cfg.Store, generation); err != nil {
			return nil, err
		}
	}
	return openGeneration(ctx, cfg, generation, o, model, readOnly)
}

// generation returns that of a model, which is made unless there is one, or somebody
// only looks.
func (c Config) generation(ctx context.Context, model string) (g catalog.Generation, err error) {
	fingerprint := index.Fingerprint(model)
	if c.Sealed == nil && !c.looks {
		return c.Store.OpenGeneration(ctx, fingerprint)
	}
	all, err := c.Store.Generations(ctx)
	at := slices.IndexFunc(all, func(g catalog.Generation) bool { return g.Fingerprint == fingerprint })
	switch {
	case err != nil:
		return g, err
	case at >= 0:
		return all[at], nil
	case c.Sealed == nil:
		return catalog.Generation{Fingerprint: fingerprint, CreatedAt: time.Now()}, nil
	}
	return g, fmt.Errorf("there is none of %s, and none can be made: %w", model, c.Sealed)
}

// openEarlier opens a generation with the model that made it, or without a
// model if that can no longer be opened.
func openEarlier(ctx context.Context, cfg Config, g catalog.Generation, o origin, readOnly bool) (*Stack, error) {
	cfg.Embed = o.embed(cfg.Embed)
	known := remote.Known{Model: o.Model, Dimensions: o.Dimensions}
	model, err := openEmbedder(ctx, cfg.Embed, known, cfg.Log)
	if err == nil && model.Model() != o.Model {
		err = fmt.Errorf("there is %s instead", model.Model())
	}
	lost := err != nil
	if lost {
		model = lostEmbedder{o, err}
	}
	s, err := openGeneration(ctx, cfg, g, o, model, readOnly)
	if err == nil {
		s.lost = lost
	}
	return s, err
}

// openGeneration opens everything but the catalog. On an error it is closed again.
func openGeneration(ctx context.Context, cfg Config, g catalog.Generation, o origin, model embed.Embedder,
	readOnly bool,
) (_ *Stack, err error) {
	s := &Stack{cfg: cfg, readOnly: readOnly, generation: g, origin: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if s.owner, err = ownerOf(ctx, cfg.Store); err != nil {
		return nil, err
	}
	if cfg.Temporary {
		s.suffix = "-" + strings.ToLower(s.owner)
	}
	cache := embed.CacheConfig{Known: cfg.Vectors, Observe: cfg.Embedded, Log: cfg.Log}
	if cfg.Embed.Transformed() && cfg.Sealed == nil { // its vectors are worth keeping
		cache.Path = cmp.Or(cfg.Kept, EmbeddingsOf(cfg.Dir))
	}
	s.embedder = embed.NewCache(model, cache)
	if err = s.openEngines(ctx); err != nil {
		return nil, err
	}
	if err = s.load(ctx); errors.Is(err, index.ErrAhead) {
		cfg.Log.Warn("an index is ahead of the catalog and is built again", "error", err)
		if err = s.empty(ctx); err == nil {
			err = s.load(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	cross, err := OpenCrossEncoder(cfg.Rerank)
	if err != nil {
		return nil, err
	}
	unrelated := 0.0
	if model.Model() == transformer.Model {
		unrelated = transformer.Unrelated
	}
	s.Searcher, err = retrieval.New(retrieval.Config{
		Unrelated: unrelated,
		Follower:  s.Follower, Relevance: cfg.Relevance, Transformed: cfg.Embed.Transformed(),
		CrossEncoder: cross, Authority: cfg.Authority,
		IsWord: wordpiece.IsWord, Deadline: cfg.Deadline, Log: cfg.Log})
	return s, err
}

// load makes the follower of the open engines.
func (s *Stack) load(ctx context.Context) error {
	s.Follower = index.New(index.Config{
		Store: s.cfg.Store, Generation: s.generation, Engines: s.engines, ReadOnly: s.readOnly, Stored: s.cfg.Stored,
		Yield: s.cfg.yield, Log: s.cfg.Log})
	return s.Follower.Load(ctx)
}

// CatchUp completes the index and declares it ready. With whole, an engine that
// fails is an error, as for a program that measures.
func (s *Stack) CatchUp(ctx context.Context, whole bool) error {
	defer s.watch()()
	if _, err := s.Follower.CatchUp(ctx); err != nil {
		return err
	}
	for _, h := range s.Follower.Health() {
		if whole && h.Err != nil {
			return h.Err
		}
	}
	s.Follower.MarkReady()
	return nil
}

// Indexed returns the generation and its corpus. ErrNotReady before it is complete.
func (s *Stack) Indexed() (generation int64, indexed *corpus.Corpus, err error) {
	if !s.Follower.Ready() {
		return 0, nil, retrieval.ErrNotReady
	}
	return s.generation.ID, s.Follower.Corpus(), nil
}

// dropReplaced removes the generations that this one replaces, and the
// snapshots of any other.
func (s *Stack) dropReplaced(ctx context.Context) error {
	if err := Forget(ctx, s.cfg.Store, s.generation.ID); err != nil {
		return err
	}
	return RemoveSnapshots(s.cfg.Dir, s.snapshot("keyword"), s.snapshot("vector"))
}

// dropped reports whether the generation no longer exists.
func (s *Stack) dropped(ctx context.Context) (bool, error) {
	all, err := s.cfg.Store.Generations(ctx)
	kept := slices.ContainsFunc(all, func(g catalog.Generation) bool { return g.ID == s.generation.ID })
	return err == nil && !kept, err
}

// dropTimeout bounds how long Close waits for servers to drop what is
// temporary.
const dropTimeout = 10 * time.Second

// Close closes the engines and the cache of embeddings, then releases the lock.
func (s *Stack) Close() error {
	var errs []error
	if s.cfg.Temporary {
		ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
		errs = append(errs, s.dropEngines(ctx))
		cancel()
	}
	errs = append(errs, s.closeEngines())
	if s.embedder != nil {
		errs = append(errs, s.embedder.Close())
	}
	return errors.Join(append(errs, unlock(s.lock))...)
}

// dropEngines removes what engines on servers hold of the generation.
func (s *Stack) dropEngines(ctx context.Context) error {
	var errs []error
	for _, engine := range []any{s.engines.Keyword, s.engines.Vector} {
		if d, ok := engine.(interface{ Drop(context.Context) error }); ok {
			errs = append(errs, d.Drop(ctx))
		}
	}
	return errors.Join(errs...)
}

func (s *Stack) closeEngines() error {
	var errs []error
	for _, engine := range []any{s.engines.Keyword, s.engines.Vector} {
		if c, ok := engine.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(errs...)
}

// metaOwner is where the catalog keeps the id that its indexes on servers
// carry.
const metaOwner = "owner"

// ownerOf returns the catalog's id, which is made on the first call.
func ownerOf(ctx context.Context, store *sqlstore.Store) (string, error) {
	id, err := store.Meta(ctx, metaOwner)
	if err != nil || id != "" {
		return id, err
	}
	id = rand.Text()
	return id, store.SetMeta(ctx, metaOwner, id)
}
