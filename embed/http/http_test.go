package httpembed_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"almanac/embed"
	httpembed "almanac/embed/http"
	"almanac/embed/remote"
	"almanac/testing/recordingtest"
)

func TestMain(m *testing.M) {
	var kept []goleak.Option
	if os.Getenv("ALMANAC_TEST_OLLAMA_URL") != "" { // connections to a server that outlives the tests
		kept = append(kept, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
	}
	goleak.VerifyTestMain(m, kept...)
}

// fake answers by path and keeps what it was sent last.
type fake struct {
	mu      sync.Mutex
	answers map[string]string // body by path, a status in front of it if not 200
	sent    map[string]string // body by path
	header  http.Header
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[r.URL.Path], f.header = string(body), r.Header
	answer, ok := f.answers[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if status, rest, ok := strings.Cut(answer, " "); ok && len(status) == 3 {
		var code int
		if _, err := fmt.Sscan(status, &code); err == nil {
			w.WriteHeader(code)
			answer = rest
		}
	}
	_, _ = io.WriteString(w, answer)
}

func newFake(t testing.TB, answers map[string]string) (*fake, string) {
	t.Helper()
	f := &fake{answers: answers, sent: map[string]string{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *fake) answer(path, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answers[path] = body
}

func open(t *testing.T, c httpembed.Config) *remote.Embedder {
	t.Helper()
	e, err := httpembed.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
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
	oneOpenAI = `{"data":[{"index":0,"embedding":[3,4]}],"model":"m"}`
	oneTEI    = `[[3,4]]`
	infoTEI   = `{"model_id":"BAAI/bge-small-en-v1.5","model_sha":"5c38ec7c405ec4b44b94cc5a9bb96e735b38267a","model_dtype":"float16",
		"model_type":{"embedding":{"pooling":"cls"}},"max_input_length":512,"max_client_batch_size":2,"auto_truncate":false,"version":"1.7.1"}`
)

func TestOpenAI(t *testing.T) {
	f, url := newFake(t, map[string]string{"/v1/embeddings": oneOpenAI})
	e := open(t, httpembed.Config{Kind: httpembed.OpenAI, URL: url + "/v1/", Model: "text-embedding-3-small",
		Key: "hush"})
	if e.Model() != "text-embedding-3-small, 2 dimensions" || e.Dimensions() != 2 {
		t.Errorf("model %s, %d dimensions", e.Model(), e.Dimensions())
	}
	f.answer("/v1/embeddings", `{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,4]}]}`)
	got, err := e.Embed(t.Context(), []string{"a", "", "b"}, embed.Document)
	if want := [][]float32{{0.6, 0.8}, {0, 0}, {0, 1}}; err != nil || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("vectors %v, error %v, want %v", got, err, want)
	}
	if want := `{"model":"text-embedding-3-small","input":["a","b"],"encoding_format":"float"}`; f.sent["/v1/embeddings"] != want {
		t.Errorf("sent %s, want %s", f.sent["/v1/embeddings"], want)
	}
	if f.header.Get("Authorization") != "Bearer hush" {
		t.Errorf("authorization %q", f.header.Get("Authorization"))
	}
}

func TestTEI(t *testing.T) {
	f, url := newFake(t, map[string]string{"/info": infoTEI, "/embed": oneTEI})
	e := open(t, httpembed.Config{Kind: httpembed.TEI, URL: url})
	want := `BAAI/bge-small-en-v1.5@5c38ec7c405e, float16, cls pooling, 512 tokens, 2 dimensions, query "Represent this sentence for searching relevant passages: ", document ""`
	if e.Model() != want {
		t.Errorf("model %s, want %s", e.Model(), want)
	}
	if _, err := e.Embed(t.Context(), []string{"a"}, embed.Query); err != nil {
		t.Error(err)
	}
	if want := `{"inputs":["Represent this sentence for searching relevant passages: a"],"truncate":true,"normalize":true}`; f.sent["/embed"] != want {
		t.Errorf("sent %s, want %s", f.sent["/embed"], want)
	}
	f.answer("/info", strings.Replace(infoTEI, `"5c38ec7c405ec4b44b94cc5a9bb96e735b38267a"`, "null", 1))
	if e = open(t, httpembed.Config{Kind: httpembed.TEI, URL: url, Model: "BAAI/bge-small-en-v1.5"}); !strings.HasPrefix(
		e.Model(), "BAAI/bge-small-en-v1.5@float16, cls pooling, 512 tokens, 2 dimensions") {
		t.Errorf("model %s", e.Model())
	}
}

func TestBadConfiguration(t *testing.T) {
	for _, c := range []struct {
		cfg  httpembed.Config
		want string
	}{
		{httpembed.Config{Kind: "grpc", URL: "http://127.0.0.1"},
			`"grpc" is not a kind of embedding server: use "openai" or "tei"`},
		{httpembed.Config{Kind: httpembed.OpenAI, URL: "http://127.0.0.1/v1"},
			"openai at http://127.0.0.1/v1: no model is named"},
		{httpembed.Config{Kind: httpembed.OpenAI, URL: "127.0.0.1:80", Model: "m"},
			`openai: "127.0.0.1:80" is not of the form`},
	} {
		_, err := httpembed.Open(t.Context(), c.cfg)
		sentence(t, err, c.want)
	}
}

func TestBadServers(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    httpembed.Kind
		answers map[string]string
		want    string
	}{
		{"two vectors", httpembed.OpenAI,
			map[string]string{"/embeddings": `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]}]}`},
			"returned 2 vectors for 1 texts"},
		{"wrong index", httpembed.OpenAI, map[string]string{"/embeddings": `{"data":[{"index":1,"embedding":[1]}]}`},
			"returned no vector, or two"},
		{"no embedding", httpembed.OpenAI, map[string]string{"/embeddings": `{"data":[{"index":0}]}`},
			"returned no vector, or two"},
		{"base64", httpembed.OpenAI, map[string]string{"/embeddings": `{"data":[{"index":0,"embedding":"AACAPw=="}]}`},
			"returned an unexpected response, is the address right?"},
		{"NaN as null", httpembed.OpenAI,
			map[string]string{"/embeddings": `{"data":[{"index":0,"embedding":[null,1]}]}`},
			"null in place of a number, which stands for NaN"},
		{"NaN", httpembed.OpenAI, map[string]string{"/embeddings": `{"data":[{"index":0,"embedding":[NaN,1]}]}`},
			"returned an unexpected response"},
		{"other model", httpembed.TEI, map[string]string{"/info": strings.Replace(infoTEI, "BAAI/", "example/", 1)},
			"has the model example/bge-small-en-v1.5, not BAAI/bge-small-en-v1.5"},
		{"reranker", httpembed.TEI, map[string]string{"/info": strings.Replace(infoTEI, `"embedding"`, `"reranker"`,
			1)}, "which is not an embedding model"},
		{"other program", httpembed.TEI, map[string]string{"/info": `{"name":"x"}`},
			"does not say which model it has: is it a text-embeddings-inference server?"},
		{"wrong count", httpembed.TEI, map[string]string{"/info": infoTEI, "/embed": `[]`},
			"returned 0 vectors for 1 texts"},
		{"null", httpembed.TEI, map[string]string{"/info": infoTEI, "/embed": `[null]`}, "vector"},
	} {
		t.Run(string(c.kind)+" "+c.name, func(t *testing.T) {
			_, url := newFake(t, c.answers)
			cfg := httpembed.Config{Kind: c.kind, URL: url, Model: "m"}
			if c.kind == httpembed.TEI {
				cfg.Model = "BAAI/bge-small-en-v1.5"
			}
			_, err := httpembed.Open(t.Context(), cfg)
			sentence(t, err, c.want)
			if errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("error %v of a server that is there", err)
			}
		})
	}
}

// TestRealServer speaks to Ollama's OpenAI interface.
func TestRealServer(t *testing.T) {
	base := recordingtest.HTTP(t, "testdata/openai.jsonl", os.Getenv("ALMANAC_TEST_OLLAMA_URL"),
		recordingtest.Options{Server: "Ollama 0.9.6"})
	_, err := httpembed.Open(t.Context(), httpembed.Config{Kind: httpembed.OpenAI, URL: base + "/v1",
		Model: "no-such-model"})
	sentence(t, err, `returned 404 Not Found: model "no-such-model" not found`)
	e := open(t, httpembed.Config{Kind: httpembed.OpenAI, URL: base + "/v1", Model: "all-minilm"})
	if e.Model() != "all-minilm, 384 dimensions" {
		t.Errorf("model %s", e.Model())
	}
	got, err := e.Embed(t.Context(), []string{"How do I become a validator?",
		"A validator joins the Causeway Network with a signed request.", "The ferry carries no cars."}, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	dot := func(a, b []float32) (sum float64) {
		for i := range a {
			sum += float64(a[i]) * float64(b[i])
		}
		return sum
	}
	if near, far, self := dot(got[0], got[1]), dot(got[0], got[2]), dot(got[0], got[0]); near < far+0.3 ||
		math.Abs(self-1) > 1e-5 {
		t.Errorf("cosine %.3f with the answer, %.3f with another text, square %.6f", near, far, self)
	}
}

func FuzzAnswers(f *testing.F) {
	for _, body := range []string{oneOpenAI, oneTEI, infoTEI, `{"data":[{"index":-1,"embedding":[1]}]}`, `[null]`,
		`{"error":"x"}`, `[[1e39]]`} {
		f.Add(infoTEI, body)
	}
	f.Add(`{"model_id":"x","model_type":{"embedding":{}}}`, `[[0]]`)
	fake, url := newFake(f, map[string]string{})
	f.Fuzz(func(t *testing.T, info, body string) {
		fake.answer("/info", info)
		fake.answer("/embed", body)
		fake.answer("/embeddings", body)
		for _, kind := range []httpembed.Kind{httpembed.OpenAI, httpembed.TEI} {
			if len(body) > 3 && body[3] == ' ' {
				continue // a status
			}
			e, err := httpembed.Open(t.Context(), httpembed.Config{Kind: kind, URL: url, Model: "m"})
			if err != nil {
				continue
			}
			got, err := e.Embed(t.Context(), []string{"a"}, embed.Query)
			if err != nil {
				t.Fatalf("opened, but %v", err)
			}
			sum := 0.0
			for _, x := range got[0] {
				sum += float64(x) * float64(x)
			}
			if sum != 0 && math.Abs(sum-1) > 1e-4 {
				t.Errorf("a vector of length %g", math.Sqrt(sum))
			}
		}
	})
}
