//go:build linux

// Package hostile has sources that are made to exhaust who reads them: malformed and
// endless ones, and the largest of every kind that are read.
package hostile

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Source is a source that is made to exhaust who reads it.
type Source struct {
	Name    string
	Kind    string
	Long    bool                           // it takes whole seconds of a processor to find out that it has no end
	options func(at string) map[string]any // the server's address, or the network's folder
	// What the server answers: the same to every request, or by the function; with
	// neither the source is files.
	contentType string
	body        func() []byte
	answer      http.HandlerFunc
	prepare     func(dir string) error // makes the network's folder
	// Instead of these: makes all, and returns the options.
	world func(tb testing.TB, dir string) map[string]any
}

// Start makes the network's folder and the server of a source, and returns its
// options.
func (h Source) Start(tb testing.TB, dir string) map[string]any {
	tb.Helper()
	if h.world != nil {
		return h.world(tb, dir)
	}
	at := dir
	answer := h.answer
	if h.body != nil {
		body := h.body()
		answer = typed(h.contentType, func(w io.Writer, _ *http.Request) { _, _ = w.Write(body) })
	}
	if answer != nil {
		server := httptest.NewServer(answer)
		tb.Cleanup(func() {
			server.CloseClientConnections()
			server.Close()
		})
		at = server.URL
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	if h.prepare != nil {
		if err := h.prepare(dir); err != nil {
			tb.Fatal(err)
		}
	}
	if h.options == nil {
		return nil
	}
	return h.options(at)
}

// The answers of servers.

func typed(kind string, write func(w io.Writer, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		write(w, r)
	}
}

// repeated reads a text without end.
type repeated string

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r[i%len(r)]
	}
	return len(p), nil
}

// bomb is a text of some GB, deflated: a part of 16 MB is compressed, and stands in
// it many times.
type bomb struct {
	deflated []byte
	size     int64
	part     []byte
}

func bombOf(text string, parts int) bomb {
	b := bomb{part: make([]byte, 16<<20), size: int64(parts) * 16 << 20}
	_, _ = io.ReadFull(repeated(text), b.part)
	var one, end bytes.Buffer
	w, _ := flate.NewWriter(&one, flate.BestCompression)
	_, _ = w.Write(b.part)
	_ = w.Flush() // without an end, so that it can be followed
	w.Reset(&end)
	_ = w.Close()
	b.deflated = append(bytes.Repeat(one.Bytes(), parts), end.Bytes()...)
	return b
}

// sum is a checksum of the whole text.
func (b bomb) sum(h hash.Hash32) uint32 {
	for range b.size / int64(len(b.part)) {
		_, _ = h.Write(b.part)
	}
	return h.Sum32()
}

func gzipped(b bomb) []byte {
	out := append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255}, b.deflated...)
	out = binary.LittleEndian.AppendUint32(out, b.sum(crc32.NewIEEE()))
	return binary.LittleEndian.AppendUint32(out, uint32(b.size))
}

