package connectortest

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/testing/catalogfile"
	"almanac/text/options"
)

// Now is the time at which tests run unless they set Source.Clock.
var Now = time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)

// Causeway is the fictional network of the sources.
var Causeway = network.Network{
	Name: "causeway", Title: "Causeway Network", Homepage: "https://causeway.example.org",
	Proposals: network.Proposals{
		Prefix: "CWP", Default: "Draft",
		Statuses: []string{"Draft", "Review", "Final", "Withdrawn", "Rejected", "Superseded"},
	},
}

// Config configures a Source; only Kind, or Connector in place of it, is required.
type Config struct {
	Kind      ingest.AnyKind
	Connector ingest.Constructor
	Options   map[string]any
	Network   network.Network  // Causeway if it has no name; its sources are replaced
	HTTP      *outbound.Client // Client(t) if nil
	CorpusDir string
	Files     fs.FS // the network's folder
}

// Source is one source with its own catalog.
type Source struct {
	Store   *sqlstore.Store
	Options map[string]any // may be changed between syncs
	Clock   time.Time      // may be moved between syncs
	// AcceptShrink is the pipeline's option: a sync may lose any number of records.
	AcceptShrink bool

	t      testing.TB
	config Config
	dir    string
	spoil  func(bytesConnector, context.CancelFunc) bytesConnector
}

// bytesConnector is a connector as the pipeline runs it.
type bytesConnector = ingest.Connector[[]byte]

// sourceName is the name of the source in its network, and of its kind.
const sourceName = "tested"

// NewSource makes a source with an empty catalog, which the end of the test
// closes.
func NewSource(t testing.TB, c Config) *Source {
	t.Helper()
	if c.Network.Name == "" {
		c.Network = Causeway
	}
	if c.HTTP == nil {
		c.HTTP = Client(t)
	}
	s := &Source{t: t, config: c, Options: c.Options, Clock: Now, dir: t.TempDir()}
	store, err := sqlite.Open(t.Context(), sqlite.Config{
		Path: catalogfile.Empty(t),
		Now:  func() time.Time { return s.Clock },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Store = store
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Open makes the connector of a kind and returns what is wrong with the options.
func Open(kind ingest.AnyKind, values map[string]any) error {
	src := network.Source{Name: sourceName, Kind: sourceName, Options: options.Of(values)}
	env := ingest.Environment{Network: Causeway, Now: func() time.Time { return Now }}
	_, err := ingest.Registry{sourceName: kind}.Connector(src, env)
	return err
}

// Result is the report of a sync and the content of the catalog after it.
type Result struct {
	ingest.Report
	Records []catalog.Record // live, with bodies, by kind and key
	Changes int64            // rows that the sync added to the change log
	Cursor  string
}

// Sync runs the source once and fails the test if the run fails.
func (s *Source) Sync() Result {
	s.t.Helper()
	r := s.Try(s.t.Context())
	if r.Err != nil {
		s.t.Fatalf("sync: %v", r.Err)
	}
	return r
}

// Try runs the source once; its error is in the report.
func (s *Source) Try(ctx context.Context) Result {
	s.t.Helper()
	ctx, cancel := context.WithCancel(Impatient(ctx))
	defer cancel()
	n := s.config.Network
	n.Sources = []network.Source{{Name: sourceName, Kind: sourceName, Options: options.Of(s.Options)}}
	kind := s.config.Kind
	if kind == nil {
		kind = s.config.Connector
	}
	construct := func(src network.Source, env ingest.Environment) (bytesConnector, error) {
		c, err := ingest.Registry{sourceName: kind}.Connector(src, env)
		if err == nil && s.spoil != nil {
			c = s.spoil(c, cancel)
		}
		return c, err
	}
	p := ingest.New(ingest.Config{
		Store: s.Store, Network: n, Now: func() time.Time { return s.Clock }, Log: slog.New(slog.DiscardHandler),
		HTTP: s.config.HTTP, WorkDir: filepath.Join(s.dir, "work"), CorpusDir: s.config.CorpusDir,
		Files: s.config.Files, AcceptShrink: s.AcceptShrink,
		Connectors: ingest.Registry{sourceName: ingest.Constructor(construct)},
	})
	before := s.lastChange()
	reports, _ := p.Sync(ctx, []string{sourceName}) // the report has the error
	if len(reports) != 1 {
		s.t.Fatalf("%d reports; the context was done", len(reports))
	}
	r := Result{Report: reports[0], Changes: s.lastChange() - before}
	var err error
	if r.Records, _, err = s.Store.List(s.t.Context(), catalog.ListQuery{WithBody: true}); err != nil {
		s.t.Fatal(err)
	}
	slices.SortFunc(r.Records, func(a, b catalog.Record) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	states, err := s.Store.Sources(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, state := range states {
		r.Cursor = state.Cursor
	}
	return r
}

func (s *Source) lastChange() int64 {
	s.t.Helper()
	n, err := s.Store.LastChange(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// Get returns a record and fails the test if there is none.
func (r Result) Get(t testing.TB, kind catalog.Kind, key string) catalog.Record {
	t.Helper()
	for _, rec := range r.Records {
		if rec.Kind == kind && rec.Key == key {
			return rec
		}
	}
	t.Fatalf("no %s %q; there are %v", kind, key, r.Keys())
	return catalog.Record{}
}

// Keys returns the references of the live records: "blog a", sorted.
func (r Result) Keys() []string {
	keys := []string{}
	for _, rec := range r.Records {
		keys = append(keys, rec.Ref().String())
	}
	return keys
}

// Data decodes the data of a record of the result.
func Data[T any](t testing.TB, r catalog.Record) T {
	t.Helper()
	v, err := catalog.Decode[T](r)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// errSpoiled is the error of a spoiled run.
var errSpoiled = errors.New("ended by the test")

// spoiler forwards a connector's calls up to a number of them.
type spoiler struct {
	bytesConnector
	after int
	end   func() error // nil result: continue, the context is done
}

func (s spoiler) Sync(ctx context.Context, before []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	return s.bytesConnector.Sync(ctx, before, &spoiledSink{Sink: out, left: s.after, end: s.end})
}

type spoiledSink struct {
	ingest.Sink
	left int
	end  func() error
}

func (s *spoiledSink) Put(ctx context.Context, e catalog.Entry) error {
	if s.left--; s.left < 0 {
		if err := s.end(); err != nil {
			return err
		}
	}
	return s.Sink.Put(ctx, e)
}
