package dashboard_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// zipped is an archive of a case with so many queries of a text.
func zipped(t *testing.T, queries int, text string) []byte {
	t.Helper()
	var body bytes.Buffer
	z := zip.NewWriter(&body)
	w, err := z.Create("c/queries.jsonl")
	for i := 0; i < queries && err == nil; i++ {
		_, err = fmt.Fprintf(w, `{"_id":"q%d","text":%q}`+"\n", i, text)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.Bytes()
}

// TestFormsAreBounded before anything is made of them: the reader of YAML compares
// every key with all others, and pages show queries whole.
func TestFormsAreBounded(t *testing.T) {
	h, store := tuned(t)
	moves(t, post(h, "/cases", url.Values{"name": {"harbour"}}), "/cases/1")
	var keys strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&keys, "a%d: 1\n", i)
	}
	long := strings.Repeat("a", 17<<10)
	for _, tt := range []struct {
		path   string
		form   url.Values
		status int
		says   string
	}{
		{"/profiles/edit", url.Values{"name": {"x"}, "yaml": {keys.String()}}, 400, "larger than 64 KiB"},
		{"/lab", url.Values{"q": {"tide"}, "try": {"a"}, "yaml-a": {keys.String()}}, 200, "larger than 64 KiB"},
		{"/cases/1/query", url.Values{"text": {long}}, 400, "more than 16 KiB"},
		{"/cases/1/query", url.Values{"text": {"tide"}, "note": {long}}, 400, "more than 16 KiB"},
		{"/cases/1", url.Values{"do": {"describe"}, "description": {long}}, 400, "at most 16 KiB"},
		{"/cases/pool", url.Values{"q": {long}, "case": {"1"}}, 400, "more than 16 KiB"},
		{"/rules", url.Values{"name": {strings.Repeat("a", 300<<10)}}, 413, "at most 256 KiB"},
	} {
		w := post(h, tt.path, tt.form)
		if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.says) {
			t.Errorf("%s is %d: %.2000s", tt.path, w.Code, w.Body)
		}
	}
	for says, archive := range map[string][]byte{"more than 16 KiB": zipped(t, 1, long),
		"more than 10000 queries": zipped(t, 10_001, "tide"), "holds more than 8 MiB": zipped(t, 1, strings.Repeat("a", 9<<20))} {
		w := upload(t, h, "x.zip", archive, "name", "harbour")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("an archive that has %s is %d: %.2000s", says, w.Code, w.Body)
		}
	}
	if queries, err := store.Queries(t.Context(), 1); err != nil || len(queries) > 0 {
		t.Errorf("what is refused leaves %d queries, %v", len(queries), err)
	}
}
