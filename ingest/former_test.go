package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
)

// once yields the entries to a run without a cursor and nothing after it, as a
// repository does while its head stays.
func once(entries ...catalog.Entry) connector {
	return func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
		if cursor != "" {
			return outcome{Cursor: cursor}, nil
		}
		return listing(entries...)(ctx, cursor, out)
	}
}

// named is a source of a network file and what it yields.
type named struct {
	name, kind string // the kind is fake when left out
	connector
}

// reading makes the pipeline of a network file with the sources.
func (f *fixture) reading(sources ...named) *ingest.Pipeline {
	c := f.config
	c.Network.Sources, c.Connectors = nil, ingest.Registry{}
	for _, s := range sources {
		kind := s.kind
		if kind == "" {
			kind = "fake"
		}
		c.Network.Sources = append(c.Network.Sources, network.Source{Name: s.name, Kind: kind})
		c.Connectors[kind] = ingest.Constructor(func(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte], error) {
			i := slices.IndexFunc(sources, func(s named) bool { return s.name == src.Name })
			return sources[i].connector, nil
		})
	}
	return ingest.New(c)
}

// sync syncs all sources of a file and returns the reports of former ones.
func (f *fixture) sync(sources ...named) []ingest.Report {
	f.Helper()
	reports, err := f.reading(sources...).Sync(f.Context(), nil)
	if err != nil {
		f.Fatal(err)
	}
	return reports[len(sources):]
}

