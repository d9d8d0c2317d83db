package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/catalogfile"
	"almanac/testing/crowd"
)

// start executes requests of a new catalog in a bubble until the test is over. The
// test goes on between two looks at the requests.
func start(t *testing.T, do map[string]jobs.Do) *sqlstore.Store {
	t.Helper()
	return startOver(t, do, func(store *sqlstore.Store) *sqlstore.Store { return store })
}

// startOver is start with requests that are read from what over makes of the catalog.
func startOver(t *testing.T, do map[string]jobs.Do, over func(*sqlstore.Store) *sqlstore.Store) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		jobs.Runner{Store: over(store), Do: do, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return store
}

// enqueue adds a request.
func enqueue(t *testing.T, store *sqlstore.Store, kind, argument string) int64 {
	t.Helper()
	id, err := store.Enqueue(t.Context(), catalog.Request{Kind: kind, Argument: argument, By: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestAJobWaitsForWhatItNeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ready atomic.Bool
		do := jobs.When(func(context.Context) bool { return ready.Load() },
			func(context.Context, catalog.Request, func(done, total int)) (any, error) { return "done", nil })
		store := start(t, map[string]jobs.Do{"eval": do})
		id, next := enqueue(t, store, "eval", "1"), enqueue(t, store, "eval", "2")
		time.Sleep(time.Minute)
		if r := job(t, store, id); r.StartedAt.IsZero() || !r.DoneAt.IsZero() {
			t.Errorf("before it is ready: %+v", r)
		}
		ready.Store(true)
		time.Sleep(10 * time.Second)
		if r := job(t, store, id); r.Result != `"done"` || r.Failure != "" {
			t.Errorf("when it is ready: %+v", r)
		}
		if r := job(t, store, next); r.Result != `"done"` {
			t.Errorf("the next: %+v", r)
		}
	})
}

// job returns a request as it is.
func job(t *testing.T, store *sqlstore.Store, id int64) catalog.Request {
	t.Helper()
	r, err := store.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestJobsAreExecuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		var running crowd.Crowd
		work := func(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
			runs.Add(1)
			running.Enter()
			defer running.Leave()
			for i := range 10 {
				progress(i, 10)
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return nil, ctx.Err()
				}
			}
			return map[string]string{"of": r.Argument}, nil
		}
		do := map[string]jobs.Do{"work": work, "other": work,
			"fail": func(context.Context, catalog.Request, func(int, int)) (any, error) {
				return nil, errors.New("no route")
			},
			"panic": func(context.Context, catalog.Request, func(int, int)) (any, error) { panic("oh") }}
		store := start(t, do)
		a, again := enqueue(t, store, "work", "a"), enqueue(t, store, "work", "a")
		b, beside := enqueue(t, store, "work", "b"), enqueue(t, store, "other", "c")
		failed, panicked := enqueue(t, store, "fail", ""), enqueue(t, store, "panic", "")
		unknown := enqueue(t, store, "dig", "")
		time.Sleep(6500 * time.Millisecond)
		synctest.Wait()
		if r := job(t, store, a); r.Done < 4 || r.Total != 10 || r.StartedAt.IsZero() || !r.DoneAt.IsZero() {
			t.Errorf("half way it is %+v", r)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		for id, want := range map[int64]string{a: `{"of":"a"}`, again: `{"of":"a"}`, b: `{"of":"b"}`, beside: `{"of":"c"}`} {
			if r := job(t, store, id); r.Result != want || r.Failure != "" || r.DoneAt.IsZero() {
				t.Errorf("job %d is %+v, want %s", id, r, want)
			}
		}
		for id, want := range map[int64]string{failed: "no route", panicked: "it failed: the log says why",
			unknown: `there are no jobs of kind "dig"`} {
			if r := job(t, store, id); r.Failure != want {
				t.Errorf("job %d failed with %q, want %q", id, r.Failure, want)
			}
		}
		if runs.Load() != 3 || running.Most() != 2 {
			t.Errorf("%d runs, %d at once; want 3, and 2 of two kinds", runs.Load(), running.Most())
		}
	})
}

