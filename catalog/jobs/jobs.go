// Package jobs executes the requests of the catalog in the one process that may:
// a page or a command asks for work, sees how far it is, and can cancel it.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
)

// Do executes a request. It says how far it is by progress, which any goroutine
// may call, and returns when ctx ends. The result is stored as JSON.
type Do func(ctx context.Context, r catalog.Request, progress func(done, total int)) (result any, err error)

// When returns a Do that waits until something is ready, and then works: a process
// executes requests before it has loaded what some of them need.
func When(ready func(ctx context.Context) bool, do Do) Do {
	return func(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for !ready(ctx) {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return do(ctx, r, progress)
	}
}

const (
	// pollEvery is how often requests are looked for, progress is stored, and When asks.
	pollEvery = time.Second
	// attempts is how often a request begins that no process lived to end.
	attempts = 3
)

// Runner executes requests: one of each kind at a time, oldest first, the kinds
// beside one another, equal ones once.
type Runner struct {
	Store *sqlstore.Store
	Do    map[string]Do // by kind
	Log   *slog.Logger
}

// Run executes requests until ctx ends, and returns when those under way have
// ended. What it leaves unfinished begins again in the next process.
func (x Runner) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	var mu sync.Mutex
	busy := map[string]bool{} // kinds
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	failing := false
	for {
		// Before the list is read: a request that ends meanwhile is still in it.
		mu.Lock()
		taken := maps.Clone(busy)
		mu.Unlock()
		open, err := x.Store.Requests(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			x.Log.ErrorContext(ctx, "requests cannot be read", "error", err)
		}
		failing = err != nil
		for i, r := range open {
			if taken[r.Kind] {
				continue
			}
			taken[r.Kind] = true
			mu.Lock()
			busy[r.Kind] = true
			mu.Unlock()
			var same []int64
			for _, other := range open[i+1:] {
				if other.Kind == r.Kind && other.Argument == r.Argument && other.StartedAt.IsZero() {
					same = append(same, other.ID)
				}
			}
			wg.Go(func() {
				x.execute(ctx, r, same)
				mu.Lock()
				defer mu.Unlock()
				busy[r.Kind] = false
			})
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// execute runs a request and stores what became of it; same are requests for the
// same, which its result answers too.
func (x Runner) execute(ctx context.Context, r catalog.Request, same []int64) {
	result, err := x.attempt(ctx, r)
	if ctx.Err() != nil && err != nil {
		return // it begins again at the next start
	}
	ctx = context.WithoutCancel(ctx) // what is done is not done again
	text, failure := "", ""
	if err != nil {
		failure = err.Error()
		x.Log.WarnContext(ctx, "job failed", "job", r.ID, "kind", r.Kind, "error", err)
	} else if result != nil {
		data, err := json.Marshal(result)
		if err != nil {
			failure = err.Error()
		}
		text = string(data)
	}
	ended := []int64{r.ID}
	if !errors.Is(err, errCancelled) { // else nothing answers the others: they begin in their turn
		ended = append(ended, same...)
	}
	for _, id := range ended {
		err := x.Store.FinishRequest(ctx, id, text, failure)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) { // not found: cancelled before it began
			x.Log.ErrorContext(ctx, "a job's end cannot be stored", "job", id, "error", err)
		}
	}
}

// errCancelled is the end of a request that somebody cancelled, perhaps before it
// began.
var errCancelled = errors.New("cancelled")

// attempt runs a request, whose progress it stores meanwhile.
func (x Runner) attempt(ctx context.Context, r catalog.Request) (result any, err error) {
	do := x.Do[r.Kind]
	switch {
	case do == nil:
		return nil, fmt.Errorf("there are no jobs of kind %q", r.Kind)
	case r.Attempts >= attempts:
		return nil, fmt.Errorf("it began %d times and the process ended each time: its log says why", r.Attempts)
	}
	if err := x.Store.StartRequest(ctx, r.ID); errors.Is(err, catalog.ErrNotFound) {
		return nil, errCancelled
	} else if err != nil {
		return nil, err
	}
	x.Log.InfoContext(ctx, "job begins", "job", r.ID, "kind", r.Kind, "by", r.By)
	start := time.Now()
	working, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var done, total atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			if p := recover(); p != nil {
				x.Log.ErrorContext(ctx, "job panicked", "job", r.ID, "panic", p, "stack", string(debug.Stack()))
				err = errors.New("it failed: the log says why")
			}
		}()
		result, err = do(working, r, func(d, t int) { done.Store(int64(d)); total.Store(int64(t)) })
	}()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-tick.C:
		}
		stop, failed := x.Store.ProgressRequest(ctx, r.ID, int(done.Load()), int(total.Load()))
		if failed == nil && stop {
			cancel(errCancelled)
		}
	}
	if errors.Is(context.Cause(working), errCancelled) && err != nil {
		return nil, errCancelled
	}
	if err == nil {
		x.Log.InfoContext(ctx, "job ended", "job", r.ID, "kind", r.Kind, "took", time.Since(start))
	}
	return result, err
}

// Ask adds a request of a person, and says so in the log of changes.
func Ask(ctx context.Context, store *sqlstore.Store, r catalog.Request) (id int64, err error) {
	if id, err = store.Enqueue(ctx, r); err != nil {
		return 0, err
	}
	return id, audit(ctx, store, r, id, "")
}

// Cancel asks for the end of a request, and says so in the log of changes.
// catalog.ErrNotFound if no open request has the id.
func Cancel(ctx context.Context, store *sqlstore.Store, id int64, by string) error {
	r, err := store.Job(ctx, id)
	if err != nil {
		return err
	}
	if err := store.CancelRequest(ctx, id); err != nil {
		return err
	}
	r.By = by
	return audit(ctx, store, r, id, "cancelled")
}

// audit writes to the log of changes. Arguments that are JSON are left out.
func audit(ctx context.Context, store *sqlstore.Store, r catalog.Request, id int64, note string) error {
	subject := r.Kind
	if r.Argument != "" && !strings.HasPrefix(r.Argument, "{") {
		subject += " " + r.Argument
	}
	return store.AddAudit(ctx, catalog.Audit{By: r.By, Action: "job", Subject: subject,
		After: fmt.Sprintf("job %d", id), Note: note})
}
