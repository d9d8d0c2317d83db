package api_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"almanac/api"
	"almanac/api/op"
)

// TestUsageIsShownIfTheOperatorSaysSo counts calls over REST and MCP, and nothing of who
// made them.
func TestUsageIsShownIfTheOperatorSaysSo(t *testing.T) {
	l := open(t).ready(t)
	if w := visit(l.public, "/usage"); w.Code != 404 {
		t.Errorf("nobody asked for it: %d", w.Code)
	}
	if strings.Contains(visit(l.public, "/").Body.String(), "/usage") {
		t.Error("a page that there is not has a link")
	}
	h, err := api.New(api.Config{Serving: op.Serving{Operations: l.ops}, Name: "Harbour", Version: "test",
		PublicURL: publicURL, Now: func() time.Time { return now }, AdminLoopback: true, Usage: true})
	if err != nil {
		t.Fatal(err)
	}
	const client = "203.0.113.77"
	get := func(target, accept string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", target, nil)
		r.RemoteAddr = client + ":4242"
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.Public.ServeHTTP(w, r)
		return w
	}
	empty := get("/usage", "text/html").Body.String()
	if !strings.Contains(empty, "No tool was called yet.") {
		t.Errorf("before any call: %s", empty)
	}
	for _, id := range []string{"0056", "0056", "9999"} {
		get("/api/v1/cips/"+id, "application/json")
	}
	get("/health", "application/json")
	get("/cips/0056", "text/html")
	call(t, h.Public, "get_cip", `{"id":"0056"}`)
	call(t, h.Public, "find_expert", `{"topic":"tide"}`)
	call(t, h.Public, "find_expert", `{"subjekt":"tide"}`)
	w := get("/usage", "text/html")
	checkPage(t, "/usage", w)
	page := w.Body.String()
	if got, want := textsOf(t, page[strings.Index(page, "By tool"):], func(n *html.Node) bool { return n.Data == "td" }),
		[]string{"get_cip", "3", "3", "find_expert", "1", "1"}; !slices.Equal(got, want) {
		t.Errorf("counted %q, want %q", got, want)
	}
	for _, no := range []string{client, "4242", "0056", "tide"} {
		if strings.Contains(page, no) {
			t.Errorf("it shows %s", no)
		}
	}
	if !strings.Contains(page, `<svg class="chart`) || !strings.Contains(get("/", "text/html").Body.String(), `"/usage"`) ||
		!strings.Contains(get("/llms.txt", "*/*").Body.String(), "/usage.md") {
		t.Error("it has no chart, or nothing leads to it")
	}
}
