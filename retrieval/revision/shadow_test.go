package revision_test

import (
	"errors"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

// TestAShadowRunsASavedProfile: what cannot run changes nothing, and who switches it is
// on record with what was before.
func TestAShadowRunsASavedProfile(t *testing.T) {
	s, _ := source(t)
	published(t, s, func(p *profile.Profile) { p.Name = "harbour" })
	now := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC)
	set := func(candidate string, share int) error {
		return revision.SetShadow(t.Context(), s.Store,
			revision.Shadow{Candidate: candidate, Share: share, By: "ada", Since: now})
	}
	is := func() revision.Shadow {
		t.Helper()
		got, err := revision.ShadowOf(t.Context(), s.Store)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := is(); got != (revision.Shadow{}) || got.String() != "off" {
		t.Errorf("never set: %+v, %s", got, got)
	}
	if err := set("harbour@1", 25); err != nil {
		t.Fatal(err)
	}
	want := revision.Shadow{Candidate: "harbour@1", Share: 25, By: "ada", Since: now}
	if got := is(); got != want {
		t.Errorf("set is %+v", got)
	}
	for _, tt := range []struct {
		candidate string
		share     int
		err       error
	}{
		{"harbour@1", -1, revision.ErrInvalid},
		{"harbour@1", 101, revision.ErrInvalid},
		{"harbour", 5, catalog.ErrNotFound}, // no revision
		{"harbour@2", 5, catalog.ErrNotFound},
	} {
		if err := set(tt.candidate, tt.share); !errors.Is(err, tt.err) || is() != want {
			t.Errorf("%s on %d %%: %v; it is then %s", tt.candidate, tt.share, err, is())
		}
	}
	if err := set("harbour@1", 0); err != nil || is().String() != "off" {
		t.Errorf("switched off: %v; it is then %s", err, is())
	}
	audit, err := s.Store.Audit(t.Context(), 2)
	if err != nil || len(audit) != 2 {
		t.Fatalf("%+v, %v", audit, err)
	}
	for i, change := range [][2]string{{"harbour@1 on 25 %", "off"}, {"off", "harbour@1 on 25 %"}} { // newest first
		if a := audit[i]; a.By != "ada" || a.Subject != "shadow" || a.Before != change[0] || a.After != change[1] {
			t.Errorf("on record is %+v, want %q", a, change)
		}
	}
}

// TestADamagedShadowIsNotSwitched: a setting that cannot be read is an error, not "off".
func TestADamagedShadowIsNotSwitched(t *testing.T) {
	s, _ := source(t)
	if err := s.Store.SetMeta(t.Context(), "shadow", "noise"); err != nil {
		t.Fatal(err)
	}
	if got, err := revision.ShadowOf(t.Context(), s.Store); err == nil {
		t.Errorf("it is read as %+v", got)
	}
	if err := revision.SetShadow(t.Context(), s.Store, revision.Shadow{}); err == nil {
		t.Error("it is replaced")
	}
}
