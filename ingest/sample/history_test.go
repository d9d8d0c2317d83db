package sample_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestPast looks at the snapshots of the days before the anchor.
func TestPast(t *testing.T) {
	c := synced(t)
	for _, want := range []struct {
		series string
		least  int
		apart  time.Duration
	}{
		{catalog.SeriesNetwork, 201, 6 * time.Hour}, {catalog.SeriesMarket, 97, time.Hour},
		{catalog.SeriesStats, 60, 24 * time.Hour},
	} {
		all := c.snapshots[want.series] // newest first
		if len(all) != want.least {
			t.Errorf("%s: %d snapshots", want.series, len(all))
			continue
		}
		for i, s := range all[1:] {
			if later := all[i].CapturedAt; i > 0 && later.Sub(s.CapturedAt) != want.apart ||
				later.Before(s.CapturedAt) {
				t.Errorf("%s: %s follows %s", want.series, later, s.CapturedAt)
			}
		}
	}
	networks := states[catalog.NetworkState](t, c.snapshots[catalog.SeriesNetwork])
	for i, s := range networks[1:] {
		if later := networks[i]; *s.LatestRound >= *later.LatestRound || *s.AppRewards >= *later.AppRewards ||
			*s.FeaturedApps > *later.FeaturedApps ||
			*s.ValidatorCount > *later.ValidatorCount || len(s.Validators) != *s.ValidatorCount {
			t.Errorf("state %d: %+v\nthen %+v", i, s, later)
		}
	}
	if first := networks[len(networks)-1]; first.Deployments[0].Version != "2.5.1" || *first.AppRewards < 0 {
		t.Errorf("fifty days ago: %+v", first)
	}
	days := states[catalog.Stats](t, c.snapshots[catalog.SeriesStats])
	for i, s := range days[1:] {
		later := days[i]
		if s.Topics > later.Topics || s.Posts > later.Posts || s.Issues > later.Issues || s.Pulls > later.Pulls ||
			s.MailThreads > later.MailThreads ||
			s.CIPs > later.CIPs || s.Blogs > later.Blogs || s.Videos > later.Videos || s.Proposals > later.Proposals {
			t.Errorf("day %d: %+v\nthen %+v", i, s, later)
		}
	}
	// Yesterday's are what the catalog holds, but for what is not dated.
	got := days[0]
	want := map[catalog.Kind]int{
		catalog.KindTopic: got.Topics, catalog.KindPost: got.Posts, catalog.KindIssue: got.Issues,
		catalog.KindPull:       got.Pulls,
		catalog.KindMailThread: got.MailThreads, catalog.KindMailMessage: got.RecordsByKind[catalog.KindMailMessage],
		catalog.KindBlog: got.Blogs, catalog.KindVideo: got.Videos, catalog.KindGrant: got.Proposals,
	}
	held := map[catalog.Kind]int{}
	for _, r := range c.records {
		if _, ok := want[r.Kind]; ok && (r.Kind != catalog.KindGrant || r.Parent == 0) {
			held[r.Kind]++
		}
	}
	if diff := cmp.Diff(held, want); diff != "" || got.CIPs != len(c.numbered(t)) {
		t.Errorf("the day before the anchor, %d proposals (-held +counted):\n%s", got.CIPs, diff)
	}
}

func states[T any](t *testing.T, snapshots []catalog.Snapshot) []T {
	t.Helper()
	var all []T
	for _, s := range snapshots {
		v, err := catalog.Decode[T](catalog.Record{Data: s.Data})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}
