package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/ready" || r.Method != http.MethodGet {
				t.Errorf("%s %s is requested", r.Method, r.URL)
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.Listener.Addr().String()
	}
	port := func(address string) string { return address[strings.LastIndex(address, ":"):] }
	ready := answer(http.StatusOK, `{"status":"ready","down":["keyword: refused"]}`)
	tests := []struct {
		name, listen string
		code         int
		want         string
	}{
		{"ready, if without an engine", ready, 0, "ready\n"},
		{"every address is also loopback", port(ready), 0, "ready\n"},
		{"so of IPv4", "0.0.0.0" + port(ready), 0, "ready\n"},
		{"and of IPv6", "[::]" + port(ready), 0, "ready\n"},
		{"a name", "localhost" + port(ready), 0, "ready\n"},
		{"loading", answer(http.StatusServiceUnavailable, `{"error":"loading, 40 %: no model\nserver"}`), 1,
			"is not ready: loading, 40 %: no model\n"},
		{"another server", answer(http.StatusNotFound, "<html>"), 1, "is not ready: 404 Not Found\n"},
		{"no server", "127.0.0.1:1", 1, "no server answers on 127.0.0.1:1: dial tcp"},
		{"any port", "127.0.0.1:0", 1, "server.listen is 127.0.0.1:0"},
		{"no address", "localhost", 2, "server.listen"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errOut bytes.Buffer
			// A proxy must not be used for this machine.
			env := environ(t.TempDir(), "ALMANAC_SERVER_LISTEN="+tt.listen, "HTTP_PROXY=http://127.0.0.1:1")
			code := runMain(t.Context(), []string{"health"}, env, &out, &errOut)
			said := out.String()
			if code != 0 {
				said = errOut.String()
			}
			if code != tt.code || !strings.Contains(said, tt.want) || code != 0 && !oneSentence(said) {
				t.Errorf("exit code %d: %q %q", code, out.String(), errOut.String())
			}
		})
	}
}

func TestHealthSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	if code := runMain(t.Context(), []string{"health", "--help"}, nil, &out, &errOut); code != 0 ||
		!strings.Contains(out.String(), "Exit code 1") {
		t.Errorf("exit code %d: %s%s", code, out.String(), errOut.String())
	}
}
