package outbound

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"almanac/testing/crowd"
	"almanac/testing/httppipe"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	now      = time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
)

// pauses records what a client waited for, without waiting.
type pauses []time.Duration

func (p *pauses) wait(ctx context.Context, d time.Duration) error {
	*p = append(*p, d)
	return ctx.Err()
}

// client is one that may connect to loopback and never waits.
func client(t *testing.T, c Config) (*Client, *pauses) {
	t.Helper()
	var p pauses
	c.Allow, c.Now, c.Wait = loopback, func() time.Time { return now }, p.wait
	made := New(c)
	t.Cleanup(made.Close)
	return made, &p
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func TestDo(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("If-None-Match"); got == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", `"v1"`)
		w.Header().Set("Last-Modified", "Sat, 14 Mar 2026 08:00:00 GMT")
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.Header.Get("User-Agent"), r.Header.Get("Accept"),
			r.Header.Get("X-Key"), body)
	})
	c, _ := client(t, Config{UserAgent: "causeway/1"})
	got, err := c.Do(t.Context(), Request{
		Method: http.MethodPost, URL: url + "/a", Body: []byte("hello"), Header: http.Header{"x-key": {"k"}},
		Accept: []string{"application/json", "text/*"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Response{
		Status: 200, Body: []byte("POST causeway/1 application/json, text/* k hello"), URL: url + "/a",
		ETag: `"v1"`, LastModified: "Sat, 14 Mar 2026 08:00:00 GMT", Header: got.Header,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = c.Do(t.Context(), Request{URL: url + "/a", ETag: `"v1"`, LastModified: "x"})
	if err != nil || !got.NotModified || got.ETag != `"v1"` || got.LastModified != "x" || len(got.Body) != 0 {
		t.Errorf("conditional: %+v, %v", got, err)
	}
}

// TestFailures queries servers that misbehave.
func TestFailures(t *testing.T) {
	const tooLong = 10_000
	tests := map[string]struct {
		handler http.HandlerFunc
		request Request
		want    error
		status  int
		tries   int
		waited  []time.Duration // compared if not nil
	}{
		"not found": {handler: status(404, ""), status: 404, tries: 1},
		"500":       {handler: status(500, ""), status: 500, tries: 4},
		"501":       {handler: status(501, ""), status: 501, tries: 1},
		"429 with seconds": {
			handler: status(429, "7"), status: 429, tries: 4, waited: []time.Duration{7 * time.Second, 7 * time.Second,
				7 * time.Second},
		},
		"503 with a date": {
			handler: status(503, now.Add(3*time.Second).Format(http.TimeFormat)), status: 503, tries: 4,
			waited: []time.Duration{3 * time.Second, 3 * time.Second, 3 * time.Second},
		},
		"429 for an hour": {handler: status(429, "3600"), status: 429, tries: 1},
		"304 unasked":     {handler: status(304, ""), status: 304, tries: 1},
		"reset":           {handler: reset, tries: 4, want: io.EOF},
		"truncated": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("half"))
			},
			want: ErrTruncated, tries: 4,
		},
		"truncated chunks": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte("half"))
				w.(http.Flusher).Flush()
				panic(http.ErrAbortHandler)
			},
			want: ErrTruncated, tries: 4,
		},
		"announced as too large": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "10000")
				_, _ = w.Write(make([]byte, tooLong))
			},
			want: ErrTooLarge, tries: 1,
		},
		"too large without saying so": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.(http.Flusher).Flush()
				_, _ = w.Write(make([]byte, tooLong))
			},
			want: ErrTooLarge, tries: 1,
		},
		"too large when inflated": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = z.Write(make([]byte, tooLong))
				_ = z.Close()
			},
			want: ErrTooLarge, tries: 1,
		},
		"another coding": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "br")
				_, _ = w.Write([]byte("x"))
			},
			want: ErrContentType, tries: 1,
		},
		"wrong content type": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				_, _ = w.Write([]byte("<html>sign in</html>"))
			},
			request: Request{Accept: []string{"application/json", "image/*"}}, want: ErrContentType, tries: 1,
		},
		"redirected for ever": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, r.URL.Path+"x",
					http.StatusFound)
			},
			want: ErrRefused, tries: 1 + maxHops,
		},
		"redirected to another scheme": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			},
			want: ErrRefused, tries: 1,
		},
		"redirected nowhere": {
			handler: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://%zz?key=secret")
				w.WriteHeader(http.StatusFound)
			},
			want: ErrRefused, tries: 1,
		},
		"post redirected": {
			handler: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
			},
			request: Request{Method: http.MethodPost, Body: []byte("{}")}, status: 307, tries: 1,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				tt.handler(w, r)
			})
			c, waited := client(t, Config{MaxBody: 1000})
			tt.request.URL = strings.Replace(url, "http://", "http://user:secret@", 1) + "/path?key=secret#secret"
			_, err := c.Do(t.Context(), tt.request)
			if err == nil {
				t.Fatal("no error")
			}
			if tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if status, ok := errors.AsType[*StatusError](err); tt.status != 0 && (!ok || status.Status != tt.status) {
				t.Errorf("error %v, want status %d", err, tt.status)
			}
			if int(tries.Load()) != tt.tries {
				t.Errorf("%d tries, want %d", tries.Load(), tt.tries)
			}
			if tt.waited != nil && !cmp.Equal([]time.Duration(*waited), tt.waited) {
				t.Errorf("waited %v, want %v", *waited, tt.waited)
			}
			if strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), url+"/path") {
				t.Errorf("the error says %v", err)
			}
		})
	}
}

