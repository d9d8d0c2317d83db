package meta

import (
	"fmt"
	"testing"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/testing/catalogfile"
)

// Derived records are as old as the oldest of their sources.
func TestDerivedRecordsAreAsFreshAsTheReleases(t *testing.T) {
	now := time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for of, n := range map[[2]string]int{
		{"forge", string(catalog.KindRelease)}: 3, {"notes", string(catalog.KindRelease)}: 2,
		{catalog.DerivedSource, string(catalog.KindRadar)}: 4,
	} {
		b := catalog.Batch{Source: of[0]}
		for i := range n {
			b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.Kind(of[1]),
				Key: fmt.Sprint(of[0], i)}})
		}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []catalog.SourceState{
		{Name: "forge", LastRun: now, LastSuccess: now.Add(-2 * time.Hour), Freshness: time.Hour},
		{Name: "notes", LastRun: now, LastSuccess: now.Add(-time.Minute), Freshness: time.Hour},
	} {
		if err := store.SetSource(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	out, err := runSources(t.Context(), kb.Base{Catalog: store, Now: func() time.Time { return now }}.Prepared(),
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
