package ingest_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/text/options"
)

// start is one run of a source, by the time since the scheduler started.
type start struct {
	source string
	at     time.Duration
}

// bubble is a scheduler in a bubble of synthetic time. Each run takes `takes`
// and returns the result of `ends`.
type bubble struct {
	*testing.T
	store *sqlstore.Store
	path  string // of the store
	began time.Time
	stop  func()
	sched *ingest.Scheduler
	takes time.Duration

	mu      sync.Mutex // guards all below
	starts  []start
	running map[string]int
	most    int // sources running at the same time
	ends    func(source string, run int) error
}

func schedulerOf(t *testing.T, takes time.Duration, ends func(string, int) error, sources ...network.Source) *bubble {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.db")
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	s := &bubble{T: t, store: store, path: path, began: time.Now(), takes: takes, ends: ends,
		running: map[string]int{}}
	n := testNetwork
	n.Sources = sources
	s.sched = ingest.NewScheduler(ingest.New(ingest.Config{
		Store: store, Network: n, Now: time.Now, WorkDir: t.TempDir(), Connectors: fake(s.connector),
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sched.Run(ctx)
	}()
	s.stop = func() {
		cancel()
		<-done
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}
	return s
}

func (s *bubble) connector(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte], error) {
	return connector(func(ctx context.Context, _ string, _ ingest.Sink) (outcome, error) {
		s.mu.Lock()
		s.starts = append(s.starts, start{src.Name, time.Since(s.began)})
		n := len(s.of(src.Name))
		s.running[src.Name]++
		if s.running[src.Name] > 1 {
			s.Errorf("%s overlaps itself", src.Name)
		}
		s.most = max(s.most, len(s.running))
		s.mu.Unlock()
		select {
		case <-time.After(s.takes):
		case <-ctx.Done():
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[src.Name]--; s.running[src.Name] == 0 {
			delete(s.running, src.Name)
		}
		return outcome{}, errors.Join(ctx.Err(), s.ends(src.Name, n))
	}), nil
}

// of returns the times of a source's runs. The caller holds mu, or no run is
// active.
func (s *bubble) of(source string) []time.Duration {
	var out []time.Duration
	for _, st := range s.starts {
		if st.source == source {
			out = append(out, st.at)
		}
	}
	return out
}

func (s *bubble) runs(source string) []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(source)
}

func well(string, int) error { return nil }

func TestFirstPassRunsInOrderOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, 20*time.Second, func(source string, _ int) error {
			if source == "b" {
				return errors.New("broken")
			}
			return nil
		}, network.Source{Name: "c", Kind: "fake"}, network.Source{Name: "b", Kind: "fake", Every: time.Hour},
			network.Source{Name: "a", Kind: "fake"})
		defer s.stop()
		select {
		case <-s.sched.FirstPass():
			t.Fatal("the first pass is done before it started")
		case <-time.After(50 * time.Second):
		}
		<-s.sched.FirstPass()
		if got := time.Since(s.began); got != time.Minute {
			t.Errorf("the first pass took %v", got)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if want := []start{{"c", 0}, {"b", 20 * time.Second}, {"a", 40 * time.Second}}; !slices.Equal(s.starts, want) {
			t.Errorf("runs %v", s.starts)
		}
	})
}

// TestFirstPassWaitsForNoSource: every source takes two hours, and two share a
// host, which only one of them may use.
func TestFirstPassWaitsForNoSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := map[string]any{"url": "https://forge.example/a"}
		s := schedulerOf(t, 2*time.Hour, well, network.Source{Name: "a", Kind: "fake", Options: options.Of(host)},
			network.Source{Name: "b", Kind: "fake", Options: options.Of(host)}, network.Source{Name: "c", Kind: "fake"},
			network.Source{Name: "d", Kind: "fake"}, network.Source{Name: "e", Kind: "fake"},
			network.Source{Name: "f", Kind: "fake"})
		defer s.stop()
		<-s.sched.FirstPass()
		if got := time.Since(s.began); got != 3*time.Minute {
			t.Errorf("the first pass took %v", got)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if want := []start{{"a", 0}, {"c", time.Minute}, {"d", 90 * time.Second}, {"e", 2 * time.Minute},
			{"f", 150 * time.Second}, {"b", 2 * time.Hour}}; !slices.Equal(s.starts, want) {
			t.Errorf("runs %v", s.starts)
		}
	})
}

