package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"

	"almanac/embed"
	"almanac/testing/httppipe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client returns a client of a scripted server.
func client(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return at(t, ClientConfig{URL: server.URL})
}

func at(t *testing.T, cfg ClientConfig) *Client {
	t.Helper()
	cfg.Name = "example"
	c, err := NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

// CloseIdleConnections lets http.Client close the connections of next.
func (t transport) CloseIdleConnections() { t.next.(*http.Transport).CloseIdleConnections() }

// sentence checks that an error is one clear sentence.
func sentence(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\t") ||
		len(err.Error()) > 500 {
		t.Errorf("error %v, want one line with %q", err, want)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"http://127.0.0.1:11434", ""},
		{"https://models.example.org/v1/", ""},
		{"http://[::1]:8080", ""},
		{"", `"" is not of the form http://host:port`},
		{"127.0.0.1:11434", `"127.0.0.1:11434" is not of the form`},
		{"localhost:11434", `"localhost:11434" is not of the form`},
		{"ftp://models.example.org", `"ftp://models.example.org" is not`},
		{"http://", `"http://" is not`},
		{"http://host:port", `"http://host:port" is not`},
		{"http://user:hush@host:port", "its address is not"},
		{"models.example.org?key=hush", "its address is not"},
	} {
		_, err := NewClient(ClientConfig{Name: "example", URL: c.url})
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		sentence(t, err, c.want)
		if strings.Contains(fmt.Sprint(err), "hush") {
			t.Errorf("%s: the error %v tells the secret", c.url, err)
		}
	}
}

func TestRequest(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"got": %q}`, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header.Get("Authorization"), " ",
			r.Header.Get("User-Agent"), " ",
			r.Header.Get("Idempotency-Key"), string(body)))
	}))
	defer server.Close()
	c := at(t, ClientConfig{URL: server.URL + "/base/?version=2", Key: "hush"})
	var answer struct{ Got string }
	if err := c.JSON(t.Context(), http.MethodPost, "v1/rerank", map[string]int{"n": 1}, &answer); err != nil {
		t.Fatal(err)
	}
	if want := `POST /base/v1/rerank?version=2 Bearer hush almanac {"n":1}`; answer.Got != want {
		t.Errorf("request %q, want %q", answer.Got, want)
	}
	if want := "example at " + server.URL + "/base"; c.String() != want {
		t.Errorf("named %q, want %q", c, want)
	}
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	c := at(t, ClientConfig{URL: "http://models.example.org"})
	if c.http.Transport.(transport).next.(*http.Transport).Proxy != nil {
		t.Error("a proxy may be used")
	}
}

func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestRefusalsAreExplained(t *testing.T) {
	for _, c := range []struct {
		name        string
		status      int
		body        string
		want        string
		unavailable bool
		kind        kind
	}{
		{"no key", 401, `{"error":"invalid"}`, "wants a key (401 Unauthorized: invalid)", false, final},
		{"no such path", 404, "404 page not found\n",
			"returned 404 Not Found: 404 page not found: are its address and the model's name right?", false, final},
		{"nested message", 400, `{"error":{"message":"The model ` + "`x`" + ` does not exist","code":null}}`,
			"returned 400 Bad Request: The model `x` does not exist", false, refused},
		{"detail", 422, `{"detail":"no such model"}`, "Unprocessable Entity: no such model", false, refused},
		{"detail of another shape", 422, `{"detail":[{"loc":["body"]}]}`, "returned 422 Unprocessable Entity", false,
			refused},
		{"busy", 503, `{"error":"server busy, please try again"}`,
			"is unavailable: it returned 503 Service Unavailable: server busy", true, busy},
		{"overloaded", 429, `{"error":"Model is overloaded","error_type":"overloaded"}`,
			"429 Too Many Requests: Model is overloaded", true, busy},
		{"page of a proxy", 502, "<html>\r\n<body>nginx</body>", "it returned 502 Bad Gateway", true, busy},
		{"crashed", 500, `{"error":"model runner has unexpectedly stopped"}`,
			"returned 500 Internal Server Error: model runner", false, refused},
		{"too long for Ollama", 400, `{"error":"the input length exceeds the context length"}`,
			"refuses a text for its length (400", false, long},
		{"too long for OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 9000 tokens"}}`, "refuses a text", false, long},
		{"too long for llama.cpp", 500,
			`{"error":{"code":500,"message":"input is too large to process. increase the physical batch size"}}`,
			"refuses a text", false, long},
		{"too long for TEI", 413, `{"error":"` + "`inputs`" +
			` must have less than 512 tokens. Given: 600","error_type":"Validation"}`, "refuses a text", false,
			long},
		{"batch too large for TEI", 413,
			`{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}`, "returned 413",
			false, refused},
		{"long and rude", 418, "first\nsecond\x00\x1b[31m" + strings.Repeat("é", 5000),
			"returned 418 I'm a teapot: first second", false, refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := client(t, answer(c.status, c.body)).JSON(t.Context(), http.MethodGet, "x", nil, new(any))
			sentence(t, err, c.want)
			if errors.Is(err, embed.ErrUnavailable) != c.unavailable || kindOf(err) != c.kind {
				t.Errorf("unavailable %v, kind %d", !c.unavailable, kindOf(err))
			}
			if e, ok := errors.AsType[*Error](err); !ok || e.Status != c.status {
				t.Errorf("%#v has not the status %d", err, c.status)
			}
		})
	}
}

