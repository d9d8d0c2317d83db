package ingest

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest/memory"
	"almanac/text/options"
)

// Kind is all that is known of a kind of source: what its options say and how they
// are checked (O, a struct with the tags of package options), what one run leaves
// for the next one (S, plain data) and how a source is read. The pipeline decodes
// options, keeps the state and names the kind in errors.
type Kind[O, S any] struct {
	Name    string
	Summary string // a sentence: Reads papers.
	// Rules is the version of how a source is read: that of the readers that the
	// connector uses, and its own. With a new one everything is read again.
	Rules    string
	Defaults O
	// Example is an entry of a network file with every option and a comment on it,
	// from which docs, schema and command line describe them.
	Example string
	// Open makes a source's connector. It accesses nothing before Sync.
	Open func(O, Environment) (Connector[S], error)
	// Stale returns what remains of a state that other options or rules left; nil:
	// nothing. A connector that reports what is gone must know what it had.
	Stale func(S) S
}

// Connector pulls one source. Sync reads everything that changed since the run that
// left the state and passes it to out, parents before their children but otherwise
// in any order. It runs in one goroutine of the pipeline and returns when the source
// is exhausted, ctx is done or the source as a whole fails; a single bad item is
// reported with out.Skip and does not end the run. A run may be repeated with the
// same state at any time: the state of a run counts when its last batch is written.
// The zero state reads everything.
type Connector[S any] interface {
	Sync(ctx context.Context, state S, out Sink) (S, Outcome, error)
}

// AnyKind is a Kind whatever its types are: what a Registry holds.
type AnyKind interface {
	about() about
	open(src network.Source, env Environment) (Cursored, error)
}

// about describes a kind.
type about struct {
	name, summary, example string
	options                reflect.Value // a struct with the defaults; invalid: it has no fixed options
}

func (k Kind[O, S]) about() about {
	return about{k.Name, k.Summary, k.Example, reflect.ValueOf(&k.Defaults).Elem()}
}

func (k Kind[O, S]) open(src network.Source, env Environment) (Cursored, error) {
	o, err := options.Decode(src.Options, k.Defaults)
	if err != nil {
		return nil, err
	}
	c, err := k.Open(o, env)
	if err != nil {
		return nil, src.Options.Errorf("%w", err)
	}
	return &kept[S]{
		kind: k.Name, connector: c, stale: k.Stale, rules: memory.Settings(k.Rules, options.Fingerprint(o)),
		files: memory.Files{Dir: env.WorkDir, Prefix: "state-"},
	}, nil
}

// kept is a connector whose state is kept: its cursor is a digest of the rules and
// the options, and the place of the state.
type kept[S any] struct {
	kind      string
	connector Connector[S]
	stale     func(S) S
	rules     string
	files     memory.Files
}

// Sync implements Cursored.
func (k *kept[S]) Sync(ctx context.Context, cursor string, out Sink) (Outcome, error) {
	state, before := k.recall(cursor)
	state, outcome, err := k.connector.Sync(ctx, state, out)
	if err == nil {
		var place string
		place, err = k.files.Put(state, before)
		outcome.Cursor = k.rules + " " + place
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", k.kind, err)
	}
	return outcome, nil
}

func (k *kept[S]) recall(cursor string) (state S, place string) {
	rules, place, _ := strings.Cut(cursor, " ")
	var none S
	switch {
	case !k.files.Get(place, &state):
		return none, place
	case rules == k.rules:
		return state, place
	case k.stale == nil:
		return none, place
	}
	return k.stale(state), place
}

// Advice implements Advised.
func (k *kept[S]) Advice(ctx context.Context) []string {
	if c, ok := k.connector.(Advised); ok {
		return c.Advice(ctx)
	}
	return nil
}

// Constructor makes the connectors of a kind that decorates those of others, and so
// has no fixed options. It accesses nothing before Sync.
type Constructor func(src network.Source, env Environment) (Cursored, error)

func (c Constructor) open(src network.Source, env Environment) (Cursored, error) { return c(src, env) }

func (c Constructor) about() about { return about{} }
