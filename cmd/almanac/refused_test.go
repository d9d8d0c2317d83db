package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"almanac/testing/meilitest"
	"almanac/testing/wait"
)

// anotherModel is the address of a model server that has another model than is asked for.
func anotherModel(t *testing.T) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":{"message":"The model buoy-talk does not exist","code":"model_not_found"}}`))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestWhatCannotBeWorkedWith has a server of each kind that cannot be worked with, and wants one sentence from doctor,
// log and status, answers from the rest, and the key nowhere. What else servers may answer, their packages test.
func TestWhatCannotBeWorkedWith(t *testing.T) {
	t.Parallel()
	const hush = "hush-hush-key"
	loaded := newSite(t, 24, "ALMANAC_SYNC=false", "ALMANAC_SEARCH_DEADLINE=10s" /* a busy machine is slow, not down */)
	loaded.run(t, "sync")
	loaded.run(t, "search", "tide")
	locked := meilitest.Start(t)
	locked.RequireKey("another")
	for _, w := range []struct {
		engine, without, want string // the golden part of the sentence
		settings              []string
	}{
		{"keyword", "[keyword]", "refuses the API key",
			[]string{"ALMANAC_KEYWORD_URL=" + locked.URL, "ALMANAC_KEYWORD_KEY=" + hush}},
		{"vector", "[vector]", "refuses connections: is it running, and is this its gRPC port?",
			[]string{"ALMANAC_VECTOR_URL=http://127.0.0.1:1", "ALMANAC_VECTOR_KEY=" + hush}},
		{"embedder", "[]", "The model buoy-talk does not exist",
			[]string{"ALMANAC_EMBED_URL=" + anotherModel(t), "ALMANAC_EMBED_KEY=" + hush,
				"ALMANAC_EMBED_KIND=openai", "ALMANAC_EMBED_MODEL=buoy-talk"}},
	} {
		t.Run(w.engine, func(t *testing.T) {
			t.Parallel()
			at := loaded.elsewhere(t)
			at.env = append(slices.Clone(at.env), w.settings...)
			if err := os.CopyFS(at.data, os.DirFS(loaded.data)); err != nil {
				t.Fatal(err)
			}
			doctor, _, code := almanac(t, at.env, append([]string{"doctor"}, at.args()...)...)
			_, failure, _ := strings.Cut(doctor, "FAIL")
			failure, _, _ = strings.Cut(failure, "\n")
			if code != 1 || strings.Count(doctor, "FAIL") != 1 || !strings.Contains(failure, w.want) {
				t.Errorf("doctor: exit code %d, want one failure with %q:\n%s", code, w.want, doctor)
			}
			s := at.serve(t)
			s.ready(t)
			reason := ""
			// An engine that nothing was asked of yet is being filled.
			wait.Until(t, "the operator sees "+w.want, func() bool {
				s.degraded(t)
				reason = s.reason(t, w.engine)
				return strings.Contains(reason, w.want)
			})
			if strings.Contains(reason, "\n") {
				t.Errorf("the reason has several lines: %q", reason)
			}
			for range 5 {
				if got := fmt.Sprint(s.degraded(t)); got != w.without || len(s.search(t, "tide").Items) == 0 {
					t.Errorf("answers are without %s, want %s", got, w.without)
				}
			}
			s.stop(t)
			said := map[string]int{} // what serves and what follows the catalog may say it each in its way
			for line := range strings.Lines(s.log.String()) {
				var l logLine
				if err := json.Unmarshal([]byte(line), &l); err != nil {
					t.Errorf("%v: %s", err, line)
				}
				if strings.Contains(line, w.want) {
					if said[l.Msg]++; said[l.Msg] > 1 {
						t.Errorf("the log says it again: %s", line)
					}
				}
			}
			if len(said) == 0 || strings.Contains(doctor+s.log.String(), hush) {
				t.Errorf("the log does not say %q, or the key is said:\n%s%s", w.want, doctor, s.log)
			}
		})
	}
}

// TestAWrongModelFromTheStart: the built-in model answers, and the log says what
// is wrong with the configured one.
func TestAWrongModelFromTheStart(t *testing.T) {
	t.Parallel()
	url := anotherModel(t)
	s := newSite(t, 24).serve(t, "ALMANAC_EMBED_URL="+url, "ALMANAC_EMBED_KIND=openai", "ALMANAC_EMBED_MODEL=buoy-talk")
	s.ready(t)
	if without := s.degraded(t); len(without) > 0 {
		t.Errorf("answers are without %v", without)
	}
	s.stop(t)
	if log := s.log.String(); !strings.Contains(log, "The model buoy-talk does not exist") ||
		!strings.Contains(log, "the built-in table serves until") {
		t.Errorf("the log says %s", log)
	}
}
