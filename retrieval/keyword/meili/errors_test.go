package meili_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
	"almanac/testing/httppipe"
)

func words(text string) keyword.Text { return keyword.Text{Raw: text, Tokens: analysis.Analyze(text)} }

func batch(checkpoint int64) keyword.Batch {
	return keyword.Batch{Checkpoint: checkpoint, Records: []keyword.Record{
		{ID: 1, Title: words("ledger"),
			Passages: []keyword.Passage{{ID: passage.NewID(1, 0), Body: words("a ledger")}}}}}
}

func term(text string) keyword.Query {
	return keyword.Query{Terms: []keyword.Term{{Text: text, Weight: 1}}}
}

// calls are the calls of an engine that talk to the server.
var calls = map[string]func(context.Context, *meili.Engine) error{
	"apply": func(ctx context.Context, e *meili.Engine) error { return e.Apply(ctx, batch(6)) },
	"search": func(ctx context.Context, e *meili.Engine) error {
		_, err := e.Search(ctx, term("ledger"), passage.Filter{}, 10)
		return err
	},
	"checkpoint": func(ctx context.Context, e *meili.Engine) error { _, err := e.Checkpoint(ctx); return err },
	"promote":    func(ctx context.Context, e *meili.Engine) error { return e.Promote(ctx) },
}

// fails checks that a call fails with one sentence and nothing secret in it.
func fails(t *testing.T, name string, err error, host, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("%s: no error", name)
	}
	got := strings.ReplaceAll(err.Error(), host, "HOST")
	if !strings.Contains(got, want) || strings.Contains(got, key) || strings.Contains(got, "\n") {
		t.Errorf("%s: %s\nwant: %s", name, got, want)
	}
}

func TestEveryCallSaysWhatIsWrongWithTheServer(t *testing.T) {
	page := reply{200, "<html>It works!</html>"}
	for _, c := range []struct {
		name   string
		answer reply
		want   string
	}{
		{"wrong key", refusal(403, "invalid_api_key", "The provided API key is invalid."),
			"HOST refuses the API key (403 Forbidden): it is wrong, or lacks the right to do this or to use this index"},
		{"no key", refusal(401, "missing_authorization_header", "The Authorization header is missing."),
			"HOST requires an API key (401 Unauthorized) and none is configured"},
		{"a page", page, "the server at HOST is not Meilisearch (200 OK): check the URL"},
		{"a page that is not there", reply{404, "<html>404</html>"},
			"the server at HOST is not Meilisearch (404 Not Found): check the URL"},
		{"a redirect", reply{302, ""}, "the server at HOST is not Meilisearch (302 Found): check the URL"},
		{"JSON of something else", reply{404, `{"error":"no route"}`},
			"the server at HOST is not Meilisearch (404 Not Found): check the URL"},
		{"a proxy without server", reply{502, "<html>bad gateway</html>"}, "HOST returned 502 Bad Gateway"},
		{"a server in trouble", refusal(500, "internal", "An internal error has occurred. `MDB_CORRUPTED`."),
			"HOST returned 500 Internal Server Error: An internal error has occurred. `MDB_CORRUPTED` (internal)"},
		{"too many searches", refusal(503, "too_many_search_requests",
			"Too many search requests running at the same time."),
			"HOST returned 503 Service Unavailable: Too many search"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(&scripted{script: map[string][]reply{"*": {c.answer}}})
			t.Cleanup(server.Close)
			for name, call := range calls {
				fails(t, name, call(t.Context(), dial(t, server.URL)), server.URL, c.want)
			}
		})
	}
}

