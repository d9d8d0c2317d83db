//go:build linux

package connectors_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/folder"
	"almanac/ingest/outbound"
)

// hostile is a source that is made to exhaust who reads it.
type hostile struct {
	name    string
	kind    string
	options func(url string) map[string]any
	// What the server answers: the same to every request, or by the function; with
	// neither the source is files.
	contentType string
	body        func() []byte
	answer      http.HandlerFunc
	prepare     func(dir string) error // makes the network's folder
}

// Bounds of a run in the benchmark: it is killed beyond them.
const (
	maxSeconds = 120
	maxMB      = 3000
)

// BenchmarkHostile syncs every hostile source in a process of its own and prints
// its peak memory, its time and its result: the table of docs/security.md.
func BenchmarkHostile(b *testing.B) {
	for _, h := range sources {
		b.Run(strings.NewReplacer(" ", "-", ",", "").Replace(h.name), func(b *testing.B) {
			for range b.N {
				r := h.run(b)
				b.ReportMetric(float64(r.MB), "MB")
				b.ReportMetric(r.Seconds, "s")
				fmt.Printf("| %s | %s | %d MB | %.1f s | %s |\n", h.kind, h.name, r.MB, r.Seconds, r.Outcome)
			}
		})
	}
}

// TestHostileSourcesAreBounded: none reaches the bounds. Figures are the
// benchmark's.
func TestHostileSourcesAreBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	if raceEnabled {
		t.Skip("the race detector takes several times the memory")
	}
	for _, h := range sources {
		t.Run(h.name, func(t *testing.T) {
			if r := h.run(t); r.MB > 600 || r.Killed {
				t.Errorf("%d MB after %.1f s: %s", r.MB, r.Seconds, r.Outcome)
			}
		})
	}
}

// result is what became of a run.
type result struct {
	MB      int
	Seconds float64
	Outcome string
	Killed  bool `json:"-"`
}

// run syncs the source in a process that this one watches.
func (h hostile) run(t testing.TB) (r result) {
	url, dir := "", t.TempDir()
	answer := h.answer
	if h.body != nil {
		body := h.body()
		answer = typed(h.contentType, func(w io.Writer, _ *http.Request) { _, _ = w.Write(body) })
	}
	if answer != nil {
		server := httptest.NewServer(answer)
		defer server.Close()
		defer server.CloseClientConnections()
		url = server.URL
	}
	if h.prepare != nil {
		if err := h.prepare(dir); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestHostileChild$", "-test.v")
	cmd.Env = append(os.Environ(), "HOSTILE="+h.name, "HOSTILE_URL="+url, "HOSTILE_DIR="+dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
			}
			r.MB = max(r.MB, peak(strconv.Itoa(cmd.Process.Pid)))
			if r.MB > maxMB || time.Since(start) > maxSeconds*time.Second {
				r.Killed, r.Outcome = true, "killed"
				_ = cmd.Process.Kill()
				return
			}
		}
	}()
	err := cmd.Wait()
	close(done)
	<-watched
	r.Seconds = time.Since(start).Seconds()
	if r.Killed {
		return r
	}
	for line := range strings.Lines(out.String()) {
		if text, ok := strings.CutPrefix(line, "RESULT "); ok && json.Unmarshal([]byte(text), &r) == nil {
			return r
		}
	}
	t.Fatalf("%v: %s", err, out.String())
	return r
}

// peak returns the most memory that a process has had resident, in MB.
func peak(process string) int {
	data, _ := os.ReadFile(filepath.Join("/proc", process, "status")) // it may have ended
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.Atoi(strings.Fields(text)[0])
			return kB / 1024
		}
	}
	return 0
}

// TestHostileChild is the process that syncs.
func TestHostileChild(t *testing.T) {
	name := os.Getenv("HOSTILE")
	if name == "" {
		t.Skip("a process of the other test")
	}
	for _, h := range sources {
		if h.name != name {
			continue
		}
		start := time.Now()
		outcome := h.sync(t, os.Getenv("HOSTILE_URL"), os.Getenv("HOSTILE_DIR"))
		text, err := json.Marshal(result{MB: peak("self"), Seconds: time.Since(start).Seconds(), Outcome: outcome})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("RESULT %s\n", text)
	}
}