// TestRunEndsAtItsDeadline: a source that goes on for ever, first and later.
func TestRunEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(),
			sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		n := testNetwork
		n.Sources = []network.Source{{Name: "endless", Kind: "fake", Every: 6 * time.Hour}}
		f := fixture{T: t, config: ingest.Config{Store: store, Network: n, Now: time.Now, WorkDir: t.TempDir()}}
		for round, want := range []time.Duration{24 * time.Hour, 0, 3 * time.Hour} {
			began := time.Now()
			report := f.with(connector(
				func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
					key := strings.Repeat("x", round+1)
					if err := out.Put(ctx, catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: key,
						Title: key,
						Body:  "text"}}); err != nil {
						return outcome{}, err
					}
					if want > 0 {
						<-ctx.Done()
						return outcome{}, ctx.Err()
					}
					return outcome{Cursor: "done"}, nil
				})).Run(t.Context(), n.Sources[0])
			err := report.Err
			if took := time.Since(began); took != want || report.Created != 1 {
				t.Errorf("run %d took %v and wrote %d records, want %v and 1", round, took, report.Created, want)
			}
			if want > 0 && (err == nil || !strings.Contains(err.Error(), "the run was ended after "+want.String())) {
				t.Errorf("run %d: %v", round, err)
			}
		}
		states, err := store.Sources(t.Context())
		if err != nil || len(states) != 1 || strings.Contains(states[0].Error, "interrupted") || states[0].Error == "" {
			t.Errorf("states %+v (%v), want the reason", states, err)
		}
	})
}

// TestSlowSourceStillOwnsItsRecords: while the first source takes a minute, the
// second one yields the same record.
func TestSlowSourceStillOwnsItsRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(),
			sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		n := testNetwork
		n.Sources = []network.Source{{Name: "first", Kind: "fake"}, {Name: "second", Kind: "fake"}}
		scheduler := ingest.NewScheduler(ingest.New(ingest.Config{Store: store, Network: n, Now: time.Now,
			WorkDir: t.TempDir(), Connectors: fake(func(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte],
				error) {
				return connector(func(ctx context.Context, _ string, out ingest.Sink) (outcome, error) {
					if src.Name == "first" {
						time.Sleep(time.Minute)
					}
					return outcome{}, out.Put(ctx,
						catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a",
							Title: "of the " + src.Name, Body: "text"}, Aliases: []string{src.Name}})
				}), nil
			})}))
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { scheduler.Run(ctx) })
		<-scheduler.FirstPass()
		title := func() string {
			r, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "a"})
			if err != nil {
				t.Fatal(err)
			}
			return r.Title
		}
		if got := title(); got != "of the second" {
			t.Errorf("after the first pass: %s", got)
		}
		time.Sleep(time.Hour)
		if got := title(); got != "of the first" {
			t.Errorf("after both have run: %s", got)
		}
		cancel()
		wg.Wait()
	})
}

// TestANewWriterContinuesTheSchedule replaces a scheduler by another, as a process that takes
// over: no source runs again before its interval is over, none is left out, and what
// failed, changed or was never read is read at once.
func TestANewWriterContinuesTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(),
			sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		began := time.Now()
		var mu sync.Mutex
		runs := map[string][]time.Duration{}
		connectors := fake(func(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte], error) {
			return connector(func(context.Context, string, ingest.Sink) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				runs[src.Name] = append(runs[src.Name], time.Since(began))
				if src.Name == "broken" && len(runs[src.Name]) == 1 {
					return outcome{}, errors.New("broken")
				}
				return outcome{Cursor: "here"}, nil
			}), nil
		})
		source := func(name, path string, every time.Duration) network.Source {
			return network.Source{Name: name, Kind: "fake", Every: every,
				Options: options.Of(map[string]any{"url": "https://" + name + ".example/" + path})}
		}
		n := testNetwork
		work := func(d time.Duration, sources ...network.Source) {
			n.Sources = sources
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			ingest.NewScheduler(ingest.New(ingest.Config{Store: store, Network: n, Now: time.Now,
				WorkDir: t.TempDir(), Connectors: connectors})).Run(ctx)
		}
		hourly, daily := source("hourly", "a", time.Hour), source("daily", "a", 24*time.Hour)
		broken, fresh := source("broken", "a", time.Hour), source("new", "a", time.Hour)
		work(10*time.Second, hourly, daily, broken, source("moved", "a", time.Hour))
		moved := source("moved", "b", time.Hour)
		work(20*time.Minute-10*time.Second, hourly, daily, broken, moved, fresh)
		work(10*time.Hour, hourly, daily, broken, moved, fresh)
		for name, want := range map[string][]time.Duration{"hourly": {0}, "daily": {0}, "broken": {0, 10 * time.Second},
			"moved": {0, 10 * time.Second}, "new": {10 * time.Second}} {
			var early []time.Duration
			for _, at := range runs[name] {
				if at < 50*time.Minute {
					early = append(early, at)
				}
			}
			if !slices.Equal(early, want) {
				t.Errorf("%s ran at %v, want %v", name, early, want)
			}
		}
		if list := runs["hourly"]; len(list) < 9 || list[1] > 66*time.Minute {
			t.Errorf("hourly ran at %v", list)
		}
		if len(runs["daily"]) != 1 {
			t.Errorf("daily ran at %v", runs["daily"])
		}
	})
}