func TestUnreachableServer(t *testing.T) {
	plain := httptest.NewServer(&scripted{})
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(&scripted{})
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // of refused handshakes
	secure.StartTLS()
	t.Cleanup(secure.Close)
	torn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte(`{"id":`))
	}))
	t.Cleanup(torn.Close)
	pool := x509.NewCertPool()
	pool.AddCert(secure.Certificate())
	with := func(transport *http.Transport) func(*meili.Config) {
		return func(c *meili.Config) { c.Transport = transport }
	}
	for _, c := range []struct {
		name, url string
		change    func(*meili.Config)
		want      string
	}{
		{"refused", "http://127.0.0.1:1", with(&http.Transport{}), "no connection to HOST: connect: connection refused"},
		{"unknown name", "http://search.example.org:7700",
			with(&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp",
					Err: &net.DNSError{Err: "no such host", Name: "search.example.org", IsNotFound: true}}
			}}), "the name search.example.org does not resolve"},
		{"unknown authority", secure.URL, with(&http.Transport{}),
			"the certificate of HOST is signed by an authority that is not trusted here"},
		{"certificate of another name", strings.Replace(secure.URL, "127.0.0.1", "localhost", 1),
			with(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}),
			"the certificate of HOST is for another name"},
		{"expired certificate", secure.URL, with(&http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool,
			Time: func() time.Time { return time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC) }}}),
			"the certificate of HOST is not valid today"},
		{"TLS to a plain server", strings.Replace(plain.URL, "http:", "https:", 1), with(&http.Transport{}),
			"HOST does not speak TLS: the URL should begin with http:"},
		{"half an answer", torn.URL, with(&http.Transport{}), "the connection to HOST broke"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for name, call := range calls {
				e := dial(t, c.url, c.change)
				fails(t, name, call(t.Context(), e), c.url, c.want)
				e.Close()
			}
		})
	}
}

// inBubble returns the change that has an engine of a bubble ask a handler.
func inBubble(t *testing.T, h http.Handler) func(*meili.Config) {
	t.Helper()
	pipe := httppipe.Transport(t, h)
	return func(c *meili.Config) { c.Transport = pipe }
}

func TestASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := dial(t, "http://search.example.org", inBubble(t,
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })))
		for name, call := range calls {
			fails(t, name, call(t.Context(), e), "http://search.example.org", "no answer from HOST within 5s")
		}
	})
}

func TestIndexOfSomethingElseIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		mark   reply
		want   string
		refuse bool
	}{
		{"no mark", noMark, "the index belongs to something else: index x of HOST was not made by this program: " +
			"choose another name", true},
		{"another catalog's", manifestOf("other", 1, 5),
			`the index belongs to something else: index x of HOST is that of catalog "other", not of "test"`, true},
		{"a manifest of another kind", reply{200, `{"id":"mark","name":"a film"}`}, "was not made by this program",
			true},
		{"a manifest of other types", reply{200, `{"id":"mark","owner":5}`}, "was not made by this program", true},
		{"another format", reply{200, `{"id":"mark","owner":"test","generation":1,"format":99,"checkpoint":3}`},
			"index x of HOST is in format 99 and this program writes format 1: start a new generation, or delete the " +
				"index", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &scripted{script: map[string][]reply{"GET /indexes/x/documents/mark": {c.mark}}}
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			for name, call := range calls {
				err := call(t.Context(), dial(t, server.URL))
				fails(t, name, err, server.URL, c.want)
				if errors.Is(err, meili.ErrForeign) != c.refuse {
					t.Errorf("%s: foreign: %v", name, !c.refuse)
				}
			}
			for _, asked := range s.asked {
				if !strings.HasPrefix(asked, "GET ") {
					t.Errorf("an index that is refused is written to: %s", asked)
				}
			}
		})
	}
}

