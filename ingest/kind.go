package ingest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"almanac/catalog/network"
	"almanac/text/options"
)

// Kind is all that is known of a kind of source: what its options say and how they
// are checked (O, a struct with the tags of package options), what one run leaves
// for the next one (S, plain data) and how a source is read. The pipeline decodes
// options, keeps the state and names the kind in errors.
type Kind[O, S any] struct {
	Name     string
	Summary  string // a sentence: Reads papers.
	Defaults O
	// Example is an entry of a network file with every option and a comment on it,
	// from which docs, schema and command line describe them.
	Example string
	// Open makes a source's connector. It accesses nothing before Sync.
	Open func(O, Environment) (Connector[S], error)
}

// Connector pulls one source. Sync reads everything that changed since the run that
// left the state and passes it to out, parents before their children but otherwise
// in any order. It runs in one goroutine of the pipeline and returns when the source
// is exhausted, ctx is done or the source as a whole fails; a single bad item is
// reported with out.Skip and does not end the run. A run may be repeated with the
// same state at any time: the state of a run counts when its last batch is written.
// The zero state reads everything. Of a state that other options or another Edition
// left, Sync gets what the state's method Stale returns, or the zero state: a connector
// that reports what is gone must know what it had.
type Connector[S any] interface {
	Sync(ctx context.Context, state S, out Sink) (S, Outcome, error)
}

// AnyKind is a Kind whatever its types are: what a Registry holds. The state of its
// connectors is bytes.
type AnyKind interface {
	// describe also returns a struct with the defaults of the options; invalid: the
	// kind has no fixed options.
	describe() (Description, reflect.Value)
	open(src network.Source, env Environment) (Connector[[]byte], error)
}

func (k Kind[O, S]) describe() (Description, reflect.Value) {
	return Description{k.Name, k.Summary, k.Example}, reflect.ValueOf(&k.Defaults).Elem()
}

func (k Kind[O, S]) open(src network.Source, env Environment) (Connector[[]byte], error) {
	o, err := options.Decode(src.Options, k.Defaults)
	if err != nil {
		return nil, err
	}
	c, err := k.Open(o, env)
	if err != nil {
		return nil, src.Options.Errorf("%w", err)
	}
	return stored[S]{
		Connector: c, kind: k.Name,
		key: Digest(Edition, options.Fingerprint(o), env.Network.Proposals.Key("0")),
	}, nil
}

// stored is a connector whose state is stored as JSON.
type stored[S any] struct {
	Connector[S]
	kind, key string
}

// state is a state as it is stored: with the kind and a digest of what determined how
// the source was read.
type state[S any] struct {
	Kind  string `json:"kind"`
	Key   string `json:"key"`
	State S      `json:"state"`
}

// Sync implements Connector.
func (c stored[S]) Sync(ctx context.Context, before []byte, out Sink) ([]byte, Outcome, error) {
	now, outcome, err := c.Connector.Sync(ctx, c.recall(before), out)
	if err != nil {
		return nil, Outcome{}, fmt.Errorf("%s: %w", c.kind, err)
	}
	after, err := json.Marshal(state[S]{c.kind, c.key, now})
	return after, outcome, err
}

func (c stored[S]) recall(before []byte) (none S) {
	var was state[S]
	if json.Unmarshal(before, &was) != nil || was.Kind != c.kind {
		return none
	}
	if was.Key == c.key {
		return was.State
	}
	if s, ok := any(was.State).(interface{ Stale() S }); ok {
		return s.Stale()
	}
	return none
}

// Advice implements Advised.
func (c stored[S]) Advice(ctx context.Context) []string {
	if c, ok := c.Connector.(Advised); ok {
		return c.Advice(ctx)
	}
	return nil
}

// Constructor makes the connectors of a kind that decorates those of others, and so
// has no fixed options. It accesses nothing before Sync.
type Constructor func(src network.Source, env Environment) (Connector[[]byte], error)

func (c Constructor) open(src network.Source, env Environment) (Connector[[]byte], error) {
	return c(src, env)
}

func (c Constructor) describe() (d Description, options reflect.Value) { return d, options }
