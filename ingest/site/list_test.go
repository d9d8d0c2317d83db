package site

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/temoto/robotstxt"

	"almanac/ingest"
)

func TestParseLLMs(t *testing.T) {
	base := &url.URL{Scheme: "https", Host: "docs.example.org", Path: "/llms.txt"}
	type line struct{ address, title, note, section string }
	tests := map[string][]line{
		"- [A](/a.md): about a": {{"https://docs.example.org/a.md", "A", "about a", ""}},
		"## S ##\n* [A [b]](a_(b).md) - note": {{"https://docs.example.org/a_(b).md", "A [b]", "note",
			"S"}},
		"+ [A](<https://x.example.org/a b.md>)":             nil,
		"- [A](<https://x.example.org/a.md> \"t\"):\r\n":    {{"https://x.example.org/a.md", "A", "", ""}},
		"- [Mail](mailto:x@example.org)\n[A](a)\n- ![i](i)": nil,
		"- [`a` &amp; b](?p=1#x): R&D": {{"https://docs.example.org/llms.txt?p=1", "`a` & b",
			"R&D", ""}},
	}
	for text, want := range tests {
		var got []line
		for _, p := range parseLLMs(text, base) {
			got = append(got, line{p.address.String(), p.title, p.note, p.section})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(line{})); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}

// TestQueueOfSitemapsIsBounded: what waits is never more than is read.
func TestQueueOfSitemapsIsBounded(t *testing.T) {
	start := &url.URL{Scheme: "https", Host: "docs.example.org"}
	s := &survey{connector: connector{settings: settings{start: start}}, out: silent{}, met: map[string]bool{},
		cut: map[string]bool{}}
	s.queue([]*url.URL{start})
	read := 0
	for ; len(s.waiting) > 0 && read < 5*maxMaps; s.waiting = s.waiting[1:] {
		read++
		for i := range 30 {
			s.queue([]*url.URL{s.waiting[0].JoinPath(fmt.Sprint(i))})
		}
		if len(s.waiting) > maxMaps {
			t.Fatalf("%d wait", len(s.waiting))
		}
	}
	if read != maxMaps {
		t.Errorf("%d are read", read)
	}
}

type silent struct{ ingest.Sink }

func (silent) Warn(string, string) {}

func FuzzLists(f *testing.F) {
	for _, seed := range []string{
		"# T\n## S\n- [A](/a.md): about a\n", "- [[[[](((",
		"User-agent: *\nDisallow: /a*$\nCrawl-delay: 1e9\nSitemap: /x\n", "\ufeffUser-agent:\n\n:\nAllow", "- [x](%zz)",
	} {
		f.Add(seed)
	}
	base := &url.URL{Scheme: "https", Host: "docs.example.org", Path: "/llms.txt"}
	f.Fuzz(func(t *testing.T, text string) {
		for _, p := range parseLLMs(text, base) {
			if p.address.Host == "" || p.address.Scheme != "https" && p.address.Scheme != "http" {
				t.Errorf("%s", p.address)
			}
		}
		if robots, err := robotstxt.FromBytes([]byte(text)); err == nil {
			robots.TestAgent("/a/b?c=d", "almanac")
		}
	})
}
