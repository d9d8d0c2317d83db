package telemetry_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"almanac/cmd/telemetry"
)

// collector takes what is sent to it.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	asked    []string
	services []string
	spans    []string
	said     []byte // all that came in traces
	metrics  map[string]float64
}

func startCollector(t *testing.T) *collector {
	c := &collector{metrics: map[string]float64{}}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	c.asked = append(c.asked, r.URL.Path+" "+r.Header.Get("Content-Type")+" "+r.Header.Get("Api-Key"))
	var traces collecttraces.ExportTraceServiceRequest
	var metrics collectmetrics.ExportMetricsServiceRequest
	switch {
	case err != nil:
	case r.URL.Path == "/v1/traces":
		err = proto.Unmarshal(body, &traces)
		c.said = append(c.said, body...)
	case r.URL.Path == "/v1/metrics":
		err = proto.Unmarshal(body, &metrics)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, of := range traces.GetResourceSpans() {
		for _, a := range of.GetResource().GetAttributes() {
			if a.GetKey() == "service.name" {
				c.services = append(c.services, a.GetValue().GetStringValue())
			}
		}
		for _, scope := range of.GetScopeSpans() {
			for _, s := range scope.GetSpans() {
				c.spans = append(c.spans, s.GetName())
			}
		}
	}
	for _, of := range metrics.GetResourceMetrics() {
		for _, scope := range of.GetScopeMetrics() {
			for _, m := range scope.GetMetrics() {
				for _, p := range m.GetSum().GetDataPoints() {
					c.metrics[m.GetName()] += p.GetAsDouble() + float64(p.GetAsInt())
				}
			}
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// run starts telemetry, does something and ends it; it returns the log.
func run(t *testing.T, texts bool) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	searches := prometheus.NewCounter(prometheus.CounterOpts{Name: "almanac_searches_total", Help: "Searches."})
	registry.MustRegister(searches)
	var log bytes.Buffer
	stop, err := telemetry.Start(t.Context(), telemetry.Config{Metrics: registry, Version: "1.2.3", Texts: texts,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	searches.Add(7)
	_, s := otel.Tracer("almanac").Start(t.Context(), "search",
		trace.WithAttributes(attribute.String("query", "who is mira"), attribute.Int("query.length", 11)))
	s.SetStatus(codes.Error, "mira is refused")
	s.End()
	stop()
	return log.String()
}

// clean unsets what the machine may have set.
func clean(t *testing.T, environment map[string]string) {
	for _, name := range []string{"SDK_DISABLED", "TRACES_EXPORTER", "METRICS_EXPORTER", "EXPORTER_OTLP_ENDPOINT",
		"EXPORTER_OTLP_PROTOCOL", "EXPORTER_OTLP_HEADERS", "EXPORTER_OTLP_TRACES_ENDPOINT", "SERVICE_NAME"} {
		t.Setenv("OTEL_"+name, "")
	}
	for name, value := range environment {
		t.Setenv("OTEL_"+name, value)
	}
}

func TestACollectorGetsTracesAndMetrics(t *testing.T) {
	c := startCollector(t)
	clean(t, map[string]string{"EXPORTER_OTLP_ENDPOINT": c.URL, "SERVICE_NAME": "harbour",
		"EXPORTER_OTLP_HEADERS": "api-key=hush"})
	log := run(t, false)
	if !slices.Contains(c.spans, "search") || c.metrics["almanac_searches_total"] != 7 ||
		!slices.Contains(c.services, "harbour") {
		t.Errorf("spans %q of %q, metrics %v; log %s", c.spans, c.services, c.metrics, log)
	}
	for _, asked := range c.asked {
		if !strings.HasSuffix(asked, " application/x-protobuf hush") {
			t.Errorf("asked %q", asked)
		}
	}
	if strings.Contains(log, "hush") {
		t.Errorf("the log has a key: %s", log)
	}
	if _, s := otel.Tracer("almanac").Start(t.Context(), "later"); s.IsRecording() {
		t.Error("spans are made after the end")
	}
}

// TestWhatPeopleWroteIsSentIfTheOperatorSaysSo: otherwise its length is, and that something failed.
func TestWhatPeopleWroteIsSentIfTheOperatorSaysSo(t *testing.T) {
	for _, texts := range []bool{false, true} {
		c := startCollector(t)
		clean(t, map[string]string{"EXPORTER_OTLP_ENDPOINT": c.URL})
		run(t, texts)
		for text, want := range map[string]bool{"who is mira": texts, "mira is refused": texts, "query.length": true} {
			if bytes.Contains(c.said, []byte(text)) != want {
				t.Errorf("with texts %v: is %q sent? %v", texts, text, !want)
			}
		}
	}
}

func TestTheEnvironmentDecidesWhatIsSent(t *testing.T) {
	for name, test := range map[string]struct {
		environment     map[string]string
		traces, metrics bool
		warns           string
	}{
		"nothing is set":       {nil, false, false, ""},
		"no traces":            {map[string]string{"TRACES_EXPORTER": "none"}, false, true, ""},
		"no metrics":           {map[string]string{"METRICS_EXPORTER": "none"}, true, false, ""},
		"disabled":             {map[string]string{"SDK_DISABLED": "TRUE"}, false, false, ""},
		"another exporter":     {map[string]string{"TRACES_EXPORTER": "zipkin"}, false, true, "OTEL_TRACES_EXPORTER"},
		"another protocol":     {map[string]string{"EXPORTER_OTLP_PROTOCOL": "grpc"}, false, false, "http/protobuf"},
		"the protocol by name": {map[string]string{"EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, true, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := startCollector(t)
			clean(t, test.environment)
			if test.environment != nil {
				t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
			}
			log := run(t, false)
			if len(c.spans) > 0 != test.traces || len(c.metrics) > 0 != test.metrics {
				t.Errorf("spans %q, metrics %v; log %s", c.spans, c.metrics, log)
			}
			if warned := strings.Contains(log, "WARN"); warned != (test.warns != "") || !strings.Contains(log, test.warns) {
				t.Errorf("log %s", log)
			}
		})
	}
}

// TestACollectorThatIsAwayIsLogged, and the end of the process is not held up.
func TestACollectorThatIsAwayIsLogged(t *testing.T) {
	clean(t, map[string]string{"EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "METRICS_EXPORTER": "none"})
	if log := run(t, false); !strings.Contains(log, "127.0.0.1:1") {
		t.Errorf("log %s", log)
	}
}
