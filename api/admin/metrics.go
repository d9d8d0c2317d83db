package admin

import (
	"cmp"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
)

// Metrics counts the answers of the interfaces. Other parts of the program
// register their collectors in Registry.
type Metrics struct {
	Registry *prometheus.Registry

	requests     *prometheus.CounterVec
	requestTimes *prometheus.HistogramVec
	refusals     *prometheus.CounterVec
	calls        *prometheus.CounterVec
	callTimes    *prometheus.HistogramVec
	syncs        *prometheus.CounterVec
	syncTimes    *prometheus.CounterVec
	searches     searches

	underWay atomic.Int64
}

// buckets of durations, in seconds: a search takes about 10 ms, and a request
// is cut off after 15 s.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 15}

// NewMetrics makes a new registry with the collectors of the Go runtime and the
// process.
func NewMetrics() *Metrics {
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_http_requests_total", Help: "Requests answered, by route and status; 499: the client left.",
		}, []string{"method", "route", "status"}),
		requestTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_http_request_duration_seconds", Help: "Time to answer a request.", Buckets: buckets,
		}, []string{"route"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_limit_refusals_total", Help: "Calls and connections refused, by bucket of the limits.",
		}, []string{"bucket"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "almanac_tool_calls_total", Help: "Tool calls, by tool and outcome: ok, error or panic.",
		}, []string{"tool", "outcome"}),
		callTimes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "almanac_tool_call_duration_seconds", Help: "Time a tool took.", Buckets: buckets,
		}, []string{"tool"}),
	}
	m.syncs = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "almanac_sync_runs_total", Help: "Runs of a source, by outcome: ok or failed.",
	}, []string{"source", "outcome"})
	m.syncTimes = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "almanac_sync_seconds_total", Help: "Time that the runs of a source took.",
	}, []string{"source"})
	m.searches = newSearches(m.Registry)
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "almanac_http_requests_running", Help: "Requests under way on the public listener.",
	}, func() float64 { return float64(m.Running()) }))
	m.Registry.MustRegister(m.requests, m.requestTimes, m.refusals, m.calls, m.callTimes, m.syncs, m.syncTimes,
		collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// unmatched is the route of requests that no pattern matches.
const unmatched = "unmatched"

// ObserveRequest counts an answered request. route is a pattern, never an
// address, so that clients cannot create series; "" = none.
func (m *Metrics) ObserveRequest(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
	default:
		method = "other"
	}
	route = cmp.Or(route, unmatched)
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTimes.WithLabelValues(route).Observe(took.Seconds())
}

// Build tells the version of the program: release and revision.
func (m *Metrics) Build(release, revision string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "almanac_build_info", Help: "1; the labels say which program runs.",
		ConstLabels: prometheus.Labels{"version": release, "revision": revision},
	})
	info.Set(1)
	m.Registry.MustRegister(info)
}

// WatchLimits tells whether replicas count calls together.
func (m *Metrics) WatchLimits(away func() bool) {
	m.Registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "almanac_limits_shared", Help: "1 while calls are counted in Redis; 0 while each replica counts its own.",
	}, func() float64 { return oneIf(!away()) }))
}

// Begin counts a request that is under way until end is called.
func (m *Metrics) Begin() (end func()) {
	m.underWay.Add(1)
	return func() { m.underWay.Add(-1) }
}

// Running is how many requests are under way.
func (m *Metrics) Running() int { return int(m.underWay.Load()) }

// Refusals returns a function that counts a refusal of a bucket, from 0.
func (m *Metrics) Refusals(bucket string) func() {
	return m.refusals.WithLabelValues(bucket).Inc
}

// ObserveTool counts a tool call.
func (m *Metrics) ObserveTool(tool, outcome string, took time.Duration) {
	m.calls.WithLabelValues(tool, outcome).Inc()
	m.callTimes.WithLabelValues(tool).Observe(took.Seconds())
}

func (m *Metrics) handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.Registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	})
}

// Refused returns how many calls, connections and logins were refused, by bucket.
func (m *Metrics) Refused() map[string]int { return counts(m.refusals, "bucket") }

// EmbeddedTexts returns how many texts' vectors the cache had, and how many the
// model had to make.
func (m *Metrics) EmbeddedTexts() (cache, model int) {
	by := counts(m.searches.embedded, "by")
	return by["cache"], by["model"]
}

// counts reads a counter by one of its labels.
func counts(c prometheus.Collector, label string) map[string]int {
	out, series := map[string]int{}, make(chan prometheus.Metric)
	go func() {
		defer close(series)
		c.Collect(series)
	}()
	for s := range series {
		var m dto.Metric
		if s.Write(&m) != nil {
			continue // a counter of ours can be read
		}
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				out[l.GetValue()] += int(m.GetCounter().GetValue())
			}
		}
	}
	return out
}
