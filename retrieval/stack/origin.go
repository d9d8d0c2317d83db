package stack

import (
	"context"
	"encoding/json"
	"fmt"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/embed/remote"
	"almanac/retrieval"
)

// origin is what the catalog stores of a generation: the model that made it,
// which is needed to serve it while another model is configured. The names are
// those that every version has stored.
type origin struct {
	Embed      Embed  `json:"Embed"` // where the model was opened, without its key
	Model      string `json:"Model"` // embed.Embedder.Model
	Dimensions int    `json:"Dimensions"`
	Complete   bool   `json:"Complete"` // it has held everything

	Filling *retrieval.Filling `json:"Filling,omitempty"` // how far it was, while another served
}

// embed returns the configuration of the model. The key is that of the configured
// server, if it is the same one; a model that is gone is not fetched again.
func (o origin) embed(configured Embed) Embed {
	c := o.Embed
	if c.URL == configured.URL {
		c.Key = configured.Key
	}
	return c
}

// metaOrigin is the key of a generation's origin. Ids are reused, creation
// times are not.
func metaOrigin(g catalog.Generation) string {
	return fmt.Sprintf("build-%d-%d", g.ID, g.CreatedAt.Unix())
}

// originOf returns the zero origin of a generation that has none stored.
func originOf(ctx context.Context, store *sqlstore.Store, g catalog.Generation) (o origin, err error) {
	text, err := store.Meta(ctx, metaOrigin(g))
	if err != nil || text == "" {
		return o, err
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return o, fmt.Errorf("origin of generation %d: %w", g.ID, err)
	}
	return o, nil
}

func (o origin) save(ctx context.Context, store *sqlstore.Store, g catalog.Generation) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return store.SetMeta(ctx, metaOrigin(g), string(text))
}

// latest returns the newest generation for which want holds.
func latest(ctx context.Context, store *sqlstore.Store, want func(origin) bool) (
	g catalog.Generation, o origin, ok bool, err error,
) {
	all, err := store.Generations(ctx)
	if err != nil {
		return g, o, false, err
	}
	for _, candidate := range all {
		x, err := originOf(ctx, store, candidate)
		if err != nil {
			return g, o, false, err
		}
		if want(x) {
			g, o, ok = candidate, x, true
		}
	}
	return g, o, ok, nil
}

// latestComplete returns the newest generation that was complete.
func latestComplete(ctx context.Context, store *sqlstore.Store) (catalog.Generation, origin, bool, error) {
	return latest(ctx, store, func(o origin) bool { return o.Complete })
}

// knownOf returns the state of an embedder when a generation was last built with it.
func knownOf(ctx context.Context, store *sqlstore.Store, c Embed) (remote.Known, error) {
	_, o, ok, err := latest(ctx, store, func(o origin) bool {
		return o.Embed.URL == c.URL && o.Embed.Kind == c.Kind && o.Embed.Model == c.Model
	})
	if err != nil || !ok {
		return remote.Known{}, err
	}
	return remote.Known{Model: o.Model, Dimensions: o.Dimensions}, nil
}

// lostEmbedder replaces the model of an older generation that can no longer be
// opened: that generation is searched by keywords only.
type lostEmbedder struct {
	origin
	err error
}

func (e lostEmbedder) Model() string   { return e.origin.Model }
func (e lostEmbedder) Dimensions() int { return e.origin.Dimensions }
func (e lostEmbedder) Embed(context.Context, []string, embed.Purpose) ([][]float32, error) {
	return nil, fmt.Errorf("the model of the index that still serves, %s, is gone: %w", e.origin.Model, e.err)
}
