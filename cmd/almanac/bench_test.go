package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"almanac/retrieval/eval"
)

// BenchmarkServe measures the program over the real corpus: the first start
// (sync, cutting, embedding, indexing), the second, resident memory, and
// searches over HTTP from eight clients.
func BenchmarkServe(b *testing.B) {
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(shared, "corpus", "manifest.jsonl")); err != nil {
		b.Skipf("there is no corpus in %s: set ALMANAC_SHARED", shared)
	}
	collection, err := eval.Load(filepath.Join(shared, "judged", "network-dev"))
	if err != nil {
		b.Fatal(err)
	}
	data := b.TempDir()
	start := func(sync string) (base string, took time.Duration, stop func()) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		address := l.Addr().String()
		l.Close()
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan int, 1)
		var log bytes.Buffer
		began := time.Now()
		go func() {
			done <- runMain(ctx, []string{"serve", "--network", "corpus", "--data", data, "--listen", address,
				"--admin", "", "--log-level", "error"},
				[]string{"ALMANAC_CORPUS=" + filepath.Join(shared, "corpus"), "ALMANAC_LIMIT_REST=0",
					"ALMANAC_SYNC=" + sync}, io.Discard, &log)
		}()
		base = "http://" + address
		for {
			if res, err := http.Get(base + "/ready"); err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					break
				}
			}
			select {
			case code := <-done:
				b.Fatalf("serve ended with %d: %s", code, log.String())
			case <-time.After(20 * time.Millisecond):
			}
		}
		return base, time.Since(began), func() {
			cancel()
			if code := <-done; code != 0 {
				b.Errorf("serve ended with %d: %s", code, log.String())
			}
		}
	}
	_, first, stop := start("on")
	stop()
	base, second, stop := start("off") // so that searches have the processors
	defer stop()
	flood(b, func(n int) request {
		q := collection.Queries[n%len(collection.Queries)].Text
		return request{http.MethodGet, "/api/v1/search?q=" + url.QueryEscape(q), nil}
	}, base)
	b.ReportMetric(first.Seconds(), "first-start-s")
	b.ReportMetric(second.Seconds(), "second-start-s")
	b.ReportMetric(resident(), "resident-MB")
}

// BenchmarkInterfaces measures what each interface costs over loopback, with
// operations that do little, on the sample network.
func BenchmarkInterfaces(b *testing.B) {
	s := start(b, environ(b.TempDir(), "ALMANAC_LIMIT_REST=0", "ALMANAC_LIMIT_MCP=0"), "--data", b.TempDir())
	s.ready(b)
	rpc := func(method, params string) request {
		return request{http.MethodPost, "/mcp",
			[]byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`)}
	}
	for _, c := range []struct {
		name string
		request
	}{
		{"tools/list", rpc("tools/list", "{}")},
		{"light call", rpc("tools/call", `{"name":"get_cip_attachments","arguments":{"id":"1"}}`)},
		{"list", request{http.MethodGet, "/api/v1/cips", nil}},
		{"search", rpc("tools/call", `{"name":"search","arguments":{"query":"balance","limit":5}}`)},
	} {
		b.Run(c.name, func(b *testing.B) { flood(b, func(int) request { return c.request }, s.base) })
	}
}

// flood sends b.N requests from eight clients and reports rate and latencies.
func flood(b *testing.B, of func(n int) request, base string) {
	b.Helper()
	const clients = 8
	// Clients share the processors with the server: what they would spend on compression it would not have.
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients, DisableCompression: true}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	var mu sync.Mutex // guards took
	var took []time.Duration
	b.ResetTimer()
	began := time.Now()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				t := time.Now()
				if status, problem := send(b.Context(), client, base, of(int(n)), ""); status != http.StatusOK ||
					problem != "" {
					b.Errorf("status %d %s", status, problem)
					return
				}
				mu.Lock()
				took = append(took, time.Since(t))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	elapsed := time.Since(began)
	if b.Failed() || len(took) == 0 {
		return
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/elapsed.Seconds(), "requests/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// resident is the process's resident memory in MB after a collection, test
// and clients included.
func resident() float64 {
	runtime.GC()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kb int
		if n, _ := fmt.Sscanf(line, "VmRSS: %d kB", &kb); n == 1 {
			return float64(kb) / 1024
		}
	}
	return 0
}