// late is a catalog whose lists of requests come late, and are old by then.
func late(store *sqlstore.Store) *sqlstore.Store {
	return catalogfile.Around(store, func(op string, do func() error) error {
		err := do()
		if op == "requests" {
			time.Sleep(700 * time.Millisecond)
		}
		return err
	})
}

// TestAJobThatEndsWhileRequestsAreRead holds that its end is not that of an equal
// request which was made after it had begun.
func TestAJobThatEndsWhileRequestsAreRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		work := func(context.Context, catalog.Request, func(int, int)) (any, error) {
			time.Sleep(1500 * time.Millisecond)
			return runs.Add(1), nil
		}
		store := startOver(t, map[string]jobs.Do{"work": work}, late)
		first := enqueue(t, store, "work", "a")
		time.Sleep(2500 * time.Millisecond)
		if r := job(t, store, first); r.StartedAt.IsZero() || !r.DoneAt.IsZero() {
			t.Fatalf("it is not under way: %+v", r)
		}
		second := enqueue(t, store, "work", "a")
		time.Sleep(time.Minute)
		for id, want := range map[int64]string{first: "1", second: "2"} {
			if r := job(t, store, id); r.Result != want || r.Failure != "" {
				t.Errorf("job %d is %+v, want %s", id, r, want)
			}
		}
	})
}

// TestACancelledJobLeavesAnEqualOne holds that whoever asked for the same gets it.
func TestACancelledJobLeavesAnEqualOne(t *testing.T) {
	for when, begins := range map[string]bool{"running": true, "before it began": false} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				over := func(store *sqlstore.Store) *sqlstore.Store {
					if begins {
						return store
					}
					return late(store)
				}
				work := func(ctx context.Context, r catalog.Request, _ func(int, int)) (any, error) {
					select {
					case <-time.After(10 * time.Second):
						return r.ID, nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				store := startOver(t, map[string]jobs.Do{"work": work}, over)
				first, second := enqueue(t, store, "work", "a"), enqueue(t, store, "work", "a")
				time.Sleep(1500 * time.Millisecond)
				if begun := !job(t, store, first).StartedAt.IsZero(); begun != begins {
					t.Fatalf("it has begun: %v", begun)
				}
				if err := store.CancelRequest(t.Context(), first); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if r := job(t, store, first); r.State() != "cancelled" {
					t.Errorf("it is %+v", r)
				}
				if r := job(t, store, second); r.Result != fmt.Sprint(second) || r.Failure != "" {
					t.Errorf("the equal one is %+v", r)
				}
			})
		})
	}
}

// TestWhatAProcessLeavesBeginsAgain holds that a job which ends no process lives
// through is given up.
func TestWhatAProcessLeavesBeginsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(),
			sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		id := enqueue(t, store, "work", "")
		began := 0
		work := func(ctx context.Context, _ catalog.Request, _ func(int, int)) (any, error) {
			began++
			<-ctx.Done()
			return nil, ctx.Err()
		}
		for range 4 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			jobs.Runner{Store: store, Do: map[string]jobs.Do{"work": work}, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
			cancel()
		}
		if r := job(t, store, id); began != 3 || r.Failure == "" {
			t.Errorf("it began %d times and is %+v", began, r)
		}
	})
}

// TestWhatIsDoneAsTheProcessEndsIsNotDoneAgain: its result would be stored twice.
func TestWhatIsDoneAsTheProcessEndsIsNotDoneAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := sqlite.Open(t.Context(),
			sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		id := enqueue(t, store, "work", "")
		began := 0
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			work := func(context.Context, catalog.Request, func(int, int)) (any, error) {
				began++
				cancel()
				return "done", nil
			}
			jobs.Runner{Store: store, Do: map[string]jobs.Do{"work": work}, Log: slog.New(slog.DiscardHandler)}.Run(ctx)
		}
		if r := job(t, store, id); began != 1 || r.Result != `"done"` || r.Failure != "" {
			t.Errorf("it began %d times and is %+v", began, r)
		}
	})
}
