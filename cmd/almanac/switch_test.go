package main

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"almanac/testing/wait"
)

// modelServer speaks OpenAI's interface for embeddings; a vector counts the
// words of a text by their hash.
type modelServer struct {
	*httptest.Server
	texts atomic.Int64 // that were embedded, several at once
}

// newModelServer returns a server on which several texts at once, those of an index,
// wait for a turn; nil: they do not wait. A query comes alone and does not.
func newModelServer(tb testing.TB, turns <-chan struct{}) *modelServer {
	tb.Helper()
	s := &modelServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var answer struct {
			Data []embedding `json:"data"`
		}
		for i, text := range request.Input {
			v := make([]float32, 32)
			for word := range strings.FieldsSeq(strings.ToLower(text)) {
				h := fnv.New32()
				h.Write([]byte(word))
				v[h.Sum32()%32]++
			}
			answer.Data = append(answer.Data, embedding{i, v})
		}
		if len(request.Input) > 1 {
			if turns != nil {
				select {
				case <-turns:
				case <-r.Context().Done():
					return
				}
			}
			s.texts.Add(int64(len(request.Input)))
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	tb.Cleanup(s.Close)
	return s
}

func (s *modelServer) settings() []string {
	return []string{"ALMANAC_EMBED_URL=" + s.URL, "ALMANAC_EMBED_KIND=openai", "ALMANAC_EMBED_MODEL=buoy-talk"}
}

// load is what keeps searching.
type load struct {
	answers atomic.Int64
	stop    func()
}

// asking searches with two clients, each of which waits for its answer before it asks
// again, until it is stopped. Every answer must be a whole one with results.
func (s *server) asking(t testing.TB, queries []string) *load {
	t.Helper()
	var l load
	var wg sync.WaitGroup
	end := make(chan struct{})
	ask := func(q string) {
		res, err := client.Get(s.base + "/api/v1/search?limit=5&q=" + url.QueryEscape(q))
		if err != nil {
			t.Errorf("%q: %v", q, err)
			return
		}
		defer res.Body.Close()
		var answer struct {
			Items    []any
			Degraded []string
		}
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK ||
			len(answer.Items) == 0 || len(answer.Degraded) > 0 {
			t.Errorf("%q: status %d, %d results, without %v, %v", q, res.StatusCode, len(answer.Items),
				answer.Degraded, err)
		}
		l.answers.Add(1)
	}
	for first := range 2 {
		wg.Go(func() {
			for n := first; ; n++ {
				select {
				case <-end:
					return
				default:
					ask(queries[n%len(queries)])
				}
			}
		})
	}
	l.stop = func() { close(end); wg.Wait() }
	return &l
}

// TestAnotherModelTakesOverWhenItsIndexIsComplete changes the model under
// load, kills the program in the middle and wants every answer whole.
func TestAnotherModelTakesOverWhenItsIndexIsComplete(t *testing.T) {
	t.Parallel()
	at := newSite(t, 240)
	first := at.serve(t)
	ready := first.ready(t)
	static := first.model(t)
	first.stop(t)

	turns := make(chan struct{}, 1)
	model := newModelServer(t, turns)
	env := model.settings()
	s := at.serve(t, env...)
	s.await(t, "the index of an earlier model serves until the new one is complete")
	s.ready(t)
	searches := s.asking(t, queries)
	wait.Until(t, "a part of the new index", func() bool {
		select {
		case turns <- struct{}{}:
		default: // the last one was not taken yet
		}
		return model.texts.Load() > int64(ready.Passages/4)
	})
	searches.stop()
	if now := s.model(t); now != static {
		t.Fatalf("after %d of %d passages the model is %s", model.texts.Load(), ready.Passages, now)
	}
	s.kill()
	before := model.texts.Load()

	s = at.serve(t, env...)
	s.ready(t)
	searches = s.asking(t, queries)
	wait.Until(t, "answers of the old index", func() bool { return searches.answers.Load() > 20 })
	close(turns)
	wait.Until(t, "the new index", func() bool { return strings.HasPrefix(s.model(t), "buoy-talk") })
	from := searches.answers.Load() // of the new index, and of the old one that are under way
	wait.Until(t, "more answers", func() bool { return searches.answers.Load() > from+20 })
	searches.stop()
	// A batch that was under way may be embedded again.
	if asked := model.texts.Load(); asked-before > int64(ready.Passages)-before+64 {
		t.Errorf("%d texts embedded before the kill and %d after it, of %d passages", before, asked-before,
			ready.Passages)
	}
	s.stop(t)
	s = at.serve(t, env...)
	s.ready(t)
	wait.Until(t, "the old index is gone", func() bool { return len(at.snapshots(t)) == 2 })
}

// TestADamagedIndexEmbedsNothingAgain holds that vectors are kept apart from
// the index.
func TestADamagedIndexEmbedsNothingAgain(t *testing.T) {
	t.Parallel()
	at := newSite(t, 80)
	model := newModelServer(t, nil)
	s := at.serve(t, model.settings()...)
	s.ready(t)
	wait.Until(t, "vectors", func() bool { return len(s.degraded(t)) == 0 })
	s.stop(t)
	asked := model.texts.Load()
	at.damage(t, "vector", func(b []byte) []byte { return b[:min(len(b), 100)] })
	s = at.serve(t, model.settings()...)
	s.ready(t)
	wait.Until(t, "vectors", func() bool { return len(s.degraded(t)) == 0 })
	if again := model.texts.Load() - asked; asked == 0 || again > 0 {
		t.Errorf("%d texts embedded, and %d again", asked, again)
	}
}

// TestEvalEmbedsOnce evaluates the same documents twice: what a model made of them the first time is kept.
func TestEvalEmbedsOnce(t *testing.T) {
	t.Parallel()
	model, dir := newModelServer(t, nil), t.TempDir()
	writeJudged(t, dir, 40, 2)
	env := environ(t.TempDir(), model.settings()...)
	for _, most := range []int64{100, 10} {
		before := model.texts.Load()
		must(t, env, "eval", "--judged", dir, "--data", filepath.Join(dir, "data"))
		if asked := model.texts.Load() - before; asked > most || most == 100 && asked < 40 {
			t.Errorf("%d texts embedded, at most %d expected", asked, most)
		}
	}
}
