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
	// Name is the configured model; "" = whichever the server has.
	Name() string
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
	// MaxBatch is how many texts a request may have; 0 = unknown.
	MaxBatch int
}

// Known is an embedder as of its server's last response. It is ignored if
// another model or other prefixes are configured now.
type Known struct {
	Model      string // Embedder.Model
	Dimensions int
}

// Config configures an Embedder.
type Config struct {
	// Prefixes replaces those of the model's family.
	Prefixes *Prefixes
	// Known allows Open to succeed while the server is unavailable; the zero value does not.
	Known Known
	// Concurrency is how many requests for documents may be under way at
	// once; default 2. Queries do not wait for them.
	Concurrency int
	Now         func() time.Time // default time.Now
	Log         *slog.Logger     // default: none
}

const recheck = time.Minute

// Embedder embeds on a server. Texts of only white space get the zero vector;
// those longer than the model's context are cut.
type Embedder struct {
	server  Server
	cfg     Config
	model   string
	size    int // dimensions; 0 until the first answer
	batches *batches

	turn    chan struct{} // held while the server is queried for its model
	checked atomic.Pointer[check]
}

var _ embed.Embedder = (*Embedder)(nil)

// check records that a server had the expected model.
type check struct {
	at       time.Time
	prefixes Prefixes
}

// Open queries the server for its model and the length of its vectors. While
// the server is unavailable (embed.ErrUnavailable) it succeeds if c.Known has
// both; calls then fail with that error until the server is back, and with
// another one if it comes back with another model. ctx bounds how long the
// server may take.
func Open(ctx context.Context, s Server, c Config) (*Embedder, error) {
	if c.Concurrency == 0 {
		c.Concurrency = 2
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	e := &Embedder{server: s, cfg: c, turn: make(chan struct{}, 1)}
	e.batches = newBatches(e.post, c.Concurrency)
	err := e.discover(ctx)
	if err != nil && ctx.Err() != nil {
		err = ended(ctx, s)
	}
	if errors.Is(err, embed.ErrUnavailable) && c.Known.fits(s.Name(), c.Prefixes) {
		c.Log.Warn("the model server is not available yet: the last known model is assumed",
			"model", c.Known.Model, "error", err)
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
	id, prefixes, err := e.identify(ctx)
	if err != nil {
		return err
	}
	sample, err := e.batches.patiently(ctx, []string{prefixes.Document + probe})
	if err != nil {
		return err
	}
	e.size = len(sample[0])
	if e.size == 0 {
		return fmt.Errorf("%s returned vectors without components", e.server)
	}
	e.model = describe(id, e.size, prefixes)
	e.checked.Store(&check{e.cfg.Now(), prefixes})
	if _, known := prefixesFor(id.Name); !known && e.cfg.Prefixes == nil {
		e.cfg.Log.Info("no prefixes are known for this model, so none are used: if its model card names some, "+
			"configure them", "model", id.Name)
	}
	return nil
}

func (e *Embedder) identify(ctx context.Context) (Identity, Prefixes, error) {
	id, err := e.server.Identify(ctx)
	if err != nil {
		return id, Prefixes{}, err
	}
	e.batches.limit(id.MaxBatch)
	return id, prefixesOr(e.cfg.Prefixes, id.Name), nil
}

// describe returns everything that vectors depend on. The server is not part of
// it. Texts that are too long are always cut at their end; how many tokens a
// model takes is part of its version.
func describe(id Identity, size int, p Prefixes) string {
	name := id.Name
	if id.Version != "" {
		name += "@" + id.Version
	}
	return name + parameters(size, p)
}

func parameters(size int, p Prefixes) string {
	text := fmt.Sprintf(", %d dimensions", size)
	if p != (Prefixes{}) {
		text += fmt.Sprintf(", query %q, document %q", p.Query, p.Document)
	}
	return text
}

// fits reports whether k can be of the model with this name and these prefixes, in any version.
func (k Known) fits(name string, p *Prefixes) bool {
	known, _, _ := strings.Cut(k.Model, ",")
	known, _, _ = strings.Cut(known, "@")
	return k.Dimensions > 0 && known != "" && (name == "" || strings.EqualFold(name, known)) &&
		strings.HasSuffix(k.Model, parameters(k.Dimensions, prefixesOr(p, known)))
}

// Dimensions is the length of every vector.
func (e *Embedder) Dimensions() int { return e.size }

// Model names the model, its version, dimensions and prefixes.
func (e *Embedder) Model() string { return e.model }

// Embed returns the unit vectors of texts. Errors of a server that may work
// later wrap embed.ErrUnavailable.
func (e *Embedder) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	c, err := e.check(ctx)
	if err != nil {
		return nil, err
	}
	prefix := c.prefixes.of(p)
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
	send := e.batches.all
	if p == embed.Query && len(asked) == 1 { // a user is waiting: before batches of documents
		send = e.batches.one
	}
	answer, err := send(ctx, asked)
	for i, v := range answer {
		vectors[at[i]] = v
	}
	if err != nil && ctx.Err() != nil {
		return vectors, ended(ctx, e.server)
	}
	if err != nil {
		e.checked.Store(nil) // it may come back with another model
		if t, ok := errors.AsType[*textError](err); ok {
			t.at = at[t.at]
		}
	}
	return vectors, err
}

// check makes sure, from time to time, that the server still has the model
// whose vectors are in the index.
func (e *Embedder) check(ctx context.Context) (*check, error) {
	if c := e.fresh(); c != nil {
		return c, nil
	}
	select {
	case e.turn <- struct{}{}:
		defer func() { <-e.turn }()
	case <-ctx.Done():
		return nil, ended(ctx, e.server)
	}
	if c := e.fresh(); c != nil { // another call has checked
		return c, nil
	}
	id, prefixes, err := e.identify(ctx)
	if err != nil {
		e.checked.Store(nil)
		return nil, err
	}
	if now := describe(id, e.size, prefixes); now != e.model {
		e.checked.Store(nil)
		return nil, fmt.Errorf("%s now has another model (%s) than the index was built with (%s): restart almanac to "+
			"build a new index", e.server, now, e.model)
	}
	c := &check{e.cfg.Now(), prefixes}
	e.checked.Store(c)
	return c, nil
}

func (e *Embedder) fresh() *check {
	if c := e.checked.Load(); c != nil && e.cfg.Now().Sub(c.at) < recheck {
		return c
	}
	return nil
}

// post sends one request and checks its answer.
func (e *Embedder) post(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := e.server.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%s returned %d vectors for %d texts", e.server, len(vectors), len(texts))
	}
	for _, v := range vectors {
		if e.size > 0 && len(v) != e.size {
			return nil, fmt.Errorf("%s returned vectors of %d dimensions, but those in the index have %d: restart "+
				"almanac to build a new index", e.server, len(v), e.size)
		}
		if err := normalise(v); err != nil {
			return nil, &Error{text: fmt.Sprintf("%s returned an invalid vector: %v", e.server, err), cause: err,
				kind: onetext}
		}
	}
	return vectors, nil
}
