package dashboard_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"almanac/api/dashboard"
	"almanac/api/dashboard/form"
	"almanac/api/server"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// served is a dashboard on a listener.
type served struct {
	http.Handler
	pages *form.Pages
}

func serve(t *testing.T, cfg form.Config) http.Handler {
	t.Helper()
	d, err := dashboard.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := server.New(server.Config{Routes: d.Routes(), Log: cfg.Log})
	if err != nil {
		t.Fatal(err)
	}
	return served{h, d}
}

// empty is a catalog without records.
func empty(t *testing.T) *sqlstore.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// open returns a dashboard over an empty catalog.
func open(t *testing.T) (http.Handler, *sqlstore.Store) {
	t.Helper()
	store := empty(t)
	standard, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	h := serve(t, form.Config{Network: "Sample", Source: ranking.Source{Store: store,
		Base: retrieval.Relevance{Profiles: []ranking.Profile{standard}}},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	return h, store
}

// get asks for a page.
func get(h http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

func TestAnUnknownAddressIsAPage(t *testing.T) {
	h, _ := open(t)
	w := get(h, "/nowhere")
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is no such thing") ||
		!strings.Contains(w.Header().Get("Content-Security-Policy"), "trusted-types") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}
