package remote

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"almanac/embed"
	"almanac/text/prose"
)

// Server is a kind of model server.
type Server interface {
	// Identify queries which model the server runs. It is called at the start,
	// after every failure and once a minute, so it should be cheap.
	Identify(ctx context.Context) (Identity, error)
	// Embed sends one request and returns the server's vectors in the order of texts.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// String names the server in messages.
	String() string
}

// Identity is the model behind a server.
type Identity struct {
	// Name is the model's name, which determines its prefixes.
	Name string
	// Version changes whenever the vectors may change under the same name; "" = unknown.
	Version string
}

// Known is an embedder as of its server's last response.
type Known struct {
	Model      string // Embedder.Model
	Dimensions int
}

// Config configures an Embedder.
type Config struct {
	// Known allows Open to succeed while the server is unavailable; the zero value does not.
	Known Known
	Log   *slog.Logger // default: none
}

// recheck is how long an answer to Identify counts: a model that is replaced
// while the program runs is noticed within that time.
const recheck = time.Minute

// Embedder embeds on a server. Texts of only white space get the zero vector;
// those longer than the model's context are cut.
type Embedder struct {
	server  Server
	model   string
	size    int                   // dimensions; 0 until the first answer
	checked atomic.Pointer[check] // nil: the server has to be queried for its model
}

var _ embed.Embedder = (*Embedder)(nil)

// check records that a server had the expected model.
type check struct {
	at       time.Time
	prefixes prefixes
}

// Open queries the server for its model and the length of its vectors. While
// the server is unavailable (embed.ErrUnavailable) it succeeds with c.Known;
// calls then fail with that error until the server is back, and with another one
// if it comes back with another model. ctx bounds how long the server may take.
func Open(ctx context.Context, s Server, c Config) (*Embedder, error) {
	e := &Embedder{server: s}
	err := e.discover(ctx)
	if err != nil && ctx.Err() != nil {
		err = ended(ctx, s)
	}
	if errors.Is(err, embed.ErrUnavailable) && c.Known.Model != "" && c.Known.Dimensions > 0 {
		if c.Log != nil {
			c.Log.Warn("the model server is not available yet: the last known model is assumed",
				"model", c.Known.Model, "error", err)
		}
		e.model, e.size = c.Known.Model, c.Known.Dimensions
		return e, nil
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// discover queries model and dimensions.
func (e *Embedder) discover(ctx context.Context) error {
	id, err := e.server.Identify(ctx)
	if err != nil {
		return err
	}
	sample, err := e.patiently(ctx, []string{probe})
	if err != nil {
		return err
	}
	e.size = len(sample[0])
	if e.size == 0 {
		return fmt.Errorf("%s returned vectors without components", e.server)
	}
	p := prefixesFor(id.Name)
	e.model = describe(id, e.size, p)
	e.checked.Store(&check{time.Now(), p})
	return nil
}

// describe returns everything that vectors depend on. The server is not part of
// it. Texts that are too long are always cut at their end; how many tokens a
// model takes is part of its version.
func describe(id Identity, size int, p prefixes) string {
	text := id.Name
	if id.Version != "" {
		text += "@" + id.Version
	}
	text += fmt.Sprintf(", %d dimensions", size)
	if p != (prefixes{}) {
		text += fmt.Sprintf(", query %q, document %q", p.query, p.document)
	}
	return text
}

// Dimensions is the length of every vector.
func (e *Embedder) Dimensions() int { return e.size }

// Model names the model, its version, dimensions and prefixes.
func (e *Embedder) Model() string { return e.model }

// Embed returns the unit vectors of texts. Errors of a server that may work
// later wrap embed.ErrUnavailable.
func (e *Embedder) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	known, err := e.check(ctx)
	if err != nil {
		return nil, err
	}
	prefix := known.of(p)
	var asked []string
	var at []int
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			vectors[i] = make([]float32, e.size)
			continue
		}
		asked, at = append(asked, prefix+prose.FirstBytes(text, maxText)), append(at, i)
	}
	answer, err := e.all(ctx, asked)
	for i, v := range answer {
		vectors[at[i]] = v
	}
	if err != nil && ctx.Err() != nil {
		return vectors, ended(ctx, e.server)
	}
	if err != nil {
		e.checked.Store(nil) // it may come back with another model
	}
	return vectors, err
}

// check returns the prefixes of the model. It makes sure, from time to time, that
// the server still has the model whose vectors are in the index.
func (e *Embedder) check(ctx context.Context) (prefixes, error) {
	if c := e.checked.Load(); c != nil && time.Since(c.at) < recheck {
		return c.prefixes, nil
	}
	id, err := e.server.Identify(ctx)
	if err != nil {
		return prefixes{}, err
	}
	p := prefixesFor(id.Name)
	if now := describe(id, e.size, p); now != e.model {
		return prefixes{}, fmt.Errorf("%s now has another model (%s) than the index was built with (%s): restart "+
			"almanac to build a new index", e.server, now, e.model)
	}
	e.checked.Store(&check{time.Now(), p})
	return p, nil
}
