package ingest_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that tests advance.
type clock struct {
	mu sync.Mutex // guards t
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// spy is a real store that records the batches applied to it and can fail.
type spy struct {
	*sqlstore.Store
	batches []catalog.Batch
	fail    func(catalog.Batch) error // before the batch is applied
}

func (s *spy) Apply(ctx context.Context, b catalog.Batch) (catalog.Result, error) {
	if s.fail != nil {
		if err := s.fail(b); err != nil {
			return catalog.Result{}, err
		}
	}
	s.batches = append(s.batches, b)
	return s.Store.Apply(ctx, b)
}

// connector is a Connector from its Sync function. Its state is where the next run
// begins.
type connector func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error)

// outcome is what a run of a connector returns.
type outcome struct {
	Cursor   string
	Complete bool
	Gone     []catalog.Ref
}

func (c connector) Sync(ctx context.Context, before []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	o, err := c(ctx, string(before), out)
	return []byte(o.Cursor), ingest.Outcome{Complete: o.Complete, Gone: o.Gone}, err
}

// listing yields the entries and claims to be complete.
func listing(entries ...catalog.Entry) connector {
	return func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
		for _, e := range entries {
			if err := out.Put(ctx, e); err != nil {
				return outcome{}, err
			}
		}
		return outcome{Cursor: fmt.Sprintf("after %d", len(entries)), Complete: true}, nil
	}
}

func page(key string) catalog.Entry {
	return catalog.Entry{Record: catalog.Record{
		Kind: catalog.KindDoc, Key: key, Title: "Page " + key, Path: "pages/" + key + ".md",
		Body: "All about " + key + ".",
	}}
}

func pages(from, to int) []catalog.Entry {
	var out []catalog.Entry
	for i := from; i < to; i++ {
		out = append(out, page(fmt.Sprintf("p%04d", i)))
	}
	return out
}

var testNetwork = network.Network{
	Name: "north-sea", Title: "North Sea Ledger",
	Proposals: network.Proposals{Prefix: "NSP", Statuses: []string{"Draft"}, Default: "Draft"},
	Sources:   []network.Source{{Name: "first", Kind: "fake"}, {Name: "second", Kind: "fake"}},
}

// fixture is a pipeline with its own store.
type fixture struct {
	*testing.T
	store  *spy
	clock  *clock
	config ingest.Config
}

func setup(t *testing.T) *fixture {
	t.Helper()
	c := &clock{t: time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &spy{Store: store}
	return &fixture{T: t, store: s, clock: c, config: ingest.Config{Store: s, Network: testNetwork, Now: c.now,
		WorkDir: filepath.Join(t.TempDir(), "sources")}}
}

// run runs a source of the test network and fails the test on an error.
func (f *fixture) run(source string, c ingest.Connector[[]byte]) ingest.Report {
	f.Helper()
	report, err := f.try(source, c)
	if err != nil {
		f.Fatalf("run of %s: %v", source, err)
	}
	return report
}

func (f *fixture) try(source string, c ingest.Connector[[]byte]) (ingest.Report, error) {
	f.Helper()
	report := f.with(c).Run(f.Context(), network.Source{Name: source, Kind: "fake"})
	return report, report.Err
}

// with is a pipeline whose sources a connector reads.
func (f *fixture) with(c ingest.Connector[[]byte]) *ingest.Pipeline {
	config := f.config
	config.Connectors = fake(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) { return c, nil })
	return ingest.New(config)
}

// keys are the keys of the live records of a source.
func (f *fixture) keys(source string) []string {
	f.Helper()
	records, _, err := f.store.List(f.Context(), catalog.ListQuery{Sources: []string{source}})
	if err != nil {
		f.Fatal(err)
	}
	var keys []string
	for _, r := range records {
		keys = append(keys, r.Key)
	}
	slices.Sort(keys)
	return keys
}

func (f *fixture) get(kind catalog.Kind, key string) catalog.Record {
	f.Helper()
	r, err := f.store.Get(f.Context(), catalog.Ref{Kind: kind, Key: key})
	if err != nil {
		f.Fatal(err)
	}
	return r
}

func (f *fixture) state(source string) catalog.SourceState {
	f.Helper()
	states, err := f.store.Sources(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range states {
		if s.Name == source {
			return s
		}
	}
	f.Fatalf("no state of %s", source)
	return catalog.SourceState{}
}

func (f *fixture) lastChange() int64 {
	f.Helper()
	n, err := f.store.LastChange(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	return n
}

// cursorOf returns the cursor that a connector of the source would get.
func (f *fixture) cursorOf(source string) string {
	f.Helper()
	var got string
	f.run(source, connector(func(_ context.Context, cursor string, _ ingest.Sink) (outcome, error) {
		got = cursor
		return outcome{Cursor: cursor}, nil
	}))
	return got
}

// fake is the registry of the one kind of the fixture's sources.
func fake(c ingest.Constructor) ingest.Registry { return ingest.Registry{"fake": c} }
