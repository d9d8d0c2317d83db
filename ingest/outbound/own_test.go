package outbound

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/testing/httppipe"
)

// TestForAllowsOnlyTheSourcesOwnServers: two servers in an allowed network, of
// which the options of a source name one.
func TestForAllowsOnlyTheSourcesOwnServers(t *testing.T) {
	var secrets atomic.Int32
	secret := serve(t, func(http.ResponseWriter, *http.Request) { secrets.Add(1) })
	named := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			http.Redirect(w, r, to, http.StatusFound)
		}
	})
	base, _ := client(t, Config{})
	own := base.For(named+"/feed.xml", "no address", "http://")
	defer own.Close()
	other := func(host string) string { return strings.Replace(named, "127.0.0.1", host, 1) }
	tests := []struct {
		what, url string
		refused   bool
	}{
		{"the named server", named, false},
		{"a redirect to itself", named + "/?to=/elsewhere", false},
		{"another server", secret, true},
		{"a redirect to another server", named + "/?to=" + secret, true},
		{"the named server by another name", other("localhost"), true},
		{"and by another notation", other("[::ffff:127.0.0.1]"), true},
		{"a redirect to it by another name", named + "/?to=" + other("localhost"), true},
		{"a network that nobody allowed", "http://10.0.0.1/", true},
	}
	for _, tt := range tests {
		_, err := own.Do(t.Context(), Request{URL: tt.url})
		if errors.Is(err, ErrRefused) != tt.refused || !tt.refused && err != nil {
			t.Errorf("%s: %v", tt.what, err)
		}
		if hinted := err != nil && strings.Contains(err.Error(), "the source's options name"); hinted !=
			(tt.refused && !strings.Contains(tt.url, "10.0.0.1")) {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
	if _, err := own.Once().RoundTrip(request(t, secret)); !errors.Is(err, ErrRefused) || secrets.Load() != 0 {
		t.Errorf("sent once: %v, %d requests", err, secrets.Load())
	}
	both := own.For(secret, other("localhost"))
	for _, url := range []string{secret, named, other("localhost")} {
		if _, err := both.Do(t.Context(), Request{URL: url}); err != nil {
			t.Errorf("%s, named as well: %v", url, err)
		}
	}
	// Named is not enough for a redirect: the server that sends it is not the operator.
	_, err := both.Do(t.Context(), Request{URL: named + "/?to=" + other("localhost")})
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a redirect between two named servers: %v", err)
	}
	if _, err := base.Do(t.Context(), Request{URL: secret}); err != nil {
		t.Errorf("the client that it was made from: %v", err)
	}
}

func TestServerIsOneSpelling(t *testing.T) {
	c, _ := client(t, Config{})
	own := c.For("http://Forum.Example.", "ssh://git@code.example/x.git", "https://wiki.example:8443/")
	defer own.Close()
	for url, want := range map[string]bool{
		"http://forum.example/": true, "https://forum.example/login": true, "http://forum.example:80": true,
		"http://forum.example:8080": false, "http://code.example:22": true, "http://code.example": false,
		"https://wiki.example:8443/a": true, "https://wiki.example/a": false, "http://other.example": false,
	} {
		if got := own.owns(request(t, url).URL); got != want {
			t.Errorf("%s: %v, want %v", url, got, want)
		}
	}
}

func request(t *testing.T, url string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOpenNeedsARate: a body whose pieces are each in time, but take for ever.
func TestOpenNeedsARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		drip := func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte("x")); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				select {
				case <-time.After(time.Second):
				case <-r.Context().Done():
				}
			}
		}
		c, _ := client(t, Config{Timeout: 20 * time.Second, Transport: httppipe.Transport(t, http.HandlerFunc(drip))})
		body, _, err := c.Open(t.Context(), Request{URL: "http://gull.example/"})
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		read, err := io.ReadAll(body)
		if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "bytes per second") || len(read) > 100 {
			t.Errorf("%d bytes, %v", len(read), err)
		}
	})
}
