package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/embed"
	"almanac/embed/static"
	"almanac/retrieval"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/profile"
	"almanac/retrieval/vector"
	vectorembedded "almanac/retrieval/vector/embedded"
)

// stack is an open data directory: catalog, engines and searcher.
type stack struct {
	dir       string
	temporary bool
	store     catalog.Store
	lock      *indexLock // nil: another process writes the index
	embedder  *embed.Cache
	keyword   keyword.Engine
	vector    vector.Index
	follower  *index.Follower
	searcher  *retrieval.Engine
}

// stackConfig says what to open.
type stackConfig struct {
	dir       string
	network   string
	authority map[string]float64
	profile   string   // of searches that name none
	profiles  []string // further profiles that searches may name
	deadline  time.Duration
	temporary bool // the directory goes when the stack is closed
	log       *slog.Logger
}

// openCatalog opens the catalog of a directory and binds it to its network.
func openCatalog(ctx context.Context, dir, network string) (catalog.Store, error) {
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
	s, err := openEngines(ctx, cfg, store)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// openEngines opens embedder, engines and searcher over an open catalog, which
// then belongs to the stack. Where another process writes the index, this one
// reads its snapshots and follows the change log in memory. On an error
// everything but the catalog is closed.
func openEngines(ctx context.Context, cfg stackConfig, store catalog.Store) (_ *stack, err error) {
	s := &stack{dir: cfg.dir, temporary: cfg.temporary, store: store}
	defer func() {
		if err != nil {
			s.store = nil
			err = errors.Join(err, s.close())
		}
	}()
	if s.lock, err = lockIndex(cfg.dir); err != nil && !errors.Is(err, errLocked) {
		return s, err
	}
	readOnly := s.lock == nil
	model, err := static.New()
	if err != nil {
		return s, fmt.Errorf("embedded model: %w", err)
	}
	s.embedder = embed.NewCache(model, embed.CacheConfig{Path: filepath.Join(cfg.dir, "embeddings"), Log: cfg.log})
	generation, err := s.store.OpenGeneration(ctx, index.Fingerprint(s.embedder.Model()))
	if err != nil {
		return s, fmt.Errorf("index generation: %w", err)
	}
	// A snapshot belongs to one generation of one catalog: the name holds both,
	// so that files left by another are never taken for ours.
	snapshot := func(kind string) string {
		return filepath.Join(cfg.dir, fmt.Sprintf("%s-%d-%d.snapshot", kind, generation.ID, generation.CreatedAt.Unix()))
	}
	if s.keyword, err = keywordembedded.Open(keywordembedded.Config{Path: snapshot("keyword"), Log: cfg.log, ReadOnly: readOnly}); err != nil {
		return s, err
	}
	if s.vector, err = vectorembedded.Open(vectorembedded.Config{Path: snapshot("vector"), Dimensions: s.embedder.Dimensions(),
		Model: s.embedder.Model(), Log: cfg.log, ReadOnly: readOnly}); err != nil {
		return s, err
	}
	s.follower = index.New(index.Config{Store: s.store, Generation: generation, Keyword: s.keyword, Vector: s.vector,
		Embedder: s.embedder, ReadOnly: readOnly, Log: cfg.log})
	if err = s.follower.Load(ctx); err != nil {
		return s, err
	}
	profiles, err := loadProfiles(cfg)
	if err != nil {
		return s, err
	}
	s.searcher, err = retrieval.New(retrieval.Config{Follower: s.follower, Keyword: s.keyword, Vector: s.vector, Embedder: s.embedder,
		Profiles: profiles, Authority: cfg.authority, Deadline: cfg.deadline, Log: cfg.log})
	return s, err
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
	return all, nil
}

// close closes what is open, the lock last.
func (s *stack) close() error {
	var errs []error
	if s.keyword != nil {
		errs = append(errs, s.keyword.Close())
	}
	if s.vector != nil {
		errs = append(errs, s.vector.Close())
	}
	if s.embedder != nil {
		errs = append(errs, s.embedder.Close())
	}
	if s.store != nil {
		errs = append(errs, s.store.Close())
	}
	errs = append(errs, s.lock.unlock())
	if s.temporary {
		errs = append(errs, os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
