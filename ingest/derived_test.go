package ingest_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/network"
	"almanac/ingest"
)

func release(key, version, body string) catalog.Entry {
	return entry(catalog.Record{
		Kind: catalog.KindRelease, Key: key, Title: "Lightvessel " + version, Body: body,
		Container: "north-sea/lightvessel",
		URL:       "https://forge.example.org/" + key,
	}, catalog.Release{Version: version})
}

func entry(r catalog.Record, data any) catalog.Entry {
	raw, err := catalog.Encode(data)
	if err != nil {
		panic(err)
	}
	r.Data = raw
	return catalog.Entry{Record: r}
}

const breakingNotes = "# Lightvessel 2.0.0\n\n## Breaking changes\n\n" +
	"- The lamp takes its oil from NSP-12 tanks alone.\n- The horn was renamed to siren in all commands.\n"

func (f *fixture) pipeline() *ingest.Pipeline { return ingest.New(f.config) }

func (f *fixture) derive(p *ingest.Pipeline) {
	f.Helper()
	if err := p.Derive(f.Context()); err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) stats() []catalog.Snapshot {
	f.Helper()
	list, err := f.store.Snapshots(f.Context(), catalog.SeriesStats, 0)
	if err != nil {
		f.Fatal(err)
	}
	return list
}

func (f *fixture) linksFrom(r catalog.Record) []catalog.Ref {
	f.Helper()
	links, err := f.store.LinksFrom(f.Context(), r.ID)
	if err != nil {
		f.Fatal(err)
	}
	var to []catalog.Ref
	for _, l := range links {
		to = append(to, l.To)
	}
	return to
}

func TestDeriveMakesRadarOfReleaseNotes(t *testing.T) {
	f := setup(t)
	notes := release("lightvessel@2.0.0", "2.0.0", breakingNotes)
	f.run("first", listing(notes))
	p := f.pipeline()
	f.derive(p)
	item := f.get(catalog.KindRadar, "lightvessel@2.0.0/breaking")
	if item.Source != catalog.DerivedSource || item.Category != catalog.RadarImportant {
		t.Errorf("source %q, level %q", item.Source, item.Category)
	}
	want := []catalog.Ref{notes.Record.Ref(), {Kind: catalog.KindCIP, Key: "NSP-0012"}}
	if got := f.linksFrom(item); !slices.Equal(got, want) {
		t.Errorf("links to %v, want %v", got, want)
	}
	states, err := f.store.Sources(t.Context())
	if err != nil || len(states) != 1 {
		t.Errorf("sync states %v, %v: the derived source has none", states, err)
	}

	t.Run("twice changes nothing", func(t *testing.T) {
		seq, batches := f.lastChange(), len(f.store.batches)
		for range 2 {
			f.derive(p)
			f.derive(f.pipeline()) // as after a restart
		}
		if f.lastChange() != seq || len(f.store.batches) != batches {
			t.Errorf("change %d after %d, %d batches", f.lastChange(), seq, len(f.store.batches)-batches)
		}
	})
	t.Run("changed notes change the item and keep its id", func(t *testing.T) {
		notes.Record.Body += "- The crew signs on with papers alone.\n"
		f.run("first", listing(notes))
		f.derive(p)
		if got := f.get(catalog.KindRadar, item.Key); got.ID != item.ID || got.Body == item.Body {
			t.Errorf("id %d, was %d; body %q", got.ID, item.ID, got.Body)
		}
	})
	t.Run("a curated item about the release wins", func(t *testing.T) {
		curated := entry(catalog.Record{Kind: catalog.KindRadar, Key: "new-lamp", Title: "A new lamp",
			URL: notes.Record.URL}, catalog.Radar{})
		f.run("second", listing(curated))
		f.derive(p)
		if keys := f.keys(catalog.DerivedSource); len(keys) != 0 {
			t.Errorf("derived %v beside the curated one", keys)
		}
		f.run("second", listing())
		f.derive(p)
		if keys := f.keys(catalog.DerivedSource); !slices.Equal(keys, []string{item.Key}) {
			t.Errorf("derived %v after the curated one is gone", keys)
		}
	})
	t.Run("items go with their release", func(t *testing.T) {
		f.run("first", listing())
		f.derive(p)
		if keys := f.keys(catalog.DerivedSource); len(keys) != 0 {
			t.Errorf("left: %v", keys)
		}
	})
}

