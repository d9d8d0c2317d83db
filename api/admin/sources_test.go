package admin

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
)

// syncedStore is a catalog of two sources: one is well, the other failed and
// is stale.
func syncedStore(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	at := time.Date(2031, 6, 1, 12, 0, 0, 0, time.UTC)
	for _, s := range []catalog.SourceState{
		{Name: "docs", Kind: "site", LastRun: at, LastSuccess: at, Freshness: time.Hour, Skipped: 3},
		{Name: "forum", Kind: "forum", LastRun: at, LastSuccess: at.Add(-2 * time.Hour), Freshness: time.Hour,
			Error: "away"},
		{Name: "mail", Kind: "mail", LastRun: at, Error: "never there"},
	} {
		if err := store.SetSource(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	_, err = store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: "a"}},
		{Record: catalog.Record{Kind: catalog.KindBlog, Key: "b"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestEverySourceHasItsMetrics(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	now := func() time.Time { return time.Date(2031, 6, 1, 12, 30, 0, 0, time.UTC) }
	registry.MustRegister(sourceStates{syncedStore(t), now})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]float64{} // docs, forum, mail
	for _, f := range families {
		for _, series := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "almanac_source_")
			got[name] = append(got[name], series.GetGauge().GetValue())
		}
	}
	noon := float64(now().Add(-30 * time.Minute).Unix())
	want := map[string][]float64{
		"records": {2, 0, 0}, "failed": {0, 1, 1}, "stale": {0, 1, 0}, "skipped_items": {3, 0, 0},
		"last_run_timestamp_seconds": {noon, noon, noon}, "last_success_timestamp_seconds": {noon, noon - 7200, 0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