// sync runs the source once and says what became of it.
func (h hostile) sync(t *testing.T, url, dir string) string {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	client := outbound.New(outbound.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Timeout: 10 * time.Second, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
	defer client.Close()
	src := network.Source{Name: "hostile", Kind: h.kind, Options: map[string]any{}}
	if h.options != nil {
		src.Options = h.options(url)
	}
	n := network.Network{Name: "causeway", Title: "Causeway", Sources: []network.Source{src},
		Proposals: network.Proposals{Prefix: "CWP", Default: "Draft", Statuses: []string{"Draft"}}}
	pipeline := ingest.New(ingest.Config{Store: store, Network: n, Connectors: connectors.All(time.Now()),
		Now: time.Now,
		Log: slog.New(slog.DiscardHandler), HTTP: client, Files: folder.New(dir), WorkDir: t.TempDir()})
	reports, err := pipeline.Sync(t.Context(), nil)
	_, total, listErr := store.List(t.Context(), catalog.ListQuery{Limit: 1})
	if listErr != nil || len(reports) != 1 {
		t.Fatal(listErr, len(reports))
	}
	if err != nil {
		return shorten(reports[0].Err.Error())
	}
	said := ""
	if p := reports[0].Problems; len(p) > 0 {
		said = "; " + shorten(p[len(p)-1].Message)
	}
	return fmt.Sprintf("%d records%s", total, said)
}

// shorten keeps what an error says of the cause, on one line.
func shorten(s string) string {
	s = strings.Join(strings.Fields(strings.TrimPrefix(s, "ingest: source hostile: ")), " ")
	if runes := []rune(s); len(runes) > 110 {
		return string(runes[:110]) + "…"
	}
	return s
}

// The answers of servers.

func typed(kind string, write func(w io.Writer, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		write(w, r)
	}
}

func gzipped(n int) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.CopyN(w, repeated("<urlset>"), int64(n))
	_ = w.Close()
	return b.Bytes()
}

// repeated reads a text without end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p), nil
}

func zipped(members int, size int64) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range members {
		f, _ := w.Create(fmt.Sprintf("%d.mbox", i))
		_, _ = io.CopyN(f, repeated("From a@b.example Mon Jun  9 12:00:00 2031\nSubject: a\n\n"), size)
	}
	_ = w.Close()
	return b.Bytes()
}

// nestedJSON are 24 MB of lists in lists.
func nestedJSON() []byte {
	return []byte("[" + strings.Repeat("[[[[[[[[]]]]]]]],", 24<<20/17) + "[]]")
}

// fields are 24 MB of small objects.
func fields() []byte {
	return []byte(`{"topic_list":{"topics":[` + strings.Repeat(`{"id":7,"a":{}},`, 24<<20/16) + `{}]}}`)
}

func option(key string, value func(url string) any) func(string) map[string]any {
	return func(url string) map[string]any { return map[string]any{key: value(url)} }
}

func same(url string) any { return url }

func mailing(url string) map[string]any {
	return map[string]any{"export": url + "/{group}", "groups": []any{map[string]any{"name": "general", "id": "1"}}}
}

func market(url string) map[string]any {
	return map[string]any{"price": map[string]any{"api": url, "coin": "tally"}}
}

func scans(url string) map[string]any {
	return map[string]any{"environment": "mainnet", "scans": []any{url}}
}

func registry(url string) map[string]any {
	return map[string]any{"npm": []any{"causeway"}, "npm_registry": url}
}

func forgeOptions(url string) map[string]any {
	return map[string]any{"api": url, "repositories": []any{"causeway/node"}}
}

// day is an iCalendar event that takes place on no day.
const day = "BEGIN:VEVENT\r\nUID:%d\r\nSUMMARY:A\r\nDTSTART:20300101T000000Z\r\nRRULE:FREQ=DAILY;BYMONTH=2;" +
	"BYMONTHDAY=30;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\r\nEND:VEVENT\r\n"

func calendarOf(events int) func() []byte {
	return func() []byte {
		var b bytes.Buffer
		b.WriteString("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n")
		for i := range events {
			fmt.Fprintf(&b, day, i)
		}
		b.WriteString("END:VCALENDAR\r\n")
		return b.Bytes()
	}
}

