package meili_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
)

// found is the answer of a search of one term: two lists and the manifest.
func found(mark reply) reply {
	const hits = `{"hits":[{"id":"65536","_rankingScore":1.0}]}`
	return reply{200, fmt.Sprintf(`{"results":[%s,{"hits":[]},{"hits":[%s]}]}`, hits, mark.body)}
}

func TestAnswersOfAnotherIndexAreNotGiven(t *testing.T) {
	for name, mark := range map[string]reply{
		"another generation": manifestOf("test", 2, 9),
		"another catalog":    manifestOf("other", 1, 5),
		"no mark":            {},
	} {
		e, _ := engine(t, map[string][]reply{"POST /multi-search": {found(mark)}})
		if hits, err := e.Search(t.Context(), term("ledger"), passage.Filter{}, 10); err == nil {
			t.Errorf("%s: %+v, %v", name, hits, err)
		}
	}
}

func TestReadOnlyEngineWritesNothing(t *testing.T) {
	e, s := engine(t, map[string][]reply{"GET /indexes/x/documents/mark": {noIndex}},
		func(c *meili.Config) { c.ReadOnly = true })
	if at, err := e.Checkpoint(t.Context()); at != 0 || err != nil {
		t.Errorf("checkpoint %d, %v", at, err)
	}
	if err := errors.Join(e.Apply(t.Context(), batch(6)), e.Flush(t.Context())); err != nil {
		t.Error(err)
	}
	if err := e.Promote(t.Context()); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("promote: %v", err)
	}
	if slices.ContainsFunc(s.asked, func(asked string) bool { return !strings.HasPrefix(asked, "GET ") }) {
		t.Errorf("asked %q", s.asked)
	}
}

func TestBatchIsOneTaskAfterAnother(t *testing.T) {
	e, s := engine(t, nil)
	b := keyword.Batch{Checkpoint: 6}
	long := keyword.Text{Tokens: []analysis.Token{{Term: strings.Repeat("x", 1<<19)}}} // and once more as it stands out
	for id := range int64(40) {
		b.Records = append(b.Records,
			keyword.Record{ID: 1 + id, Passages: []keyword.Passage{{ID: passage.NewID(1+id, 0), Body: long}}})
	}
	if err := e.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var writes []string
	waiting, most := 0, 0
	for _, asked := range s.asked {
		switch {
		case asked == "GET /tasks/7":
			waiting--
		case asked == "POST /indexes/x/documents" || asked == "POST /indexes/x/documents/delete":
			writes = append(writes, asked)
			waiting++
			most = max(most, waiting)
			if waiting > 4 {
				t.Fatalf("%d tasks wait: %q", waiting, s.asked)
			}
		case asked == "PATCH /indexes/x/settings":
			waiting++
		}
	}
	if waiting != 0 || most != 4 || len(writes) < 5 || !strings.HasSuffix(writes[0], "/delete") {
		t.Errorf("%d tasks left, %d at most, writes %q", waiting, most, writes)
	}
	last := s.lines[len(s.lines)-1]
	if want := fmt.Sprintf(`{"id":"mark","owner":"test","generation":1,"format":%d,"checkpoint":6}`,
		meili.Format); last != want {
		t.Errorf("the batch ends with %s", last)
	}
}

// transport answers every request with the same body.
type transport []byte

func (b transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(string(b)))}, nil
}

func FuzzAnswers(f *testing.F) {
	mark := manifestOf("test", 1, 5).body
	f.Add([]byte(mark))
	f.Add([]byte(`{"results":[{"hits":[{"id":"65536","_rankingScore":1e999}]},{"hits":[{"id":-1}]},{"hits":[` + mark +
		`]}]}`))
	f.Add([]byte(
		`{"id":"mark","owner":"test","generation":1,"format":1,"results":[{"hits":[{"id":"65536","_rankingScore":-7}]},{"hits":[{}]},{"hits":[{"owner":3}]}]}`))
	f.Add([]byte(`{"id":"mark","owner":"test","generation":1,"format":1,"status":"failed"}`))
	f.Add([]byte(`[`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, call := range calls {
			if name == "apply" || name == "promote" {
				continue // they can wait for ever, for a task
			}
			e, err := meili.Open(t.Context(), meili.Config{URL: "http://search.example.org", Index: "x", Owner: "test",
				Generation: 1, ReadOnly: true, Transport: transport(body)})
			if err != nil {
				t.Fatal(err)
			}
			if err := call(context.Background(), e); err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: %q", name, err)
			}
		}
	})
}

func TestDrop(t *testing.T) {
	e, s := engine(t, map[string][]reply{"DELETE /indexes/x": {accepted}})
	if err := e.Drop(t.Context()); err != nil || !slices.Contains(s.asked, "DELETE /indexes/x") {
		t.Errorf("%v, asked %v", err, s.asked)
	}
	e, s = engine(t, map[string][]reply{"GET /indexes/x/documents/mark": {noIndex}})
	if err := e.Drop(t.Context()); err != nil ||
		slices.ContainsFunc(s.asked, func(a string) bool { return strings.HasPrefix(a, "DELETE") }) {
		t.Errorf("without an index: %v, asked %v", err, s.asked)
	}
	if err := dial(t, "http://127.0.0.1:1", func(c *meili.Config) { c.ReadOnly = true }).Drop(t.Context()); err == nil {
		t.Error("a reader dropped the index")
	}
}
