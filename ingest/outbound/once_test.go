package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"almanac/testing/crowd"
	"almanac/testing/httppipe"
)

// onceClient sends by Once and may connect to 127.0.0.1.
func onceClient(t *testing.T, c Config) *http.Client {
	t.Helper()
	c.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	return &http.Client{Transport: New(c).Once()}
}

// TestOnce posts to servers that misbehave and counts what arrives.
func TestOnce(t *testing.T) {
	const limit = 1000
	failing := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(status)
			_, _ = w.Write([]byte("{}"))
		}
	}
	redirect := func(status int, to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, status) }
	}
	tests := map[string]struct {
		handler http.HandlerFunc
		status  int   // of the answer
		want    error // of the request or of its body
		text    string
		tries   int // 1 if not said
	}{
		"success":              {handler: echo, status: 200},
		"500":                  {handler: failing(500), status: 500},
		"503 with Retry-After": {handler: failing(503), status: 503},
		"429":                  {handler: failing(429), status: 429},
		"500 of a large body":  {handler: status(500, ""), status: 500, want: ErrTooLarge},
		"reset":                {handler: reset, want: io.EOF},
		"endless body": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				endless(w, bytes.Repeat([]byte("x"), 300), func() {})
			},
			status: 200, want: ErrTooLarge, text: "answer too large: more than 1000 bytes",
		},
		"announced as too large": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10000")
				_, _ = w.Write(make([]byte, 10_000))
			},
			status: 200, want: ErrTooLarge,
		},
		"too large when inflated": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = z.Write(make([]byte, 1<<20))
				_ = z.Close()
			},
			status: 200, want: ErrTooLarge,
		},
		"truncated": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
			},
			status: 200, want: ErrTruncated,
		},
		"redirected for ever": {
			handler: redirect(307, "/"), want: ErrRefused, text: "more than 5 redirects", tries: 1 + maxHops,
		},
		"redirected once": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/tools" {
					http.Redirect(w, r, "/tools/", http.StatusPermanentRedirect)
					return
				}
				echo(w, r)
			},
			status: 200, tries: 2,
		},
		"redirected to a GET":          {handler: redirect(302, "/"), want: ErrRefused, text: "turns POST into GET"},
		"redirected to another scheme": {handler: redirect(307, "file:///etc/passwd"), want: ErrRefused},
		"redirected inside":            {handler: redirect(307, "http://10.1.2.3/"), want: ErrRefused},
		"redirected to metadata":       {handler: redirect(308, "http://169.254.169.254/latest/"), want: ErrRefused},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				tt.handler(w, r)
			})
			client := onceClient(t, Config{MaxBody: limit})
			var got []byte
			resp, err := client.Post(url+"/tools", "application/json", strings.NewReader("{}"))
			if err == nil {
				if resp.StatusCode != tt.status {
					t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
				}
				got, err = io.ReadAll(resp.Body)
				_ = resp.Body.Close()
			} else if tt.status != 0 {
				t.Errorf("no answer, want status %d", tt.status)
			}
			switch {
			case !errors.Is(err, tt.want) || tt.want != nil && !strings.Contains(err.Error(), tt.text):
				t.Errorf("error %v, want %v with %q", err, tt.want, tt.text)
			case tt.want == nil && string(got) != "{}":
				t.Errorf("answer %q", got)
			case len(got) > limit:
				t.Errorf("%d bytes read", len(got))
			}
			if int(tries.Load()) != max(1, tt.tries) {
				t.Errorf("%d requests arrived, want %d", tries.Load(), max(1, tt.tries))
			}
		})
	}
}

// endless writes the same until the client leaves, and rests after each time.
func endless(w http.ResponseWriter, piece []byte, rest func()) {
	for {
		if _, err := w.Write(piece); err != nil {
			return
		}
		w.(http.Flusher).Flush()
		rest()
	}
}

