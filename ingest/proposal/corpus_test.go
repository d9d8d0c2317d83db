package proposal

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// The snapshot's header index was made by another parser. Ours differs on
// purpose where that one reads past the end of a header without a block
// ("License: CC0-1.0; ## Abstract; …" and fields made of bold prose below).
func TestHeadersAgreeWithTheIndex(t *testing.T) {
	type header struct {
		ID         string            `json:"id"`
		Fields     map[string]string `json:"fields"`
		Duplicates []string          `json:"duplicate_keys"`
	}
	dir := filepath.Join(cmp.Or(os.Getenv("ALMANAC_SHARED"), filepath.Join("..", "..", "..", "shared")), "corpus", "cips")
	file, err := os.Open(filepath.Join(dir, "headers.jsonl"))
	if err != nil {
		t.Skipf("set ALMANAC_SHARED to a directory with corpus/cips (%v)", err)
	}
	defer func() { _ = file.Close() }()
	count := 0
	for lines := json.NewDecoder(file); lines.More(); count++ {
		var want header
		if err := lines.Decode(&want); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "cip-"+want.ID, "cip-"+want.ID+".md"))
		if err != nil {
			t.Fatal(err)
		}
		got, _ := ParseHeader(string(text))
		fields := map[string]string{}
		for key, value := range want.Fields {
			name, known := canonicalName(key)
			value, _, overrun := strings.Cut(value, "; ##")
			if value, _, cut := strings.Cut(value, "; </pre>"); cut {
				fields[name] = value
			} else if known || !overrun && want.ID != "0099" {
				fields[name] = strings.TrimSpace(value)
			}
		}
		if diff := gocmp.Diff(fields, got.Fields); diff != "" {
			t.Errorf("%s: fields (-want +got):\n%s", want.ID, diff)
		}
		if !slices.Equal(want.Duplicates, got.Duplicates) {
			t.Errorf("%s: duplicates %v, want %v", want.ID, got.Duplicates, want.Duplicates)
		}
		if got.Number != "" && got.Number != want.ID {
			t.Errorf("%s: number %s", want.ID, got.Number)
		}
	}
	if count < 100 {
		t.Errorf("only %d headers", count)
	}
}
