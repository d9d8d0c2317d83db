package ollama_test

import (
	"encoding/json"
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
	"time"

	"go.uber.org/goleak"

	"almanac/embed"
	"almanac/embed/ollama"
	"almanac/embed/remote"
)

func TestMain(m *testing.M) {
	var kept []goleak.Option
	if os.Getenv("ALMANAC_TEST_OLLAMA_URL") != "" { // connections to a server that outlives the tests
		kept = append(kept, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"),
			goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
	}
	goleak.VerifyTestMain(m, kept...)
}

const digest = "913ecac45365a3375238edb9483b6736afccadece3eb33fe6f10224801b6d43d"

// fake answers as Ollama does; a handler set for a path takes its place.
type fake struct {
	mu       sync.Mutex
	digest   string
	handlers map[string]http.HandlerFunc
	requests []map[string]any // bodies of /api/embed
}

func newFake(t testing.TB) (*fake, string) {
	t.Helper()
	f := &fake{digest: digest, handlers: map[string]http.HandlerFunc{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

// on sets the answer of a path.
func (f *fake) on(path string, h http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers[path] = h
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if h := f.handlers[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	switch r.Method + r.URL.Path {
	case "GET/api/tags":
		fmt.Fprintf(
			w, `{"models":[{"name":"other:7b","digest":"%064d"},{"name":"all-minilm:latest","model":"all-minilm:latest","digest":%q}]}`, 7, f.digest)
	case "POST/api/embed":
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		f.requests = append(f.requests, body)
		var vectors [][]float32
		for _, text := range body["input"].([]any) {
			vectors = append(vectors, []float32{3, float32(len(text.(string)))})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"model": body["model"], "embeddings": vectors})
	default:
		http.NotFound(w, r)
	}
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func open(t *testing.T, c ollama.Config) *remote.Embedder {
	t.Helper()
	e, err := ollama.Open(t.Context(), c)
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

func TestWhatIsSent(t *testing.T) {
	f, url := newFake(t)
	e := open(t, ollama.Config{URL: url, Model: "All-MiniLM", KeepAlive: 30 * time.Minute})
	if want := `all-minilm:latest@913ecac45365, 2 dimensions`; e.Model() != want {
		t.Errorf("model %s, want %s", e.Model(), want)
	}
	got, err := e.Embed(t.Context(), []string{"four", ""}, embed.Query)
	if err != nil {
		t.Fatal(err)
	}
	length := math.Hypot(3, 4)
	if want := [][]float32{{float32(3 / length), float32(4 / length)}, {0, 0}}; !slices.EqualFunc(got, want,
		slices.Equal) {
		t.Errorf("vectors %v, want %v", got, want)
	}
	sent, err := json.Marshal(f.requests[len(f.requests)-1])
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"input":["four"],"keep_alive":"30m0s","model":"All-MiniLM:latest","options":null,"truncate":true}`; string(sent) != want {
		t.Errorf("sent %s, want %s", sent, want)
	}
	open(t, ollama.Config{URL: url, Model: "all-minilm", KeepAlive: -1})
	if kept := f.requests[len(f.requests)-1]["keep_alive"]; kept != -1.0 {
		t.Errorf("keep_alive %v, want for ever", kept)
	}
	open(t, ollama.Config{URL: url, Model: "all-minilm"})
	if kept, ok := f.requests[len(f.requests)-1]["keep_alive"]; ok {
		t.Errorf("keep_alive %v, want the server's", kept)
	}
}

func TestNamesOfModels(t *testing.T) {
	f, url := newFake(t)
	f.on("/api/tags", answer(200, `{"models":[{"name":"all-minilm:22m","digest":"`+digest+
		`"},{"name":"example/bge:f16","digest":"`+digest+`"},
		{"name":"models.example.org/a/b:latest","digest":"`+digest+`"}]}`))
	for name, want := range map[string]string{
		"all-minilm:22m": "", "library/all-minilm:22m": "", "ALL-MINILM:22M": "", "example/bge:f16": "",
		"models.example.org/a/b": "",
		"all-minilm": "does not have the model all-minilm:latest: it has to be pulled first with `ollama " +
			"pull all-minilm:latest`", "bge:f16": "does not have the model bge:f16",
		"": `"" is not the name of a model`, "two words": `"two words" is not the name`,
		"a:b:c/../d": "is not the name",
	} {
		_, err := ollama.Open(t.Context(), ollama.Config{URL: url, Model: name})
		if want != "" {
			sentence(t, err, want)
			if errors.Is(err, ollama.ErrNoModel) != strings.Contains(want, "does not have") {
				t.Errorf("%s: ErrNoModel in %v", name, err)
			}
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadServers(t *testing.T) {
	for name, c := range map[string]struct {
		path, answer string
		want         string
	}{
		"no models":          {"/api/tags", `{}`, "does not have the model"},
		"no digest":          {"/api/tags", `{"models":[{"name":"all-minilm:latest"}]}`, "without a digest"},
		"no vectors":         {"/api/embed", `{"embeddings":[]}`, "returned 0 vectors for 1 texts"},
		"null":               {"/api/embed", `{"embeddings":[null]}`, "returned vectors without components"},
		"too large a number": {"/api/embed", `{"embeddings":[[1e60]]}`, "returned an unexpected response"},
		"another program":    {"/api/tags", `<html>`, "returned an unexpected response"},
		"an error in a 200":  {"/api/embed", `{"error":"x"}`, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			f, url := newFake(t)
			f.on(c.path, answer(200, c.answer))
			_, err := ollama.Open(t.Context(), ollama.Config{URL: url, Model: "all-minilm"})
			sentence(t, err, c.want)
			if errors.Is(err, embed.ErrUnavailable) {
				t.Errorf("error %v of a server that is there", err)
			}
		})
	}
	_, err := ollama.Open(t.Context(), ollama.Config{URL: "localhost:11434", Model: "all-minilm"})
	sentence(t, err, `ollama: "localhost:11434" is not of the form http://host:port`)
}

func TestAModelThatIsRemovedOrReplaced(t *testing.T) {
	f, url := newFake(t)
	e := open(t, ollama.Config{URL: url, Model: "all-minilm"})
	f.on("/api/embed", answer(404, `{"error":"model \"all-minilm\" not found, try pulling it first"}`))
	_, err := e.Embed(t.Context(), []string{"a"}, embed.Query)
	if sentence(t, err, "does not have the model all-minilm:latest: it has to be pulled first"); !errors.Is(err,
		ollama.ErrNoModel) {
		t.Errorf("error %v", err)
	}
	f.on("/api/embed", nil)
	f.mu.Lock()
	f.digest = strings.Repeat("ab", 32)
	f.mu.Unlock()
	_, err = e.Embed(t.Context(), []string{"a"}, embed.Query)
	sentence(t, err, "now has another model (all-minilm:latest@abababababab, 2 dimensions) than the index was built "+
		"with (all-minilm:latest@913ecac45365, 2 dimensions)")
}

// FuzzAnswers feeds an embedder what a server may say.
func FuzzAnswers(f *testing.F) {
	tags := `{"models":[{"name":"all-minilm:latest","digest":"` + digest + `"}]}`
	f.Add(tags, `{"embeddings":[[1,2]]}`, true)
	f.Add(tags, `{"embeddings":[[1e38,-1e38]]}`, true)
	f.Add(tags, `{"embeddings":[null]}`, true)
	f.Add(tags, `{"error":"the input length exceeds the context length"}`, false)
	f.Add(`{"models":[{"name":"::","digest":"0"}]}`, ``, true)
	f.Add(`[]`, `<html>`, false)
	var list, vectors string
	var good bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := list
		if r.Method == http.MethodPost {
			if body = vectors; !good {
				w.WriteHeader(http.StatusBadRequest)
			}
		}
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	f.Fuzz(func(t *testing.T, l, v string, g bool) {
		list, vectors, good = l, v, g
		e, err := ollama.Open(t.Context(), ollama.Config{URL: server.URL, Model: "all-minilm"})
		if err != nil {
			return
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
	})
}
