package ingest

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/outbound"
)

var (
	// ErrShrunk: the source lists so many fewer records than the catalog has
	// from it that nothing was removed.
	ErrShrunk = errors.New("the source shrank too much")
	// ErrUnknownSource: the network has no source with that name.
	ErrUnknownSource = errors.New("unknown source")
)

// Store is what a pipeline uses of the catalog.
type Store interface {
	Get(ctx context.Context, ref catalog.Ref) (catalog.Record, error)
	Records(ctx context.Context, ids []int64) ([]catalog.Record, error)
	List(ctx context.Context, q catalog.ListQuery) (records []catalog.Record, total int, err error)
	Counts(ctx context.Context) ([]catalog.Count, error)
	LastChange(ctx context.Context) (int64, error)
	LinksFrom(ctx context.Context, record int64, relations ...catalog.Relation) ([]catalog.Link, error)
	LiveKeys(ctx context.Context, source string) (map[catalog.Ref]int64, error)
	Apply(ctx context.Context, b catalog.Batch) (catalog.Result, error)
	Sources(ctx context.Context) ([]catalog.SourceState, error)
	State(ctx context.Context, source string) ([]byte, error)
	SetSource(ctx context.Context, s catalog.SourceState) error
	DropSource(ctx context.Context, source string) error
	Snapshots(ctx context.Context, series string, limit int) ([]catalog.Snapshot, error)
	PutSnapshot(ctx context.Context, s catalog.Snapshot) error
	PruneSnapshots(ctx context.Context, series string, keep int) error
	Meta(ctx context.Context, key string) (string, error)
	SetMeta(ctx context.Context, key, value string) error
}

// Config configures a Pipeline. Store, Now and WorkDir are required; the zero value
// of the rest works.
type Config struct {
	Store   Store
	Network network.Network
	// Connectors makes the connectors of the network's sources.
	Connectors Registry
	Now        func() time.Time
	Log        *slog.Logger
	Progress   Progress
	// HTTP is the connectors' client; nil is one that allows no private network.
	HTTP *outbound.Client
	// Files is the network's folder; see Environment.
	Files fs.FS
	// WorkDir holds one directory per source; CorpusDir replaces ${corpus}.
	WorkDir   string
	CorpusDir string
	// AcceptShrink allows a source to lose any number of its records.
	AcceptShrink bool
}

// Pipeline runs sources into the catalog. Different sources may run
// concurrently; the caller runs the same source only once at a time.
type Pipeline struct {
	config     Config
	derived    derivation
	succession succession
}

// New makes a pipeline.
func New(c Config) *Pipeline {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Progress == nil {
		c.Progress = silent{}
	}
	if c.HTTP == nil {
		c.HTTP = outbound.New(outbound.Config{Now: c.Now})
	}
	return &Pipeline{config: c}
}

// Meta keys that record what was derived from what.
const (
	derivedFrom = "derived.from" // Edition, change-log position and day
	derivedFact = "derived."     // and the name of a fact: Edition and a digest of what it was made of
)

// How many snapshots of a series are kept: 90 days of daily or quarter-hourly
// ones.
const (
	keepDays   = 90
	keepFrames = keepDays * 24 * 4
)

// derivation is the state of a pipeline's derivations.
type derivation struct {
	mu  sync.Mutex // held while deriving: one at a time
	day string     // of the last attempt, in UTC
}

// Former is a source that the catalog has something of and the network no longer
// names: it was removed from the file, or has another name there.
type Former struct {
	Name    string
	Records int // live records that it owns
	// Awaits are the sources of its kind that have yet to read everything. Until
	// they have, its records stay: one of them may be the same source under a new
	// name.
	Awaits []string
}

// FormerSources lists the former sources of a network, by name.
func FormerSources(ctx context.Context, store Store, n network.Network) ([]Former, error) {
	states, err := store.Sources(ctx)
	if err != nil {
		return nil, err
	}
	counts, err := store.Counts(ctx)
	if err != nil {
		return nil, err
	}
	kinds, records := map[string]string{}, map[string]int{}
	behind := map[string]bool{}
	for _, src := range n.Sources {
		behind[src.Name] = true
	}
	for _, st := range states {
		kinds[st.Name], records[st.Name] = st.Kind, 0
		behind[st.Name] = st.Cursor == ""
	}
	for _, c := range counts { // a source that was killed in its first run has records and no state
		records[c.Source] += c.N
	}
	delete(records, catalog.DerivedSource)
	for _, src := range n.Sources {
		delete(records, src.Name)
	}
	var former []Former
	for _, name := range slices.Sorted(maps.Keys(records)) {
		f := Former{Name: name, Records: records[name]}
		for _, src := range n.Sources {
			if src.Kind == kinds[name] && behind[src.Name] {
				f.Awaits = append(f.Awaits, src.Name)
			}
		}
		former = append(former, f)
	}
	return former, nil
}

// succession is how the records of former sources pass to the sources that the
// network names, in a pass over all of these: each takes over what it yields
// (catalog.Batch.Over), and when all have run the rest is given up. So nothing
// that moves is lost meanwhile, and an interrupted pass is done again as a whole.
type succession struct {
	mu     sync.Mutex
	former []string        // not given up yet
	anew   map[string]bool // sources that have yet to read everything, whatever their cursors say
	ran    map[string]bool // sources of the network that have ended a run
	waited map[string]bool // former sources that the log has as waiting
}
