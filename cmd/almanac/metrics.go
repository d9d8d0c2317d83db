package main

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"almanac/api/admin"
	"almanac/retrieval"
)

// newMetrics are those of the interfaces with what the operator wants to know
// of the index.
func newMetrics(searcher retrieval.Searcher) *admin.Metrics {
	m := admin.NewMetrics()
	gauge := func(name, help string, value func(retrieval.Status) float64) {
		m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "almanac_index_" + name, Help: help},
			func() float64 { return value(searcher.Status(context.Background())) }))
	}
	gauge("ready", "1 when the first index is complete.", func(s retrieval.Status) float64 {
		if s.Ready {
			return 1
		}
		return 0
	})
	gauge("records", "Records in the index.", func(s retrieval.Status) float64 { return float64(s.Records) })
	gauge("passages", "Passages in the index.", func(s retrieval.Status) float64 { return float64(s.Passages) })
	gauge("lag_changes", "Changes of the catalog that are not indexed yet.", func(s retrieval.Status) float64 { return float64(s.Lag) })
	for _, engine := range []string{"keyword", "vector", "embedder", "reranker"} {
		m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "almanac_engine_up", Help: "1 while the engine answers and holds everything.", ConstLabels: prometheus.Labels{"engine": engine}},
			func() float64 {
				for _, d := range searcher.Status(context.Background()).Down {
					if d.Engine == engine {
						return 0
					}
				}
				return 1
			}))
	}
	return m
}
