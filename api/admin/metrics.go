package admin

import (
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
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
	m.Registry.MustRegister(m.requests, m.requestTimes, m.refusals, m.calls, m.callTimes,
		collectors.NewGoCollector(), collectors.NewBuildInfoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// ObserveRequest counts an answered request. route is a pattern, never an
// address, so that clients cannot create series.
func (m *Metrics) ObserveRequest(method, route string, status int, took time.Duration) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	m.requestTimes.WithLabelValues(route).Observe(took.Seconds())
}

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
