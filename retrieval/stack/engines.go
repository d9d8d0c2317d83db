package stack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/vector"
	vectorembedded "almanac/retrieval/vector/embedded"
	"almanac/retrieval/vector/qdrant"
)

// openEngines opens the engines of the generation, in s.engines also on an error.
func (s *Stack) openEngines(ctx context.Context) error {
	s.engines = index.Engines{Embedder: s.embedder, KeywordServer: s.cfg.Keyword.URL != "",
		VectorServer: s.cfg.Vector.URL != "", EmbedderServer: s.cfg.Embed.Transformed()}
	words, err := s.openKeyword(ctx)
	if err != nil {
		return err // words may be a nil pointer in a non-nil interface: not an engine
	}
	s.engines.Keyword = words
	vectors, err := s.openVector(ctx)
	if err != nil {
		return err
	}
	s.engines.Vector = vectors
	return nil
}

// empty opens the engines in this process empty: their snapshots are removed, or,
// in a process that may not write, not read.
func (s *Stack) empty(ctx context.Context) error {
	err := s.closeEngines()
	for _, name := range []string{"keyword", "vector"} {
		if !s.readOnly {
			err = errors.Join(err, os.RemoveAll(s.snapshot(name)))
		}
	}
	s.inMemory = s.readOnly
	return errors.Join(err, s.openEngines(ctx))
}

// openKeyword opens the keyword engine of the generation.
func (s *Stack) openKeyword(ctx context.Context) (keyword.Engine, error) {
	cfg := s.cfg
	if cfg.Keyword.URL != "" {
		c := meili.Config{URL: cfg.Keyword.URL, Key: cfg.Keyword.Key, Index: cfg.Keyword.Index + s.suffix,
			Generation: s.number(), Owner: s.owner, Epoch: cfg.epoch, ReadOnly: s.readOnly, Log: cfg.Log}
		return meili.Open(ctx, c)
	}
	return keywordembedded.Open(keywordembedded.Config{
		Path: s.snapshot("keyword"), Log: cfg.Log, ReadOnly: s.readOnly})
}

// openVector opens the vector engine of the generation.
func (s *Stack) openVector(ctx context.Context) (vector.Index, error) {
	cfg := s.cfg
	if cfg.Vector.URL != "" {
		var nodes []string
		encrypted := false
		for one := range strings.SplitSeq(cfg.Vector.URL, ",") {
			u, err := url.Parse(one)
			if err != nil {
				return nil, fmt.Errorf("address of the vector engine: %w", err)
			}
			if u.Port() == "" {
				u.Host += ":6334"
			}
			nodes, encrypted = append(nodes, u.Host), u.Scheme == "https"
		}
		return qdrant.Open(ctx, qdrant.Config{
			Addr: strings.Join(nodes, ","), TLS: encrypted, Key: cfg.Vector.Key, Collection: cfg.Vector.Collection + s.suffix,
			Generation: s.number(), Owner: s.owner, Epoch: cfg.epoch,
			Dimensions: s.embedder.Dimensions(), Model: s.embedder.Model(),
			Quantize: cfg.Vector.Quantize, OnDisk: cfg.Vector.OnDisk,
			Shards: uint32(cfg.Vector.Shards), Replicas: uint32(cfg.Vector.Replicas), ReadOnly: s.readOnly,
			Log: cfg.Log})
	}
	return vectorembedded.Open(vectorembedded.Config{Path: s.snapshot("vector"), Dimensions: s.embedder.Dimensions(),
		Model: s.embedder.Model(), Log: cfg.Log, ReadOnly: s.readOnly})
}

// number identifies the generation among all this catalog ever had: its
// creation time, as ids are reused.
func (s *Stack) number() int64 { return s.generation.CreatedAt.Unix() }

// snapshot is the file of an engine. It belongs to one generation of one
// catalog: its name has both, so that a file left by another is never used. "" if
// the engine is in memory only.
func (s *Stack) snapshot(engine string) string {
	if s.inMemory {
		return ""
	}
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
