package versions

import (
	"cmp"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/text/dates"
)

// Window is a planned freeze of topology or upgrade of the synchronizer in one
// environment.
type Window struct {
	Environment    string
	Type           string // catalog.OperationFreeze, catalog.OperationSynchronizerUpgrade
	Starts, Ends   time.Time
	MinimumVersion string
	MigrationID    *int
	Tentative      bool
	Operation      *catalog.Record // of the calendar; nil: only the ledger announces it
	OnLedger       bool            // the ledger announces it
}

// AnnouncedBy names what announces a window: calendar, ledger or both.
func (w Window) AnnouncedBy() (by []string) {
	if w.Operation != nil {
		by = append(by, "calendar")
	}
	if w.OnLedger {
		by = append(by, "ledger")
	}
	return by
}

// Windows returns the windows that are not over, soonest first: those of the
// operations calendar and those that the ledger announces, each once if both say
// the same time. The network may be nil.
func Windows(operations []catalog.Record, network *catalog.NetworkState, now time.Time) []Window {
	var out []Window
	for i, r := range operations {
		if r.Category != catalog.OperationFreeze && r.Category != catalog.OperationSynchronizerUpgrade ||
			r.StartsAt.IsZero() || !pending(r, now) {
			continue
		}
		d, _ := catalog.Decode[catalog.Operation](r) // without data: no environment
		for _, environment := range d.Environments {
			out = append(out, Window{Environment: environment, Type: r.Category, Starts: r.StartsAt, Ends: r.EndsAt,
				MinimumVersion: d.MinimumVersion, Tentative: d.Tentative, Operation: &operations[i]})
		}
	}
	if network != nil {
		for _, d := range network.Deployments {
			if u := d.Upgrade; u != nil {
				out = announced(out, d.Environment, catalog.OperationFreeze, u.FreezeAt, nil, now)
				out = announced(out, d.Environment, catalog.OperationSynchronizerUpgrade, u.At, u.MigrationID, now)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Window) int {
		return cmp.Or(a.Starts.Compare(b.Starts), cmp.Compare(a.Environment, b.Environment))
	})
	return out
}

// announced adds what the ledger says to the window of the same time, or as one
// of its own.
func announced(windows []Window, environment, kind, at string, migration *int, now time.Time) []Window {
	starts := dates.At(at, dates.Instant)
	if !starts.After(now) {
		return windows
	}
	for i, w := range windows {
		if w.Type == kind && catalog.SameName(w.Environment, environment) && w.Starts.Equal(starts) {
			windows[i].OnLedger, windows[i].MigrationID = true, migration
			return windows
		}
	}
	return append(windows, Window{Environment: environment, Type: kind, Starts: starts, MigrationID: migration,
		OnLedger: true})
}

// pending reports whether an operation is planned or going on.
func pending(r catalog.Record, now time.Time) bool {
	return catalog.OperationState(r, now) == catalog.OperationScheduled
}
