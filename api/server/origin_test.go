package server

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestPagesReportWhereBrowsersSend(t *testing.T) {
	for publicURL, want := range map[string]string{
		"https://kb.example":    "; img-src data:; report-uri /csp-reports; report-to csp",
		"http://127.0.0.1:8080": "; img-src data:; report-uri /csp-reports",
	} {
		h := http.Header{}
		Policy{Allow: "img-src data:", PublicURL: publicURL}.protect(h)
		if got := h.Get(
			"Content-Security-Policy"); got != "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"+want ||
			(h.Get("Reporting-Endpoints") != "") != (publicURL[:5] == "https") {
			t.Errorf("%s: %v", publicURL, h)
		}
	}
}

func TestHosts(t *testing.T) {
	h, err := New(Config{Check: Hosts([]string{"kb.example:443", "[2001:db8::1]"}), Routes: []Route{
		{Path: "/", Serve: func(*http.Request) (*Answer, error) { return &Answer{}, nil }}}})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]int{
		"localhost": 200, "LOCALHOST:8080": 200, "app.localhost": 200, "localhost.": 200, "127.0.0.1": 200,
		"127.9.9.9:1": 200,
		"[::1]:8080":  200, "[::ffff:127.0.0.1]": 200, "kb.example": 200, "kb.example:8080": 200,
		"[2001:db8::1]:80": 200,
		"evil.example":     403, "localhost.evil.example": 403, "notlocalhost": 403, "128.0.0.1": 403, "": 403,
		"0.0.0.0": 403, "[::]": 403,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%q: %d, want %d", host, w.Code, want)
		}
		if w.Code == 403 && w.Header().Get("Content-Type") != "application/json; charset=utf-8" {
			t.Errorf("%q: %s", host, w.Header().Get("Content-Type"))
		}
	}
}

func TestOrigins(t *testing.T) {
	const none = "-"
	for name, tt := range map[string]struct {
		origins Origins
		want    map[string]bool
	}{
		"in public": {NewOrigins([]string{"https://kb.example/"}, false),
			map[string]bool{none: true, "https://kb.example": true, "HTTPS://KB.example": true,
				"http://kb.example": false, "https://kb.example:8443": false, "http://localhost": false, "null": false,
				"": false}},
		"on loopback": {NewOrigins(nil, true),
			map[string]bool{none: true, "http://localhost:3000": true, "http://127.0.0.1": true, "http://[::1]:5": true,
				"https://evil.example": false, "http://localhost.evil.example": false, "null": false,
				"localhost": false, "http://": false, "http://evil.example@localhost": false,
				"http://localhost/evil": false, "//localhost": false, "http://localhost/": false,
				"http://localhost?x": false, "http://localhost#": false, "ftp://localhost": false}},
		"for all": {NewOrigins([]string{"*"}, false), map[string]bool{none: true, "https://evil.example": true}},
	} {
		for origin, want := range tt.want {
			r := httptest.NewRequest("POST", "/", nil)
			if origin != none {
				r.Header.Set("Origin", origin)
			}
			if got := tt.origins.Allow(r); got != want {
				t.Errorf("%s: %q: %v", name, origin, got)
			}
		}
	}
	r := httptest.NewRequest("POST", "/", nil)
	r.Header["Origin"] = []string{"https://kb.example", "https://evil.example"}
	if NewOrigins([]string{"https://kb.example"}, false).Allow(r) {
		t.Error("two origins pass")
	}
}

// TestLocal: only who uses this machine is known by the address; everybody behind a
// proxy here has it too.
func TestLocal(t *testing.T) {
	for _, tt := range []struct {
		peer, host, header string
		want               bool
	}{
		{"127.0.0.1:5000", "localhost:8080", "", true},
		{"[::1]:5000", "[::1]:8080", "", true},
		{"[::ffff:127.0.0.2]:5000", "127.0.0.1", "", true},
		{"192.0.2.1:5000", "localhost:8080", "", false},
		{"127.0.0.1:5000", "kb.example", "", false},
		{"@", "localhost", "", false},
		{"127.0.0.1:5000", "localhost:8080", "X-Forwarded-For", false},
		{"127.0.0.1:5000", "localhost:8080", "x-forwarded-proto", false},
		{"127.0.0.1:5000", "localhost:8080", "Forwarded", false},
		{"127.0.0.1:5000", "localhost:8080", "via", false},
		{"127.0.0.1:5000", "localhost:8080", "X-Real-IP", false},
		{"127.0.0.1:5000", "localhost:8080", "CF-Connecting-IP", false},
		{"127.0.0.1:5000", "localhost:8080", "User-Agent", true},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr, r.Host = tt.peer, tt.host
		if tt.header != "" {
			r.Header.Set(tt.header, "192.0.2.7")
		}
		if got := Local(r); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
