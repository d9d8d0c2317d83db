package stack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"almanac/embed"
	httpembed "almanac/embed/http"
	"almanac/embed/ollama"
	"almanac/embed/remote"
	"almanac/embed/static"
	"almanac/embed/transformer"
	"almanac/retrieval"
	"almanac/retrieval/crossencoder"
)

// openPatience bounds how long a start waits for a model server when an index of its
// model exists, which serves meanwhile.
const openPatience = 2 * time.Second

// openEmbedder opens the embedding model. known is its state when it last
// answered: with that, its server may be down.
func openEmbedder(ctx context.Context, c Embed, known remote.Known, log *slog.Logger) (embed.Embedder, error) {
	common := remote.Config{Known: known, Log: log}
	patient := ctx
	if known != (remote.Known{}) {
		var cancel context.CancelFunc
		patient, cancel = context.WithTimeout(ctx, openPatience)
		defer cancel()
	}
	switch {
	case c.URL == "" && c.Model == embed.Transformer:
		return transformer.New()
	case c.URL == "":
		return static.New()
	case c.Kind != "ollama":
		return httpembed.Open(patient, httpembed.Config{
			Kind: httpembed.Kind(c.Kind), URL: c.URL, Model: c.Model, Key: c.Key, Config: common})
	}
	oc := ollama.Config{URL: c.URL, Model: c.Model, Key: c.Key, KeepAlive: c.KeepAlive, Config: common}
	e, err := ollama.Open(patient, oc)
	if !errors.Is(err, ollama.ErrNoModel) || !c.Pull {
		return e, err
	}
	if failed := ollama.Pull(ctx, oc, pullProgress(log, c.Model)); failed != nil {
		return nil, fmt.Errorf("%w; %w", err, failed)
	}
	return ollama.Open(ctx, oc)
}

// pullProgress logs that a model is fetched, and from time to time how much of it. A server
// that finds no way to its library fetches nothing, each time that it is asked.
func pullProgress(log *slog.Logger, model string) func(done, total int64) {
	const every = 10 * time.Second
	var last time.Time
	return func(done, total int64) {
		if last.IsZero() {
			log.Info("the model server lacks the model and fetches it", "model", model)
			last = time.Now()
		}
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		log.Info("fetching the model", "model", model, "done", fmt.Sprintf("%d of %d MB", done>>20, total>>20))
	}
}

// OpenCrossEncoder returns nil where none is configured.
func OpenCrossEncoder(c crossencoder.Config) (retrieval.CrossEncoder, error) {
	if c.URL == "" {
		return nil, nil
	}
	return crossencoder.Open(c)
}

// isAway reports whether an error is that a model cannot be had.
func isAway(err error) bool {
	return errors.Is(err, embed.ErrUnavailable) || errors.Is(err, ollama.ErrNoModel)
}

// misses notes why the configured model cannot be had, and reports whether that is another
// state than before.
func (k *Keeper) misses(err error) (changed bool) {
	d := retrieval.Down{Engine: "embedder", Reason: err.Error()}
	if errors.Is(err, ollama.ErrNoModel) {
		d.Lacks = "model is missing"
	}
	before := k.problem.Swap(&d)
	return before == nil || before.Lacks != d.Lacks || d.Lacks == "" && before.Reason != d.Reason
}

// asksAgain asks for a model that could not be had.
func (k *Keeper) asksAgain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	c := k.cfg.Embed
	c.Pull = false // the process that writes the index does
	if _, err := openEmbedder(ctx, c, remote.Known{}, k.cfg.Log); err == nil {
		k.problem.Store(nil)
	}
}