// zipped is an archive of empty files, or of a large one.
func zipped(members int, large *bomb) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range members {
		_, _ = w.Create(fmt.Sprintf("%d.mbox", i))
	}
	if large != nil {
		f, _ := w.CreateRaw(&zip.FileHeader{Name: "0.mbox", Method: zip.Deflate, CRC32: large.sum(crc32.NewIEEE()),
			CompressedSize64: uint64(len(large.deflated)), UncompressedSize64: uint64(large.size)})
		_, _ = f.Write(large.deflated)
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

func handwritten(dir string) map[string]any {
	return map[string]any{"dir": filepath.Join(dir, "curated")}
}

func reports(url string) map[string]any { return map[string]any{"urls": []any{url}} }

func corpus(dir string) map[string]any {
	return map[string]any{"dir": dir, "content_types": map[string]any{"doc_page": "doc"}}
}

func paper(url string) map[string]any {
	return map[string]any{"papers": []any{map[string]any{"title": "A", "url": url + "/a.pdf"}}}
}

// pdfOf is a file of objects, the first of which is the catalog.
func pdfOf(objects ...string) []byte {
	b := bytes.NewBufferString("%PDF-1.7\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// deflatedPDF has a page whose content is 1 GB.
func deflatedPDF() []byte {
	b := bombOf("(a) Tj ", 64)
	stream := append([]byte{0x78, 0x9c}, b.deflated...)
	stream = binary.BigEndian.AppendUint32(stream, b.sum(adler32.New()))
	return pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
		fmt.Sprintf("<</Length %d/Filter/FlateDecode>>\nstream\n%s\nendstream", len(stream), stream))
}

// git runs a script in a directory that is to be a repository; its first words are
// arguments of git.
func git(dir, script string) error {
	cmd := exec.Command("sh", "-euc", "git "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=Ada Quill",
		"GIT_AUTHOR_EMAIL=a@x.example", "GIT_COMMITTER_NAME=Host", "GIT_COMMITTER_EMAIL=h@x.example")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

const (
	// commitTree commits what the file tree names, after what is there.
	commitTree = `git update-ref refs/heads/main "$(git commit-tree -m x ${parent:+-p $parent} "$(cat tree)")"; ` +
		`parent=$(git rev-parse main)`
	// gitBomb makes ten nested trees of ten names, each the same.
	gitBomb = `init -q -b main; id=$(echo "# A" | git hash-object -w --stdin); type="100644 blob"; ` +
		`for level in 0 1 2 3 4 5 6 7 8 9; do for n in 0 1 2 3 4 5 6 7 8 9; do ` +
		`printf '%s %s\t%s.md\n' "$type" $id $n; done | git mktree >tree; id=$(cat tree); type="040000 tree"; done; parent=; `
)

func comeAndGo(dir string) error {
	return git(dir, gitBomb+commitTree+"; printf '100644 blob %s\ta.md\n' $(git rev-parse main:0.md/0.md/0.md/0.md/0.md/"+
		"0.md/0.md/0.md/0.md/0.md) | git mktree >tree; "+commitTree)
}

func clone(dir string) map[string]any {
	return map[string]any{"repository": map[string]any{"url": dir}}
}

// pull makes a repository with a pull request, which adds what a pipe writes.
func pull(write string) func(dir string) error {
	return func(dir string) error {
		return git(dir, `init -q -b main; parent=; printf '100644 blob %s\ta.md\n' "$(echo "# A" | git hash-object -w `+
			`--stdin)" | git mktree >tree; `+commitTree+`; printf '100644 blob %s\tcwp-0002.md\n' "$(`+write+
			` | git hash-object -w --stdin)" | git mktree >tree; git update-ref refs/pull/5/head `+
			`"$(git commit-tree -m x -p $parent "$(cat tree)")"`)
	}
}

// ones is front matter of so many bytes in one line.
func ones(bytes int) string {
	return fmt.Sprintf(`{ printf -- '---\nCWP: 2\ntitle: x\nx: [1'; yes ,1 | tr -d '\n' | head -c %d; `+
		`printf ']\n---\n'; }`, bytes)
}

// proposed is a forge with one pull request that adds a text.
func proposed(text string) http.HandlerFunc {
	return typed("application/json", func(w io.Writer, r *http.Request) {
		switch r.URL.Path {
		case "/repos/causeway/proposals":
			fmt.Fprint(w, `{"html_url":"https://forge.example/p","default_branch":"main"}`)
		case "/repos/causeway/proposals/git/trees/main":
			fmt.Fprint(w, `{"tree":[]}`)
		case "/repos/causeway/proposals/pulls":
			fmt.Fprint(w, `[{"number":5,"state":"open","head":{"sha":"b"},"base":{"sha":"c"}}]`)
		case "/repos/causeway/proposals/pulls/5/files":
			fmt.Fprint(w, `[{"filename":"cwp-0002.md","status":"added","sha":"a"}]`)
		case "/repos/causeway/proposals/git/blobs/a":
			fmt.Fprintf(w, `{"sha":"a","encoding":"base64","content":"%s"}`, base64.StdEncoding.EncodeToString([]byte(text)))
		default:
			fmt.Fprint(w, `[]`)
		}
	})
}

func proposalsOptions(url string) map[string]any {
	return map[string]any{"api": url, "repository": "causeway/proposals"}
}

// drafted is a snapshot of one draft.
func drafted(text string) func(dir string) error {
	return func(dir string) error {
		return errors.Join(os.WriteFile(filepath.Join(dir, "a.md"), []byte(text), 0o600),
			os.WriteFile(filepath.Join(dir, "manifest.jsonl"),
				[]byte(`{"path":"a.md","source_path":"a.md","content_type":"draft","pr":5}`), 0o600))
	}
}

func drafts(dir string) map[string]any {
	return map[string]any{"dir": dir, "content_types": map[string]any{"draft": "cip"}}
}

// yamlCalendar is a calendar of YAML at an address.
func yamlCalendar(url string) map[string]any { return map[string]any{"url": url + "/calendar.yaml"} }

// filled is a text of so many bytes.
func filled(start, more string, bytes int) string {
	return start + strings.Repeat(more, (bytes-len(start))/len(more))
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

// onePage answers as a site of one page.
func onePage(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sitemap.xml" {
			w.Header().Set("Content-Type", "text/xml")
			fmt.Fprintf(w, "<urlset><url><loc>http://%s/page</loc></url></urlset>", r.Host)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, text)
	}
}

// sources are what docs/security.md lists, but for the largest of each kind.
var sources = []Source{
	{Name: "sitemaps that each list 49,000 more", Kind: "site", Long: true, options: option("url", same),
		answer: typed("text/xml", func(w io.Writer, r *http.Request) {
			start := "<sitemap><loc>http://" + r.Host + r.URL.Path[:min(9, len(r.URL.Path))] + "/"
			end := strings.Repeat("0", 1100) + "</loc></sitemap>"
			_, _ = io.WriteString(w, "<sitemapindex>")
			for i := range 49_000 {
				_, _ = io.WriteString(w, start+strconv.Itoa(i)+end)
			}
			_, _ = io.WriteString(w, "</sitemapindex>")
		})},
	{Name: "a sitemap of 1 GB in 1 MB", Kind: "site", options: option("url", same),
		contentType: "application/gzip", body: func() []byte { return gzipped(bombOf("<urlset>", 64)) }},
	{Name: "a page of 8 MB of tags", Kind: "site", options: option("url", same),
		answer: onePage(strings.Repeat("<div><b>x", 8<<20/9))},
	{Name: "a page of 4 MB of tags that mean nothing", Kind: "site", options: option("url", same),
		answer: onePage(strings.Repeat("x</html>", 4<<20/8))},
	{Name: "an export that drips", Kind: "mail", options: mailing,
		answer: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/mbox")
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte("F"))
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		}},
	{Name: "a zip of 200,000 files", Kind: "mail", options: mailing,
		contentType: "application/zip", body: func() []byte { return zipped(200_000, nil) }},
	{Name: "a zip of 4 GB in 4 MB", Kind: "mail", Long: true, options: mailing,
		contentType: "application/zip", body: func() []byte {
			large := bombOf("From a@b.example Mon Jun  9 12:00:00 2031\nSubject: a\n\n", 256)
			return zipped(0, &large)
		}},
	{Name: "a list of 8 MB of YAML", Kind: "calendar", options: yamlCalendar, contentType: "application/yaml",
		body: func() []byte { return []byte(filled("[1", ",1", 8_388_600) + "]") }},
	{Name: "a list of 512 kB of YAML", Kind: "calendar", options: yamlCalendar, contentType: "application/yaml",
		body: func() []byte { return []byte(filled("[1", ",1", 512_000) + "]") }},
	{Name: "100,000 fields of YAML", Kind: "calendar", options: yamlCalendar, contentType: "application/yaml",
		body: func() []byte { return []byte(filled("- id: a\n", "  a: 1\n", 349_000)) }},
	{Name: "31 MB of empty events", Kind: "calendar", options: option("url", same), contentType: "text/calendar",
		body: func() []byte {
			return []byte(filled("BEGIN:VCALENDAR\n", "BEGIN:VEVENT\nEND:VEVENT\n", 31<<20) + "END:VCALENDAR\n")
		}},
	{Name: "31 MB of properties", Kind: "calendar", options: option("url", same), contentType: "text/calendar",
		body: func() []byte {
			return []byte(filled("BEGIN:VCALENDAR\nBEGIN:VEVENT\n", "A;B=1:\n", 31<<20) + "END:VEVENT\nEND:VCALENDAR\n")
		}},
	{Name: "200 events on no day", Kind: "calendar", options: func(url string) map[string]any {
		return map[string]any{"url": url}
	}, contentType: "text/calendar", body: calendarOf(200)},
	{Name: "2,000 events on no day", Kind: "calendar", options: option("url", same),
		contentType: "text/calendar", body: calendarOf(2000)},
	{Name: "a bad character in one of 100 posts", Kind: "feed", options: func(url string) map[string]any {
		return map[string]any{"url": url, "pages": false}
	}, answer: typed("application/rss+xml", func(w io.Writer, r *http.Request) {
		fmt.Fprint(w, "<rss version='2.0'><channel><title>T</title>")
		for i := range 100 {
			fmt.Fprintf(w, "<item><title>Post %d%s</title><link>http://%s/%d</link></item>", i,
				map[bool]string{true: "&#x1b;"}[i == 50], r.Host, i)
		}
		fmt.Fprint(w, "</channel></rss>")
	})},
	{Name: "8 MB of nested elements", Kind: "feed", options: option("url", same),
		contentType: "application/rss+xml",
		body:        func() []byte { return []byte("<rss><channel>" + strings.Repeat("<a>", 8_000_000/3)) }},
	{Name: "pages without end", Kind: "feed", Long: true, options: func(url string) map[string]any {
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
	{Name: "a pipe in the folder", Kind: "curated", options: handwritten, prepare: func(dir string) error {
		at := filepath.Join(dir, "curated")
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		return syscall.Mkfifo(filepath.Join(at, "radar.yaml"), 0o600)
	}},
	{Name: "a link to /etc/passwd", Kind: "curated", options: handwritten, prepare: func(dir string) error {
		at := filepath.Join(dir, "curated")
		if err := os.Mkdir(at, 0o700); err != nil {
			return err
		}
		return os.Symlink("/etc/passwd", filepath.Join(at, "radar.yaml"))
	}},
	{Name: "24 MB of lists in lists, forum", Kind: "forum", options: option("url", same),
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of empty topics", Kind: "forum", options: option("url", same),
		contentType: "application/json", body: fields},
	{Name: "24 MB of lists in lists, forge", Kind: "forge", options: forgeOptions,
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of lists in lists, market", Kind: "market", options: market,
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of lists in lists, ledger", Kind: "ledger", options: scans,
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of lists in lists, npm", Kind: "packages", options: registry,
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of lists in lists, fleet", Kind: "fleet", options: reports,
		contentType: "application/json", body: nestedJSON},
	{Name: "24 MB of empty columns", Kind: "fleet", options: reports, contentType: "text/csv",
		body: func() []byte { return []byte("version" + strings.Repeat(",", 24<<20) + "\n1\n") }},
	{Name: "8 MB of nested elements, video", Kind: "video", options: option("feed", same),
		contentType: "application/atom+xml",
		body:        func() []byte { return []byte("<feed>" + strings.Repeat("<a>", 8_000_000/3)) }},
	{Name: "a transcript of 31 MB", Kind: "video", options: func(url string) map[string]any {
		return map[string]any{"videos": []any{map[string]any{"id": "a", "title": "A", "transcript": url + "/a.vtt"}}}
	}, contentType: "text/vtt", body: func() []byte {
		return []byte("WEBVTT\n\n" + strings.Repeat("00:01.000 --> 00:02.000\na <b>b\n\n", 31<<20/33))
	}},
	{Name: "a page of 1 GB in 1 MB", Kind: "whitepaper", options: paper, contentType: "application/pdf",
		body: deflatedPDF},
	{Name: "pages that are their own parents", Kind: "whitepaper", options: paper, contentType: "application/pdf",
		body: func() []byte {
			return pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 2000000000/Kids[2 0 R 2 0 R]/Parent 2 0 R>>")
		}},
	{Name: "a line of 24 MB", Kind: "snapshot", options: corpus, prepare: func(dir string) error {
		return os.WriteFile(filepath.Join(dir, "manifest.jsonl"), nestedJSON(), 0o600)
	}},
	{Name: "a file that is a pipe, one outside", Kind: "snapshot", options: corpus,
		prepare: func(dir string) error {
			const manifest = `{"path":"a.md","content_type":"doc_page"}` + "\n" +
				`{"path":"../../etc/passwd","content_type":"doc_page"}` + "\n" + `{"path":"b.md","content_type":"doc_page"}` + "\n"
			return errors.Join(os.WriteFile(filepath.Join(dir, "manifest.jsonl"), []byte(manifest), 0o600),
				syscall.Mkfifo(filepath.Join(dir, "a.md"), 0o600), os.Symlink("/etc/passwd", filepath.Join(dir, "b.md")))
		}},
	{Name: "a file of 1 GB in a repository of 1 MB", Kind: "docs", Long: true, options: clone,
		prepare: func(dir string) error {
			return git(dir, "init -q -b main; parent=; head -c 1000000000 /dev/zero | git hash-object -w --stdin >id; "+
				`printf '100644 blob %s\ta.md\n' "$(cat id)" | git mktree >tree; `+commitTree)
		}},
	{Name: "10,000,000,000 pages that came and went", Kind: "docs", options: clone, prepare: comeAndGo},
	{Name: "a draft with 15 MB of front matter", Kind: "proposals", options: option("repository", same),
		prepare: pull(ones(15 << 20))},
	{Name: "a draft with 64 kB of front matter", Kind: "proposals", options: option("repository", same),
		prepare: pull(ones(64_000))},
	{Name: "a draft of 30 MB of headings", Kind: "proposals", options: option("repository", same),
		prepare: pull(`yes "# a" | head -c 30000000`)},
	{Name: "a draft of 2 MB of headings", Kind: "proposals", options: option("repository", same),
		prepare: pull(`yes "# a" | head -c 2097152`)},
	{Name: "a draft of 15 MB, forge", Kind: "forge-proposals", options: proposalsOptions,
		answer: proposed(filled("---\ntitle: x\nx: [1", ",1", 15<<20) + "]\n---\n")},
	{Name: "a draft of 7 MB, snapshot", Kind: "snapshot", options: drafts,
		prepare: drafted(filled("---\ntitle: x\nx: [1", ",1", 7<<20) + "]\n---\n")},
	{Name: "10,000,000,000 files in 2 kB", Kind: "proposals", options: option("repository", same),
		prepare: func(dir string) error { return git(dir, gitBomb+commitTree) }},
	{Name: "10,000,000,000 files that came and went", Kind: "proposals", options: option("repository", same),
		prepare: comeAndGo},
}