func TestSourcesRunOnTheirOwnIntervalWithJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, time.Second, well,
			network.Source{Name: "often", Kind: "fake", Every: time.Minute}, network.Source{Name: "once", Kind: "fake"})
		defer s.stop()
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		if got := s.runs("once"); len(got) != 1 {
			t.Errorf("a source without interval ran at %v", got)
		}
		runs := s.runs("often")
		if len(runs) < 36 || len(runs) > 45 {
			t.Fatalf("%d runs in 40 minutes", len(runs))
		}
		gaps := map[time.Duration]bool{}
		for i := 2; i < len(runs); i++ {
			gap := runs[i] - runs[i-1] - time.Second
			if gap < 54*time.Second || gap > 66*time.Second {
				t.Errorf("run %d came after %v", i, gap)
			}
			gaps[gap.Round(100*time.Millisecond)] = true
		}
		if len(gaps) < 10 {
			t.Errorf("the intervals hardly differ: %v", gaps)
		}
	})
}

func TestFailedSourceIsRetriedWithBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, 0, func(_ string, run int) error {
			if run <= 4 {
				return errors.New("broken")
			}
			return nil
		}, network.Source{Name: "a", Kind: "fake", Every: 2 * time.Minute})
		defer s.stop()
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		runs := s.runs("a")
		if len(runs) < 6 {
			t.Fatalf("runs %v", runs)
		}
		for i, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 2 * time.Minute,
			2 * time.Minute} {
			if gap := runs[i+1] - runs[i]; gap < want*9/10 || gap > want*11/10+time.Second {
				t.Errorf("run %d came after %v, want about %v", i+1, gap, want)
			}
		}
	})
}

func TestSourceWithoutIntervalIsRetriedUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, 0, func(_ string, run int) error {
			if run == 1 {
				return errors.New("broken")
			}
			return nil
		}, network.Source{Name: "a", Kind: "fake"})
		defer s.stop()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		if runs := s.runs("a"); len(runs) != 2 {
			t.Errorf("runs %v", runs)
		}
	})
}

func TestNoMoreThanFourSourcesRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sources []network.Source
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			sources = append(sources, network.Source{Name: name, Kind: "fake", Every: time.Minute})
		}
		s := schedulerOf(t, 50*time.Second, well, sources...)
		defer s.stop()
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.most != 4 {
			t.Errorf("%d sources ran at once", s.most)
		}
	})
}

func TestOneSourceAtATimeUsesAHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := func(name string, addresses ...any) network.Source {
			return network.Source{Name: name, Kind: "fake", Every: time.Minute,
				Options: options.Of(map[string]any{"lists": addresses})}
		}
		deep := map[string]any{"url": "https://FORGE.example/b"}
		s := schedulerOf(t, 50*time.Second, well, at("a", "https://forge.example/a"),
			at("b", deep, "https://forum.example"),
			at("c", "https://forum.example/c", "https://forge.example"), at("d", "no address", 7))
		defer s.stop()
		<-s.sched.FirstPass()
		time.Sleep(30 * time.Minute)
		synctest.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.most != 2 {
			t.Errorf("%d sources ran at once, want one of a, b and c, and d", s.most)
		}
		for _, name := range []string{"a", "b", "c"} {
			if runs := s.of(name); len(runs) < 9 {
				t.Errorf("%s ran only at %v", name, runs)
			}
		}
	})
}

// TestTurnSaysWhatRunsAndWhatIsPlanned: an operator sees it beside each source.
func TestTurnSaysWhatRunsAndWhatIsPlanned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, 10*time.Second, well, network.Source{Name: "often", Kind: "fake", Every: time.Hour},
			network.Source{Name: "once", Kind: "fake"})
		defer s.stop()
		want := func(when, source string, running, planned bool) {
			t.Helper()
			got, next := s.sched.Turn(source)
			if got != running || next.After(time.Now()) != planned || next.IsZero() == planned {
				t.Errorf("%s: %s runs %t, next at %v", when, source, got, next)
			}
		}
		synctest.Wait()
		want("in its first run", "often", true, false)
		want("before its first run", "once", false, false)
		time.Sleep(15 * time.Second)
		synctest.Wait()
		want("before the first pass is done", "often", false, false)
		want("in its first run", "once", true, false)
		<-s.sched.FirstPass()
		synctest.Wait()
		want("with an interval", "often", false, true)
		want("without an interval", "once", false, false)
		want("not a source", "never", false, false)
		_, next := s.sched.Turn("often")
		time.Sleep(time.Until(next))
		synctest.Wait()
		want("at the time it was planned for", "often", true, false)
	})
}

