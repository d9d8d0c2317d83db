package connectors_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/outbound"
	"almanac/text/options"
)

// TestCheckLooks: what a sync would find out an hour later.
func TestCheckLooks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/feed.xml" && r.URL.Path != "/repo/info/refs" {
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	files := fstest.MapFS{"kept/projects.yaml": {Data: []byte("- {slug: gull, name: Gull}\n")}}
	for _, tt := range []struct {
		name, kind string
		options    map[string]any
		allow      []netip.Prefix
		reach      bool
		want       string // in problems and advice; "" = none
	}{
		{"a path that is not there", "calendar",
			map[string]any{"file": "nowhere.ics", "environments": map[string]any{}}, nil, false,
			"nowhere.ics does not exist"},
		{"an entry with an unknown field", "curated", map[string]any{"dir": "kept"}, nil, false, "projects.yaml"},
		{"a missing variable", "forge", map[string]any{"repositories": []any{"a/b"}, "token_env": "NO_SUCH_TOKEN"}, nil,
			false,
			"environment variable NO_SUCH_TOKEN is not set"},
		{"a private address", "feed", map[string]any{"url": server.URL + "/feed.xml"}, nil, false, "sync.allow"},
		{"one that is allowed", "feed", map[string]any{"url": server.URL + "/feed.xml"}, loopback, false, ""},
		{"a server that answers", "feed", map[string]any{"url": server.URL + "/feed.xml"}, loopback, true, ""},
		{"one that does not", "feed", map[string]any{"url": server.URL + "/gone.xml"}, loopback, true,
			"does not answer"},
		{"a repository", "docs", map[string]any{"repository": map[string]any{"url": server.URL + "/repo"}}, loopback,
			true, ""},
		{"one that is not there", "docs", map[string]any{"repository": map[string]any{"url": server.URL + "/none"}},
			loopback, true,
			"does not answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "work")
			if err := os.Mkdir(work, 0o700); err != nil {
				t.Fatal(err)
			}
			env := ingest.Environment{
				Network: network.Network{Name: "mine",
					Sources: []network.Source{{Name: "x", Kind: tt.kind, Options: options.Of(tt.options)}}},
				Now: time.Now, Files: files, WorkDir: work,
				HTTP:      outbound.New(outbound.Config{Allow: tt.allow}),
				Pseudonym: func(s string) string { return s },
			}
			defer env.HTTP.Close()
			found := connectors.Check(t.Context(),
				connectors.CheckConfig{Environment: env, Allow: tt.allow, Reach: tt.reach, Read: true})
			text := fmt.Sprint(found[0].Problems, found[0].Advice)
			if tt.want == "" && len(found[0].Problems) > 0 || !strings.Contains(text, tt.want) {
				t.Errorf("got %s, want %q", text, tt.want)
			}
		})
	}
}
