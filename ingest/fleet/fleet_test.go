package fleet_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/fleet"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// status serves a report.
type status struct {
	*connectortest.Server
	mu     sync.Mutex
	kind   string
	report string
}

func newStatus(t testing.TB, kind, report string) *status {
	s := &status{kind: kind, report: report}
	s.Server = connectortest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.Header().Set("Content-Type", s.kind)
		_, _ = w.Write([]byte(s.report))
	}))
	return s
}

func (s *status) set(report string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
}

func config(options map[string]any, from ...*status) connectortest.Config {
	urls := []string{}
	for _, s := range from {
		urls = append(urls, s.URL+"/validators")
	}
	o := map[string]any{"urls": urls}
	for k, v := range options {
		o[k] = v
	}
	return connectortest.Config{Kind: fleet.Kind, Options: o}
}

const simple = `[{"party":"harbour-1::1220","name":"Harbour One","version":"0.5.3","reported_at":"2031-06-01T08:12:30Z","last_seen":"2031-06-01T11:59:59Z","sponsor":"anchor::1220"},
{"party":"anchor::1220","version":"0.5.4","last_seen":null,"extra":{"x":[1]}},{"name":"Nameless","version":null}]`

func TestReports(t *testing.T) {
	s := connectortest.NewSource(t, config(nil, newStatus(t, "application/json", simple)))
	r := s.Sync()
	if diff := cmp.Diff([]string{"validator Nameless", "validator anchor::1220", "validator harbour-1::1220"},
		r.Keys()); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	rec := r.Get(t, catalog.KindValidator, "harbour-1::1220")
	want := catalog.Validator{Sponsor: "anchor", Version: "0.5.3", VersionReportedAt: "2031-06-01T08:00:00Z"}
	if diff := cmp.Diff(want, connectortest.Data[catalog.Validator](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	if rec.Title != "Harbour One" ||
		rec.Body != "Harbour One is a validator of Causeway Network, sponsored by anchor." || rec.State != "" ||
		rec.LastActivityAt.Format(time.RFC3339) != "2031-06-01T11:00:00Z" {
		t.Errorf("%+v", rec)
	}
}

func TestShapes(t *testing.T) {
	for name, tt := range map[string]struct {
		kind, report string
		options      map[string]any
	}{
		"inside": {"application/json", `{"data":{"validators":[{"id":"a::1","node":{"v":"0.5.3"},"t":1938038400}]}}`,
			map[string]any{"items": "data.validators",
				"columns": map[string]any{"party": "id", "version": "node.v", "reported_at": "t"}}},
		"picked from a list": {"application/json", `{"nets":[{"name":"test","validators":[]},{"name":"main","validators":[{"party":"a::1","node":[{"version":"0.5.3"}],"reported_at":"2031-06-01"}]}]}`,
			map[string]any{"items": "nets.name=main.validators", "columns": map[string]any{"version": "node.0.version"}}},
		"dots in a name": {"application/json", `{"up.to":{"a.b":[{"party":"a::1","node.version":"0.5.3","on":{"day.utc":"2031-06-01"}}]}}`,
			map[string]any{"items": `up\.to.a.b`,
				"columns": map[string]any{"version": "node.version", "reported_at": "on.day.utc"}}},
		"by party": {"application/json", `{"a::1":{"version":"0.5.3","reported_at":"1938038400000"}}`, nil},
		"csv":      {"text/csv", "party,version,reported_at\na::1,0.5.3,2031-06-01\n", nil},
		"excel": {"text/csv", "\xef\xbb\xbfParty ;Version;Reported_At\r\n\"a::1\";0.5.3;2031-06-01 00:10:00\r\n",
			nil},
		"tabs":  {"text/plain", "party\tversion\treported_at\na::1\t0.5.3\t2031-06-01T00:10:00\n", nil},
		"twice": {"application/json", `[{"party":"a::1","version":"0.5.3","reported_at":"2031-06-01"},{"party":"a::1","version":"0.4.0","reported_at":"2031-05-01"}]`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := connectortest.NewSource(t, config(tt.options, newStatus(t, tt.kind, tt.report))).Sync()
			v := connectortest.Data[catalog.Validator](t, r.Get(t, catalog.KindValidator, "a::1"))
			if v.Version != "0.5.3" || v.VersionReportedAt != "2031-06-01T00:00:00Z" || r.Skipped+r.Warned != 0 {
				t.Errorf("%+v, %v", v, r.Problems)
			}
		})
	}
}

// TestTimes: programs write times in many ways.
func TestTimes(t *testing.T) {
	for _, at := range []string{"2031-06-01T12:34:56Z", "2031-06-01T14:34:56.123+02:00", "2031-06-01T12:34:56.123+0000",
		"2031-06-01 12:34:56.123456+00:00", "2031-06-01 12:34:56 +0000 UTC", "2031-06-01T12:34:56", "2031-06-01 12:34",
		"Sun, 01 Jun 2031 12:34:56 GMT", "1938083696", "1938083696000"} {
		s := newStatus(t, "application/json", `[{"party":"a::1","reported_at":"`+at+`"}]`)
		r := connectortest.NewSource(t, config(nil, s)).Sync()
		v := connectortest.Data[catalog.Validator](t, r.Get(t, catalog.KindValidator, "a::1"))
		if v.VersionReportedAt != "2031-06-01T12:00:00Z" {
			t.Errorf("%s is %q", at, v.VersionReportedAt)
		}
	}
	s := newStatus(t, "application/json", `[{"party":"a::1","reported_at":"two hours ago"}]`)
	if r := connectortest.NewSource(t, config(nil, s)).Try(t.Context()); r.Err == nil ||
		!strings.Contains(r.Err.Error(), `"two hours ago" is not a time`) {
		t.Errorf("the error does not say what cannot be read: %v", r.Err)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		from := newStatus(t, "application/json", simple)
		return connectortest.Upstream{Config: config(nil, from), Server: from.Server,
			Change: func() { from.set(strings.Replace(simple, "0.5.3", "0.5.4", 1)) },
			Drop: func(s *connectortest.Source) {
				s.Options["columns"] = map[string]any{"sponsor": "by"}
				from.set(strings.Replace(simple, `,{"name":"Nameless","version":null}`, "", 1))
			},
		}
	})
}

