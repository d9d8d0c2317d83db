package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/api/limit"
	"almanac/testing/soak"
	"almanac/testing/wait"
)

// crowd is how many clients ask at the same time, each this many requests.
const (
	crowd = 200
	each  = 20
)

// TestACrowdDuringSyncAndReindex sends the requests of every operation from many
// clients while the sample is synced and indexed with another model. Each client
// has an address of its own, so that the limits are those of ordinary clients.
func TestACrowdDuringSyncAndReindex(t *testing.T) {
	if testing.Short() {
		t.Skip("many clients; not with -short")
	}
	data := t.TempDir()
	const proxies = "ALMANAC_SERVER_TRUSTED_PROXIES=127.0.0.1"
	home := t.TempDir()
	env := environ(home, proxies)
	first, stop := serveInProcess(t, append(slices.Clone(env), "ALMANAC_LIMIT_REST=0", "ALMANAC_LIMIT_MCP=0"), "--data",
		data)
	defer stop()
	first.ready(t)
	requests := recorded(t)
	for _, r := range requests[:20] { // so that all goroutines of the scheduler have started
		if status, problem := send(t.Context(), http.DefaultClient, first.base, r, "203.0.113.250"); problem != "" {
			t.Error(status, problem)
		}
	}
	// An idle connection has three goroutines for ninety seconds.
	closeIdle := http.DefaultClient.CloseIdleConnections
	closeIdle()
	goroutines, memory := runtime.NumGoroutine(), heap()
	stop()

	turns := make(chan struct{}, crowd*each) // of the index, one an answer: it grows under the crowd
	model := newModelServer(t, turns)
	env = environ(home, append(model.settings(), proxies)...)
	s, stop := serveInProcess(t, env, "--data", data)
	defer stop()
	s.ready(t)
	synced := make(chan int, 1)
	go func() {
		synced <- runMain(t.Context(), []string{"sync", "--data", data}, env, io.Discard, io.Discard)
	}()
	answers, failures, slowest := s.crowded(t.Context(), requests, turns)
	close(turns)
	if code := <-synced; code != 0 {
		t.Errorf("the sync ends with %d", code)
	}
	t.Logf("%d kinds of requests; answers by status: %v, the slowest after %v; %d texts embedded", len(requests), answers,
		slowest.Round(time.Millisecond), model.texts.Load())
	for _, f := range failures {
		t.Error(f)
	}
	if n := answers[http.StatusOK]; n < crowd*soak.Rounds(each)/2 {
		t.Errorf("only %d answers", n)
	}
	if n := answers[0]; n > crowd*soak.Rounds(each)/100 {
		t.Errorf("%d requests without an answer", n)
	}
	polls := 0
	wait.Until(t, "the other model serves", func() bool {
		polls++
		_, _, status := s.get(t, "/status", "X-Forwarded-For", fmt.Sprintf("198.51.100.%d", polls%250))
		return strings.Contains(status, "buoy-talk")
	})
	wait.Until(t, fmt.Sprintf("goroutines are back at %d", goroutines), func() bool {
		closeIdle()
		model.CloseClientConnections()
		return runtime.NumGoroutine() <= goroutines+5
	})
	const room = 32 << 20 // vectors of two models are kept, and lists are cached
	wait.Until(t, fmt.Sprintf("memory is back at %d MB", memory>>20), func() bool { return heap() <= memory+room })
	t.Logf("goroutines %d and %d, memory %d and %d MB", goroutines, runtime.NumGoroutine(), memory>>20, heap()>>20)
}

// heap is the memory of live objects, in bytes.
func heap() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers have released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// request is one to the public listener.
type request struct {
	method, target string
	body           []byte
}

func (r request) to(ctx context.Context, base string) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, r.method, base+r.target, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept", "application/json, text/event-stream, text/calendar, text/html;q=.1")
	return out, nil
}

func rpc(method, params string) request {
	return request{http.MethodPost, "/mcp",
		fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)}
}

// recorded are the requests whose answers the contract records, of every operation on every
// interface, without those that name a record by the id it has in one catalog.
func recorded(tb testing.TB) (all []request) {
	tb.Helper()
	for line := range strings.Lines(string(read(tb, "../../testing/contract/testdata/requests-sample.txt"))) {
		method, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		target, body, _ := strings.Cut(rest, " ")
		switch {
		case method == "" || method == "#" || strings.Contains(line, "<"):
		case method == "tool":
			all = append(all, rpc("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, target, body)))
		default:
			all = append(all, request{method, target, []byte(body)})
		}
	}
	if len(all) < 200 {
		tb.Fatalf("the contract has only %d requests", len(all))
	}
	return all
}

// crowded lets all clients send requests in random order, gives a turn for each answer
// and counts the answers by status, 0 where there is none; failures are neither 200 nor
// 429 nor what is beyond the machine's power (busy, or a deadline).
func (s *server) crowded(
	ctx context.Context, requests []request, turns chan<- struct{},
) (answers map[int]int, failures []string, slowest time.Duration) {
	var mu sync.Mutex // guards the results
	answers = map[int]int{}
	transport := &http.Transport{MaxIdleConnsPerHost: crowd}
	defer transport.CloseIdleConnections()
	asks := &http.Client{Transport: transport, Timeout: wait.Bound}
	var wg sync.WaitGroup
	for i := range crowd {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range soak.Rounds(each) {
				r := requests[random.IntN(len(requests))]
				start := time.Now()
				status, problem := send(ctx, asks, s.base, r, fmt.Sprintf("203.0.113.%d", i))
				turns <- struct{}{}
				mu.Lock()
				slowest = max(slowest, time.Since(start))
				answers[status]++
				if problem != "" {
					failures = append(failures, problem)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return answers, failures, slowest
}

func send(ctx context.Context, asks *http.Client, base string, r request, from string) (status int, problem string) {
	out, err := r.to(ctx, base)
	if err != nil {
		return 0, err.Error()
	}
	out.Header.Set("X-Forwarded-For", from)
	res, err := asks.Do(out)
	switch {
	case errors.Is(err, io.EOF): // the server did not come to read the header within its time
		return 0, ""
	case err != nil:
		return 0, err.Error()
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	late := res.StatusCode == http.StatusGatewayTimeout || strings.Contains(string(body), " took longer than ")
	switch {
	case err != nil:
		return res.StatusCode, err.Error()
	case res.StatusCode == http.StatusOK && !strings.Contains(string(body), `"isError":true`),
		res.StatusCode == http.StatusTooManyRequests, late,
		strings.Contains(string(body), limit.ErrBusy.Error()):
		return res.StatusCode, ""
	}
	return res.StatusCode, fmt.Sprintf("%s %s %s: %d %.200s", r.method, r.target, r.body, res.StatusCode, body)
}
