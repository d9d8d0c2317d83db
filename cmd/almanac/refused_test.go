package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/qdrant/go-client/qdrant"
	"golang.org/x/sync/errgroup"

	"almanac/testing/meilitest"
	"almanac/testing/qdranttest"
	"almanac/testing/wait"
)

// wrong is a configuration, or a server, that cannot be worked with.
type wrong struct {
	name string
	side string // keyword, vector or embedder
	url  func(t *testing.T) string
	// want is the golden part of the sentence that says what is wrong.
	want string
	// spoil makes servers wrong with what an earlier run has left there.
	spoil func(*meilitest.Server, *qdranttest.Server)
}

// hush is a key that must not be printed.
const hush = "hush-hush-key"

// nothingListens is the address of a port without a listener.
func nothingListens(*testing.T) string { return "http://127.0.0.1:1" }

// htmlServer is a server of pages.
func htmlServer(t *testing.T) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>Harbour</title><p>Welcome."))
	}))
	t.Cleanup(s.Close)
	return s
}

func pages(t *testing.T) string {
	s := htmlServer(t)
	s.Start()
	return s.URL
}

// encrypted is a TLS port, addressed without TLS.
func encrypted(t *testing.T) string {
	s := htmlServer(t)
	s.EnableHTTP2 = true
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return "http" + strings.TrimPrefix(s.URL, "https")
}

// unencrypted is a plain port, addressed with TLS.
func unencrypted(t *testing.T) string { return "https" + strings.TrimPrefix(pages(t), "http") }

// unknownHost is the address of a name that no resolver is asked for: a part of it is
// empty.
func unknownHost(*testing.T) string { return "http://no..such.host:7700" }

// refuses is a model server that answers everything with an error.
func refuses(status int, body string) func(t *testing.T) string {
	return func(t *testing.T) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
}

// noModel is what a model server says that has another model.
const noModel = `{"error":{"message":"The model buoy-talk does not exist","type":"invalid_request_error","code":"model_not_found"}}`

var wrongs = []wrong{
	{name: "nothing listens", side: "keyword", url: nothingListens, want: "connection refused"},
	{name: "a website", side: "keyword", url: pages, want: "is not Meilisearch"},
	{name: "an unknown host", side: "keyword", url: unknownHost,
		want: "the name no..such.host does not resolve"},
	{name: "TLS to a plain port", side: "keyword", url: unencrypted,
		want: "does not speak TLS: the URL should begin with http:"},
	{name: "no TLS to its port", side: "keyword", url: encrypted, want: "is not Meilisearch"},
	{name: "a wrong key", side: "keyword", want: "refuses the API key",
		spoil: func(m *meilitest.Server, _ *qdranttest.Server) { m.RequireKey("another") }},
	{name: "an index of another catalog", side: "keyword", want: "is that of catalog",
		spoil: func(m *meilitest.Server, _ *qdranttest.Server) {
			m.ChangeDocuments("mark", func(d map[string]any) { d["owner"] = "another" })
		}},
	{name: "an index of another program", side: "keyword", want: "was not made by this program",
		spoil: func(m *meilitest.Server, _ *qdranttest.Server) {
			m.ChangeDocuments("mark", func(d map[string]any) { delete(d, "owner") })
		}},

	{name: "nothing listens", side: "vector", url: nothingListens,
		want: "refuses connections: is it running, and is this its gRPC port?"},
	{name: "a website", side: "vector", url: pages, want: "does not answer in gRPC"},
	{name: "an unknown host", side: "vector", url: unknownHost, want: "its host name is not known"},
	{name: "TLS to a plain port", side: "vector", url: unencrypted, want: "does not speak TLS there"},
	{name: "no TLS to its port", side: "vector", url: encrypted, want: "does it want TLS?"},
	{name: "a wrong key", side: "vector", want: "refuses the API key",
		spoil: func(_ *meilitest.Server, q *qdranttest.Server) { q.RequireKey("another") }},
	{name: "a collection of another catalog", side: "vector", want: "belongs to the catalog another",
		spoil: collections(func(info *qdrant.CollectionInfo) {
			info.GetConfig().GetMetadata()["almanac_owner"] = qdrant.NewValueString("another")
		})},
	{name: "a collection of another program", side: "vector", want: "was not made by almanac",
		spoil: collections(func(info *qdrant.CollectionInfo) {
			clear(info.GetConfig().GetMetadata())
		})},
	{name: "a collection of another dimension", side: "vector",
		want: "holds vectors of 7 dimensions, the model has 256; remove it and it is built again",
		spoil: collections(func(info *qdrant.CollectionInfo) {
			info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()["dense"].Size = 7
		})},

	{name: "nothing listens", side: "embedder", url: nothingListens, want: "nothing listens there"},
	{name: "a website", side: "embedder", url: pages, want: "returned an unexpected response, is the address right?"},
	{name: "an unknown host", side: "embedder", url: unknownHost,
		want: "the name no..such.host cannot be resolved"},
	{name: "TLS to a plain port", side: "embedder", url: unencrypted,
		want: "does not speak TLS: its address begins with http://"},
	{name: "no TLS to its port", side: "embedder", url: encrypted,
		want: "Client sent an HTTP request to an HTTPS server"},
	{name: "a wrong key", side: "embedder",
		url: refuses(http.StatusUnauthorized, `{"error":{"message":"Incorrect API key provided: `+hush+
			`","type":"invalid_request_error","code":"invalid_api_key"}}`), want: "refuses the key"},
	{name: "an unknown model", side: "embedder", url: refuses(http.StatusNotFound, noModel),
		want: "The model buoy-talk does not exist"},
}