func TestSyncOnRequest(t *testing.T) {
	for name, tt := range map[string]struct {
		sources []string
		a, b    int // runs, including the first pass
		err     string
	}{
		"one source":                     {[]string{"a"}, 2, 1, "broken"},
		"all sources, even if one fails": {[]string{""}, 2, 2, "broken"},
		"several one after the other":    {[]string{"b", ""}, 2, 3, "broken"},
		"an unknown source":              {[]string{"zzz"}, 1, 1, "zzz"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := schedulerOf(t, 10*time.Second, func(source string, run int) error {
					if source == "a" && run == 2 {
						return errors.New("broken for jane@site.org")
					}
					return nil
				}, network.Source{Name: "a", Kind: "fake", Every: time.Hour}, network.Source{Name: "b", Kind: "fake"})
				defer s.stop()
				<-s.sched.FirstPass()
				var err error
				for _, source := range tt.sources {
					done, total := 0, 0
					err = s.sched.Sync(t.Context(), source, func(d, n int) { done, total = d, n })
					if total != done {
						t.Errorf("progress ends at %d of %d", done, total)
					}
				}
				if a, b := len(s.runs("a")), len(s.runs("b")); a != tt.a || b != tt.b {
					t.Errorf("%d runs of a, %d of b; want %d, %d", a, b, tt.a, tt.b)
				}
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "jane") {
					t.Errorf("error is %v", err)
				}
			})
		})
	}
}

func TestACancelledSyncEndsItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := schedulerOf(t, 5*time.Minute, well, network.Source{Name: "a", Kind: "fake"})
		defer s.stop()
		time.Sleep(10 * time.Minute) // the first run has ended
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		before := time.Now()
		if err := s.sched.Sync(ctx, "a", func(int, int) {}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v", err)
		}
		synctest.Wait()
		states, err := s.store.Sources(t.Context())
		if err != nil || len(states) != 1 || !strings.Contains(states[0].Error, "interrupted") ||
			time.Since(before) > 2*time.Minute {
			t.Errorf("after %v the state is %v, %v", time.Since(before), states, err)
		}
	})
}

func TestSchedulerStopsAtAnyTime(t *testing.T) {
	for name, after := range map[string]time.Duration{"in the first pass": 30 * time.Second,
		"in a later run": 170 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := schedulerOf(t, 90*time.Second, well,
					network.Source{Name: "a", Kind: "fake", Every: time.Minute})
				time.Sleep(after)
				states := func() []catalog.SourceState {
					list, err := s.store.Sources(context.Background())
					if err != nil {
						t.Fatal(err)
					}
					return list
				}
				before := time.Now()
				running := len(s.runs("a"))
				defer func() {
					if took := time.Since(before); took > 0 {
						t.Errorf("stopping took %v", took)
					}
					if n := len(s.runs("a")); n != running {
						t.Errorf("%d runs began after the stop", n-running)
					}
				}()
				if after < time.Minute && len(states()) != 0 {
					t.Errorf("states %v", states())
				}
				s.stop()
			})
		})
	}
}

// TestDerivingHoldsUpNoSource: sources run while what follows from them is derived for ever, and that ends
// when the scheduler does.
func TestDerivingHoldsUpNoSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func(fact derive.Fact) { derive.Facts[0] = fact }(derive.Facts[0])
		derive.Facts[0].Make = func(ctx context.Context, _ derive.Input) ([]catalog.Entry, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		host := options.Of(map[string]any{"url": "https://forge.example/a"})
		s := schedulerOf(t, 0, well, network.Source{Name: "a", Kind: "fake", Every: time.Hour, Options: host},
			network.Source{Name: "b", Kind: "fake", Every: time.Hour, Options: host})
		defer s.stop()
		time.Sleep(5 * time.Hour)
		synctest.Wait()
		if a, b := len(s.runs("a")), len(s.runs("b")); a < 5 || b < 5 {
			t.Errorf("in five hours %d and %d runs", a, b)
		}
	})
}
