package whitepaper_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/ingest/whitepaper"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// document writes a PDF whose pages have these lines; a page without any is
// empty, as scanned ones are to a reader of text.
func document(pages ...[]string) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{len(offsets)}, args...)...)
	}
	b.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i, lines := range pages {
		content := ""
		for _, l := range lines {
			content += fmt.Sprintf("BT /F1 12 Tf (%s) Tj ET\n", l)
		}
		object("<< /Type /Page /Parent 2 0 R /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> >> >>", 5+2*i)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, xref)
	return b.Bytes()
}

// library serves papers.
type library struct {
	mu     sync.Mutex
	files  map[string][]byte
	etags  bool
	server *connectortest.Server
	config connectortest.Config
}

func newLibrary(t *testing.T) *library {
	l := &library{etags: true, files: map[string][]byte{
		"/tally.pdf": document([]string{"Keepers agree on a tally."}, []string{"They sign it twice. See CWP-12."}),
		"/scan.pdf":  document(nil, nil, nil),
	}}
	l.server = connectortest.NewServer(t, l)
	l.config = connectortest.Config{Kind: whitepaper.Kind, Options: map[string]any{"papers": []any{
		map[string]any{
			"title": "A model of the tally", "url": l.server.URL + "/tally.pdf", "description": "How keepers agree.",
			"tag":     "research",
			"authors": []any{"Ada Quay", "Bram Pier"}, "published": "2031-05",
			"page": "https://causeway.example.org/research/tally",
		},
		map[string]any{"slug": "scanned", "title": "An old plan", "url": l.server.URL + "/scan.pdf"},
	}}}
	return l
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, ok := l.files[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/pdf")
	if l.etags {
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(data)))
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

func TestPapers(t *testing.T) {
	l := newLibrary(t)
	s := connectortest.NewSource(t, l.config)
	r := s.Sync()
	if diff := cmp.Diff([]string{"whitepaper scanned", "whitepaper tally"}, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindWhitepaper, "tally")
	want := catalog.Record{
		Title: "A model of the tally", URL: "https://causeway.example.org/research/tally", Category: "research",
		Author: "Ada Quay, Bram Pier", CreatedAt: time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC),
		Summary: "How keepers agree.", Body: "Keepers agree on a tally.\n\nThey sign it twice. See CWP-12.",
	}
	got := catalog.Record{
		Title: rec.Title, URL: rec.URL, Category: rec.Category, Author: rec.Author, CreatedAt: rec.CreatedAt,
		Summary: rec.Summary, Body: rec.Body,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	data := catalog.Whitepaper{
		Authors: []string{"Ada Quay", "Bram Pier"}, Pages: 2, PDF: l.server.URL + "/tally.pdf",
		Bytes: int64(len(l.files["/tally.pdf"])), Published: "2031-05", TextLayer: true,
	}
	if diff := cmp.Diff(data, connectortest.Data[catalog.Whitepaper](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	scanned := r.Get(t, catalog.KindWhitepaper, "scanned")
	if d := connectortest.Data[catalog.Whitepaper](t, scanned); d.Pages != 3 || d.TextLayer || scanned.Body != "" ||
		r.Warned != 1 {
		t.Errorf("scanned: %+v, %q, %v", d, scanned.Body, r.Problems)
	}
	connectortest.Unchanged(t, s, r)
	l.etags = false
	s = connectortest.NewSource(t, l.config)
	connectortest.Unchanged(t, s, s.Sync())
	connectortest.Interrupted(t, l.config)
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		l := newLibrary(t)
		l.etags = false
		return connectortest.Upstream{Config: l.config, Server: l.server,
			Change: func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.files["/tally.pdf"] = document([]string{"A second edition of the tally."})
			},
			Drop: func(s *connectortest.Source) {
				papers := s.Options["papers"].([]any)
				s.Options["papers"] = papers[:1]
			},
		}
	})
}

func TestTheTextIsCut(t *testing.T) {
	l := newLibrary(t)
	line := strings.Repeat("a tide is told ", 60)
	var pages [][]string
	for range 80 {
		pages = append(pages, []string{line})
	}
	l.files["/tally.pdf"] = document(pages...)
	rec := connectortest.NewSource(t, l.config).Sync().Get(t, catalog.KindWhitepaper, "tally")
	if n := utf8.RuneCountInString(rec.Body); n < 49_000 || n > 50_000 {
		t.Errorf("%d characters", n)
	}
	if pages := connectortest.Data[catalog.Whitepaper](t, rec).Pages; pages != 80 {
		t.Errorf("%d pages", pages)
	}
}

func TestFilesOfThisMachine(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "The Tally (final).pdf")
	if err := os.WriteFile(name, document([]string{"On this machine."}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := connectortest.Config{Kind: whitepaper.Kind, CorpusDir: dir, Options: map[string]any{"papers": []any{
		map[string]any{"title": "The tally", "file": "${corpus}/The Tally (final).pdf",
			"url": "https://causeway.example.org/tally.pdf", "slug": "tally"},
		map[string]any{"title": "Another", "file": "${corpus}/The Tally (final).pdf"},
	}}}
	s := connectortest.NewSource(t, c)
	r := s.Sync()
	if diff := cmp.Diff([]string{"whitepaper tally", "whitepaper the-tally-final"}, r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	if rec := r.Get(t, catalog.KindWhitepaper, "tally"); rec.URL != "https://causeway.example.org/tally.pdf" ||
		rec.Body != "On this machine." {
		t.Errorf("%+v", rec)
	}
	connectortest.Unchanged(t, s, r)
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if r = s.Sync(); r.Skipped != 2 || len(r.Records) != 2 {
		t.Errorf("a file that is gone: %d skipped, %d records", r.Skipped, len(r.Records))
	}
}

func TestOptions(t *testing.T) {
	paper := func(pairs ...string) map[string]any {
		p := map[string]any{"title": "A", "url": "https://example.org/a.pdf"}
		for i := 0; i < len(pairs); i += 2 {
			p[pairs[i]] = pairs[i+1]
		}
		return p
	}
	for problem, papers := range map[string][]any{
		"the option papers is missing": {}, "papers[1]: want a url": {paper("url", "")},
		"papers[2]: the option title is missing": {paper(), paper("slug", "b", "title", "")},
		"papers[1].url: is not a web address":    {paper("url", "ftp://example.org/a.pdf")},
		"papers[1].page: is not":                 {paper("page", "x")},
		"papers[2]: slug \"a\" appears twice":    {paper(), paper()},
		`papers[1].slug: "A b" is not a slug`:    {paper("slug", "A b")}, "did you mean": {paper("titel", "x")},
		"give it one": {paper("url", "https://example.org/..pdf")},
	} {
		err := connectortest.Open(whitepaper.Kind, map[string]any{"papers": papers})
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", papers, err, problem)
		}
	}
}
