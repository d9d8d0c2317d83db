package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSearchAndShow reads what a search finds, and compares the JSON of the
// command line with that of REST.
func TestSearchAndShow(t *testing.T) {
	t.Parallel()
	at := newSite(t, 24)
	at.run(t, "sync")
	decode := func(text string) map[string]any {
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err, text)
		}
		delete(v, "took_ms")
		return v
	}
	s := at.serve(t)
	s.ready(t)
	line := decode(at.run(t, "search", "--json", "--limit", "5", "beacon", "harbour"))
	_, _, body := s.get(t, "/api/v1/search?limit=5&q=beacon+harbour")
	if diff := cmp.Diff(decode(strings.ReplaceAll(body, s.base, "http://127.0.0.1:8080")), line); diff != "" {
		t.Errorf("search (-REST +line):\n%s", diff)
	}
	explained := decode(at.run(t, "search", "--json", "--explain", "--limit", "5", "beacon", "harbour"))
	for _, key := range []string{"class", "timings"} {
		if explained[key] == nil {
			t.Errorf("nothing explains %s", key)
		}
		delete(explained, key)
	}
	for _, item := range explained["items"].([]any) {
		if item.(map[string]any)["explanation"] == nil {
			t.Error("a result without explanation")
		}
		delete(item.(map[string]any), "explanation")
	}
	if diff := cmp.Diff(line, explained); diff != "" {
		t.Errorf("--explain changes more than it adds:\n%s", diff)
	}

	id := line["items"].([]any)[0].(map[string]any)["id"].(string)
	if printed := at.run(t, "search", "--limit", "1", "beacon", "harbour"); !strings.Contains(printed, id) {
		t.Errorf("a search does not print the id %s: %s", id, printed)
	}
	_, _, body = s.get(t, "/api/v1/docs/"+id)
	doc := decode(strings.ReplaceAll(body, s.base, "http://127.0.0.1:8080"))
	if diff := cmp.Diff(doc, decode(at.run(t, "show", "--json", id))); diff != "" {
		t.Errorf("show --json (-REST +line):\n%s", diff)
	}
	text := at.run(t, "show", id)
	for _, want := range []string{doc["title"].(string), doc["content"].(string)} {
		if !strings.Contains(text, want) {
			t.Errorf("show prints %.300s without %.100s", text, want)
		}
	}
	if lip := at.run(t, "show", "LIP-3"); !strings.Contains(lip, "[cip]") {
		t.Errorf("show LIP-3: %.300s", lip)
	}
	_, errOut, code := almanac(t, at.env, append([]string{"show", "99"}, at.args()...)...)
	if code != 1 || !strings.Contains(errOut, "there is no record 99") {
		t.Errorf("an unknown id: %d %s", code, errOut)
	}
}