func TestOptions(t *testing.T) {
	for problem, o := range map[string]map[string]any{
		`path "a..b"`:                {"urls": []string{"https://example.org"}, "items": "a..b"},
		"the option urls is missing": {}, "urls[1]: is not a web address": {"urls": []string{"file:///etc/passwd"}},
	} {
		if err := connectortest.Open(fleet.Kind, o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", o, err, problem)
		}
	}
}

// FuzzRead passes reports to the whole connector.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		simple, "party;version\na;1", "party,version\n\"a,1\n", `{"a":{}}`, `{"a":7}`, `[[]]`, `[null]`, "", "<html>",
		`[{"party":"\u0000","last_seen":1e300}]`, "\xff\xfe,party\n1,2",
		`[{"party":"a","reported_at":"0001-01-01T00:00:00Z","last_seen":-5}]`, "party\n" + strings.Repeat("x", 2000),
		`[{"party":" a\n"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		out := &counter{}
		client := outbound.New(outbound.Config{Transport: answers(raw)})
		o := fleet.Options{URLs: []string{"https://status.example.org/"}}
		if err := o.Check(); err != nil {
			t.Fatal(err)
		}
		reports, complete, err := fleet.Read(t.Context(), client, o, out)
		if err == nil && complete == (out.skipped > 0) {
			t.Errorf("complete %t with %d bad rows", complete, out.skipped)
		}
		seen := map[string]bool{}
		for _, r := range reports {
			key := r.Party
			if key == "" {
				key = r.Name
			}
			if key == "" || seen[key] || r.LastSeen.Truncate(time.Hour) != r.LastSeen {
				t.Errorf("%+v", r)
			}
			seen[key] = true
			if r.Party != "" && fleet.PartyName(r.Party) == "" {
				t.Errorf("%q has no name", r.Party)
			}
		}
	})
}

// answers is an in-process server.
type answers []byte

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		ContentLength: int64(len(a)),
		Body:          io.NopCloser(bytes.NewReader(a)), Request: r,
	}, nil
}

type counter struct {
	ingest.Sink
	skipped int
}

func (c *counter) Skip(string, error) { c.skipped++ }
func (*counter) Warn(string, string)  {}
