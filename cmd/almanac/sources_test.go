package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// webYAML describes a network whose sources are all on one server.
const webYAML = `name: buoys
title: Lantern Buoys
proposals: {prefix: LIP, statuses: [Draft, Final], default: Draft}
sources:
  - name: blog
    kind: feed
    options: {url: "SERVER/feed.xml", site: Lantern Journal}
  - name: foundation
    kind: site
    options: {url: "SERVER/", include: [/about/**]}
  - name: papers
    kind: whitepaper
    options: {papers: [{title: A model of the lantern, url: "SERVER/lantern.pdf"}]}
  - name: talks
    kind: video
    options: {feed: "SERVER/videos.xml", transcripts: "SERVER/{id}.vtt"}
`

// webFiles are the files of the server. Each text has a unique word.
var webFiles = map[string][2]string{ // path → type, text
	"/feed.xml": {"application/rss+xml",
		`<rss version="2.0"><channel><title>J</title><link>/</link><item><title>New lamps</title><link>/posts/lamps</link>
<pubDate>Tue, 06 May 2031 08:00:00 +0000</pubDate></item></channel></rss>`},
	"/posts/lamps": {
		"text/html", "<article><h1>New lamps</h1><p>The paraffin lamps were replaced before the winter storms " +
			"began.</p></article>"},
	"/sitemap.xml": {
		"text/xml", "<urlset><url><loc>/about/board</loc></url><url><loc>/posts/lamps</loc></url></urlset>"},
	"/about/board": {
		"text/html", "<main><h1>Board</h1><p>The board of keepers meets under the sycamore every spring.</p></main>"},
	"/lantern.pdf": {"application/pdf", lanternPDF},
	"/videos.xml": {"text/xml", `<feed xmlns="http://www.w3.org/2005/Atom" xmlns:yt="http://www.youtube.com/xml/schemas/2015"><title>Talks</title><entry><yt:videoId>abc123</yt:videoId>
<title>On fog</title><link rel="alternate" href="https://video.example.org/watch?v=abc123"/><published>2031-05-06T08:00:00Z</published></entry></feed>`},
	"/abc123.vtt": {"text/vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nThe foghorn is heard for eleven miles.\n"},
}

// lanternPDF is a file of one page. Readers find its objects by their offsets.
var lanternPDF = func() string {
	const content = "BT /F1 12 Tf (Every lantern burns kerosene.) Tj ET"
	text := "%PDF-1.4\n"
	var offsets []int
	for i, object := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content),
			content), "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	} {
		offsets = append(offsets, len(text))
		text += fmt.Sprintf("%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	xref := len(text)
	text += "xref\n0 6\n0000000000 65535 f \n"
	for _, o := range offsets {
		text += fmt.Sprintf("%010d 00000 n \n", o)
	}
	return text + fmt.Sprintf("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", xref)
}()

// TestSourcesOnTheWeb syncs a network file with a source of every kind that
// calls servers, twice, and finds the texts of each.
func TestSourcesOnTheWeb(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := webFiles[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", f[0])
		_, _ = w.Write([]byte(f[1]))
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "buoys.yaml"), filepath.Join(dir, "data")
	writeFile(t, file, strings.ReplaceAll(webYAML, "SERVER", server.URL))

	out, _, code := almanac(t, environ(dir), "sync", "--network", file, "--data", data)
	// Three sources, and the paper, which is an item that was skipped.
	if refused := strings.Count(out, "address refused"); code != 1 || refused != 4 {
		t.Errorf("without leave for loopback: exit code %d, %d sources refused\n%s", code, refused, out)
	}
	env := environ(dir, "ALMANAC_SYNC_ALLOW=127.0.0.0/8,::1/128")
	first := must(t, env, "sync", "--network", file, "--data", data)
	second := must(t, env, "sync", "--network", file, "--data", data)
	for _, name := range []string{"blog", "foundation", "papers", "talks"} {
		if !regexp.MustCompile(`(?m)^`+name+` +1 +0 +0 +0 +0 .* ok$`).MatchString(first) ||
			!regexp.MustCompile(`(?m)^`+name+` +0 +0 +\d +0 +0 .* ok$`).MatchString(second) {
			t.Errorf("%s:\n%s%s", name, first, second)
		}
	}
	for query, want := range map[string]string{
		"paraffin": "[blog]", "sycamore": "[foundation]", "kerosene": "[whitepaper]", "foghorn": "[video]",
	} {
		if out := must(t, env, "search", "--network", file, "--data", data, "--limit", "1",
			query); !strings.Contains(out, want) {
			t.Errorf("search %s: want %s\n%s", query, want, out)
		}
	}
	if _, errOut, code := almanac(t, environ(dir, "ALMANAC_SYNC_ALLOW=loopback"), "config"); code != 2 ||
		!strings.Contains(errOut, `sync.allow: "loopback" is not a network`) {
		t.Errorf("exit code %d, %s", code, errOut)
	}
}
