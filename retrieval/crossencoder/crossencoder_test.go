package crossencoder_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"almanac/embed"
	"almanac/retrieval/crossencoder"
	"almanac/testing/httppipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sent is what a server was sent.
type sent struct{ path, body, authorization string }

// serve answers every request alike and keeps the last.
func serve(t testing.TB, status int, answer string) (*sent, string) {
	t.Helper()
	last := new(sent)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*last = sent{r.URL.Path, string(body), r.Header.Get("Authorization")}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	return last, server.URL
}

func open(t *testing.T, c crossencoder.Config) *crossencoder.Client {
	t.Helper()
	if c.Deadline == 0 {
		c.Deadline = 10 * time.Second
	}
	client, err := crossencoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// sentence checks that an error is one line that says what it should.
func sentence(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\t") ||
		len(err.Error()) > 500 {
		t.Errorf("error %v, want one line with %q", err, want)
	}
}

const (
	tei   = `[{"index":2,"score":0.99},{"index":0,"score":0.5},{"index":1,"score":1e-7}]`
	llama = `{"model":"m","object":"list","usage":{},"results":[{"index":2,"relevance_score":8.25},{"index":0,"relevance_score":0},{"index":1,"relevance_score":-11.5}]}`
)

func TestScore(t *testing.T) {
	for _, c := range []struct {
		cfg    crossencoder.Config
		path   string // below the server
		answer string
		want   sent
		scores []float64
	}{
		{crossencoder.Config{Kind: crossencoder.TEI, Key: "hush"}, "", tei,
			sent{"/rerank", `{"query":"q","texts":["a","b","c"],"truncate":true}`, "Bearer hush"},
			[]float64{0.5, 1e-7, 0.99}},
		{crossencoder.Config{Kind: crossencoder.LlamaCPP}, "/", llama,
			sent{"/v1/rerank", `{"query":"q","documents":["a","b","c"],"top_n":3}`, ""}, []float64{0, -11.5, 8.25}},
		{crossencoder.Config{Kind: crossencoder.LlamaCPP, Model: "reranker", Key: "hush"}, "/below", llama,
			sent{"/below/v1/rerank", `{"model":"reranker","query":"q","documents":["a","b","c"],"top_n":3}`,
				"Bearer hush"}, []float64{0, -11.5, 8.25}},
	} {
		t.Run(string(c.cfg.Kind), func(t *testing.T) {
			last, url := serve(t, 200, c.answer)
			c.cfg.URL = url + c.path
			e := open(t, c.cfg)
			got, err := e.Score(t.Context(), "q", []string{"a", "b", "c"})
			if err != nil || !slices.Equal(got, c.scores) {
				t.Errorf("scores %v, error %v, want %v", got, err, c.scores)
			}
			if *last != c.want {
				t.Errorf("sent %+v, want %+v", *last, c.want)
			}
			*last = sent{}
			if got, err := e.Score(t.Context(), "q", nil); err != nil || len(got) != 0 || *last != (sent{}) {
				t.Errorf("no texts: %v, %v, sent %+v", got, err, *last)
			}
		})
	}
}

func TestBadConfiguration(t *testing.T) {
	_, err := crossencoder.Open(crossencoder.Config{Kind: "x", URL: "http://127.0.0.1"})
	sentence(t, err, `"x" is not a kind of cross-encoder: use "tei" or "llamacpp"`)
	_, err = crossencoder.Open(crossencoder.Config{Kind: crossencoder.TEI, URL: "localhost:8080"})
	sentence(t, err, `cross-encoder: "localhost:8080" is not of the form http://host:port`)
}

func TestBadAnswers(t *testing.T) {
	const ok = http.StatusOK
	for _, c := range []struct {
		name   string
		kind   string
		status int
		answer string
		want   string
		away   bool
	}{
		{"too few", crossencoder.TEI, ok, `[{"index":0,"score":1}]`, "returned 1 scores for 2 texts", false},
		{"too many", crossencoder.TEI, ok, tei, "returned 3 scores for 2 texts", false},
		{"twice", crossencoder.TEI, ok, `[{"index":1,"score":1},{"index":1,"score":2}]`,
			"returned two scores for text 1", false},
		{"beyond", crossencoder.TEI, ok, `[{"index":0,"score":1},{"index":2,"score":2}]`,
			"returned a score for none of the texts", false},
		{"negative", crossencoder.TEI, ok, `[{"index":-1,"score":1},{"index":0,"score":2}]`,
			"a score for none of the texts", false},
		{"no index", crossencoder.TEI, ok, `[{"score":1},{"index":1,"score":2}]`, "a score for none of the texts",
			false},
		{"no score", crossencoder.TEI, ok, `[{"index":0},{"index":1,"score":2}]`, "returned no score for text 0",
			false},
		{"NaN as null", crossencoder.TEI, ok, `[{"index":0,"score":null},{"index":1,"score":2}]`,
			"returned no score for text 0", false},
		{"infinite", crossencoder.TEI, ok, `[{"index":0,"score":1e999},{"index":1,"score":2}]`,
			"returned an unexpected response", false},
		{"of the other kind", crossencoder.TEI, ok, llama, "returned an unexpected response", false},
		{"of the other kind", crossencoder.LlamaCPP, ok, tei, "returned an unexpected response", false},
		{"nothing", crossencoder.LlamaCPP, ok, `{}`, "returned 0 scores for 2 texts", false},
		{"empty", crossencoder.LlamaCPP, ok, ``, "returned an unexpected response", false},
		{"page", crossencoder.LlamaCPP, ok, `<html>`, "is the address right?", false},
		{"wrong path", crossencoder.LlamaCPP, 404,
			`{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}`,
			"returned 404 Not Found: File Not Found: are its address and the model's name right?", false},
		{"no reranker", crossencoder.LlamaCPP, 501,
			`{"error":{"message":"This server does not support reranking. Start it with ` + "`--reranking`" + `"}}`,
			"does not support reranking", false},
		{"loading", crossencoder.LlamaCPP, 503, `{"error":{"message":"Loading model"}}`,
			"is unavailable: it returned 503", true},
		{"overloaded", crossencoder.TEI, 429, `{"error":"Model is overloaded"}`, "is unavailable: it returned 429",
			true},
		{"too many texts", crossencoder.TEI, 413, `{"error":"batch size 40 > maximum allowed batch size 32"}`,
			"returned 413 Request Entity Too Large: batch size 40", false},
		{"wrong key", crossencoder.LlamaCPP, 401, `{"message":"invalid api token hush"}`,
			"refuses the key (401 Unauthorized: invalid api token [key])", false},
		{"wrong model", crossencoder.LlamaCPP, 404, `{"message":"model 'm' not found"}`,
			"returned 404 Not Found: model 'm' not found", false},
	} {
		t.Run(string(c.kind)+" "+c.name, func(t *testing.T) {
			_, url := serve(t, c.status, c.answer)
			got, err := open(t, crossencoder.Config{Kind: c.kind, URL: url, Key: "hush"}).Score(t.Context(), "q",
				[]string{"a", "b"})
			sentence(t, err, c.want)
			if errors.Is(err, embed.ErrUnavailable) != c.away || got != nil ||
				strings.Contains(fmt.Sprint(err), "hush") {
				t.Errorf("unavailable: %v, scores %v, error %v", !c.away, got, err)
			}
		})
	}
	_, err := open(t, crossencoder.Config{Kind: crossencoder.TEI, URL: "http://127.0.0.1:1"}).Score(t.Context(), "q",
		[]string{"a"})
	if sentence(t, err, "cross-encoder at http://127.0.0.1:1 is unavailable: nothing listens there"); !errors.Is(err,
		embed.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := httppipe.Transport(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client is gone
			<-r.Context().Done()
		}))
		e := open(t, crossencoder.Config{Kind: crossencoder.TEI, URL: "http://models.example.org",
			Deadline: 20 * time.Second})
		e.SetTransport(silent)
		_, err := e.Score(t.Context(), "q", []string{"a"})
		if sentence(t, err, "no answer within 20s"); !errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if _, err := e.Score(ctx, "q", []string{"a"}); !errors.Is(err, context.DeadlineExceeded) ||
			!errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v, want that of a slow server", err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		cancel()
		if _, err := e.Score(ctx, "q", []string{"a"}); !errors.Is(err, context.Canceled) ||
			errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v, want that of the caller", err)
		}
	})
}

