package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"testing"
)

// facts are those of a data directory that can fail.
type facts struct {
	known  map[string]string
	broken bool
}

func (f *facts) Meta(_ context.Context, key string) (string, error) { return f.known[key], nil }

func (f *facts) SetMeta(_ context.Context, key, value string) error {
	if f.broken {
		return errors.New("the disk is full")
	}
	f.known[key] = value
	return nil
}

// published returns why a service is.
func published(t *testing.T, a *Audience) string {
	t.Helper()
	why, err := a.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return why
}

// TestPublishedByConfiguration holds by which settings others reach a service.
func TestPublishedByConfiguration(t *testing.T) {
	for name, tt := range map[string]struct {
		reach Reach
		want  string
	}{
		"loopback":                  {Reach{Listen: "127.0.0.1:8080"}, ""},
		"by name":                   {Reach{Listen: "localhost:8080"}, ""},
		"by IPv6":                   {Reach{Listen: "[::1]:0"}, ""},
		"a folder":                  {Reach{Listen: "127.0.0.1:8080", Folder: true}, ""},
		"another loopback address":  {Reach{Listen: "127.0.0.1:8080", PublicURL: "http://kb.localhost:9000/kb"}, ""},
		"all addresses":             {Reach{Listen: ":8080"}, "server.listen is no loopback address"},
		"all of IPv4":               {Reach{Listen: "0.0.0.0:8080"}, "server.listen is no loopback address"},
		"an address of the network": {Reach{Listen: "192.0.2.1:8080"}, "server.listen is no loopback address"},
		"a name of the network":     {Reach{Listen: "kb:8080"}, "server.listen is no loopback address"},
		"a proxy":                   {Reach{Listen: "[::1]:1", Proxies: []string{"::1"}}, "server.trusted_proxies names proxies"},
		"a public address": {Reach{Listen: "[::1]:1", PublicURL: "https://kb.example"},
			"server.public_url is no loopback address"},
	} {
		if got := published(t, NewAudience(tt.reach, &facts{}, slog.New(slog.DiscardHandler))); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if published(t, nil) == "" {
		t.Error("what nothing is known of is not published")
	}
}

// TestPublishedByAProxy holds that one request that came through a proxy publishes a
// service for good, also after a restart, and when that could not be written at first.
func TestPublishedByAProxy(t *testing.T) {
	log, known := slog.New(slog.DiscardHandler), &facts{known: map[string]string{}, broken: true}
	open := func() *Audience { return NewAudience(Reach{Listen: "127.0.0.1:8080"}, known, log) }
	a := open()
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("User-Agent", "X-Forwarded-For")
	if a.See(r); published(t, a) != "" {
		t.Error("a request of this machine publishes the service")
	}
	r.Header.Set("X-Forwarded-Proto", "https")
	if a.See(r); published(t, a) != cameThrough || published(t, open()) != "" {
		t.Errorf("with a full disk: %q, after a restart %q", published(t, a), published(t, open()))
	}
	known.broken = false
	a.See(r)
	first := known.known[metaPassed]
	a = open()
	if published(t, a) != cameThrough {
		t.Error("it is forgotten at a restart")
	}
	known.known[metaPassed] += " or before"
	if a.See(r); first == "" || known.known[metaPassed] != first+" or before" {
		t.Errorf("the first such request was at %q, now %q", first, known.known[metaPassed])
	}
}
