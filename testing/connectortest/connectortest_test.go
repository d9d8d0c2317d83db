package connectortest_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bridges is a connector for a list of names.
type bridges struct {
	url  string
	http *outbound.Client
}

func (b bridges) Sync(ctx context.Context, before []byte, out ingest.Sink) ([]byte, ingest.Outcome, error) {
	answer, err := b.http.Do(ctx, outbound.Request{URL: b.url, ETag: string(before), Accept: []string{"application/json"}})
	if err != nil || answer.NotModified {
		return before, ingest.Outcome{}, err
	}
	var names []string
	if err := json.Unmarshal(answer.Body, &names); err != nil {
		return nil, ingest.Outcome{}, err
	}
	for i, name := range names {
		e := catalog.Entry{Record: catalog.Record{Kind: catalog.KindDoc, Key: name, Title: name, Body: "A bridge."}}
		if i > 0 {
			e.Parent = catalog.Ref{Kind: catalog.KindDoc, Key: names[0]}
		}
		if err := out.Put(ctx, e); err != nil {
			return nil, ingest.Outcome{}, err
		}
	}
	return []byte(answer.ETag), ingest.Outcome{Complete: true}, nil
}

func upstream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("ETag", `"1"`)
	if r.Header.Get("If-None-Match") == `"1"` {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(`["high", "low", "swing"]`))
}

func config(url string) connectortest.Config {
	return connectortest.Config{
		Options: map[string]any{"url": url},
		Connector: func(src network.Source, env ingest.Environment) (ingest.Connector[[]byte], error) {
			return bridges{src.Options.Text("url"), env.HTTP}, nil
		},
	}
}

func TestSource(t *testing.T) {
	server := connectortest.NewServer(t, http.HandlerFunc(upstream))
	s := connectortest.NewSource(t, config(server.URL))
	first := s.Sync()
	if diff := cmp.Diff([]string{"doc high", "doc low", "doc swing"}, first.Keys()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if first.Changes != 3 || first.Created != 3 || first.Cursor == "" {
		t.Errorf("%d changes, %d created, cursor %q", first.Changes, first.Created, first.Cursor)
	}
	connectortest.Unchanged(t, s, first)
	connectortest.Interrupted(t, config(server.URL))
}

func TestFaults(t *testing.T) {
	tests := map[string]struct {
		fault connectortest.Fault
		want  error // nil: some error
	}{
		"500":       {fault: connectortest.Status(500)},
		"429":       {fault: connectortest.TooMany(1)},
		"slow":      {connectortest.Slow, outbound.ErrTimeout},
		"truncated": {connectortest.Truncated, outbound.ErrTruncated},
		"halved":    {fault: connectortest.Halved},
		"sign in":   {connectortest.SignIn, outbound.ErrContentType},
		"garbage":   {fault: connectortest.Garbage},
		"empty":     {fault: connectortest.Empty},
		"reset":     {fault: connectortest.Reset},
		"inside":    {connectortest.Redirect(connectortest.Inside[0]), outbound.ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			server := connectortest.NewServer(t, http.HandlerFunc(upstream))
			s := connectortest.NewSource(t, config(server.URL))
			server.Fault("/", -1, tt.fault)
			if r := s.Try(t.Context()); r.Err == nil || tt.want != nil && !errors.Is(r.Err, tt.want) {
				t.Errorf("error %v, want %v", r.Err, tt.want)
			}
			server.Heal()
			if r := s.Sync(); len(r.Records) != 3 {
				t.Errorf("healed: %v", r.Keys())
			}
		})
	}
}

func TestServer(t *testing.T) {
	server := connectortest.NewServer(t,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write([]byte(r.URL.RawQuery)) }))
	server.Fault("/list", -1, connectortest.Repeating())
	server.Fault("/list", 1, connectortest.Status(500))
	client := connectortest.Client(t)
	for _, page := range []string{"1", "2"} {
		answer, err := client.Do(t.Context(), outbound.Request{URL: server.URL + "/list?page=" + page})
		if err != nil || string(answer.Body) != "page=1" {
			t.Errorf("page %s: %q, %v", page, answer.Body, err)
		}
	}
	if diff := cmp.Diff([]string{"GET /list?page=1", "GET /list?page=1", "GET /list?page=2"},
		server.Paths()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