func TestDeriveJoins(t *testing.T) {
	f := setup(t)
	project := entry(catalog.Record{Kind: catalog.KindProject, Key: "buoys", Title: "Buoys"},
		catalog.Project{Repos: []string{"north-sea/buoys"}})
	repo := entry(catalog.Record{Kind: catalog.KindRepo, Key: "north-sea/buoys"},
		catalog.Repo{FullName: "north-sea/buoys"})
	app := entry(catalog.Record{Kind: catalog.KindApp, Key: "00ab"}, catalog.App{Project: "buoys"})
	operation := entry(catalog.Record{Kind: catalog.KindOperation, Key: "op",
		Title: "Deploy Lightvessel v2.0.0 to the estuary"}, catalog.Operation{})
	notes := release("lightvessel@2.0.0", "2.0.0", "Nothing of note.")
	f.run("first", listing(project, repo, app, operation, notes))
	p := f.pipeline()
	f.derive(p)
	want := []catalog.Ref{repo.Record.Ref(), app.Record.Ref()}
	if got := f.linksFrom(f.get(catalog.KindProject, "buoys")); !slices.Equal(got, want) {
		t.Errorf("project links to %v, want %v", got, want)
	}
	if got := f.linksFrom(f.get(catalog.KindOperation, "op")); !slices.Equal(got, []catalog.Ref{notes.Record.Ref()}) {
		t.Errorf("operation links to %v", got)
	}
	f.run("first", listing(project, app, operation, repo)) // four of five is not a shrunk source
	f.derive(p)
	if got := f.linksFrom(f.get(catalog.KindOperation, "op")); len(got) != 0 {
		t.Errorf("operation still links to %v", got)
	}
	if got := f.get(catalog.KindProject, "buoys"); got.Source != "first" || got.Title != "Buoys" {
		t.Errorf("the project became %+v", got)
	}
}

func TestDeriveKeepsAStatisticADay(t *testing.T) {
	f := setup(t)
	f.run("first", listing(page("a")))
	p := f.pipeline()
	f.derive(p)
	first := f.stats()
	if want := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC); len(first) != 1 || !first[0].CapturedAt.Equal(want) {
		t.Fatalf("snapshots %v, want one of %v", first, want)
	}
	f.run("first", listing(page("a"), page("b")))
	f.clock.advance(16 * time.Hour) // 23:08 UTC of the same day
	f.derive(p)
	list := f.stats()
	var s catalog.Stats
	if err := json.Unmarshal(list[0].Data, &s); err != nil || len(list) != 1 || s.Docs != 2 {
		t.Fatalf("the day's figures are %+v of %d snapshots, %v", s, len(list), err)
	}
	f.clock.advance(time.Hour)
	f.derive(p)
	if n := len(f.stats()); n != 2 {
		t.Fatalf("%d snapshots after midnight of UTC", n)
	}
	for range 90 {
		f.clock.advance(24 * time.Hour)
		f.derive(p)
	}
	list = f.stats()
	if want := f.clock.now().Truncate(24 * time.Hour); len(list) != 90 || !list[0].CapturedAt.Equal(want) {
		t.Fatalf("%d snapshots, the newest of %v, want 90 and %v", len(list), list[0].CapturedAt, want)
	}
}

// pruning is a store that records how many snapshots of each series are kept.
type pruning struct {
	*spy
	kept map[string]int
}

func (p pruning) PruneSnapshots(ctx context.Context, series string, keep int) error {
	p.kept[series] = keep
	return p.spy.PruneSnapshots(ctx, series, keep)
}

func TestDeriveBoundsEverySeries(t *testing.T) {
	f := setup(t)
	store := pruning{f.store, map[string]int{}}
	f.config.Store = store
	f.derive(f.pipeline())
	const quarters = 90 * 24 * 4
	want := map[string]int{catalog.SeriesStats: 90, catalog.SeriesNetwork: quarters, catalog.SeriesMarket: quarters}
	if !maps.Equal(store.kept, want) {
		t.Errorf("kept %v, want %v", store.kept, want)
	}
}

func TestDeriveIsRepeatedAfterAFailure(t *testing.T) {
	f := setup(t)
	f.run("first", listing(release("lightvessel@2.0.0", "2.0.0", breakingNotes)))
	full := errors.New("disk full")
	f.store.fail = func(b catalog.Batch) error {
		if b.Source == catalog.DerivedSource {
			return full
		}
		return nil
	}
	p := f.pipeline()
	for range 2 {
		if err := p.Derive(t.Context()); !errors.Is(err, full) {
			t.Fatalf("error is %v", err)
		}
	}
	f.store.fail = nil
	f.derive(p)
	if keys := f.keys(catalog.DerivedSource); len(keys) != 1 {
		t.Errorf("derived %v", keys)
	}
}

