package stack

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/vector"
	vectorembedded "almanac/retrieval/vector/embedded"
	"almanac/retrieval/vector/qdrant"
)

// openKeyword opens the keyword engine of the generation.
func (s *Stack) openKeyword(ctx context.Context, head int64) (keyword.Engine, error) {
	cfg := s.cfg
	if cfg.Keyword.URL != "" {
		c := meili.Config{URL: cfg.Keyword.URL, Key: cfg.Keyword.Key, Index: cfg.Keyword.Index + s.suffix,
			Generation: s.number(), Owner: s.owner, ReadOnly: s.readOnly, Log: cfg.Log}
		return meili.Open(ctx, c)
	}
	c := keywordembedded.Config{Path: s.snapshot("keyword"), Log: cfg.Log, ReadOnly: s.readOnly}
	engine, err := keywordembedded.Open(c)
	if err != nil {
		return nil, err
	}
	if ahead, err := s.ahead(ctx, "keyword", engine, head); err != nil || !ahead {
		return engine, err
	}
	c.Path = s.setAside(c.Path)
	return keywordembedded.Open(c)
}

// openVector opens the vector engine of the generation.
func (s *Stack) openVector(ctx context.Context, head int64) (vector.Index, error) {
	cfg := s.cfg
	if cfg.Vector.URL != "" {
		u, err := url.Parse(cfg.Vector.URL)
		if err != nil {
			return nil, fmt.Errorf("address of the vector engine: %w", err)
		}
		address := u.Host
		if u.Port() == "" {
			address += ":6334"
		}
		return qdrant.Open(ctx, qdrant.Config{
			Addr: address, TLS: u.Scheme == "https", Key: cfg.Vector.Key, Collection: cfg.Vector.Collection + s.suffix,
			Generation: s.number(), Owner: s.owner, Dimensions: s.embedder.Dimensions(), Model: s.embedder.Model(),
			Quantize: cfg.Vector.Quantize, OnDisk: cfg.Vector.OnDisk,
			Shards: uint32(cfg.Vector.Shards), Replicas: uint32(cfg.Vector.Replicas), ReadOnly: s.readOnly,
			Log: cfg.Log})
	}
	c := vectorembedded.Config{Path: s.snapshot("vector"), Dimensions: s.embedder.Dimensions(),
		Model: s.embedder.Model(), Log: cfg.Log, ReadOnly: s.readOnly}
	engine, err := vectorembedded.Open(c)
	if err != nil {
		return nil, err
	}
	if ahead, err := s.ahead(ctx, "vector", engine, head); err != nil || !ahead {
		return engine, err
	}
	c.Path = s.setAside(c.Path)
	return vectorembedded.Open(c)
}

// ahead reports whether an engine's snapshot has more than the catalog, as
// after an older copy of the catalog was restored: then it is not used.
func (s *Stack) ahead(ctx context.Context, name string, engine interface {
	Checkpoint(context.Context) (int64, error)
}, head int64) (bool, error) {
	at, err := engine.Checkpoint(ctx)
	if err != nil || at <= head {
		return false, err
	}
	s.cfg.Log.Warn("the "+name+" index is ahead of the catalog and is built again", "checkpoint", at, "catalog", head)
	return true, nil
}

// setAside removes a snapshot and returns its path; a process that may not
// write keeps its index in memory ("").
func (s *Stack) setAside(path string) string {
	if s.readOnly || os.RemoveAll(path) != nil {
		return ""
	}
	return path
}

// number identifies the generation among all this catalog ever had: its
// creation time, as ids are reused.
func (s *Stack) number() int64 { return s.generation.CreatedAt.Unix() }

// snapshot is the file of an engine. It belongs to one generation of one
// catalog: its name has both, so that a file left by another is never used.
func (s *Stack) snapshot(engine string) string {
	return filepath.Join(s.cfg.Dir, fmt.Sprintf("%s-%d-%d%s", engine, s.generation.ID, s.number(), snapshotSuffix))
}

const snapshotSuffix = ".snapshot"

// Indexed reports whether a directory holds the index of a catalog.
func Indexed(dir string) bool {
	found, _ := snapshots(dir) // the pattern is valid
	return len(found) > 0
}

// snapshots returns all snapshots in a directory.
func snapshots(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "*"+snapshotSuffix))
}
