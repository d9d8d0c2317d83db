package meilitest_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
	"almanac/testing/keywordtest"
	"almanac/testing/meilitest"
)

func open(t *testing.T, c meili.Config) *meili.Engine {
	t.Helper()
	e, err := meili.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestEnoughForTheEngine runs the suite that the engine passes on the server
// that this one fakes.
func TestEnoughForTheEngine(t *testing.T) {
	t.Parallel()
	configs := map[keyword.Engine]meili.Config{}
	keywordtest.Run(t, keywordtest.Options{
		New: func(t *testing.T) keyword.Engine {
			c := meili.Config{URL: meilitest.Start(t).URL, Index: "x", Generation: 1, Owner: "test"}
			e := open(t, c)
			configs[e] = c
			return e
		},
		Reopen:     func(t *testing.T, closed keyword.Engine) keyword.Engine { return open(t, configs[closed]) },
		OwnRanking: true, SplitBatches: true,
	})
}

func record(id int64, text string) keyword.Record {
	return keyword.Record{ID: id, Passages: []keyword.Passage{{ID: passage.NewID(id, 0),
		Body: keyword.Text{Raw: text, Tokens: analysis.Analyze(text)}}}}
}

// started returns an engine with two records on a server.
func started(t *testing.T) (*meilitest.Server, *meili.Engine) {
	t.Helper()
	s := meilitest.Start(t)
	s.RequireKey("hush")
	e := open(t, meili.Config{URL: s.URL, Key: "hush", Index: "x", Generation: 1, Owner: "test"})
	t.Cleanup(func() { _ = e.Close() })
	if at, err := e.Checkpoint(t.Context()); at != 0 || err != nil {
		t.Fatal(at, err)
	}
	if err := e.Apply(t.Context(), keyword.Batch{Records: []keyword.Record{record(1, "amber"),
		record(2, "amber harbor")}, Checkpoint: 2}); err != nil {
		t.Fatal(err)
	}
	return s, e
}

func found(t *testing.T, e *meili.Engine, word string) (records []int64, err error) {
	t.Helper()
	hits, err := e.Search(t.Context(), keyword.Query{Terms: []keyword.Term{{Text: word, Weight: 1}}},
		passage.Filter{}, 10)
	for _, h := range hits {
		records = append(records, h.Record)
	}
	return records, err
}

func TestPromotion(t *testing.T) {
	t.Parallel()
	s, e := started(t)
	for range 2 {
		if err := e.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := found(t, e, "amber"); err != nil || !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got, want := s.Passages(), []int64{int64(passage.NewID(1, 0)), int64(passage.NewID(2, 0))}; !slices.Equal(got,
		want) {
		t.Errorf("holds %v, not %v", got, want)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	s, e := started(t)
	s.Empty()
	if _, err := found(t, e, "amber"); err == nil || !strings.Contains(err.Error(), "has lost it") {
		t.Errorf("search: %v", err)
	}
	if err := e.Apply(t.Context(), keyword.Batch{Checkpoint: 3}); err == nil ||
		!strings.Contains(err.Error(), "has lost") {
		t.Errorf("apply: %v", err)
	}
	if at, err := e.Checkpoint(t.Context()); at != 0 || err != nil || len(s.Passages()) != 0 {
		t.Errorf("checkpoint %d, %v, passages %v", at, err, s.Passages())
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	s, e := started(t)
	s.Full(true)
	err := e.Apply(t.Context(), keyword.Batch{Delete: []int64{1}, Checkpoint: 3})
	if err == nil || !strings.Contains(err.Error(), "is full") {
		t.Errorf("apply: %v", err)
	}
	if got, err := found(t, e, "amber"); err != nil || len(got) != 2 {
		t.Errorf("search: %v, %v", got, err)
	}
	s.Full(false)
	if err := e.Apply(t.Context(), keyword.Batch{Delete: []int64{1}, Checkpoint: 3}); err != nil {
		t.Error(err)
	}
	if got, err := found(t, e, "amber"); err != nil || !slices.Equal(got, []int64{2}) {
		t.Errorf("search: %v, %v", got, err)
	}
}

func TestSettingsThatSomebodyChanged(t *testing.T) {
	t.Parallel()
	s, e := started(t)
	s.ChangeSettings(func(settings map[string]any) { settings["filterableAttributes"] = []any{"kind"} })
	if _, err := found(t, e, "amber"); err == nil {
		t.Error("a search filters by what is not filterable")
	}
	if _, err := e.Checkpoint(t.Context()); err != nil {
		t.Error(err)
	}
	if got, err := found(t, e, "amber"); err != nil || len(got) != 2 {
		t.Errorf("search: %v, %v", got, err)
	}
}

func TestAnotherOwner(t *testing.T) {
	t.Parallel()
	s, e := started(t)
	s.ChangeDocuments("mark", func(d map[string]any) { d["owner"] = "else" })
	if _, err := e.Checkpoint(t.Context()); !errors.Is(err, meili.ErrForeign) {
		t.Error(err)
	}
}

func TestKeyAndPages(t *testing.T) {
	t.Parallel()
	s, _ := started(t)
	get := func(path, key string) (int, struct{ Results []map[string]any }) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer struct{ Results []map[string]any }
		_ = json.NewDecoder(res.Body).Decode(&answer) // else it is empty
		return res.StatusCode, answer
	}
	for key, want := range map[string]int{"": 401, "other": 403, "hush": 200} {
		if status, _ := get("/indexes", key); status != want {
			t.Errorf("with key %q: %d", key, status)
		}
	}
	if status, _ := get("/health", ""); status != 200 {
		t.Errorf("/health: %d", status)
	}
	var ids []any
	for _, offset := range []string{"0", "2"} {
		_, page := get("/indexes/x-g1/documents?limit=2&offset="+offset, "hush")
		for _, d := range page.Results {
			ids = append(ids, d["id"])
		}
	}
	if len(ids) != 3 {
		t.Errorf("two passages and the mark, and it lists %v", ids)
	}
}