// names are the sources that the catalog knows.
func (f *fixture) names() (names []string) {
	f.Helper()
	states, err := f.store.Sources(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range states {
		names = append(names, s.Name)
	}
	return names
}

// wants checks the records that sources own.
func (f *fixture) wants(when string, want map[string][]string) {
	f.Helper()
	got := map[string][]string{}
	for name := range want {
		got[name] = f.keys(name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// broken yields the entries and fails.
func broken(entries ...catalog.Entry) connector {
	return func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
		_, err := listing(entries...)(ctx, cursor, out)
		return outcome{}, errors.Join(err, errors.New("no such folder"))
	}
}

func TestARenamedSourceHandsItsRecordsOver(t *testing.T) {
	f := setup(t)
	f.config.WorkDir = t.TempDir()
	history := func(c connector) connector {
		return func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
			err := out.Events(ctx, []catalog.Event{{Ref: page("p0000").Record.Ref(), Field: "status", At: f.clock.now(),
				To: "Draft"}})
			o, syncErr := c(ctx, cursor, out)
			return o, errors.Join(err, syncErr)
		}
	}
	other := named{name: "notes", connector: once(page("note"))}
	f.sync(named{name: "guides", connector: history(once(pages(0, 30)...))}, other)
	id := f.get(catalog.KindDoc, "p0000").ID
	edited := pages(0, 20)
	edited[0].Record.Body = "It has a quokka now."
	renamed := []named{{name: "handbook", connector: history(once(edited...))}, other}
	f.store.fail = func(b catalog.Batch) error {
		if slices.Contains(b.Delete, id) && f.get(catalog.KindDoc, "p0000").Source == "guides" {
			t.Error("a page that the new name yields is removed first")
		}
		return nil
	}
	seq := f.lastChange()
	former := f.sync(renamed...)
	if len(former) != 1 || former[0].Source != "guides" || former[0].Deleted != 10 ||
		!strings.Contains(former[0].Former, "given up 10 records of guides") {
		t.Errorf("former sources %+v", former)
	}
	var kept []string
	for _, p := range edited {
		kept = append(kept, p.Record.Key)
	}
	f.wants("after the rename", map[string][]string{"guides": nil, "handbook": kept, "notes": {"note"}})
	if r := f.get(catalog.KindDoc, "p0000"); r.ID != id || r.Body != "It has a quokka now." {
		t.Errorf("the edited page is %+v", r)
	}
	changes, err := f.store.Changes(t.Context(), seq, 0)
	deleted := slices.DeleteFunc(slices.Clone(changes), func(c catalog.Change) bool { return !c.Delete })
	if err != nil || len(changes) != 30 || len(deleted) != 10 {
		t.Errorf("the change log has %d changes, %d deletions, %v", len(changes), len(deleted), err)
	}
	events, err := f.store.Events(t.Context(), catalog.EventQuery{})
	if err != nil || len(events) != 1 || events[0].Source != "handbook" {
		t.Errorf("events %+v, %v", events, err)
	}
	if names := f.names(); !slices.Equal(names, []string{"handbook", "notes"}) {
		t.Errorf("sources %v", names)
	}
	if dirs, err := filepath.Glob(filepath.Join(f.config.WorkDir, "*")); err != nil || len(dirs) != 2 {
		t.Errorf("working directories %v, %v", dirs, err)
	}
	seq = f.lastChange()
	if former := f.sync(renamed...); len(former) != 0 || f.lastChange() != seq {
		t.Errorf("the next sync reports %+v", former)
	}
}

func TestARemovedSourceLeavesNothing(t *testing.T) {
	f := setup(t)
	notes := page("note")
	notes.Aliases = []string{"n"}
	added := page("note")
	added.Aliases = []string{"memo"}
	f.sync(named{name: "notes", connector: listing(notes)},
		named{name: "guides", connector: listing(append(pages(0, 1100), added)...)})
	if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: catalog.DerivedSource,
		Entries: []catalog.Entry{page("derived")}}); err != nil {
		t.Fatal(err)
	}
	note := f.get(catalog.KindDoc, "memo")
	without := []named{{name: "notes", connector: listing(notes)}}

	disk := errors.New("disk full")
	deletes := 0
	f.store.fail = func(b catalog.Batch) error {
		if len(b.Delete) > 500 {
			t.Errorf("%d records in one transaction", len(b.Delete))
		}
		if len(b.Delete) > 0 {
			deletes++
		}
		if len(b.Delete) > 0 && deletes == 2 {
			return disk
		}
		return nil
	}
	if _, err := f.reading(without...).Sync(t.Context(), nil); !errors.Is(err, disk) {
		t.Fatalf("error %v", err)
	}
	if n := len(f.keys("guides")); n == 0 || !slices.Contains(f.names(), "guides") {
		t.Fatalf("%d records are left of an interrupted removal, and sources %v", n, f.names())
	}
	f.sync(without...)
	f.wants("after the removal", map[string][]string{"guides": nil, "notes": {"note"}, "derived": {"derived"}})
	if names := f.names(); !slices.Equal(names, []string{"notes"}) {
		t.Errorf("sources %v", names)
	}
	if aliases, err := f.store.Aliases(t.Context(), note.ID); err != nil || !slices.Equal(aliases, []string{"n"}) {
		t.Errorf("the note has the aliases %v, %v", aliases, err)
	}
}

// The second source has yielded the page too, and would not again: it did not
// change.
func TestARemainingSourceOwnsWhatItYieldedToo(t *testing.T) {
	f := setup(t)
	shared := page("shared")
	reads := 0
	counted := func(c connector) connector {
		return func(ctx context.Context, cursor string, out ingest.Sink) (outcome, error) {
			if cursor == "" {
				reads++
			}
			return c(ctx, cursor, out)
		}
	}
	second := named{name: "second", connector: once(shared, page("b"))}
	third := named{name: "third", kind: "other", connector: counted(once(page("c")))}
	f.sync(named{name: "first", connector: once(shared, page("a"))}, second, third)
	id := f.get(catalog.KindDoc, "shared").ID
	cursor := f.state("second").Cursor
	if cursor == "" {
		t.Fatal("it has no cursor")
	}
	restoring := func(ctx context.Context, _ string, _ ingest.Sink) (outcome, error) {
		_, err := f.store.Apply(ctx, catalog.Batch{Source: "second", Cursor: &cursor}) // as a server does that runs it
		return outcome{}, err
	}
	f.sync(named{name: "beside", connector: restoring}, second, third)
	f.wants("without the first", map[string][]string{"first": nil, "second": {"b", "shared"}, "third": {"c"}})
	if got := f.get(catalog.KindDoc, "shared").ID; got != id {
		t.Errorf("the id went from %d to %d", id, got)
	}
	if reads != 1 {
		t.Errorf("a source that shares nothing read everything %d times", reads)
	}
	f.sync(named{name: "first", connector: once(shared, page("a"))}, second, third)
	f.wants("back again", map[string][]string{"first": {"a", "shared"}, "second": {"b"}, "third": {"c"}})
	f.sync(named{name: "first", connector: once(shared, page("a"))}, third)
	f.wants("without the second", map[string][]string{"first": {"a", "shared"}, "second": nil, "third": {"c"}})
}