// TestSilence queries servers that say nothing, or nothing more.
func TestSilence(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": stuck,
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			stuck(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var tries atomic.Int32
				c, _ := client(t, Config{Timeout: 10 * time.Second, Transport: httppipe.Transport(t,
					http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						tries.Add(1)
						handler(w, r)
					}))})
				_, err := c.Do(t.Context(), Request{URL: "http://user:secret@gull.example/path?key=secret#secret"})
				if !errors.Is(err, ErrTimeout) || strings.Contains(err.Error(), "secret") ||
					!strings.Contains(err.Error(), "http://gull.example/path") {
					t.Errorf("the error says %v", err)
				}
				if tries.Load() != 1 {
					t.Errorf("%d tries, want 1", tries.Load())
				}
			})
		})
	}
}

func status(code int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", retryAfter)
		w.WriteHeader(code)
		if code != http.StatusNotModified {
			_, _ = w.Write(bytes.Repeat([]byte("no"), 5000))
		}
	}
}

func reset(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func TestStatusErrorComesWithTheAnswer(t *testing.T) {
	url := serve(t, status(403, ""))
	c, _ := client(t, Config{})
	got, err := c.Do(t.Context(), Request{URL: url})
	if err == nil || got.Status != 403 || len(got.Body) != excerpt || got.Header.Get("Content-Type") == "" {
		t.Errorf("status %d, %d bytes, header %v, error %v", got.Status, len(got.Body), got.Header, err)
	}
}

func TestRecovers(t *testing.T) {
	for name, fault := range map[string]http.HandlerFunc{"429": status(429, "1"), "500": status(500, ""),
		"reset": reset} {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int32
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n.Add(1) < maxTries {
					fault(w, r)
					return
				}
				_, _ = io.Copy(w, r.Body)
			})
			c, waited := client(t, Config{})
			got, err := c.Do(t.Context(), Request{Method: http.MethodPost, URL: url, Body: []byte("again")})
			if err != nil || string(got.Body) != "again" || len(*waited) != maxTries-1 {
				t.Errorf("%q, %v after %v", got.Body, err, *waited)
			}
		})
	}
}

