package admin_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/admin"
	"almanac/retrieval"
)

// engine is a searcher that answers what it is told.
type engine struct {
	status retrieval.Status
	answer retrieval.Response
	err    error
}

func (e *engine) Search(context.Context, retrieval.Request) (retrieval.Response, error) {
	return e.answer, e.err
}
func (e *engine) Status(context.Context) retrieval.Status { return e.status }

// metrics are the lines about almanac that a monitor reads.
func metrics(t *testing.T, m *admin.Metrics) []string {
	t.Helper()
	h, err := admin.New(admin.Config{Metrics: m, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	w := get(h, "localhost", "/metrics")
	if w.Code != 200 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return slices.DeleteFunc(strings.Split(w.Body.String(), "\n"),
		func(line string) bool { return !strings.HasPrefix(line, "almanac_") })
}

func says(t *testing.T, lines []string, want ...string) {
	t.Helper()
	for _, line := range want {
		if !slices.Contains(lines, line) {
			t.Errorf("no %s in\n%s", line, strings.Join(lines, "\n"))
		}
	}
}

func TestTheIndexHasItsMetrics(t *testing.T) {
	m, e := admin.NewMetrics(), &engine{status: retrieval.Status{Ready: true, Records: 12, Passages: 40, Lag: 3,
		Down:     []retrieval.Down{{Engine: "vector"}},
		Breakers: map[string]bool{"vector": true},
		Next:     &retrieval.Filling{Vectors: 10, Passages: 40}}}
	m.WatchIndex(e, "keyword", "vector")
	says(t, metrics(t, m), "almanac_index_ready 1", "almanac_index_records 12", "almanac_index_passages 40",
		"almanac_index_lag_changes 3", "almanac_index_next_share 0.25", `almanac_engine_up{engine="keyword"} 1`,
		`almanac_engine_up{engine="vector"} 0`, `almanac_engine_breaker_open{engine="vector"} 1`)
	e.status = retrieval.Status{}
	lines := metrics(t, m)
	says(t, lines, "almanac_index_ready 0", `almanac_engine_up{engine="vector"} 1`)
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, "almanac_index_next_share") }) {
		t.Error("an index that is not built has a share")
	}
}

func TestSearchesAreCounted(t *testing.T) {
	m, e := admin.NewMetrics(), &engine{}
	s := m.Searcher(e)
	search := func(ctx context.Context, answer retrieval.Response, err error) {
		e.answer, e.err = answer, err
		if got, gotErr := s.Search(ctx, retrieval.Request{}); got.Total != answer.Total || gotErr != err {
			t.Errorf("got %+v %v, want %+v %v", got, gotErr, answer, err)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	search(t.Context(), retrieval.Response{Total: 2, Corrected: "tide", Degraded: []string{"vector"},
		Timings: map[string]time.Duration{"rerank": time.Millisecond}}, nil)
	search(t.Context(), retrieval.Response{}, nil)
	search(t.Context(), retrieval.Response{}, errors.New("no engine answers"))
	search(gone, retrieval.Response{}, gone.Err())
	m.Embedded(5, 2)
	says(t, metrics(t, m), `almanac_searches_total{outcome="found"} 1`, `almanac_searches_total{outcome="empty"} 1`,
		`almanac_searches_total{outcome="failed"} 1`, `almanac_searches_changed_total{how="without vector"} 1`,
		`almanac_searches_changed_total{how="corrected"} 1`,
		`almanac_search_stage_duration_seconds_count{stage="rerank"} 1`,
		`almanac_embedded_texts_total{by="cache"} 3`, `almanac_embedded_texts_total{by="model"} 2`)
	if cache, model := m.EmbeddedTexts(); cache != 3 || model != 2 {
		t.Errorf("%d from the cache and %d of the model, want 3 and 2", cache, model)
	}
}

func TestWhatTheProgramDoesHasItsMetrics(t *testing.T) {
	m, away := admin.NewMetrics(), false
	m.Build("1.2.3", "abc")
	m.WatchLimits(func() bool { return away })
	end := m.Begin()
	refuse := m.Refusals("rest")
	says(t, metrics(t, m), `almanac_build_info{revision="abc",version="1.2.3"} 1`, "almanac_limits_shared 1",
		"almanac_http_requests_running 1", `almanac_limit_refusals_total{bucket="rest"} 0`)
	end()
	refuse()
	away = true
	m.Synced("forum", true, 2*time.Second)
	m.Synced("forum", false, time.Second)
	says(t, metrics(t, m), "almanac_limits_shared 0", "almanac_http_requests_running 0",
		`almanac_limit_refusals_total{bucket="rest"} 1`, `almanac_sync_runs_total{outcome="ok",source="forum"} 1`,
		`almanac_sync_runs_total{outcome="failed",source="forum"} 1`, `almanac_sync_seconds_total{source="forum"} 3`)
	if n := m.Refused()["rest"]; n != 1 {
		t.Errorf("%d refused, want 1", n)
	}
}
