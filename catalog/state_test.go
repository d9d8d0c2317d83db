package catalog_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"almanac/catalog"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

func TestAnEndpointIsCalledByItsRouteWithAndWithoutItsBase(t *testing.T) {
	for _, c := range []struct {
		endpoint catalog.APIEndpoint
		want     []string
	}{
		{catalog.APIEndpoint{Route: "/lamps/{id}"}, []string{"/lamps/{id}"}},
		{catalog.APIEndpoint{Route: "/lamps/{id}", Base: "/api/v2", Operation: "getLamp"},
			[]string{"/lamps/{id}", "/api/v2/lamps/{id}", "getLamp"}},
	} {
		if got := c.endpoint.Names(); !slices.Equal(got, c.want) {
			t.Errorf("it is called %q, want %q", got, c.want)
		}
	}
}

// Nobody rewrites the record of an operation when its window ends.
func TestAnOperationThatIsOverIsCompleted(t *testing.T) {
	past, future := noon.Add(-time.Hour), noon.Add(time.Hour)
	for name, c := range map[string]struct {
		state      string
		start, end time.Time
		want       string
	}{
		"its end has passed":              {catalog.OperationScheduled, past, past, catalog.OperationCompleted},
		"it ends now":                     {catalog.OperationScheduled, past, noon, catalog.OperationCompleted},
		"it is under way":                 {catalog.OperationScheduled, past, future, catalog.OperationScheduled},
		"it has no end, and began":        {catalog.OperationScheduled, past, time.Time{}, catalog.OperationCompleted},
		"it has no end, and will begin":   {catalog.OperationScheduled, future, time.Time{}, catalog.OperationScheduled},
		"nobody knows when":               {catalog.OperationScheduled, time.Time{}, time.Time{}, catalog.OperationScheduled},
		"it was cancelled":                {catalog.OperationCancelled, past, past, catalog.OperationCancelled},
		"it was completed before its end": {catalog.OperationCompleted, past, future, catalog.OperationCompleted},
	} {
		r := catalog.Record{Kind: catalog.KindOperation, State: c.state, StartsAt: c.start, EndsAt: c.end}
		if got := catalog.OperationState(r, noon); got != c.want {
			t.Errorf("%s: it is %s, want %s", name, got, c.want)
		}
	}
}

// Packages that know no catalog ask an error for its method.
func TestAnUnreachableDatabaseIsToldApart(t *testing.T) {
	err := fmt.Errorf("catalog: list: %w", catalog.ErrUnreachable)
	var unreachable interface{ Unreachable() }
	const want = "catalog: list: is the database running, and is its address right?"
	if !errors.As(err, &unreachable) || err.Error() != want {
		t.Errorf("it says %q", err)
	}
	if errors.As(error(catalog.ErrOvertaken), &unreachable) {
		t.Error("a writer that was overtaken counts as unreachable")
	}
}

// A source that left something out and has records was read; so was one that had
// nothing to read.
func TestASourceOfWhichNothingIsReadIsUnread(t *testing.T) {
	for name, c := range map[string]struct {
		state catalog.SourceState
		want  bool
	}{
		"all was left out":     {catalog.SourceState{Skipped: 2, Remark: catalog.NoRecords + ": both are pictures"}, true},
		"there is nothing":     {catalog.SourceState{Remark: catalog.NoRecords}, false},
		"some was left out":    {catalog.SourceState{Skipped: 2, Remark: "two are pictures"}, false},
		"nothing was left out": {catalog.SourceState{}, false},
		"the words come later": {catalog.SourceState{Skipped: 1, Remark: "lamps.md has no records"}, false},
	} {
		if got := c.state.Unread(); got != c.want {
			t.Errorf("%s: unread is %v", name, got)
		}
	}
}

func TestARequestSaysHowItStands(t *testing.T) {
	for want, r := range map[string]catalog.Request{
		"waiting":   {CreatedAt: noon},
		"running":   {StartedAt: noon},
		"stopping":  {StartedAt: noon, Cancelled: true},
		"done":      {StartedAt: noon, DoneAt: noon},
		"cancelled": {StartedAt: noon, DoneAt: noon, Cancelled: true, Failure: "it was cancelled"},
		"failed":    {StartedAt: noon, DoneAt: noon, Failure: "the source does not answer"},
	} {
		if got := r.State(); got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
	}
	// What was finished before it was told to stop has its result.
	late := catalog.Request{StartedAt: noon, DoneAt: noon, Cancelled: true, Result: "{}"}
	if got := late.State(); got != "done" {
		t.Errorf("one that was too late to cancel is %s", got)
	}
}

func TestAConflictSaysWhoChangedWhatAndWhen(t *testing.T) {
	east := time.FixedZone("east", 9*60*60)
	err := fmt.Errorf("publish: %w", &catalog.ConflictError{What: "default@14", By: "ada", At: noon.In(east)})
	if want := "publish: default@14 was changed by ada at 12:00:00"; err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	if !errors.Is(err, catalog.ErrConflict) || errors.Is(err, catalog.ErrNotFound) {
		t.Error("it is no conflict, or something else too")
	}
}
