package admin

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"almanac/catalog/sqlstore"
)

// WatchSources registers the states of all sources.
func (m *Metrics) WatchSources(store *sqlstore.Store, now func() time.Time) {
	m.Registry.MustRegister(sourceStates{store, now})
}

// sourceStates collects the states of all sources when metrics are scraped.
type sourceStates struct {
	store *sqlstore.Store
	now   func() time.Time
}

func sourceMetric(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("almanac_source_"+name, help, []string{"source"}, nil)
}

var (
	sourceRecords = sourceMetric("records", "Live records that the source owns.")
	sourceRun     = sourceMetric("last_run_timestamp_seconds", "Time of the last sync.")
	sourceSuccess = sourceMetric("last_success_timestamp_seconds", "Time of the last complete sync.")
	sourceFailed  = sourceMetric("failed", "1 when the last run failed.")
	sourceSkipped = sourceMetric("skipped_items", "Items that the last run could not read.")
	sourceStale   = sourceMetric("stale", "1 when the last success is older than the source's freshness threshold.")
)

// Describe implements prometheus.Collector.
func (sourceStates) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		sourceRecords, sourceRun, sourceSuccess, sourceFailed, sourceSkipped, sourceStale,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (s sourceStates) Collect(out chan<- prometheus.Metric) {
	states, err := s.store.Sources(context.Background())
	if err != nil {
		out <- prometheus.NewInvalidMetric(sourceRun, err)
		return
	}
	counts, err := s.store.Counts(context.Background())
	if err != nil {
		out <- prometheus.NewInvalidMetric(sourceRecords, err)
		return
	}
	records := map[string]int{}
	for _, c := range counts {
		records[c.Source] += c.N
	}
	for _, st := range states {
		gauge := func(d *prometheus.Desc, v float64) {
			out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, st.Name)
		}
		gauge(sourceRecords, float64(records[st.Name]))
		gauge(sourceRun, seconds(st.LastRun))
		gauge(sourceSuccess, seconds(st.LastSuccess))
		gauge(sourceFailed, oneIf(st.Error != ""))
		gauge(sourceSkipped, float64(st.Skipped))
		gauge(sourceStale, oneIf(st.Stale(s.now())))
	}
}

// seconds returns the seconds since 1970, 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
