package webaddress_test

import (
	"net/url"
	"strings"
	"testing"

	"almanac/text/webaddress"
)

func TestCanonical(t *testing.T) {
	base, _ := url.Parse("https://docs.example.org/a/b")
	tests := []struct{ in, address, key, path string }{
		{"c", "https://docs.example.org/a/c", "docs.example.org/a/c", "a/c"},
		{" HTTPS://WWW.Example.org:443/X/?utm_source=rss&p=2#top ", "https://www.example.org/X/?p=2",
			"example.org/X?p=2", "X"},
		{"https://example.org/view?source=a", "https://example.org/view?source=a", "example.org/view?source=a", "view"},
		{"https://example.org/a.md?ref=v1.2&UTM_Medium=x", "https://example.org/a.md?ref=v1.2",
			"example.org/a?ref=v1.2", "a"},
		{"https://example.org/a?gclid=1&fbclid=2&msclkid=3&mc_cid=4&mc_eid=5&utm_id=6", "https://example.org/a",
			"example.org/a", "a"},
		{"https://example.org/a?clid=1&cid=2&eid=3&utm=4", "https://example.org/a?cid=2&clid=1&eid=3&utm=4",
			"example.org/a?cid=2&clid=1&eid=3&utm=4", "a"},
		{"https://example.org", "https://example.org/", "example.org", ""},
		{"https://example.org/index.html", "https://example.org/index.html", "example.org", ""},
		{"https://example.org/a/index.html?", "https://example.org/a/index.html", "example.org/a", "a"},
		{"https://example.org/a/b.html", "https://example.org/a/b.html", "example.org/a/b", "a/b"},
		{"https://example.org/a/index.html.md", "https://example.org/a/index.html.md", "example.org/a", "a"},
		{"https://example.org/v2.1/a.md", "https://example.org/v2.1/a.md", "example.org/v2.1/a", "v2.1/a"},
		{"https://example.org/a%20b/", "https://example.org/a%20b/", "example.org/a b", "a b"},
		{"http://example.org:8080/a/../b//c", "http://example.org:8080/b//c", "example.org:8080/b/c", "b/c"},
		{"https://u:p@example.org/", "https://example.org/", "example.org", ""},
		{"mailto:a@example.org", "", "", ""}, {"javascript:x", "", "", ""}, {"http://", "", "", ""},
		{"https://%zz", "", "", ""},
	}
	for _, tt := range tests {
		u := webaddress.Canonical(tt.in, base)
		if u == nil || tt.address == "" {
			if u != nil || tt.address != "" {
				t.Errorf("%s: %v, want %q", tt.in, u, tt.address)
			}
			continue
		}
		if u.String() != tt.address || webaddress.Key(u) != tt.key || webaddress.Path(u) != tt.path {
			t.Errorf("%s: %s, key %s, path %s; want %s, %s, %s", tt.in, u, webaddress.Key(u), webaddress.Path(u), tt.address,
				tt.key, tt.path)
		}
	}
}

func TestScope(t *testing.T) {
	s, err := webaddress.NewScope([]string{"/docs/**", "blog/*"}, []string{"/docs/**/draft-*", "/docs/old/**"})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"/docs/a": true, "/docs/a/b": true, "/docs/": true, "/blog/x": true, "/blog/x/y": false, "/": false,
		"/docs/old/a":   false,
		"/docs/draft-x": false, "/docs/a/draft-x": false, "/docsx/a": false,
	} {
		if got := s.Holds(&url.URL{Path: path}); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	if all, err := webaddress.NewScope(nil, nil); err != nil || !all.Holds(&url.URL{Path: "/x"}) {
		t.Errorf("no pattern leaves a path out: %v", err)
	}
	if _, err := webaddress.NewScope(nil, []string{"\xff"}); err == nil || !strings.Contains(err.Error(), `"/\xff"`) {
		t.Errorf("a pattern that is none: %v", err)
	}
}
