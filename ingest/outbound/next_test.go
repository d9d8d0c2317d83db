package outbound_test

import (
	"net/http"
	"strings"
	"testing"

	"almanac/ingest/outbound"
)

func TestNext(t *testing.T) {
	for link, want := range map[string]string{
		`<https://api.forge.example.org/x?page=2>; rel="next", <y>; rel="last"`: "https://api.forge.example.org/x?page=2",
		`<y>; rel="prev", </x?page=3>; title="more"; REL=Next`:                  "/x?page=3",
		`<a,b>;rel=next`:       "a,b",
		`<x>; rel="nextsteps"`: "", `<x>; rel="last"`: "", `>;rel="next`: "", ">>;;,,==": "", "": "",
	} {
		answer := outbound.Response{Header: http.Header{"Link": {`<z>; rel="first"`, link}}}
		if got := answer.Next(); got != want {
			t.Errorf("%s: %q, want %q", link, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add(`<https://api.forge.example.org/x?page=2>; rel="next", <y>; rel="last"`)
	f.Add(`<x>;rel=next`)
	f.Fuzz(func(t *testing.T, link string) {
		next := (&outbound.Response{Header: http.Header{"Link": {link}}}).Next()
		if next != "" && (!strings.Contains(link, "<"+next+">") || !strings.Contains(strings.ToLower(link), "next")) {
			t.Errorf("%q: %q", link, next)
		}
	})
}