// TestStatisticsAreRepeatedAfterAFailure: a day's figures are not lost for a store that was
// busy for a while, and the error says what is missing.
func TestStatisticsAreRepeatedAfterAFailure(t *testing.T) {
	full := errors.New("disk full")
	for name, broken := range map[string]noSnapshots{"read": {read: full}, "write": {write: full}} {
		f := setup(t)
		f.run("first", listing(page("a")))
		broken.spy = f.store
		f.config.Store = broken
		err := f.pipeline().Derive(t.Context())
		if !errors.Is(err, full) || !strings.Contains(err.Error(), "statistics") || len(f.stats()) != 0 {
			t.Errorf("%s: error %v, %d snapshots", name, err, len(f.stats()))
		}
		f.config.Store = f.store
		f.derive(f.pipeline())
		if list := f.stats(); len(list) != 1 {
			t.Errorf("%s: %d snapshots", name, len(list))
		}
	}
}

// TestAFactIsMadeAgain looks at which facts are written when a record or the
// rules of one change.
func TestAFactIsMadeAgain(t *testing.T) {
	f := setup(t)
	app := entry(catalog.Record{Kind: catalog.KindApp, Key: "a", Title: "Tide"}, catalog.App{Project: "tide"})
	project := entry(catalog.Record{Kind: catalog.KindProject, Key: "tide", Title: "Tide"}, catalog.Project{})
	notes := release("lightvessel@2.0.0", "2.0.0", breakingNotes)
	f.run("first", listing(notes, app, project))
	var written []catalog.Kind
	f.store.fail = func(b catalog.Batch) error {
		if b.Source == catalog.DerivedSource {
			for _, e := range b.Entries {
				written = append(written, e.Record.Kind)
			}
		}
		return nil
	}
	p := f.pipeline()
	after := func(what string, want ...catalog.Kind) {
		t.Helper()
		written = nil
		if f.derive(p); !slices.Equal(written, want) {
			t.Errorf("%s: %v are written, want %v", what, written, want)
		}
	}
	after("the first time", catalog.KindRadar, catalog.KindProject)
	app.Record.Title = "Tides"
	f.run("first", listing(notes, app, project))
	after("another title of an app", catalog.KindProject)
	after("nothing new")
	notes.Record.Title = "Lightvessel 2.0.0 is out"
	f.run("first", listing(notes, app, project))
	after("another title of a release", catalog.KindRadar)
	for _, made := range []string{"derived.from", "derived.joins"} {
		if err := f.store.SetMeta(t.Context(), made, "of another edition"); err != nil {
			t.Fatal(err)
		}
	}
	after("another edition", catalog.KindProject)
}

// TestACancelledDerivationRemovesNothing: what a fact has not got to is not gone.
func TestACancelledDerivationRemovesNothing(t *testing.T) {
	f := setup(t)
	f.run("first", listing(release("lightvessel@2.0.0", "2.0.0", breakingNotes)))
	p := f.pipeline()
	f.derive(p)
	item, seq := f.keys(catalog.DerivedSource), f.lastChange()
	ctx, cancel := context.WithCancel(t.Context())
	defer func(fact derive.Fact) { derive.Facts[0] = fact }(derive.Facts[0])
	made := derive.Facts[0].Make
	for _, made := range []string{"derived.from", "derived.radar"} {
		if err := f.store.SetMeta(t.Context(), made, "of another edition"); err != nil {
			t.Fatal(err)
		}
	}
	derive.Facts[0].Make = func(ctx context.Context, in derive.Input) ([]catalog.Entry, error) {
		cancel()
		return made(ctx, in)
	}
	if err := p.Derive(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if got := f.keys(catalog.DerivedSource); len(got) != 1 || !slices.Equal(got, item) || f.lastChange() != seq {
		t.Errorf("derived %v, were %v", got, item)
	}
}

func TestDerivingAfterASyncSeveralTimesAtOnce(t *testing.T) {
	f := setup(t)
	f.config.Connectors = fake(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) {
		return listing(release("lightvessel@2.0.0", "2.0.0", breakingNotes)), nil
	})
	p := f.pipeline()
	if _, err := p.Sync(t.Context(), []string{"first"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := p.Derive(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if keys := f.keys(catalog.DerivedSource); len(keys) != 1 {
		t.Errorf("derived %v", keys)
	}
}

func TestSchedulerDerivesOnAQuietDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 10*time.Second)
		s := schedulerOf(t, 0, well, network.Source{Name: "once", Kind: "fake"})
		defer s.stop()
		<-s.sched.FirstPass()
		for _, want := range []int{1, 2} { // before and after midnight
			if list, err := s.store.Snapshots(t.Context(), catalog.SeriesStats, 0); err != nil || len(list) != want {
				t.Fatalf("%d snapshots, %v, want %d", len(list), err, want)
			}
			time.Sleep(20 * time.Second)
		}
	})
}