func TestKeysAreNotTold(t *testing.T) {
	server := httptest.NewServer(answer(401, `{"error":"Incorrect API key provided: hush. See example.org"}`))
	defer server.Close()
	withUser, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	withUser.User = url.UserPassword("u", "secret")
	withUser.RawQuery = "api-key=secret"
	for _, address := range []string{withUser.String(), strings.Replace(withUser.String(), withUser.Host, "127.0.0.1:1",
		1)} {
		err = at(t, ClientConfig{URL: address, Key: "hush"}).JSON(t.Context(), http.MethodGet, "x", nil, new(any))
		if err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v", err)
		}
	}
	err = at(t, ClientConfig{URL: server.URL, Key: "hush"}).JSON(t.Context(), http.MethodGet, "x", nil, new(any))
	sentence(t, err, "refuses the key (401 Unauthorized: Incorrect API key provided: [key].")
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the redirect was followed")
	}))
	defer other.Close()
	for _, status := range []int{301, 302, 307, 308} {
		c := client(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/x?key=hush", status)
		})
		sentence(t, c.JSON(t.Context(), http.MethodPost, "x", 1, new(any)),
			"redirects to "+other.URL+", which is not followed")
	}
}

func TestConnectionFailuresAreExplained(t *testing.T) {
	plain := httptest.NewServer(answer(200, `{}`))
	defer plain.Close()
	secure := httptest.NewTLSServer(answer(200, `{}`))
	defer secure.Close()
	secure.Config.ErrorLog = nil
	const gone = "http://127.0.0.1:1" // no port that is given to others
	reset := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
	}))
	defer reset.Close()
	torn := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, `{"a":`)
	}))
	defer torn.Close()
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "SSH-2.0-example\r\n")
		_ = conn.Close()
	}))
	defer foreign.Close()
	for _, c := range []struct {
		name, url, want string
		unavailable     bool
	}{
		{"nothing listens", gone, "is unavailable: nothing listens there", true},
		{"certificate", secure.URL, "certificate: x509: ", false},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1),
			"server gave HTTP response to HTTPS client", false},
		{"TLS", strings.Replace(secure.URL, "https:", "http:", 1), "Client sent an HTTP request to an HTTPS server",
			false},
		{"reset", reset.URL, "is unavailable: it closed the connection", true},
		{"another protocol", foreign.URL, "returned an unexpected response, is the address right?", false},
		{"torn", torn.URL, "is unavailable: it closed the connection", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := at(t, ClientConfig{URL: c.url}).JSON(t.Context(), http.MethodGet, "x", nil, new(any))
			sentence(t, err, c.want)
			if errors.Is(err, embed.ErrUnavailable) != c.unavailable {
				t.Errorf("unavailable: %v", !c.unavailable)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		c := at(t, ClientConfig{URL: "http://models.example.org", Timeout: 20 * time.Second})
		c.http.Transport = transport{next: httppipe.Transport(t, http.HandlerFunc(silent))}
		err := c.JSON(t.Context(), http.MethodGet, "x", nil, new(any))
		sentence(t, err, "is unavailable: no answer within 20s")
		if !errors.Is(err, embed.ErrUnavailable) || kindOf(err) != slow {
			t.Errorf("kind %d", kindOf(err))
		}
		hurried, hurry := context.WithTimeout(t.Context(), 5*time.Second)
		defer hurry()
		sentence(t, c.JSON(hurried, http.MethodGet, "x", nil, new(any)), "is unavailable: no answer in time")
		stopped := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		if err := c.JSON(ctx, http.MethodGet, "x", nil, new(any)); !errors.Is(err, stopped) ||
			errors.Is(err, embed.ErrUnavailable) {
			t.Errorf("error %v, want that of the caller", err)
		}
	})
}

func TestBodiesAreBounded(t *testing.T) {
	c := client(t, func(w http.ResponseWriter, _ *http.Request) {
		spaces := bytes.Repeat([]byte(" "), 1<<20)
		for err := error(nil); err == nil; { // until the client closes the connection
			_, err = w.Write(spaces)
		}
	})
	err := c.JSON(t.Context(), http.MethodGet, "x", nil, new(any))
	sentence(t, err, "returned more than 64 MiB")
	if kindOf(err) != refused {
		t.Errorf("kind %d", kindOf(err))
	}
}

// TestNullIsNoNumber: it stands for NaN, which other texts may not give.
func TestNullIsNoNumber(t *testing.T) {
	err := client(t, answer(200, `[1,null]`)).JSON(t.Context(), http.MethodGet, "x", nil, new(Vector))
	if sentence(t, err, "returned an invalid vector"); kindOf(err) != refused {
		t.Errorf("kind %d", kindOf(err))
	}
}

func FuzzMessage(f *testing.F) {
	for _, body := range []string{`{"error":"x"}`, `{"error":{"message":"x"}}`, `{"message":3}`, `{"detail":[]}`,
		"<html>", "text\xff\x00", `"x"`, `null`, `[]`} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := message(body)
		if len(got) > maxShown || strings.ContainsAny(got, "\n\r\t\x00\x1b") {
			t.Errorf("%q", got)
		}
	})
}

// A server that is not yet what it should be is called by a new client each
// time.
func TestClientsLeaveNoConnectionsBehind(t *testing.T) {
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("{}"))
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	for range 50 {
		c, err := NewClient(ClientConfig{Name: "example", URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.JSON(t.Context(), http.MethodGet, "/", nil, &struct{}{}); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n > 2 {
		t.Errorf("%d connections for 50 clients, one after the other", n)
	}
}

func TestServersContinueTheTrace(t *testing.T) {
	var told string
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		told = r.Header.Get("traceparent")
		_, _ = io.WriteString(w, "{}")
	})
	ctx, s := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "embedder")
	if err := c.JSON(ctx, http.MethodGet, "/", nil, new(any)); err != nil {
		t.Fatal(err)
	}
	if id := s.SpanContext().SpanID().String(); !strings.Contains(told, id) {
		t.Errorf("the server is told %q of the span %s", told, id)
	}
}
