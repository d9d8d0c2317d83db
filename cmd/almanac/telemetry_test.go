package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// TestTracesReachTheCollector, and what people searched for does not, unless the operator says so.
func TestTracesReachTheCollector(t *testing.T) {
	t.Parallel()
	for _, texts := range []string{"false", "true"} {
		var mu sync.Mutex
		sent := map[string][]byte{} // protobuf has texts as they are
		collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body) // what is lacking is missed below
			mu.Lock()
			defer mu.Unlock()
			sent[r.URL.Path] = append(sent[r.URL.Path], body...)
		}))
		t.Cleanup(collector.Close)
		s := newSite(t, 12).serve(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_SERVICE_NAME=harbour",
			"ALMANAC_TELEMETRY_TEXTS="+texts)
		s.ready(t)
		s.search(t, "quokka@example.org tide")
		s.stop(t)
		traces, metrics := sent["/v1/traces"], sent["/v1/metrics"]
		for _, name := range []string{"harbour", "GET /api/v1/search", "search", "plan", "retrieve/dense", "keyword",
			"vector", "embedder", "rerank", "catalog", "source manual", "query.length"} {
			if !bytes.Contains(traces, []byte(name)) {
				t.Errorf("the traces have no %q", name)
			}
		}
		if said := bytes.Contains(traces, []byte("quokka")); said != (texts == "true") {
			t.Errorf("telemetry.texts is %s, and traces with the query: %v", texts, said)
		}
		if bytes.Contains(traces, []byte("127.0.0.1")) {
			t.Error("the traces have the client's address")
		}
		for _, name := range []string{"almanac_searches_total", "almanac_http_requests_total", "go_goroutines"} {
			if !bytes.Contains(metrics, []byte(name)) {
				t.Errorf("the metrics have no %s", name)
			}
		}
	}
}