// TestOnceIsBounded posts to a server that is silent, and to one whose body comes in
// pieces without end.
func TestOnceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		client := onceClient(t, Config{Timeout: 10 * time.Second, Transport: httppipe.Transport(t,
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tries.Add(1); r.URL.Path == "/silent" {
					stuck(w, r)
				}
				endless(w, []byte("x"), func() { time.Sleep(time.Second) })
			}))})
		post := func(path string) (*http.Response, error) {
			return client.Post("http://gull.example"+path, "application/json", strings.NewReader("{}"))
		}
		if _, err := post("/silent"); !errors.Is(err, ErrTimeout) {
			t.Errorf("silent: %v", err)
		}
		resp, err := post("/pieces")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadAll(resp.Body); !errors.Is(err, ErrTimeout) || resp.StatusCode != http.StatusOK {
			t.Errorf("in pieces: %v", err)
		}
		if tries.Load() != 2 {
			t.Errorf("%d requests arrived, want 2", tries.Load())
		}
	})
}

func echo(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }

// stuck never writes a header. A server notices that a client has left once it has read the request.
func stuck(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// TestOnceMeansOnce closes a connection at its second request: on a connection
// that was kept, net/http would send a GET again.
func TestOnceMeansOnce(t *testing.T) {
	var tries atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) {
		if tries.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
	})
	client := onceClient(t, Config{})
	for n, fails := range []bool{false, true} {
		resp, err := client.Get(url)
		if (err != nil) != fails {
			t.Errorf("request %d: %v", n+1, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
	if tries.Load() != 2 {
		t.Errorf("%d requests arrived, want 2", tries.Load())
	}
}

func TestOnceIsGuarded(t *testing.T) {
	var asked atomic.Int32
	inside := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	guarded := &http.Client{Transport: New(Config{}).Once()}
	if _, err := guarded.Get(inside); !errors.Is(err, ErrRefused) {
		t.Errorf("loopback: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.2:0") // loopback, but not the address that is allowed
	if err != nil {
		t.Skip(err)
	}
	other := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })}
	defer other.Close()
	go func() { _ = other.Serve(l) }()
	for _, status := range []int{307, 308} {
		from := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+l.Addr().String()+"/", status)
		})
		_, err := onceClient(t, Config{}).Post(from, "application/json", strings.NewReader("{}"))
		if !errors.Is(err, ErrRefused) {
			t.Errorf("status %d to loopback: %v", status, err)
		}
	}
	if asked.Load() != 0 {
		t.Errorf("a server inside got %d requests", asked.Load())
	}
}

func TestOnceCarriesNoCredentials(t *testing.T) {
	var got []http.Header
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "1"})
	})
	client := onceClient(t, Config{UserAgent: "causeway/1"})
	for range 2 {
		signed := strings.Replace(url, "http://", "http://user:secret@", 1)
		req, err := http.NewRequest(http.MethodPost, signed, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Cookie", "a=b")
		req.Header.Set("Mcp-Session-Id", "7")
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if req.Header.Get("Cookie") == "" {
			t.Error("the caller's request was changed")
		}
	}
	for _, header := range got {
		if header.Get("Authorization") != "" || header.Get("Cookie") != "" || header.Get("Mcp-Session-Id") != "7" ||
			header.Get("User-Agent") != "causeway/1" {
			t.Errorf("sent %v", header)
		}
	}
}

// TestOnceHasSlots opens more bodies than a host has slots.
func TestOnceHasSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const url = "http://gull.example/"
		var under crowd.Crowd
		transport := httppipe.Transport(t, taking(time.Second, &under))
		client := onceClient(t, Config{PerHost: 2, Transport: transport})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				resp, err := client.Get(url)
				if err != nil {
					t.Error(err)
					return
				}
				_ = resp.Body.Close()
			})
		}
		wg.Wait()
		if under.Most() != 2 {
			t.Errorf("%d requests at the same time, want 2", under.Most())
		}

		// A body that is left open has its slot until its time is over.
		client = onceClient(t, Config{PerHost: 1, Transport: transport})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		open, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer open.Body.Close()
		resp, err := client.Get(url)
		if err != nil {
			t.Fatalf("with another body left open: %v", err)
		}
		_ = resp.Body.Close()
	})
}

// TestOnceClosesWhatItRefuses: callers count on the body of a request being closed.
func TestOnceClosesWhatItRefuses(t *testing.T) {
	body := &closing{Reader: iotest.ErrReader(errors.New("read"))}
	req, err := http.NewRequest(http.MethodPost, "ftp://192.0.2.1/", body)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{}).Once().RoundTrip(req); !errors.Is(err, ErrRefused) || !body.closed {
		t.Errorf("%v, body closed: %t", err, body.closed)
	}
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error { c.closed = true; return nil }
