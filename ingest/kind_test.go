package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/options"
)

// lights is what a kind of these tests is told and what it keeps.
type lights struct {
	Names []string `yaml:"names" required:"true"`
	Key   string   `yaml:"key_env" format:"env"`
}

type lit struct{ Runs []string }

func (lit) Stale() lit { return lit{[]string{"stale"}} }

// keeper is a connector that notes the state it gets.
type keeper struct {
	lights
	env ingest.Environment
	got *[]lit
	err error
}

func (k keeper) Sync(ctx context.Context, state lit, out ingest.Sink) (lit, ingest.Outcome, error) {
	*k.got = append(*k.got, state)
	if _, err := os.Stat(k.env.WorkDir); err != nil {
		return lit{}, ingest.Outcome{}, err
	}
	for _, name := range k.Names {
		if err := out.Put(ctx, page(name)); err != nil {
			return lit{}, ingest.Outcome{}, err
		}
	}
	return lit{append(state.Runs, k.Names[0])}, ingest.Outcome{Complete: true}, k.err
}

// TestKind: the pipeline keeps a state for the same options, and tells others what
// remains of it.
func TestKind(t *testing.T) {
	f := setup(t)
	var got []lit
	kind := ingest.Kind[lights, lit]{Name: "fake"}
	run := func(values map[string]any, failure error) error {
		t.Helper()
		got = nil
		kind.Open = func(o lights, env ingest.Environment) (ingest.Connector[lit], error) {
			return keeper{o, env, &got, failure}, nil
		}
		f.config.Connectors = ingest.Kinds(kind)
		f.config.Network.Sources = []network.Source{{Name: "first", Kind: kind.Name, Options: options.Of(values).At("n.yaml", 7)}}
		reports, _ := ingest.New(f.config).Sync(t.Context(), nil)
		return reports[0].Err
	}
	want := func(what string, runs ...string) {
		t.Helper()
		if len(got) != 1 || strings.Join(got[0].Runs, " ") != strings.Join(runs, " ") {
			t.Errorf("%s: the state is %v, want %v", what, got, runs)
		}
	}
	succeed := func(values map[string]any) {
		t.Helper()
		if err := run(values, nil); err != nil {
			t.Fatal(err)
		}
	}
	a := map[string]any{"names": []any{"a"}, "key_env": "ONE"}
	succeed(a)
	want("first")
	succeed(a)
	want("again", "a")
	if err := run(a, errors.New("dark")); err == nil || err.Error() != "ingest: source first: fake: dark" {
		t.Errorf("error %v", err)
	}
	want("before it fails", "a", "a")
	succeed(map[string]any{"names": []any{"a"}, "key_env": "TWO"})
	want("after it failed, with another variable", "a", "a")

	long := map[string]any{"names": []any{strings.Repeat("b", 5000), "a"}}
	succeed(long)
	want("other options", "stale")
	succeed(long)
	want("a large state", "stale", strings.Repeat("b", 5000))
	// A program that kept states in files stored this cursor, beside the state before.
	files := []string{filepath.Join(f.config.WorkDir, "first", "state-0123"), filepath.Join(f.config.WorkDir, "first", "in-hand")}
	for _, file := range files {
		if err := os.Mkdir(file, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	state, err := f.store.State(t.Context(), "first")
	if err == nil {
		_, err = f.store.Apply(t.Context(), catalog.Batch{Source: "first", Cursor: new("6 fake 0123"), State: state})
	}
	if err != nil {
		t.Fatal(err)
	}
	succeed(long)
	want("after a program that kept it in a file")
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is left", file)
		}
	}

	kind.Name = "other"
	succeed(a)
	want("another kind")
	f.config.Network.Proposals.Prefix = "LIP"
	succeed(a)
	want("other proposals of the network", "stale")

	if err := run(nil, nil); err == nil || err.Error() != "ingest: source first: n.yaml:7: the option names is missing" {
		t.Errorf("error %v", err)
	}
}

// advising is a connector that has something to say of its options.
type advising struct{ keeper }

func (a advising) Advice(context.Context) []string {
	return []string{"without key_env it reads " + a.Names[0]}
}

// TestAdviceIsThatOfTheConnector: the state that is kept for it does not hide it.
func TestAdviceIsThatOfTheConnector(t *testing.T) {
	for name, tt := range map[string]struct {
		connector func(keeper) ingest.Connector[lit]
		want      []string
	}{
		"one that advises": {func(k keeper) ingest.Connector[lit] { return advising{k} },
			[]string{"without key_env it reads lamps"}},
		"one that does not": {func(k keeper) ingest.Connector[lit] { return k }, nil},
	} {
		kind := ingest.Kind[lights, lit]{Name: "fake",
			Open: func(o lights, env ingest.Environment) (ingest.Connector[lit], error) {
				return tt.connector(keeper{lights: o, env: env}), nil
			}}
		c, err := ingest.Kinds(kind).Connector(network.Source{Name: "first", Kind: "fake",
			Options: options.Of(map[string]any{"names": []any{"lamps"}})}, ingest.Environment{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.(ingest.Advised).Advice(t.Context()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestOptionsThatAKindRefusesAreFound: the error says where they are written.
func TestOptionsThatAKindRefusesAreFound(t *testing.T) {
	dark := errors.New("no lamp is lit")
	kind := ingest.Kind[lights, lit]{Name: "fake",
		Open: func(lights, ingest.Environment) (ingest.Connector[lit], error) { return nil, dark }}
	_, err := ingest.Kinds(kind).Connector(network.Source{Name: "first", Kind: "fake",
		Options: options.Of(map[string]any{"names": []any{"a"}}).At("n.yaml", 7)}, ingest.Environment{})
	if !errors.Is(err, dark) || !strings.HasPrefix(err.Error(), "n.yaml:7: ") {
		t.Errorf("error %v", err)
	}
}
