package main

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"almanac/api/admin"
	"almanac/catalog"
	"almanac/retrieval"
)

// newMetrics returns the metrics of the interfaces, the index and the sources.
func newMetrics(searcher retrieval.Searcher, store catalog.Reader, now func() time.Time) *admin.Metrics {
	m := admin.NewMetrics()
	m.Registry.MustRegister(sourceStates{store, now})
	gauge := func(name, help string, value func(retrieval.Status) float64) {
		m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "almanac_index_" + name, Help: help},
			func() float64 { return value(searcher.Status(context.Background())) }))
	}
	gauge("ready", "1 when the first index is complete.", func(s retrieval.Status) float64 { return oneIf(s.Ready) })
	gauge("records", "Records in the index.", func(s retrieval.Status) float64 { return float64(s.Records) })
	gauge("passages", "Passages in the index.", func(s retrieval.Status) float64 { return float64(s.Passages) })
	lag := func(s retrieval.Status) float64 { return float64(s.Lag) }
	gauge("lag_changes", "Changes of the catalog that are not indexed yet.", lag)
	for _, engine := range []string{"keyword", "vector", "embedder", "reranker"} {
		m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "almanac_engine_up", Help: "1 while the engine answers and is complete.",
			ConstLabels: prometheus.Labels{"engine": engine},
		}, func() float64 {
			is := func(d retrieval.Down) bool { return d.Engine == engine }
			return oneIf(!slices.ContainsFunc(searcher.Status(context.Background()).Down, is))
		}))
	}
	return m
}

// sourceStates collects the states of all sources when metrics are scraped.
type sourceStates struct {
	store catalog.Reader
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

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
