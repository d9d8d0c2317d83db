package connectortest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/ingest"
)

// Unchanged runs a source whose upstream has not changed since its last sync and
// requires that nothing is written: no record, no change, no cursor.
func Unchanged(t testing.TB, s *Source, last Result) {
	t.Helper()
	again := s.Sync()
	if again.Changes != 0 || again.Created+again.Updated+again.Deleted != 0 {
		t.Errorf("without change upstream: %d created, %d updated, %d deleted, %d changes",
			again.Created, again.Updated, again.Deleted, again.Changes)
	}
	if again.Cursor != last.Cursor {
		t.Errorf("without change upstream the cursor became\n%s\nfrom\n%s", again.Cursor, last.Cursor)
	}
	if diff := cmp.Diff(last.Records, again.Records); diff != "" {
		t.Errorf("without change upstream the catalog changed (-before +after)\n%s", diff)
	}
}

// maxPoints is how many points Interrupted tries.
const maxPoints = 6

// Interrupted ends first syncs after none, some and nearly all records, once
// with an error (which keeps the records so far) and once by cancelling (which
// loses them). It requires that the next sync gives the catalog and the cursor
// of a sync without interruption.
func Interrupted(t *testing.T, c Config) {
	t.Helper()
	whole := NewSource(t, c).Sync()
	if len(whole.Records) < 2 {
		t.Fatalf("the source has %d records: nothing to interrupt", len(whole.Records))
	}
	for point := range min(maxPoints, len(whole.Records)) {
		after := point * len(whole.Records) / min(maxPoints, len(whole.Records))
		for _, how := range []string{"error", "cancelled"} {
			t.Run(fmt.Sprintf("%s after %d", how, after), func(t *testing.T) {
				s := NewSource(t, c)
				s.spoil = func(inner ingest.Cursored, cancel context.CancelFunc) ingest.Cursored {
					return spoiler{inner, after, func() error {
						if how == "error" {
							return errSpoiled
						}
						cancel()
						return nil
					}}
				}
				if r := s.Try(t.Context()); !errors.Is(r.Err, errSpoiled) && !errors.Is(r.Err, context.Canceled) {
					t.Fatalf("the run was not interrupted: %v", r.Err)
				} else if r.Cursor != "" {
					t.Errorf("an interrupted run left the cursor %q", r.Cursor)
				}
				s.spoil = nil
				Same(t, whole, s.Sync())
			})
		}
	}
}

// Same requires two results to have the same records, parents and cursor; ids
// and first-seen times may differ.
func Same(t testing.TB, want, got Result) {
	t.Helper()
	ignored := cmpopts.IgnoreFields(catalog.Record{}, "ID", "Parent", "FirstSeenAt")
	if diff := cmp.Diff(want.Records, got.Records, ignored); diff != "" {
		t.Errorf("the catalog differs (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(want.parents(), got.parents()); diff != "" {
		t.Errorf("parents differ (-want +got)\n%s", diff)
	}
	if want.Cursor != got.Cursor {
		t.Errorf("the cursor is\n%s\nwant\n%s", got.Cursor, want.Cursor)
	}
}

// parents maps the references of child records to those of their parents.
func (r Result) parents() map[string]string {
	refs, parents := map[int64]string{}, map[string]string{}
	for _, rec := range r.Records {
		refs[rec.ID] = rec.Ref().String()
	}
	for _, rec := range r.Records {
		if rec.Parent != 0 {
			parents[rec.Ref().String()] = refs[rec.Parent]
		}
	}
	return parents
}
