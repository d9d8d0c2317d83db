package connectortest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/testing/soak"
)

// Upstream is a source of a kind at its beginning, and what can happen to it.
type Upstream struct {
	Config
	Server *Server       // whom it asks; nil: nobody
	Change func()        // changes one item
	Drop   func(*Source) // changes an option, and one item is gone
}

// faults are what servers do to whoever asks them.
var faults = map[string]Fault{
	"500": Status(500), "403": Status(403), "429": TooMany(1), "slow": Slow, "truncated": Truncated, "halved": Halved,
	"sign in": SignIn, "garbage": Garbage, "empty": Empty, "reset": Reset, "inside": Redirect(Inside[0]),
}

// Run requires of a kind what the pipeline promises of every source. upstream makes
// one, always the same, with two records at least.
func Run(t *testing.T, upstream func(t *testing.T) Upstream) {
	begin := func(t *testing.T) (Upstream, *Source, Result) {
		u := upstream(t)
		s := NewSource(t, u.Config)
		first := s.Sync()
		if first.Created != len(first.Records) || first.Created < 2 {
			t.Fatalf("first: %d created, %v, %v", first.Created, first.Keys(), first.Problems)
		}
		return u, s, first
	}
	t.Run("unchanged", func(t *testing.T) {
		_, s, first := begin(t)
		Unchanged(t, s, first)
	})
	t.Run("interrupted", func(t *testing.T) { Interrupted(t, upstream(t).Config) })
	t.Run("changed", func(t *testing.T) {
		u, s, first := begin(t)
		u.Change()
		r := s.Sync()
		if r.Updated == 0 || r.Created+r.Deleted > 0 || len(r.Records) != len(first.Records) {
			t.Errorf("%d created, %d updated, %d deleted: %v", r.Created, r.Updated, r.Deleted, r.Problems)
		}
		Unchanged(t, s, r)
	})
	t.Run("after an upgrade", func(t *testing.T) {
		u := upstream(t)
		s := NewSource(t, u.Config)
		s.spoil = func(inner bytesConnector, _ context.CancelFunc) bytesConnector { return former{inner} }
		first := s.Sync()
		s.spoil = nil
		again := s.Sync()
		if again.Changes != 0 || again.Created+again.Updated+again.Deleted != 0 {
			t.Errorf("%d created, %d updated, %d deleted", again.Created, again.Updated, again.Deleted)
		}
		if diff := cmp.Diff(first.Records, again.Records); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
		Unchanged(t, s, again)
	})
	t.Run("an option changed and an item dropped", func(t *testing.T) {
		u, s, first := begin(t)
		u.Drop(s)
		r := s.Sync()
		if r.Deleted != 1 || len(r.Records) != len(first.Records)-1 {
			t.Errorf("%d deleted, %v of %v", r.Deleted, r.Keys(), first.Keys())
		}
		Unchanged(t, s, r)
	})
	t.Run("faults", func(t *testing.T) {
		u, s, first := begin(t)
		if u.Server == nil {
			t.Skip("it asks no server")
		}
		names := slices.Sorted(maps.Keys(faults))
		for _, name := range names {
			u.Server.Fault("/", -1, faults[name])
			if r := s.Try(t.Context()); r.Changes != 0 || len(r.Records) != len(first.Records) {
				t.Errorf("%s: %d changes, %v of %v", name, r.Changes, r.Keys(), first.Keys())
			}
			u.Server.Heal()
			healed := s.Sync()
			if diff := cmp.Diff(first.Records, healed.Records); diff != "" || healed.Changes != 0 {
				t.Errorf("%s: %d changes (-before +healed)\n%s", name, healed.Changes, diff)
			}
		}
		u.Change()
		for _, name := range names {
			u.Server.Fault("/", -1, faults[name])
			if r := s.Try(t.Context()); len(r.Records) != len(first.Records) {
				t.Errorf("%s, changed meanwhile: %v of %v", name, r.Keys(), first.Keys())
			}
			u.Server.Heal()
		}
		if r := s.Sync(); r.Updated == 0 || r.Created+r.Deleted > 0 {
			t.Errorf("healed: %d created, %d updated, %d deleted", r.Created, r.Updated, r.Deleted)
		}
	})
}

// former is a connector whose state another program kept in its own way.
type former struct{ bytesConnector }

func (f former) Sync(ctx context.Context, before []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	_, outcome, err := f.bytesConnector.Sync(ctx, before, out)
	return []byte("0123456789abcdef0123456789abcdef"), outcome, err
}

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

// Interrupted ends first syncs after none and half of the records, in `make soak` also
// after some and nearly all, once with an error (which keeps the records so far) and
// once by cancelling (which loses them). It requires that the next sync gives the
// catalog and the cursor of a sync without interruption.
func Interrupted(t *testing.T, c Config) {
	t.Helper()
	whole := NewSource(t, c).Sync()
	if len(whole.Records) < 2 {
		t.Fatalf("the source has %d records: nothing to interrupt", len(whole.Records))
	}
	points := min(max(soak.Rounds(6), 2), len(whole.Records))
	for point := range points {
		after := point * len(whole.Records) / points
		for _, how := range []string{"error", "cancelled"} {
			t.Run(fmt.Sprintf("%s after %d", how, after), func(t *testing.T) {
				s := NewSource(t, c)
				s.spoil = func(inner bytesConnector, cancel context.CancelFunc) bytesConnector {
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
