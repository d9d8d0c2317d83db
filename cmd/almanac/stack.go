package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/archive"
	"almanac/catalog/sqlite"
	"almanac/embed"
	"almanac/embed/remote"
	"almanac/embed/static"
	"almanac/retrieval"
	"almanac/retrieval/index"
	"almanac/retrieval/profile"
)

// stack is an open data directory: catalog, engines and searcher.
type stack struct {
	dir        string
	temporary  bool
	store      catalog.Store
	lock       *indexLock // that is let go of with the stack; nil: another's
	readOnly   bool       // another process writes the index
	owner      string     // the catalog, as indexes on servers name it
	suffix     string     // of the names there
	generation catalog.Generation
	build      build
	embedder   *embed.Cache
	engines    index.Engines
	follower   *index.Follower
	searcher   *retrieval.Engine
}

// stackConfig says what to open.
type stackConfig struct {
	dir       string
	network   string
	authority map[string]float64
	aliases   map[string][]string
	profile   string            // of searches that name none
	profiles  []string          // further profiles that searches may name
	variants  []profile.Profile // and these, under the names they have here
	deadline  time.Duration
	keyword   KeywordConfig
	vector    VectorConfig
	embed     EmbedConfig
	rerank    RerankConfig
	temporary bool // the directory and what is on servers go when the stack is closed
	log       *slog.Logger
}

// openCatalog opens the catalog of a directory and binds it to its network. One
// that an import left in part is refused.
func openCatalog(ctx context.Context, dir, network string) (catalog.Store, error) {
	store, err := bindCatalog(ctx, dir, network)
	if err != nil {
		return nil, err
	}
	unfinished, err := archive.Unfinished(ctx, store)
	if err == nil && unfinished {
		err = fmt.Errorf("an import into %s did not finish: run it again", dir)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// bindCatalog opens the catalog of a directory and binds it to its network.
func bindCatalog(ctx context.Context, dir, network string) (catalog.Store, error) {
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	if err != nil {
		return nil, err
	}
	if err := bindNetwork(ctx, store, dir, network); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return store, nil
}

// openStack opens everything a search needs. On an error nothing stays open.
func openStack(ctx context.Context, cfg stackConfig) (*stack, error) {
	store, err := openCatalog(ctx, cfg.dir, cfg.network)
	if err != nil {
		return nil, err
	}
	lock, err := lockIndex(cfg.dir)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s, err := openEngines(ctx, cfg, store, lock == nil)
	if err != nil {
		return nil, errors.Join(err, lock.unlock(), store.Close())
	}
	s.lock = lock
	return s, nil
}

// openEngines opens embedder, engines and searcher of the configured model over
// an open catalog. A reader reads snapshots and follows the change log in
// memory: another process writes the index. On an error everything but the
// catalog is closed.
func openEngines(ctx context.Context, cfg stackConfig, store catalog.Store, readOnly bool) (*stack, error) {
	known, err := knownOf(ctx, store, cfg.embed)
	if err != nil {
		return nil, err
	}
	model, err := openEmbedder(ctx, cfg.embed, known, cfg.log)
	if err != nil {
		return nil, fmt.Errorf("embedding model: %w", err)
	}
	generation, err := store.OpenGeneration(ctx, index.Fingerprint(model.Model()))
	if err != nil {
		return nil, fmt.Errorf("index generation: %w", err)
	}
	b, err := buildOf(ctx, store, generation)
	if err != nil {
		return nil, err
	}
	b.Embed, b.Model, b.Dimensions = cfg.embed, model.Model(), model.Dimensions()
	if !readOnly {
		if err := b.save(ctx, store, generation); err != nil {
			return nil, err
		}
	}
	return openGeneration(ctx, cfg, store, generation, b, model, readOnly)
}

// openBuild opens a generation with the model that made it, or without where
// that cannot be asked any more.
func openBuild(ctx context.Context, cfg stackConfig, store catalog.Store, g catalog.Generation, b build, readOnly bool) (*stack, error) {
	c := b.Embed
	if c.URL == cfg.embed.URL {
		c.Key = cfg.embed.Key
	}
	c.Pull = false
	model, err := openEmbedder(ctx, c, remote.Known{Model: b.Model, Dimensions: b.Dimensions}, cfg.log)
	if err == nil && model.Model() != b.Model {
		err = fmt.Errorf("there is %s instead", model.Model())
	}
	if err != nil {
		model = lostEmbedder{b, err}
	}
	cfg.embed = b.Embed
	return openGeneration(ctx, cfg, store, g, b, model, readOnly)
}

func openGeneration(ctx context.Context, cfg stackConfig, store catalog.Store, g catalog.Generation, b build, model embed.Embedder, readOnly bool) (_ *stack, err error) {
	s := &stack{dir: cfg.dir, temporary: cfg.temporary, store: store, readOnly: readOnly, generation: g, build: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeEngines())
		}
	}()
	if s.owner, err = ownerOf(ctx, store); err != nil {
		return nil, err
	}
	if cfg.temporary {
		s.suffix = "-" + strings.ToLower(s.owner)
	}
	cache := embed.CacheConfig{Log: cfg.log}
	if cfg.embed.URL != "" { // what a server computes is worth keeping
		cache.Path = filepath.Join(cfg.dir, "embeddings")
	}
	s.embedder = embed.NewCache(model, cache)
	head, err := store.LastChange(ctx)
	if err != nil {
		return nil, err
	}
	s.engines = index.Engines{Embedder: s.embedder, KeywordServer: cfg.keyword.URL != "", VectorServer: cfg.vector.URL != "", EmbedderServer: cfg.embed.URL != ""}
	words, err := s.openKeyword(ctx, cfg, head)
	if err != nil { // and what is in words is no engine
		return nil, err
	}
	s.engines.Keyword = words
	vectors, err := s.openVector(ctx, cfg, head)
	if err != nil {
		return nil, err
	}
	s.engines.Vector = vectors
	s.follower = index.New(index.Config{Store: store, Generation: g, Engines: s.engines, ReadOnly: readOnly, Log: cfg.log})
	if err = s.follower.Load(ctx); err != nil {
		return nil, err
	}
	profiles, err := loadProfiles(cfg)
	if err != nil {
		return nil, err
	}
	cross, err := openCrossEncoder(cfg.rerank)
	if err != nil {
		return nil, err
	}
	s.searcher, err = retrieval.New(retrieval.Config{Follower: s.follower, Profiles: profiles, CrossEncoder: cross,
		Authority: cfg.authority, Aliases: cfg.aliases, IsWord: static.IsWord, Deadline: cfg.deadline, Log: cfg.log})
	return s, err
}

