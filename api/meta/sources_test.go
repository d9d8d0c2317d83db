package meta

import (
	"context"
	"testing"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
)

// counted is a catalog with only the methods that sources calls.
type counted struct {
	catalog.Store
	counts []catalog.Count
	states []catalog.SourceState
}

func (c counted) Counts(context.Context) ([]catalog.Count, error) { return c.counts, nil }

func (c counted) LastChange(context.Context) (int64, error) { return 1, nil }

func (c counted) Sources(context.Context) ([]catalog.SourceState, error) { return c.states, nil }

// Derived records are as old as the oldest of their sources.
func TestDerivedRecordsAreAsFreshAsTheReleases(t *testing.T) {
	now := time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)
	c := counted{
		counts: []catalog.Count{
			{Kind: catalog.KindRelease, Source: "forge", N: 3}, {Kind: catalog.KindRelease, Source: "notes", N: 2},
			{Kind: catalog.KindRadar, Source: catalog.DerivedSource, N: 4},
		},
		states: []catalog.SourceState{
			{Name: "forge", LastRun: now, LastSuccess: now.Add(-2 * time.Hour), Freshness: time.Hour},
			{Name: "notes", LastRun: now, LastSuccess: now.Add(-time.Minute), Freshness: time.Hour},
		},
	}
	out, err := runSources(t.Context(), kb.Base{Catalog: c, Now: func() time.Time { return now }}.Prepared(),
		struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if out.TotalRecords != 9 || len(out.Sources) != 2 {
		t.Fatalf("%+v", out)
	}
	radar := out.Sources[1]
	if radar.Type != "radar" || radar.AgeSeconds == nil || *radar.AgeSeconds != 7200 || !radar.Stale ||
		len(radar.Names) != 1 {
		t.Errorf("%+v", radar)
	}
}