// TestWhatASourceGivesUpIsTheNextOnesThatYieldsIt: when the file narrows it, or when
// it is gone there, although nothing is new in the other.
func TestWhatASourceGivesUpIsTheNextOnesThatYieldsIt(t *testing.T) {
	f := setup(t)
	linked := page("b")
	linked.Aliases = []string{"beta"}
	first := named{name: "first", connector: once(page("a"), page("b"), page("c"))}
	second := named{name: "second", connector: once(page("a"), linked, page("d"))}
	third := named{name: "third", connector: once(page("c"), page("e"))}
	f.sync(first, second, third)
	id, cursor := f.get(catalog.KindDoc, "a").ID, f.state("third").Cursor
	head := f.lastChange()
	f.sync(first, second, third)
	if f.lastChange() != head {
		t.Error("an unchanged pass writes")
	}
	first.connector = listing(page("c"))
	f.sync(first, second, third)
	f.wants("narrowed", map[string][]string{"first": {"c"}, "second": {"a", "b", "d"}, "third": {"e"}})
	if f.get(catalog.KindDoc, "beta").Key != "b" || f.get(catalog.KindDoc, "a").ID != id {
		t.Error("it is another record")
	}
	if f.state("third").Cursor != cursor {
		t.Error("a source that loses nothing by it reads everything again")
	}
}

func TestRecordsStayUntilTheNewNameIsRead(t *testing.T) {
	f := setup(t)
	f.sync(named{name: "guides", connector: once(page("a"), page("b"))})
	wrong := []named{{name: "handbook", connector: broken(page("a"))},
		{name: "dead", kind: "other", connector: broken()}}
	for range 2 {
		reports, err := f.reading(wrong...).Sync(t.Context(), nil)
		if err == nil || len(reports) != 3 || reports[2].Err != nil ||
			!strings.Contains(reports[2].Former, "kept until handbook has been read") {
			t.Errorf("error %v, reports %+v", err, reports)
		}
		f.wants("while it cannot be read", map[string][]string{"guides": {"b"}, "handbook": {"a"}})
	}
	f.config.Network.Sources = []network.Source{{Name: "handbook", Kind: "fake"}, {Name: "dead", Kind: "other"}}
	former, err := ingest.FormerSources(t.Context(), f.store, f.config.Network)
	want := []ingest.Former{{Name: "guides", Records: 1, Awaits: []string{"handbook"}}}
	if diff := cmp.Diff(want, former); diff != "" || err != nil {
		t.Errorf("former sources (-want +got): %v\n%s", err, diff)
	}
	right := []named{{name: "handbook", connector: once(page("a"))},
		{name: "dead", kind: "other", connector: broken()}}
	if _, err := f.reading(right...).Sync(t.Context(), nil); err == nil {
		t.Error("the dead source succeeded")
	}
	f.wants("when it has been read", map[string][]string{"guides": nil, "handbook": {"a"}})
}