func TestPausesGrow(t *testing.T) {
	url := serve(t, status(500, ""))
	c, waited := client(t, Config{})
	_, _ = c.Do(t.Context(), Request{URL: url})
	for i, d := range *waited {
		middle := firstPause << i
		if d < middle/2 || d > middle*3/2 {
			t.Errorf("pause %d is %s, want about %s", i, d, middle)
		}
	}
}

// TestGuard requests internal addresses, allowed and not.
func TestGuard(t *testing.T) {
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(url, "http://"))
	refused := []string{
		"http://127.0.0.1:" + port, "http://localhost:" + port, "http://[::1]:" + port,
		"http://[::ffff:127.0.0.1]:" + port, "http://0.0.0.0:" + port, "http://[::]:" + port, "http://127.1:" + port,
		"http://2130706433:" + port, "http://0x7f.1:" + port, "http://10.0.0.1", "http://172.16.3.4",
		"http://192.168.1.1", "http://169.254.169.254/latest/meta-data/", "http://[fe80::1]", "http://[fd00:ec2::254]",
		"http://100.100.100.200", "http://[64:ff9b::7f00:1]", "http://[2002:7f00:1::]", "http://224.0.0.1",
		"http://255.255.255.255", "ftp://192.0.2.1/",
		"file:///etc/passwd", "//host/", "http:///path", "http://%zz", "",
	}
	guarded := New(Config{Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Timeout: 2 * time.Second})
	defer guarded.Close()
	for _, address := range refused {
		_, err := guarded.Do(t.Context(), Request{URL: address})
		if !errors.Is(err, ErrRefused) && !notANumber(address, err) {
			t.Errorf("%s: %v, want it refused", address, err)
		}
	}
	allowed, _ := client(t, Config{})
	if _, err := allowed.Do(t.Context(), Request{URL: url}); err != nil {
		t.Errorf("an allowed network: %v", err)
	}
	if _, err := allowed.Do(t.Context(), Request{URL: "http://10.0.0.1"}); !errors.Is(err, ErrRefused) {
		t.Errorf("another than the allowed network: %v", err)
	}
}

// notANumber: short and hexadecimal forms of IPv4 addresses are names to Go's
// resolver, and to some system resolvers addresses. Either is right.
func notANumber(address string, err error) bool {
	_, isName := errors.AsType[*net.DNSError](err)
	return isName && (strings.Contains(address, "127.1") || strings.Contains(address, "2130706433") ||
		strings.Contains(address, "0x7f"))
}

func TestGuardHoldsThroughRedirects(t *testing.T) {
	for _, to := range []string{"http://10.1.2.3/", "http://169.254.169.254/latest/meta-data/?key=secret",
		"//192.168.0.1/", "http://[::ffff:10.0.0.1]/"} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
		c, _ := client(t, Config{})
		_, err := c.Do(t.Context(), Request{URL: url})
		if !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "secret") {
			t.Errorf("redirect to %s: %v", to, err)
		}
	}
}

func TestRedirectKeepsSecretsAtHome(t *testing.T) {
	var got http.Header
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/near" {
			got = r.Header
			return
		}
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusMovedPermanently)
	})
	c, _ := client(t, Config{})
	request := Request{Header: http.Header{"Private-Token": {"secret"}, "Authorization": {"secret"}},
		Accept: []string{"text/*"}, ETag: `"x"`}
	for to, kept := range map[string]bool{"/near": true, other + "/far": false} {
		request.URL = home + "/?to=" + to
		answer, err := c.Do(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(answer.URL, to) {
			t.Errorf("the answer is from %s, want %s", answer.URL, to)
		}
		if (got.Get("Private-Token") != "") != kept || (got.Get("Authorization") != "") != kept {
			t.Errorf("redirected to %s with %v", to, got)
		}
		if got.Get("Accept") != "text/*" || got.Get("If-None-Match") != `"x"` {
			t.Errorf("redirected to %s without our own fields: %v", to, got)
		}
	}
}

func TestPerHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var under crowd.Crowd
		c, _ := client(t, Config{PerHost: 2, Transport: httppipe.Transport(t, taking(time.Second, &under))})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := c.Do(t.Context(), Request{URL: "http://gull.example/"}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if under.Most() != 2 {
			t.Errorf("%d requests at the same time, want 2", under.Most())
		}
	})
}

// taking answers after a while and counts who waits.
func taking(d time.Duration, under *crowd.Crowd) http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) {
		under.Enter()
		defer under.Leave()
		time.Sleep(d)
	}
}

func TestOpen(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole":
			_, _ = w.Write([]byte(strings.Repeat("x", 900)))
		case "/cut":
			w.Header().Set("Content-Length", "900")
			_, _ = w.Write([]byte("half"))
		case "/long":
			w.(http.Flusher).Flush()
			_, _ = w.Write(make([]byte, 1001))
		}
	})
	c, _ := client(t, Config{MaxBody: 1000, PerHost: 1})
	for path, want := range map[string]error{"/whole": nil, "/cut": ErrTruncated, "/long": ErrTooLarge} {
		opened(t, c, url+path, want)
	}
}

// opened reads a body to its end, which must be an error or nil.
func opened(t *testing.T, c *Client, url string, want error) {
	t.Helper()
	body, resp, err := c.Open(t.Context(), Request{URL: url})
	if err != nil || resp.Status != 200 {
		t.Fatalf("%s: %v %v", url, resp, err)
	}
	read, err := io.ReadAll(body)
	if !errors.Is(err, want) || int64(len(read)) > 1000 {
		t.Errorf("%s: %d bytes, %v; want %v", url, len(read), err, want)
	}
	if err := body.Close(); err != nil { // or the next would wait for ever: there is one slot
		t.Error(err)
	}
}

func TestOpenABodyThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte("half"))
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
		c, _ := client(t, Config{PerHost: 1, Transport: httppipe.Transport(t, http.HandlerFunc(stuck))})
		for range 2 {
			opened(t, c, "http://gull.example/", ErrTimeout)
		}
	})
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	c, waited := client(t, Config{})
	if _, err := c.Do(ctx, Request{URL: url}); !errors.Is(err, context.Canceled) || len(*waited) != 0 {
		t.Errorf("%v after %v", err, *waited)
	}
	if _, err := c.Do(ctx, Request{URL: url}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"": 0, "12": 12 * time.Second, " 3 ": 3 * time.Second, "-5": 0, "soon": 0, "99999999999999": 0,
		"Sat, 14 Mar 2026 09:01:00 GMT": time.Minute, "Sat, 14 Mar 2026 08:00:00 GMT": 0,
	} {
		if got := retryAfter(value, now); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func FuzzRedirect(f *testing.F) {
	for _, seed := range []string{"/a", "//host/b", "http://[::1]:8080/", "https://a:b@c/d#e", "javascript:alert(1)",
		"?q=%zz", "http:\\\\host", "\x00"} {
		f.Add(seed, "7")
	}
	f.Fuzz(func(t *testing.T, location, after string) {
		req := httptest.NewRequest(http.MethodGet, "https://example.org/start", nil)
		req.Header.Set("Private-Token", "secret")
		to, err := next(req, &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {location}}})
		if err == nil && to != nil {
			if to.URL.Scheme != "http" && to.URL.Scheme != "https" || to.URL.Hostname() == "" || to.URL.User != nil {
				t.Errorf("%q leads to %s", location, to.URL)
			}
			if to.Header.Get("Private-Token") != "" && to.URL.Host != "example.org" {
				t.Errorf("%q takes the token to %s", location, to.URL)
			}
		}
		if d := retryAfter(after, now); d < 0 {
			t.Errorf("Retry-After %q: %s", after, d)
		}
	})
}
