package meili_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/retrieval/keyword/meili"
)

// key is an API key that no message may hold.
const key = "hush-hush-key"

// reply is what a scripted server says.
type reply struct {
	status int
	body   string
}

func refusal(status int, code, message string) reply {
	return reply{status, fmt.Sprintf(`{"message":%q,"code":%q,"type":"x","link":"x"}`, message, code)}
}

var (
	noIndex  = refusal(404, "index_not_found", "Index `x` not found.")
	noMark   = refusal(404, "document_not_found", "Document `mark` not found.")
	accepted = reply{202, `{"taskUid":7,"indexUid":"x","status":"enqueued","type":"documentAdditionOrUpdate"}`}
	done     = reply{200, `{"uid":7,"status":"succeeded","error":null}`}
)

func manifestOf(owner string, generation, checkpoint int) reply {
	return reply{200, fmt.Sprintf(`{"id":"mark","owner":%q,"generation":%d,"format":%d,"checkpoint":%d}`, owner,
		generation, meili.Format, checkpoint)}
}

// scripted is a server that has one answer to each request ("METHOD path"),
// or several in turn, the last one for ever. What is not in the script is
// answered as a server does on which index "x" of this owner is live, up to
// change 5.
type scripted struct {
	mu      sync.Mutex
	script  map[string][]reply
	asked   []string
	queries []json.RawMessage // bodies of multi-search
	lines   []string          // of documents
	host    string
}

var served = map[string]reply{
	"GET /indexes/x/documents/mark":    manifestOf("test", 1, 5),
	"GET /indexes/x-g1/documents/mark": noIndex,
	"GET /indexes/x/settings":          {200, `{}`},
	"PATCH /indexes/x/settings":        accepted,
	"GET /indexes/x-g1/settings":       {200, `{}`},
	"PATCH /indexes/x-g1/settings":     accepted,
	"POST /indexes/x/documents":        accepted,
	"POST /indexes/x-g1/documents":     accepted,
	"POST /indexes/x/documents/delete": accepted,
	"GET /tasks/7":                     done,
}

func (s *scripted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.Method + " " + r.URL.Path
	s.asked = append(s.asked, name)
	body, _ := io.ReadAll(r.Body)
	if name == "POST /multi-search" {
		s.queries = append(s.queries, body)
	}
	if strings.HasSuffix(name, "/documents") {
		s.lines = append(s.lines, strings.Split(strings.TrimSpace(string(body)), "\n")...)
	}
	answer, ok := served[name]
	if left := s.script[name]; len(left) > 0 {
		answer, ok = left[0], true
		if len(left) > 1 {
			s.script[name] = left[1:]
		}
	} else if all := s.script["*"]; len(all) > 0 {
		answer, ok = all[0], true
	}
	if !ok {
		answer = refusal(500, "internal", "not in the script: "+name)
	}
	if answer.status == http.StatusFound {
		w.Header().Set("Location", "https://login.example.org/")
	}
	if strings.HasPrefix(answer.body, "{") {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(answer.status)
	_, _ = io.WriteString(w, answer.body)
}

// engine returns an engine on a scripted server.
func engine(t *testing.T, script map[string][]reply, change ...func(*meili.Config)) (*meili.Engine, *scripted) {
	t.Helper()
	s := &scripted{script: script}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.host = server.Listener.Addr().String()
	return dial(t, server.URL, change...), s
}

func dial(t *testing.T, url string, change ...func(*meili.Config)) *meili.Engine {
	t.Helper()
	c := meili.Config{URL: url, Key: key, Index: "x", Generation: 1, Owner: "test", Timeout: 5 * time.Second}
	for _, f := range change {
		f(&c)
	}
	e := open(t, c)
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}