// catchUp completes the index and declares it ready. A program that is to give
// whole answers, as one that measures, cannot do without an engine.
func (s *stack) catchUp(ctx context.Context, whole bool) error {
	if _, err := s.follower.CatchUp(ctx); err != nil {
		return err
	}
	for _, h := range s.follower.Health() {
		if whole && h.Err != nil {
			return h.Err
		}
	}
	s.follower.MarkReady()
	return nil
}

// loadProfiles loads the default profile under its name and the named others.
func loadProfiles(cfg stackConfig) ([]profile.Profile, error) {
	p, err := profile.Load(cfg.profile)
	if err != nil {
		return nil, err
	}
	p.Name = profile.DefaultName
	all := []profile.Profile{p}
	for _, name := range cfg.profiles {
		p, err := profile.Load(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return append(all, cfg.variants...), nil
}

// dropReplaced removes the generations that this one replaces, and the
// snapshots of any other.
func (s *stack) dropReplaced(ctx context.Context) error {
	generations, err := s.store.Generations(ctx)
	if err != nil {
		return err
	}
	for _, g := range generations {
		if g.ID != s.generation.ID {
			if err := s.store.DropGeneration(ctx, g.ID); err != nil {
				return err
			}
		}
	}
	snapshots, err := filepath.Glob(filepath.Join(s.dir, "*.snapshot"))
	for _, path := range snapshots {
		if path != s.snapshot("keyword") && path != s.snapshot("vector") {
			err = errors.Join(err, os.Remove(path))
		}
	}
	return err
}

// close closes everything.
func (s *stack) close() error {
	errs := []error{s.closeEngines(), s.store.Close()}
	if s.temporary {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}

// closeEngines closes everything but the catalog, the lock last.
func (s *stack) closeEngines() error {
	var errs []error
	for _, engine := range []any{s.engines.Keyword, s.engines.Vector} {
		if d, ok := engine.(interface{ Drop(context.Context) error }); ok && s.temporary {
			ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
			errs = append(errs, d.Drop(ctx))
			cancel()
		}
		if c, ok := engine.(io.Closer); ok {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, s.retire())...)
}

// dropTimeout bounds how long the end of a program waits for servers to drop
// what was there for a while.
const dropTimeout = 10 * time.Second

// retire lets go of files and lock, and leaves the engines to the searches
// that still use them: they are memory, and connections.
func (s *stack) retire() error {
	var err error
	if s.embedder != nil {
		err = s.embedder.Close()
	}
	return errors.Join(err, s.lock.unlock())
}
