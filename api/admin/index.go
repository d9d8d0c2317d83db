package admin

import (
	"context"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"almanac/retrieval"
)

// WatchIndex registers the state of an index. engines are those that are
// configured.
func (m *Metrics) WatchIndex(s retrieval.Searcher, engines ...string) {
	m.Registry.MustRegister(indexState{s, engines})
}

// indexState collects the state of the index when metrics are scraped.
type indexState struct {
	searcher retrieval.Searcher
	engines  []string
}

func indexMetric(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("almanac_"+name, help, labels, nil)
}

var (
	indexReady    = indexMetric("index_ready", "1 when the first index is complete.")
	indexRecords  = indexMetric("index_records", "Records in the index.")
	indexPassages = indexMetric("index_passages", "Passages in the index.")
	indexLag      = indexMetric("index_lag_changes", "Changes of the catalog that are not indexed yet.")
	indexNext     = indexMetric("index_next_share",
		"Share of the passages that have vectors in the index of another model, which is built meanwhile.")
	engineUp   = indexMetric("engine_up", "1 while the engine answers and is complete.", "engine")
	engineLeft = indexMetric("engine_breaker_open",
		"1 while the engine, which is on a server, failed so often that it is left alone.", "engine")
)

// Describe implements prometheus.Collector.
func (indexState) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{indexReady, indexRecords, indexPassages, indexLag, indexNext, engineUp,
		engineLeft} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (i indexState) Collect(out chan<- prometheus.Metric) {
	st := i.searcher.Status(context.Background())
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	gauge(indexReady, oneIf(st.Ready))
	gauge(indexRecords, float64(st.Records))
	gauge(indexPassages, float64(st.Passages))
	gauge(indexLag, float64(st.Lag))
	if st.Next != nil {
		gauge(indexNext, st.Next.Share())
	}
	for _, engine := range i.engines {
		down := slices.ContainsFunc(st.Down, func(d retrieval.Down) bool { return d.Engine == engine })
		gauge(engineUp, oneIf(!down), engine)
		if open, ok := st.Breakers[engine]; ok {
			gauge(engineLeft, oneIf(open), engine)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// searches are the metrics of searches and of what they embed.
type searches struct {
	stages   *prometheus.HistogramVec
	outcomes *prometheus.CounterVec
	degraded *prometheus.CounterVec
	embedded *prometheus.CounterVec
}

func newSearches(r prometheus.Registerer) searches {
	s := searches{
		stages: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_search_stage_duration_seconds", Help: "Time of each stage of a search.",
			Buckets: prometheus.ExponentialBuckets(.0001, 3, 9), // to 0.66 s
		}, []string{"stage"}),
		outcomes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_searches_total", Help: "Searches, by what became of them: found, empty or failed.",
		}, []string{"outcome"}),
		degraded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_searches_changed_total",
			Help: "Searches that were corrected, or whose keyword or vector side did not answer.",
		}, []string{"how"}),
		embedded: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_embedded_texts_total", Help: "Texts whose vector was needed: from the cache, or of the model.",
		}, []string{"by"}),
	}
	r.MustRegister(s.stages, s.outcomes, s.degraded, s.embedded)
	return s
}

// Embedded counts texts whose vectors were needed, and those of them that the
// cache did not have.
func (m *Metrics) Embedded(texts, unknown int) {
	m.searches.embedded.WithLabelValues("cache").Add(float64(texts - unknown))
	m.searches.embedded.WithLabelValues("model").Add(float64(unknown))
}

// Searcher returns a searcher whose searches are counted.
func (m *Metrics) Searcher(s retrieval.Searcher) retrieval.Searcher { return counted{s, m.searches} }

type counted struct {
	retrieval.Searcher
	searches searches
}

// Search implements retrieval.Searcher.
func (c counted) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	res, err := c.Searcher.Search(ctx, r)
	switch {
	case ctx.Err() != nil: // the client left
	case err != nil:
		c.searches.outcomes.WithLabelValues("failed").Inc()
	case res.Total == 0:
		c.searches.outcomes.WithLabelValues("empty").Inc()
	default:
		c.searches.outcomes.WithLabelValues("found").Inc()
	}
	for stage, took := range res.Timings {
		c.searches.stages.WithLabelValues(stage).Observe(took.Seconds())
	}
	for _, side := range res.Degraded {
		c.searches.degraded.WithLabelValues("without " + side).Inc()
	}
	if res.Corrected != "" {
		c.searches.degraded.WithLabelValues("corrected").Inc()
	}
	return res, err
}

// Synced counts a run of a source.
func (m *Metrics) Synced(source string, ok bool, took time.Duration) {
	outcome := "ok"
	if !ok {
		outcome = "failed"
	}
	m.syncs.WithLabelValues(source, outcome).Inc()
	m.syncTimes.WithLabelValues(source).Add(took.Seconds())
}
