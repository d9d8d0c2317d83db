package calendar_test

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/ingest/calendar"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// words are options as an operator would write them.
func words() map[string]any {
	return map[string]any{
		"page":         "https://www.example.org/operations",
		"environments": map[string]any{"mainnet": []any{"main net"}, "baynet": []any{"testnet"}, "shoalnet": []any{}},
		"components": map[string]any{"node": map[string]any{"words": []any{"causeway node"},
			"release": "causeway/node@v{version}"}},
	}
}

// server publishes one calendar.
type server struct {
	*connectortest.Server
	mu     sync.Mutex
	text   string
	etags  bool
	config connectortest.Config
}

func newServer(t testing.TB, text string) *server {
	s := &server{text: text, etags: true}
	s.Server = connectortest.NewServer(t, s)
	options := words()
	options["url"] = s.URL + "/ical/private-0123/basic.ics"
	s.config = connectortest.Config{Kind: calendar.Kind, Options: options}
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/calendar; charset=utf-8")
	if s.etags {
		h := fnv.New64()
		_, _ = h.Write([]byte(s.text))
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, h.Sum64()))
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(s.text))
}

func (s *server) set(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = text
}

func testdata(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// folder is a network's folder that may be changed between syncs.
type folder map[string]string

func (f folder) Open(name string) (fs.File, error) {
	m := fstest.MapFS{}
	for name, text := range f {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m.Open(name)
}

// local is a source that reads a file in a folder.
func local(t testing.TB, f folder, name string, more map[string]any) *connectortest.Source {
	options := words()
	options["file"] = name
	for k, v := range more {
		options[k] = v
	}
	return connectortest.NewSource(t, connectortest.Config{Kind: calendar.Kind, Files: f, Options: options})
}

// ics makes a calendar from the lines of events.
func ics(events ...string) string {
	var b strings.Builder
	b.WriteString("BEGIN:VCALENDAR\nVERSION:2.0\n")
	for _, e := range events {
		b.WriteString("BEGIN:VEVENT\n" + strings.TrimSpace(e) + "\nEND:VEVENT\n")
	}
	b.WriteString("END:VCALENDAR\n")
	return b.String()
}

// times lists when the records with a title begin, in order.
func times(r connectortest.Result, title string) (out []string) {
	for _, rec := range r.Records {
		if strings.HasPrefix(rec.Title, title) {
			out = append(out, rec.StartsAt.UTC().Format("2006-01-02T15:04Z"))
		}
	}
	slices.Sort(out)
	return out
}

// titled returns the one record with a title.
func titled(t testing.TB, r connectortest.Result, title string) catalog.Record {
	t.Helper()
	var found []catalog.Record
	for _, rec := range r.Records {
		if rec.Title == title {
			found = append(found, rec)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d records are called %q; there are %v", len(found), title, r.Keys())
	}
	return found[0]
}
