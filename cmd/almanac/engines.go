package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/embed"
	httpembed "almanac/embed/http"
	"almanac/embed/ollama"
	"almanac/embed/remote"
	"almanac/embed/static"
	"almanac/retrieval"
	"almanac/retrieval/keyword"
	keywordembedded "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/rerank/crossencoder"
	"almanac/retrieval/vector"
	vectorembedded "almanac/retrieval/vector/embedded"
	"almanac/retrieval/vector/qdrant"
)

// openEmbedder opens the embedding model. known is what it was when it last
// answered: with that a model server may be away.
func openEmbedder(ctx context.Context, c EmbedConfig, known remote.Known, log *slog.Logger) (embed.Embedder, error) {
	common := remote.Config{Known: known, Log: log}
	patient := ctx
	if known != (remote.Known{}) { // there is something to serve meanwhile
		var cancel context.CancelFunc
		patient, cancel = context.WithTimeout(ctx, openPatience)
		defer cancel()
	}
	switch {
	case c.URL == "":
		return openModel(c.Model)
	case c.Kind != "ollama":
		return httpembed.Open(patient, httpembed.Config{Kind: httpembed.Kind(c.Kind), URL: c.URL, Model: c.Model, Key: c.Key, Config: common})
	}
	oc := ollama.Config{URL: c.URL, Model: c.Model, Key: c.Key, KeepAlive: c.KeepAlive, Config: common}
	e, err := ollama.Open(patient, oc)
	if !errors.Is(err, ollama.ErrNoModel) || !c.Pull {
		return e, err
	}
	log.Info("the model server lacks the model and fetches it", "model", c.Model)
	if err := ollama.Pull(ctx, oc, pullProgress(log, c.Model)); err != nil {
		return nil, err
	}
	return ollama.Open(ctx, oc)
}

// openModel opens the table in a directory, or the one in the program.
func openModel(dir string) (*static.Embedder, error) {
	if dir == "" {
		return static.New()
	}
	return static.Open(dir)
}

// pullProgress logs how far a model is fetched, now and then.
func pullProgress(log *slog.Logger, model string) func(done, total int64) {
	const every = 10 * time.Second
	last := time.Now()
	return func(done, total int64) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		log.Info("fetching the model", "model", model, "done", fmt.Sprintf("%d of %d MB", done>>20, total>>20))
	}
}

// openCrossEncoder returns nil where none is configured.
func openCrossEncoder(c RerankConfig) (retrieval.CrossEncoder, error) {
	if c.URL == "" {
		return nil, nil
	}
	return crossencoder.Open(crossencoder.Config{Kind: crossencoder.Kind(c.Kind), URL: c.URL, Model: c.Model, Key: c.Key, Deadline: c.Deadline})
}

// sparseLists is how many lists Meilisearch is asked for where Qdrant's sparse
// vectors find passages by all of their terms: docs/relevance.md.
const sparseLists = 4

// openKeyword opens the keyword engine of a generation.
func (s *stack) openKeyword(ctx context.Context, cfg stackConfig, head int64) (keyword.Engine, error) {
	if cfg.keyword.URL != "" {
		c := meili.Config{URL: cfg.keyword.URL, Key: cfg.keyword.Key, Index: cfg.keyword.Index + s.suffix, Generation: s.number(), Owner: s.owner,
			ReadOnly: s.readOnly, Log: cfg.log}
		if cfg.vector.URL != "" {
			c.Lists = sparseLists
		}
		return meili.Open(ctx, c)
	}
	c := keywordembedded.Config{Path: s.snapshot("keyword"), Log: cfg.log, ReadOnly: s.readOnly}
	engine, err := keywordembedded.Open(c)
	if err != nil {
		return nil, err
	}
	if ahead, err := s.ahead(ctx, "keyword", engine, head, cfg.log); err != nil || !ahead {
		return engine, err
	}
	c.Path = s.setAside(c.Path)
	return keywordembedded.Open(c)
}

// openVector opens the vector engine of a generation.
func (s *stack) openVector(ctx context.Context, cfg stackConfig, head int64) (vector.Index, error) {
	if cfg.vector.URL != "" {
		u, err := url.Parse(cfg.vector.URL)
		if err != nil {
			return nil, err // the configuration was checked
		}
		address := u.Host
		if u.Port() == "" {
			address += ":6334"
		}
		return qdrant.Open(ctx, qdrant.Config{Addr: address, TLS: u.Scheme == "https", Key: cfg.vector.Key, Collection: cfg.vector.Collection + s.suffix,
			Generation: s.number(), Owner: s.owner, Dimensions: s.embedder.Dimensions(), Model: s.embedder.Model(),
			Quantize: cfg.vector.Quantize, OnDisk: cfg.vector.OnDisk, Shards: uint32(cfg.vector.Shards), Replicas: uint32(cfg.vector.Replicas),
			ReadOnly: s.readOnly, Log: cfg.log})
	}
	c := vectorembedded.Config{Path: s.snapshot("vector"), Dimensions: s.embedder.Dimensions(), Model: s.embedder.Model(), Log: cfg.log, ReadOnly: s.readOnly}
	engine, err := vectorembedded.Open(c)
	if err != nil {
		return nil, err
	}
	if ahead, err := s.ahead(ctx, "vector", engine, head, cfg.log); err != nil || !ahead {
		return engine, err
	}
	c.Path = s.setAside(c.Path)
	return vectorembedded.Open(c)
}

// ahead reports whether an engine's snapshot has more than the catalog, as
// when an older copy of that was put back: it is not used then.
func (s *stack) ahead(ctx context.Context, name string, engine interface {
	Checkpoint(context.Context) (int64, error)
}, head int64, log *slog.Logger) (bool, error) {
	at, err := engine.Checkpoint(ctx)
	if err != nil || at <= head {
		return false, err
	}
	log.Warn("the "+name+" index is ahead of the catalog and is built anew", "checkpoint", at, "catalog", head)
	return true, nil
}

// setAside removes a snapshot and returns its path; a process that may not
// write keeps its index in memory ("").
func (s *stack) setAside(path string) string {
	if s.readOnly || os.Remove(path) != nil {
		return ""
	}
	return path
}

// number is the generation's among all that this catalog ever had: ids are
// used again.
func (s *stack) number() int64 { return s.generation.CreatedAt.Unix() }

// snapshot is the file of an engine. It belongs to one generation of one
// catalog: the name holds both, so that files left by another are never taken
// for ours.
func (s *stack) snapshot(engine string) string {
	return filepath.Join(s.dir, fmt.Sprintf("%s-%d-%d.snapshot", engine, s.generation.ID, s.number()))
}

// metaOwner is where the catalog keeps the id that its indexes on servers
// carry.
const metaOwner = "owner"

// ownerOf returns the catalog's id, which is made when it is first asked for.
func ownerOf(ctx context.Context, store catalog.Store) (string, error) {
	id, err := store.Meta(ctx, metaOwner)
	if err != nil || id != "" {
		return id, err
	}
	id = rand.Text()
	return id, store.SetMeta(ctx, metaOwner, id)
}