// sources are what docs/security.md lists.
var sources = []hostile{
	{name: "sitemaps that each list 49,000 more", kind: "site", options: option("url", same),
		answer: typed("text/xml", func(w io.Writer, r *http.Request) {
			start := "<sitemap><loc>http://" + r.Host + r.URL.Path[:min(9, len(r.URL.Path))] + "/"
			end := strings.Repeat("0", 1100) + "</loc></sitemap>"
			_, _ = io.WriteString(w, "<sitemapindex>")
			for i := range 49_000 {
				_, _ = io.WriteString(w, start+strconv.Itoa(i)+end)
			}
			_, _ = io.WriteString(w, "</sitemapindex>")
		})},
	{name: "a sitemap of 1 GB in 1 MB", kind: "site", options: option("url", same),
		contentType: "application/gzip", body: func() []byte { return gzipped(1 << 30) }},
	{name: "a page of 8 MB of tags", kind: "site", options: option("url", same),
		answer: func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/sitemap.xml" {
				w.Header().Set("Content-Type", "text/xml")
				fmt.Fprintf(w, "<urlset><url><loc>http://%s/page</loc></url></urlset>", r.Host)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, strings.Repeat("<div><b>x", 8<<20/9))
		}},
	{name: "an export that drips", kind: "mail", options: mailing,
		answer: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/mbox")
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("F"))
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		}},
	{name: "a zip of 200,000 files", kind: "mail", options: mailing,
		contentType: "application/zip", body: func() []byte { return zipped(200_000, 0) }},
	{name: "a zip of 4 GB in 4 MB", kind: "mail", options: mailing,
		contentType: "application/zip", body: func() []byte { return zipped(1, 4<<30) }},
	{name: "200 events on no day", kind: "calendar", options: func(url string) map[string]any {
		return map[string]any{"url": url}
	}, contentType: "text/calendar", body: calendarOf(200)},
	{name: "2,000 events on no day", kind: "calendar", options: option("url", same),
		contentType: "text/calendar", body: calendarOf(2000)},
	{name: "a bad character in one of 100 posts", kind: "feed", options: func(url string) map[string]any {
		return map[string]any{"url": url, "pages": false}
	}, answer: typed("application/rss+xml", func(w io.Writer, r *http.Request) {
		fmt.Fprint(w, "<rss version='2.0'><channel><title>T</title>")
		for i := range 100 {
			fmt.Fprintf(w, "<item><title>Post %d%s</title><link>http://%s/%d</link></item>", i,
				map[bool]string{true: "&#x1b;"}[i == 50], r.Host, i)
		}
		fmt.Fprint(w, "</channel></rss>")
	})},
	{name: "8 MB of nested elements", kind: "feed", options: option("url", same),
		contentType: "application/rss+xml",
		body:        func() []byte { return []byte("<rss><channel>" + strings.Repeat("<a>", 8_000_000/3)) }},
	{name: "pages without end", kind: "feed", options: func(url string) map[string]any {
		return map[string]any{"url": url, "pages": false}
	}, answer: typed("application/atom+xml", func(w io.Writer, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("p"))
		fmt.Fprintf(w, "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='next' href='/?p=%d'/>", page+1)
		for i := range 200 {
			fmt.Fprintf(w, "<entry><title>A</title><link href='/%d/%d'/><content>%s</content></entry>", page, i,
				strings.Repeat("words ", 200))
		}
		fmt.Fprint(w, "</feed>")
	})},
	{name: "a pipe in the folder", kind: "curated", prepare: func(dir string) error {
		at := filepath.Join(dir, "curated")
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		return syscall.Mkfifo(filepath.Join(at, "radar.yaml"), 0o600)
	}},
	{name: "a link to /etc/passwd", kind: "curated", prepare: func(dir string) error {
		at := filepath.Join(dir, "curated")
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		return os.Symlink("/etc/passwd", filepath.Join(at, "radar.yaml"))
	}},
	{name: "24 MB of lists in lists, forum", kind: "forum", options: option("url", same),
		contentType: "application/json", body: nestedJSON},
	{name: "24 MB of empty topics", kind: "forum", options: option("url", same),
		contentType: "application/json", body: fields},
	{name: "24 MB of lists in lists, forge", kind: "forge", options: forgeOptions,
		contentType: "application/json", body: nestedJSON},
	{name: "24 MB of lists in lists, market", kind: "market", options: market,
		contentType: "application/json", body: nestedJSON},
	{name: "24 MB of lists in lists, ledger", kind: "ledger", options: scans,
		contentType: "application/json", body: nestedJSON},
	{name: "24 MB of lists in lists, npm", kind: "packages", options: registry,
		contentType: "application/json", body: nestedJSON},
}