func collections(change func(*qdrant.CollectionInfo)) func(*meilitest.Server, *qdranttest.Server) {
	return func(_ *meilitest.Server, q *qdranttest.Server) { q.ChangeCollections(change) }
}

// settings configure the wrong server and, of what the others are, the engines
// in the program.
func (w wrong) settings(t *testing.T) []string {
	t.Helper()
	return map[string][]string{
		"keyword": {"ALMANAC_KEYWORD_URL=", "ALMANAC_KEYWORD_KEY=" + hush},
		"vector":  {"ALMANAC_VECTOR_URL=", "ALMANAC_VECTOR_KEY=" + hush},
		"embedder": {"ALMANAC_EMBED_URL=", "ALMANAC_EMBED_KEY=" + hush, "ALMANAC_EMBED_KIND=openai",
			"ALMANAC_EMBED_MODEL=buoy-talk"},
	}[w.side]
}

// TestWhatCannotBeWorkedWith wants one sentence from doctor, log and status,
// and answers from the rest.
func TestWhatCannotBeWorkedWith(t *testing.T) {
	t.Parallel()
	at := newSite(t, 24)
	first := at.serve(t)
	first.ready(t)
	first.stop(t)
	var some errgroup.Group // most of the time they wait
	some.SetLimit(8)
	for _, w := range wrongs {
		some.Go(func() error {
			t.Run(w.side+": "+w.name, func(t *testing.T) {
				own := site{at.fixture, filepath.Join(t.TempDir(), "data"),
					append(slices.Clone(at.env), "ALMANAC_SYNC=false",
						"ALMANAC_SEARCH_DEADLINE=10s" /* engines of a busy machine are slow, not down */)}
				if err := os.CopyFS(own.data, os.DirFS(at.data)); err != nil {
					t.Fatal(err)
				}
				w.test(t, own)
			})
			return nil
		})
	}
	_ = some.Wait() // there are no errors
}

