package recordingtest

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// counter is a server whose answers tell requests apart.
func counter(t *testing.T) string {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		switch r.URL.Path {
		case "/text":
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprintf(w, "{\"a\":1}\n{\"a\":2}\n")
		case "/teapot":
			w.WriteHeader(http.StatusTeapot)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"n": %d, "key": %q, "big": 12345678901234567890, "body": %q}`, n.Add(1),
				r.Header.Get("Authorization"), body)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

type reply struct {
	status    int
	mediaType string
	body      string
}

func ask(t *testing.T, base, method, path, body string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer hush")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header.Get("Content-Type"), string(answer)}
}

func TestRecordedCallsArePlayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "testdata", "x.jsonl")
	options := Options{Server: "counter 1.0", Secrets: []string{"hush"}}
	var first, last, filtered, other, text, teapot reply
	t.Run("record", func(t *testing.T) {
		if err := flag.Set("record", "true"); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("record", "false")
		base := HTTP(t, file, counter(t)+"/", options)
		first = ask(t, base, "POST", "/a?y=2&x=1", `{"q":"one","at":1}`)
		last = ask(t, base, "POST", "/a?x=1&y=2", `{ "at": 1, "q": "one" }`)
		other = ask(t, base, "POST", "/a?x=1&y=2", `{"q":"two"}`)
		filtered = ask(t, base, "GET", "/a%2Fb", "")
		text = ask(t, base, "GET", "/text", "")
		teapot = ask(t, base, "DELETE", "/teapot", "hush, not json")
	})
	if !strings.Contains(first.body, "Bearer hush") || first.body == last.body {
		t.Fatalf("the recording proxy returned %+v and %+v", first, last)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(written, []byte("hush")) ||
		!bytes.HasPrefix(written, []byte(`{"server":"counter 1.0","recorded":"`)) ||
		bytes.Count(written, []byte("\n")) != 7 || !bytes.Contains(written, []byte("not json")) {
		t.Errorf("recording:\n%s", written)
	}
	scrubbed := func(r reply) reply {
		r.body = strings.ReplaceAll(strings.ReplaceAll(r.body, "hush", "secret-1"), ": ", ":")
		r.body = strings.ReplaceAll(r.body, ", ", ",")
		return r
	}
	base := HTTP(t, file, "", options)
	for _, c := range []struct {
		name, method, path, body string
		want                     reply
	}{
		{"first answer", "POST", "/a?x=1&y=2", `{"q":"one","at":1}`, scrubbed(first)},
		{"another request between", "GET", "/a%2Fb", "", scrubbed(filtered)},
		{"second answer", "POST", "/a?y=2&x=1", `{"at":1,"q":"one"}`, scrubbed(last)},
		{"last answer repeats", "POST", "/a?y=2&x=1", `{"at":1,"q":"one"}`, scrubbed(last)},
		{"another body", "POST", "/a?y=2&x=1", `{"q":"two"}`, scrubbed(other)},
		{"several JSON values", "GET", "/text", "", text},
		{"status and a body that is not JSON", "DELETE", "/teapot", "hush, not json", teapot},
	} {
		if got := ask(t, base, c.method, c.path, c.body); scrubbed(got) != scrubbed(c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// failures collects what a test would have failed with.
type failures struct {
	testing.TB
	texts []string
}

func (f *failures) Helper()           {}
func (f *failures) Error(args ...any) { f.texts = append(f.texts, fmt.Sprint(args...)) }

func TestUnknownRequestFailsByName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	known := Call{Method: "POST", Path: "/a", Body: newPayload([]byte(`{"q":1}`)), Status: 200}
	if err := save(file, "s", []Call{known}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ method, path, body, want string }{
		{"POST", "/a", `{"q":2}`, `POST /a with body {"q":2}`},
		{"GET", "/a?x=1", ``, "GET /a?x=1"},
		{"POST", "/b", strings.Repeat("é", 600), "…"},
	} {
		f := &failures{TB: t}
		server := httptest.NewServer(player{Play(f, file, Options{})})
		got := ask(t, server.URL, c.method, c.path, c.body)
		server.Close()
		if got.status != http.StatusNotImplemented || len(f.texts) != 1 || !strings.Contains(f.texts[0], c.want) ||
			!strings.Contains(f.texts[0], file) {
			t.Errorf("%s %s: status %d, failures %q, want one with %q", c.method, c.path, got.status, f.texts, c.want)
		}
		if len(got.body) > 1000 {
			t.Errorf("%s %s: the message has %d bytes", c.method, c.path, len(got.body))
		}
	}
}

func TestLargeRecordingsAreCompressed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	calls := []Call{{Method: "GET", Path: "/a", Status: 200,
		Answer: newPayload([]byte(`"` + strings.Repeat("ledger ", 20_000) + `"`))}}
	if err := save(file, "s", calls[:0]); err != nil {
		t.Fatal(err)
	}
	if err := save(file, "s", calls); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the uncompressed recording is still there: %v", err)
	}
	got, err := load(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(calls, got); diff != "" {
		t.Error(diff)
	}
	random := make([]byte, 2*maxFile)
	rand.NewChaCha8([32]byte{}).Read(random)
	if err := save(file, "s", []Call{{Path: "/a", Answer: payload{Text: base64.StdEncoding.EncodeToString(random)}}}); err == nil {
		t.Error("a recording that is too large is written")
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(
		"{\"server\":\"s\"}\n{\"method\":\"GET\",\"path\":\"/a\",\"body\":{\"json\":{\"a\":1}},\"status\":200}\n"))
	f.Add([]byte("\x1f\x8b\x08\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		calls, err := decode(raw)
		if err != nil {
			return
		}
		for _, e := range calls {
			_ = e.key() + e.name()
			if p := e.Body.canonical(); !bytes.Equal(p.canonical().bytes(), p.bytes()) {
				t.Errorf("%q: canonical twice is %q", p.bytes(), p.canonical().bytes())
			}
		}
	})
}