func TestWriteFailures(t *testing.T) {
	const documents, task = "POST /indexes/x/documents", "GET /tasks/7"
	failed := func(code, message string) reply {
		return reply{200, `{"uid":7,"status":"failed","error":{"message":"` + message + `","code":"` + code +
			`","type":"x","link":"x"}}`}
	}
	for _, c := range []struct {
		name, request string
		answers       []reply
		want          string
	}{
		{"too large", documents, []reply{refusal(413, "payload_too_large",
			"The provided payload reached the size limit.")},
			"write changes up to 6 to index x: HOST refuses payloads as large as ours (413 Request Entity Too " +
				"Large): raise its payload limit, and that of proxies in front of it, above 8 MB"},
		{"too large for a proxy", documents, []reply{{413, "<html>nginx</html>"}},
			"HOST refuses payloads as large as ours"},
		{"disk full at once", documents,
			[]reply{refusal(422, "no_space_left_on_device", "Meilisearch cannot receive write operations")},
			"the disk of HOST is full (422 Unprocessable Entity)"},
		{"disk full in the task", task,
			[]reply{done, done, failed("no_space_left_on_device", "No space left on device")},
			"the disk of HOST is full: No space left on device"},
		{"failed task", task, []reply{done, done, failed("invalid_document_id", "Document identifier is invalid")},
			"write changes up to 6 to index x: task 7 of HOST failed: Document identifier is invalid " +
				"(invalid_document_id)"},
		{"cancelled task", task, []reply{done, done, {200, `{"uid":7,"status":"canceled"}`}},
			"task 7 of HOST was cancelled there"},
		{"forgotten task", task, []reply{done, done, refusal(404, "task_not_found", "Task `7` not found.")},
			"HOST has forgotten task 7: it was restarted empty"},
		{"removal refused", "POST /indexes/x/documents/delete",
			[]reply{refusal(400, "invalid_document_filter", "Attribute `record` is not filterable.")},
			"HOST returned 400 Bad Request: Attribute `record` is not filterable (invalid_document_filter)"},
		{"settings refused", "PATCH /indexes/x/settings",
			[]reply{refusal(400, "bad_request", "Unknown field `localizedAttributes`")},
			"change the settings of index x: HOST returned 400 Bad Request: Unknown field `localizedAttributes` " +
				"(bad_request)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(&scripted{script: map[string][]reply{c.request: c.answers}})
			t.Cleanup(server.Close)
			e := dial(t, server.URL)
			fails(t, "apply", e.Apply(t.Context(), batch(6)), server.URL, c.want)
		})
	}
}

func TestCancelledCallsSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waiting := reply{200, `{"uid":7,"status":"processing"}`}
		e := dial(t, "http://search.example.org",
			inBubble(t, &scripted{script: map[string][]reply{"GET /tasks/7": {waiting}}}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := e.Apply(ctx, batch(6)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("apply: %v", err)
		}
	})
	e, _ := engine(t, nil)
	cancelled, stop := context.WithCancel(t.Context())
	stop()
	for name, call := range calls {
		if err := call(cancelled, e); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestConfigurationIsChecked(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*meili.Config)
		want   string
	}{
		{"no URL", func(c *meili.Config) { c.URL = "" }, "must be http://host:port"},
		{"no scheme", func(c *meili.Config) { c.URL = "search.example.org:7700" }, "must be http://host:port"},
		{"password", func(c *meili.Config) { c.URL = "http://user:" + key + "@search.example.org" },
			"must not hold a password"},
		{"index", func(c *meili.Config) { c.Index = "a/b" }, `index "a/b"`},
		{"owner", func(c *meili.Config) { c.Owner = "" }, "needs an owner"},
		{"generation", func(c *meili.Config) { c.Generation = 0 }, "a generation from 1"},
	} {
		config := meili.Config{URL: "http://127.0.0.1:1", Index: "x", Owner: "test", Generation: 1}
		c.change(&config)
		if _, err := meili.Open(t.Context(), config); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestTheServerContinuesTheTrace(t *testing.T) {
	told := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case told <- r.Header.Get("traceparent"):
		default:
		}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	t.Cleanup(server.Close)
	ctx, s := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "keyword")
	_, _ = dial(t, server.URL).Checkpoint(ctx) // it was asked
	if id, got := s.SpanContext().SpanID().String(), <-told; !strings.Contains(got, id) {
		t.Errorf("the server is told %q of the span %s", got, id)
	}
}
