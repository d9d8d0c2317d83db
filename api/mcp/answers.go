package mcp

import (
	"fmt"
	"net/http"
	"sync"

	"almanac/api/edge"
)

// answers keeps answers to tools/list by request and by the kinds that have records,
// which are the same as long as the program runs: the SDK encodes them several times.
type answers struct {
	mu   sync.Mutex
	kept map[string]*edge.Answer // guarded by mu
}

const (
	maxAnswers = 64
	maxKey     = 1 << 10 // bytes; clients send short requests
)

// keyOf returns what the answer to a request depends on; "" if it is not kept.
func keyOf(r *http.Request, m message, body []byte) string {
	if m.Method != "tools/list" || r.Header.Get("Mcp-Session-Id") != "" {
		return ""
	}
	head := func(name string) []string { return r.Header.Values(name) }
	key := fmt.Sprintf("%s %q %q %q %q %s", r.URL.RawQuery, head("Accept-Encoding"), head("Mcp-Protocol-Version"),
		head("Mcp-Method"), head("Mcp-Name"), body)
	if len(key) > maxKey {
		return ""
	}
	return key
}

func (a *answers) get(key string) (*edge.Answer, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept, ok := a.kept[key]
	return kept, ok
}

func (a *answers) put(key string, kept *edge.Answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= maxAnswers {
		a.kept = map[string]*edge.Answer{}
	}
	a.kept[key] = kept
}