// TestLongTextsAreCut is for llama.cpp, which refuses them.
func TestLongTextsAreCut(t *testing.T) {
	holds := 1000
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		var body struct{ Documents []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		if slices.ContainsFunc(body.Documents, func(text string) bool { return len(text) > holds }) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w,
				`{"error":{"code":500,"message":"input is too large to process. increase the physical batch size","type":"server_error"}}`)
			return
		}
		var results []string
		for i, text := range body.Documents {
			results = append(results, fmt.Sprintf(`{"index":%d,"relevance_score":%d}`, i, len(text)))
		}
		fmt.Fprintf(w, `{"results":[%s]}`, strings.Join(results, ","))
	}))
	defer server.Close()
	e := open(t, crossencoder.Config{Kind: crossencoder.LlamaCPP, URL: server.URL})
	texts := []string{"short", strings.Repeat("é", 800)}
	if got, err := e.Score(t.Context(), "q", texts); err != nil || !slices.Equal(got, []float64{5, 900}) ||
		requests != 3 {
		t.Errorf("scores %v after %d requests, error %v", got, requests, err)
	}
	holds, requests = 0, 0
	_, err := e.Score(t.Context(), "q", texts)
	if sentence(t, err, "refuses a text for its length"); requests != 4 {
		t.Errorf("%d requests", requests)
	}
	holds = 1 << 20
	if got, err := e.Score(t.Context(), "q", []string{strings.Repeat("x", 1<<20)}); err != nil || got[0] != 8<<10 {
		t.Errorf("a huge text: %v, %v", got, err)
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add(tei)
	f.Add(llama)
	f.Add(`[{"index":0,"score":1},{"index":0,"score":1},{"index":0,"score":1}]`)
	f.Add(`{"results":[{"index":null,"relevance_score":"x"}]}`)
	f.Add(`null`)
	var answer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
	}))
	defer server.Close()
	f.Fuzz(func(t *testing.T, body string) {
		answer = body
		for _, kind := range []string{crossencoder.TEI, crossencoder.LlamaCPP} {
			scores, err := open(t, crossencoder.Config{Kind: kind, URL: server.URL}).Score(t.Context(), "q",
				[]string{"a", "b", "c"})
			if (err == nil) != (len(scores) == 3) {
				t.Errorf("%v, %v", scores, err)
			}
		}
	})
}