func (w wrong) test(t *testing.T, at site) {
	env := w.settings(t)
	switch {
	case w.url != nil:
		env[0] += w.url(t)
	default: // what an earlier run has left
		m, q := meilitest.Start(t), qdranttest.Start(t)
		m.RequireKey(hush)
		q.RequireKey(hush)
		env[0] += map[string]string{"keyword": m.URL, "vector": "http://" + q.Addr}[w.side]
		earlier := at.serve(t, env...)
		earlier.ready(t)
		wait.Until(t, "the index is there", func() bool { return len(earlier.degraded(t)) == 0 })
		earlier.stop(t)
		w.spoil(m, q)
	}
	at.env = append(at.env, env...)

	doctor, errOut, code := almanac(t, at.env, append([]string{"doctor"}, at.args()...)...)
	var failures []string
	for line := range strings.Lines(doctor) {
		if strings.HasPrefix(line, "FAIL") {
			failures = append(failures, line)
		}
	}
	if code != 1 || len(failures) != 1 || !strings.Contains(failures[0], w.want) {
		t.Errorf("doctor: exit code %d, want one failure with %q:\n%s%s", code, w.want, doctor, errOut)
	}

	s := at.serve(t)
	s.ready(t)
	reason := ""
	// An engine that nothing was asked of yet is being filled.
	wait.Until(t, "the operator sees "+w.want, func() bool {
		s.degraded(t)
		reason = s.reason(t, w.side)
		return strings.Contains(reason, w.want)
	})
	if strings.Contains(reason, "\n") {
		t.Errorf("the reason has several lines: %q", reason)
	}
	without := map[string]string{"keyword": "[keyword]", "vector": "[vector]", "embedder": "[]"}[w.side]
	for range 5 {
		if got := fmt.Sprint(s.degraded(t)); got != without {
			t.Errorf("answers are without %s, want %s", got, without)
		}
		if len(s.search(t, "tide").Items) == 0 {
			t.Error("nothing is found")
		}
	}
	_, _, status := s.get(t, "/status")
	_, _, ready := s.get(t, "/ready")
	s.stop(t)
	for _, text := range []string{doctor, errOut, status, ready, s.log.String()} {
		if strings.Contains(text, hush) {
			t.Errorf("the key is in\n%s", text)
		}
	}
	// What serves and what follows the catalog may say it each in its way.
	said := map[string]int{}
	for line := range strings.Lines(s.log.String()) {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		if strings.Contains(line, w.want) {
			said[l.Msg]++
		}
	}
	if len(said) == 0 {
		t.Errorf("the log does not say %q", w.want)
	}
	for msg, n := range said {
		if n > 1 {
			t.Errorf("the log says it %d times: %s", n, msg)
		}
	}
}

// reason is what the operator is told of an engine that is down. The public is
// told no more than that.
func (s *server) reason(tb testing.TB, engine string) string {
	tb.Helper()
	type down struct{ Engine, Reason string }
	var all struct{ Down []down }
	_, _, body := do(tb, http.MethodGet, s.admin+"/engines")
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		tb.Fatal(err, body)
	}
	for _, d := range all.Down {
		if d.Engine != engine {
			continue
		}
		for _, path := range []string{"/status", "/ready", "/health"} {
			if _, _, body := s.get(tb, path); strings.Contains(body, d.Reason) {
				tb.Errorf("%s tells everybody: %s", path, body)
			}
		}
		return d.Reason
	}
	return ""
}

// TestAWrongModelFromTheStart: the built-in model answers, and the log says what
// is wrong with the configured one.
func TestAWrongModelFromTheStart(t *testing.T) {
	t.Parallel()
	url := refuses(http.StatusNotFound, noModel)(t)
	s := newSite(t, 24).serve(t, "ALMANAC_EMBED_URL="+url, "ALMANAC_EMBED_KIND=openai", "ALMANAC_EMBED_MODEL=buoy-talk")
	s.ready(t)
	if status, _, body := s.get(t, "/api/v1/search?q=tide"); status != http.StatusOK ||
		!strings.Contains(body, `"degraded":[]`) {
		t.Errorf("%d %s", status, body)
	}
	if log := s.log.String(); !strings.Contains(log, "The model buoy-talk does not exist") ||
		!strings.Contains(log, "the built-in table serves until") {
		t.Errorf("the log says %s", log)
	}
	if code := s.stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
