package main

import (
	"context"
	"encoding/json"
	"fmt"

	"almanac/catalog"
	"almanac/embed"
	"almanac/embed/remote"
)

// build is what the catalog remembers of a generation of its index: what it
// takes to go on serving it when another model is configured.
type build struct {
	Embed      EmbedConfig // without the key
	Model      string      // embed.Embedder.Model
	Dimensions int
	Complete   bool // it has held everything there was
}

func metaBuild(g catalog.Generation) string {
	return fmt.Sprintf("build-%d-%d", g.ID, g.CreatedAt.Unix())
}

// buildOf returns the zero build for a generation of which nothing is known.
func buildOf(ctx context.Context, store catalog.Store, g catalog.Generation) (b build, err error) {
	text, err := store.Meta(ctx, metaBuild(g))
	if err != nil || text == "" {
		return b, err
	}
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, fmt.Errorf("what is known of generation %d: %w", g.ID, err)
	}
	return b, nil
}

func (b build) save(ctx context.Context, store catalog.Store, g catalog.Generation) error {
	b.Embed.Key = ""
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return store.SetMeta(ctx, metaBuild(g), string(text))
}

// latest returns the newest generation for which want holds.
func latest(ctx context.Context, store catalog.Store, want func(build) bool) (g catalog.Generation, b build, ok bool, err error) {
	all, err := store.Generations(ctx)
	if err != nil {
		return g, b, false, err
	}
	for _, candidate := range all {
		x, err := buildOf(ctx, store, candidate)
		if err != nil {
			return g, b, false, err
		}
		if want(x) {
			g, b, ok = candidate, x, true
		}
	}
	return g, b, ok, nil
}

// knownOf returns what an embedder was when a generation was last built with
// it.
func knownOf(ctx context.Context, store catalog.Store, c EmbedConfig) (remote.Known, error) {
	_, b, ok, err := latest(ctx, store, func(b build) bool { return b.Embed.URL == c.URL && b.Embed.Kind == c.Kind && b.Embed.Model == c.Model })
	if err != nil || !ok {
		return remote.Known{}, err
	}
	return remote.Known{Model: b.Model, Dimensions: b.Dimensions}, nil
}

// lostEmbedder stands for the model of an older generation that cannot be
// asked any more: what that holds is found by its words.
type lostEmbedder struct {
	build
	err error
}

func (e lostEmbedder) Model() string   { return e.build.Model }
func (e lostEmbedder) Dimensions() int { return e.build.Dimensions }
func (e lostEmbedder) Embed(context.Context, []string, embed.Purpose) ([][]float32, error) {
	return nil, fmt.Errorf("the model of the index that still serves, %s, is gone: %w", e.build.Model, e.err)
}
