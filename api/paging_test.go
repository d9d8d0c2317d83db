package api_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPagesOfListsJoin reads the lists of the sample that have pages item by item: each
// page is its part of the whole.
func TestPagesOfListsJoin(t *testing.T) {
	l := openPreset(t, "sample", "")
	page := func(tool string, limit, offset int) (items []any) {
		t.Helper()
		text, failed := call(t, l.public, tool, string(marshal(t, map[string]any{"limit": limit, "offset": offset})))
		var answer struct{ Items []any }
		if err := json.Unmarshal([]byte(text), &answer); failed || err != nil {
			t.Fatalf("%s: %s", tool, text)
		}
		return answer.Items
	}
	lists := 0
	for _, o := range l.ops {
		if in := o.ToolIn; in == nil || in.Properties["offset"] == nil || len(in.Required) > 0 {
			continue
		}
		whole := page(o.Tool, 5, 0)
		if len(whole) > 1 {
			lists++
		}
		for i, want := range whole {
			if diff := cmp.Diff([]any{want}, page(o.Tool, 1, i)); diff != "" {
				t.Errorf("%s, offset %d (-of the whole +alone):\n%s", o.Tool, i, diff)
			}
		}
	}
	if lists < 8 {
		t.Errorf("only %d lists have pages", lists)
	}
}
