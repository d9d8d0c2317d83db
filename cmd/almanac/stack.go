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
	dir        string
	temporary  bool
	store      catalog.Store
	lock       *indexLock // nil: another process writes the index
	generation catalog.Generation
	embedder   *embed.Cache
	keyword    keyword.Engine
	vector     vector.Index
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
	lock, err := lockIndex(cfg.dir)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	s, err := openEngines(ctx, cfg, store, lock)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return s, nil
}

// openEngines opens embedder, engines and searcher over an open catalog. It
// takes over the lock; without one another process writes the index, and this
// one reads its snapshots and follows the change log in memory. On an error
// everything but the catalog is closed.
func openEngines(ctx context.Context, cfg stackConfig, store catalog.Store, lock *indexLock) (_ *stack, err error) {
	s := &stack{dir: cfg.dir, temporary: cfg.temporary, store: store, lock: lock}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeEngines())
		}
	}()
	model, err := static.New()
	if err != nil {
		return nil, fmt.Errorf("embedded model: %w", err)
	}
	s.embedder = embed.NewCache(model, embed.CacheConfig{Path: filepath.Join(cfg.dir, "embeddings"), Log: cfg.log})
	if s.generation, err = s.store.OpenGeneration(ctx, index.Fingerprint(s.embedder.Model())); err != nil {
		return nil, fmt.Errorf("index generation: %w", err)
	}
	if err = s.openSnapshots(ctx, cfg); err != nil {
		return nil, err
	}
	s.follower = index.New(index.Config{Store: s.store, Generation: s.generation, Keyword: s.keyword, Vector: s.vector,
		Embedder: s.embedder, ReadOnly: lock == nil, Log: cfg.log})
	if err = s.follower.Load(ctx); err != nil {
		return nil, err
	}
	profiles, err := loadProfiles(cfg)
	if err != nil {
		return nil, err
	}
	s.searcher, err = retrieval.New(retrieval.Config{Follower: s.follower, Keyword: s.keyword, Vector: s.vector, Embedder: s.embedder,
		Profiles: profiles, Authority: cfg.authority, Aliases: cfg.aliases, Deadline: cfg.deadline, Log: cfg.log})
	return s, err
}

// openSnapshots opens the engines on their snapshots. One that is ahead of the
// catalog, as when an older copy of that was put back, is not used.
func (s *stack) openSnapshots(ctx context.Context, cfg stackConfig) (err error) {
	head, err := s.store.LastChange(ctx)
	if err != nil {
		return err
	}
	readOnly := s.lock == nil
	kc := keywordembedded.Config{Path: s.snapshot("keyword"), Log: cfg.log, ReadOnly: readOnly}
	if s.keyword, err = keywordembedded.Open(kc); err != nil {
		return err
	}
	if at, err := s.keyword.Checkpoint(ctx); err != nil {
		return err
	} else if at > head {
		cfg.log.Warn("the keyword index is ahead of the catalog and is built anew", "checkpoint", at, "catalog", head)
		kc.Path = s.setAside(kc.Path)
		if s.keyword, err = keywordembedded.Open(kc); err != nil {
			return err
		}
	}
	vc := vectorembedded.Config{Path: s.snapshot("vector"), Dimensions: s.embedder.Dimensions(), Model: s.embedder.Model(), Log: cfg.log, ReadOnly: readOnly}
	if s.vector, err = vectorembedded.Open(vc); err != nil {
		return err
	}
	if at, err := s.vector.Checkpoint(ctx); err != nil {
		return err
	} else if at > head {
		cfg.log.Warn("the vector index is ahead of the catalog and is built anew", "checkpoint", at, "catalog", head)
		vc.Path = s.setAside(vc.Path)
		s.vector, err = vectorembedded.Open(vc)
	}
	return err
}

// setAside removes a snapshot and returns its path; a process that may not
// write keeps its index in memory ("").
func (s *stack) setAside(path string) string {
	if s.lock == nil || os.Remove(path) != nil {
		return ""
	}
	return path
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

// snapshot is the file of an engine. It belongs to one generation of one
// catalog: the name holds both, so that files left by another are never taken
// for ours.
func (s *stack) snapshot(engine string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d-%d.snapshot", engine, s.generation.ID, s.generation.CreatedAt.Unix()))
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
	if s.keyword != nil {
		errs = append(errs, s.keyword.Close())
	}
	if s.vector != nil {
		errs = append(errs, s.vector.Close())
	}
	return errors.Join(append(errs, s.retire())...)
}

// retire lets go of files and lock, and leaves the engines to the searches
// that still use them: they are memory.
func (s *stack) retire() error {
	var err error
	if s.embedder != nil {
		err = s.embedder.Close()
	}
	return errors.Join(err, s.lock.unlock())
}
