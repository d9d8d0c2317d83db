package workbench

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/ranking"
	"almanac/text/dates"
)

// BySchedule asks for the runs that nobody asked for.
const BySchedule = "schedule"

// lookEvery is how often the cases are looked at.
const lookEvery = time.Minute

// Schedule asks for a run of what is published for each case when its time has
// come, until ctx ends. Only the process that writes the index calls it. When a
// case was asked for last is kept in the catalog, so that a restart neither
// repeats nor forgets one; of several that are due one is asked for at a time, the
// longest due first.
func Schedule(ctx context.Context, store *sqlstore.Store, log *slog.Logger) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if err := Due(ctx, store, time.Now()); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "scheduled evaluation failed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Due asks for one run if a case is due and no scheduled run is open.
func Due(ctx context.Context, store *sqlstore.Store, now time.Time) error {
	cases, err := store.Cases(ctx)
	if err != nil {
		return err
	}
	cases = slices.DeleteFunc(cases, func(c catalog.Case) bool { return c.Every <= 0 })
	if len(cases) == 0 {
		return nil
	}
	open, err := store.Requests(ctx)
	if err != nil || slices.ContainsFunc(open, func(r catalog.Request) bool {
		return r.Kind == EvalTask{}.Kind() && r.By == BySchedule
	}) {
		return err
	}
	asked := make(map[int64]time.Time, len(cases))
	for _, c := range cases {
		text, err := store.Meta(ctx, metaAsked(c.ID))
		if err != nil {
			return err
		}
		asked[c.ID] = dates.At(text, dates.Instant) // never: due at once
	}
	due := func(c catalog.Case) time.Time { return asked[c.ID].Add(c.Every) }
	first := slices.MinFunc(cases, func(a, b catalog.Case) int {
		return cmp.Or(due(a).Compare(due(b)), cmp.Compare(a.ID, b.ID))
	})
	if due(first).After(now) {
		return nil
	}
	task := EvalTask{Case: first.ID, Profiles: []string{ranking.Live}}
	if _, err := Ask(ctx, store, task, BySchedule); err != nil {
		return err
	}
	return store.SetMeta(ctx, metaAsked(first.ID), now.UTC().Format(time.RFC3339))
}

// metaAsked is where the catalog keeps when a case was asked for last.
func metaAsked(id int64) string { return fmt.Sprintf("evaluated/%d", id) }
