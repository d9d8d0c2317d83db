package ollama_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"almanac/embed"
	"almanac/embed/ollama"
)

func TestPull(t *testing.T) {
	f, url := newFake(t)
	var asked string
	f.on("/api/pull", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = string(body)
		_, _ = io.WriteString(w, `{"status":"pulling manifest"}
{"status":"pulling a","digest":"sha256:a","total":100}
{"status":"pulling a","digest":"sha256:a","total":100,"completed":60}
{"status":"pulling b","digest":"sha256:b","total":50,"completed":10}
{"status":"pulling a","digest":"sha256:a","total":100,"completed":100}
{"status":"pulling b","digest":"sha256:b","total":50,"completed":70}
{"status":"odd","digest":"sha256:c","total":-5,"completed":3}
{"status":"odd","digest":"sha256:d","total":9223372036854775807,"completed":3}
{"status":"verifying sha256 digest"}
{"status":"success"}
`)
	})
	var got [][2]int64
	if err := ollama.Pull(t.Context(), ollama.Config{URL: url, Model: "all-minilm"},
		func(done, total int64) { got = append(got, [2]int64{done, total}) }); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int64{{0, 100}, {60, 100}, {70, 150}, {110, 150}, {150, 150}}; !slices.Equal(got, want) {
		t.Errorf("progress %v, want %v", got, want)
	}
	if !strings.Contains(asked, `"model":"all-minilm:latest"`) {
		t.Errorf("called %s", asked)
	}
	if err := ollama.Pull(t.Context(), ollama.Config{URL: url, Model: "all-minilm"}, nil); err != nil {
		t.Error(err)
	}
}

func TestPullThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"unknown model": {answer(
			200, "{\"status\":\"pulling manifest\"}\n{\"error\":\"pull model manifest: file does not exist\"}\n"),
			"failed: pull model manifest: file does not exist"},
		"breaks off": {answer(
			200, "{\"status\":\"pulling a\",\"digest\":\"sha256:a\",\"total\":100,\"completed\":60}\n"),
			"stopped before it had all of it"},
		"says nothing": {answer(200, ""), "stopped before it had all of it"},
		"no JSON":      {answer(200, "<html>\n"), "returned an unexpected response"},
		"wrong key":    {answer(403, ""), "wants a key (403 Forbidden)"},
		"refused":      {answer(500, `{"error":"disk full"}`), "returned 500 Internal Server Error: disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			f, url := newFake(t)
			f.on("/api/pull", c.handler)
			err := ollama.Pull(t.Context(), ollama.Config{URL: url, Model: "all-minilm"}, nil)
			sentence(t, err, c.want)
			sentence(t, err, "pull the model all-minilm:latest: ")
		})
	}
	if err := ollama.Pull(t.Context(), ollama.Config{URL: "http://127.0.0.1:1", Model: "all-minilm"},
		nil); !errors.Is(err, embed.ErrUnavailable) {
		t.Errorf("error %v", err)
	}
	sentence(t, ollama.Pull(t.Context(), ollama.Config{URL: "http://127.0.0.1:1", Model: "not a name"}, nil),
		"is not the name of a model")
}

func TestPullCanBeStopped(t *testing.T) {
	f, url := newFake(t)
	f.on("/api/pull", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "{\"status\":\"pulling a\",\"digest\":\"sha256:a\",\"total\":100,\"completed\":60}\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(t.Context())
	err := ollama.Pull(ctx, ollama.Config{URL: url, Model: "all-minilm"}, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func FuzzPull(f *testing.F) {
	f.Add("{\"status\":\"success\"}\n")
	f.Add("{\"digest\":\"a\",\"total\":1,\"completed\":2}\n{\"error\":\"x\"}\n")
	f.Add("{\"digest\":\"a\",\"total\":9223372036854775807,\"completed\":-1}\nnull\n[]\n")
	fake, url := newFake(f)
	f.Fuzz(func(t *testing.T, stream string) {
		fake.on("/api/pull", answer(200, stream))
		err := ollama.Pull(t.Context(), ollama.Config{URL: url, Model: "all-minilm"}, func(done, total int64) {
			if done < 0 || done > total {
				t.Errorf("%d of %d bytes", done, total)
			}
		})
		if err == nil && !strings.Contains(strings.ToLower(stream), "status") {
			t.Errorf("%q is a success", stream)
		}
	})
}
