package meta

import (
	"testing"
	"time"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

// TestFeeds holds that a kind is as fresh as the oldest of its sources, and
// derived records as the releases.
func TestFeeds(t *testing.T) {
	counts := []catalog.Count{
		{Kind: catalog.KindRadar, Source: catalog.DerivedSource, N: 4},
		{Kind: catalog.KindRelease, Source: "forge", N: 3},
		{Kind: catalog.KindRelease, Source: "forge", State: "latest", N: 1},
		{Kind: catalog.KindRelease, Source: "notes", N: 2},
		{Kind: catalog.KindCIP, Source: "proposals", N: 7},
	}
	states := []catalog.SourceState{
		{Name: "forge", LastRun: recordtest.Ago(1), LastSuccess: recordtest.Ago(2), Freshness: time.Hour,
			Error: "no route to host"},
		{Name: "notes", LastRun: recordtest.Ago(3), LastSuccess: recordtest.Ago(1), Freshness: 9 * time.Hour},
		{Name: "proposals", LastRun: recordtest.Ago(1), Freshness: time.Hour},
		{Name: "other", LastRun: recordtest.Ago(90), LastSuccess: recordtest.Ago(90), Freshness: time.Hour},
	}
	feeds := fed(counts, states, recordtest.Noon)
	if len(feeds) != 3 {
		t.Fatalf("%+v", feeds)
	}
	never, releases, radar := feeds[0], feeds[1], feeds[2]
	if never.Type != "cip" || never.Count != 7 || never.LastSynced != nil || never.AgeSeconds != nil ||
		never.Stale || never.Error != nil || !never.LastRun.Equal(recordtest.Ago(1)) {
		t.Errorf("never synced: %+v", never)
	}
	if releases.Count != 6 || len(releases.Names) != 2 {
		t.Errorf("releases: %+v", releases)
	}
	if radar.Type != "radar" || radar.Count != 4 || len(radar.Names) != 1 {
		t.Errorf("radar: %+v", radar)
	}
	for _, f := range []Source{releases, radar} {
		if !f.LastSynced.Equal(recordtest.Ago(2)) || !f.LastRun.Equal(recordtest.Ago(3)) || *f.AgeSeconds != 7200 ||
			*f.FreshnessSeconds != 3600 || !f.Stale || f.Error == nil {
			t.Errorf("%s: %+v", f.Type, f.Freshness)
		}
	}
}