func TestOnlyAPassOverAllSourcesGivesUp(t *testing.T) {
	f := setup(t)
	f.sync(named{name: "guides", connector: listing(page("a"))}, named{name: "notes", connector: listing(page("n"))})
	left := []named{{name: "notes", connector: listing(page("n"), page("a"))},
		{name: "more", connector: listing(page("m"))}}
	for _, names := range [][]string{{"notes"}, {"more"}, {"more", "notes"}} {
		if _, err := f.reading(left...).Sync(t.Context(), names); err != nil {
			t.Fatal(err)
		}
	}
	f.wants("after some sources", map[string][]string{"guides": {"a"}, "notes": {"n"}})
	ctx, cancel := context.WithCancel(t.Context())
	interrupted := []named{left[0], {name: "more", connector: func(context.Context, string, ingest.Sink) (outcome,
		error) {
		cancel()
		return outcome{}, ctx.Err()
	}}}
	if _, err := f.reading(interrupted...).Sync(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if !slices.Contains(f.names(), "guides") {
		t.Error("an interrupted sync gave a source up")
	}
	f.sync(left...)
	f.wants("after all", map[string][]string{"guides": nil, "notes": {"a", "n"}})
}

// A corpus may have been exported by anybody. Its sources are not those of the
// file, and have no name of a directory.
func TestNamesOfFormerSourcesLeadNowhere(t *testing.T) {
	f := setup(t)
	dir := t.TempDir()
	f.config.WorkDir = filepath.Join(dir, "sources")
	precious := filepath.Join(dir, "precious")
	if err := errors.Join(os.Mkdir(precious, 0o700), os.Mkdir(f.config.WorkDir, 0o700)); err != nil {
		t.Fatal(err)
	}
	names := []string{"..", "../precious", ".", "notes/../../precious", precious}
	for i, name := range names {
		if _, err := f.store.Apply(t.Context(), catalog.Batch{Source: name, Entries: pages(i, i+1)}); err != nil {
			t.Fatal(err)
		}
	}
	if former := f.sync(named{name: "notes", connector: listing(page("n"))}); len(former) != len(names) {
		t.Errorf("former sources %+v", former)
	}
	for _, dir := range []string{precious, filepath.Join(f.config.WorkDir, "notes")} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
	if _, total, err := f.store.List(t.Context(), catalog.ListQuery{}); err != nil || total != 1 {
		t.Errorf("%d records are left, %v", total, err)
	}
}

// A server gives up when the last of its sources has ended its first run, though
// it went on without waiting for it.
func TestASchedulerGivesUpWhatIsNoLongerNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "catalog.db")
		store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		n := testNetwork
		n.Sources = []network.Source{{Name: "handbook", Kind: "docs"}, {Name: "slow", Kind: "slow"}}
		config := ingest.Config{Store: store, Network: n, Now: time.Now, WorkDir: t.TempDir(), Connectors: ingest.Registry{
			"docs": ingest.Constructor(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) {
				return listing(page("a")), nil
			}),
			"slow": ingest.Constructor(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) {
				return connector(func(ctx context.Context, _ string, _ ingest.Sink) (outcome, error) {
					select {
					case <-time.After(time.Hour):
					case <-ctx.Done():
					}
					return outcome{}, ctx.Err()
				}), nil
			}),
		}}
		before := fixture{T: t, config: config}
		if err := before.with(listing(page("a"), page("b"))).Run(t.Context(),
			network.Source{Name: "guides", Kind: "fake"}).Err; err != nil {
			t.Fatal(err)
		}
		scheduler := ingest.NewScheduler(ingest.New(config))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			scheduler.Run(ctx)
		}()
		has := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			records, _, err := store.List(t.Context(), catalog.ListQuery{})
			var got []string
			for _, r := range records {
				got = append(got, r.Source+" "+r.Key)
			}
			if slices.Sort(got); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s there is %v, %v", when, got, err)
			}
		}
		<-scheduler.FirstPass()
		has("after the first pass", "guides b", "handbook a")
		time.Sleep(time.Hour)
		has("when the slow source has ended", "handbook a")
		cancel()
		<-done
	})
}
