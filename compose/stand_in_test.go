package compose

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"almanac/embed"
	"almanac/embed/static"
	"almanac/testing/meilitest"
	"almanac/testing/qdranttest"
)

// TestStandIn serves as one of the stack's servers until it is told to stop:
// compose/smoke makes images of this test where those of the servers cannot be
// had. They keep what they hold in memory; what they prove is everything around
// it: users, keys, volumes, networks, health, restarts.
func TestStandIn(t *testing.T) {
	serve := map[string]func(*testing.T) http.Handler{
		"meilisearch": meilisearch, "qdrant": qdrant, "ollama": ollama,
	}[os.Getenv("STAND_IN")]
	if serve == nil {
		t.Skip("STAND_IN names no server")
	}
	server := http.Server{Addr: os.Getenv("STAND_IN_LISTEN"), Handler: serve(t), ReadHeaderTimeout: 10 * time.Second}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { _ = server.Shutdown(context.Background()) })
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		t.Fatal(err)
	}
}

// keeps fails unless the directory of a server's volume can be written.
func keeps(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "stand-in"), nil, 0o600)
}

func meilisearch(t *testing.T) http.Handler {
	keeps(t, os.Getenv("MEILI_DB_PATH"))
	s := meilitest.Start(t)
	s.RequireKey(os.Getenv("MEILI_MASTER_KEY"))
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }}
}

func qdrant(t *testing.T) http.Handler {
	keeps(t, "/qdrant/storage")
	qdranttest.StartAt(t, ":6334").RequireKey(os.Getenv("QDRANT__SERVICE__API_KEY"))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	return mux
}

// ollama has the program's own model under every name that was pulled. What was
// pulled stays in its volume.
func ollama(t *testing.T) http.Handler {
	pulled := filepath.Join(os.Getenv("HOME"), "pulled")
	keeps(t, os.Getenv("HOME"))
	model, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(model.Model()))
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }
	mux.HandleFunc("GET /api/tags", func(w http.ResponseWriter, _ *http.Request) {
		models := []map[string]any{}
		if text, err := os.ReadFile(pulled); err == nil {
			for name := range strings.Lines(string(text)) {
				models = append(models, map[string]any{"name": strings.TrimSpace(name),
					"digest": hex.EncodeToString(digest[:])})
			}
		}
		answer(w, map[string]any{"models": models})
	})
	mux.HandleFunc("POST /api/pull", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Model string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := os.WriteFile(pulled, []byte(request.Model+"\n"), 0o600); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, map[string]any{"status": "success"})
	})
	mux.HandleFunc("POST /api/embed", func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		vectors, err := model.Embed(r.Context(), request.Input, embed.Document)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		answer(w, map[string]any{"embeddings": vectors})
	})
	return mux
}
