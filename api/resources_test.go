package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestResourcesSayWhenTheyChanged holds the times of change in the list: of
// records that a resource shows, of syncs, and of the process.
func TestResourcesSayWhenTheyChanged(t *testing.T) {
	l, clock := counted(t)
	type entry struct {
		Size        int
		Annotations struct{ LastModified string }
	}
	list := func() (sizes map[string]int, times map[string]string) {
		t.Helper()
		w := do(l.public, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`)
		var reply struct {
			Result struct {
				Resources []struct {
					Name string
					entry
				}
			}
		}
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil {
			t.Fatal(err)
		}
		sizes, times = map[string]int{}, map[string]string{}
		for _, r := range reply.Result.Resources {
			sizes[r.Name], times[r.Name] = r.Size, r.Annotations.LastModified
		}
		return sizes, times
	}
	before, times := list()
	want := map[string]string{"versions": "", "community": "", "deprecations": "", "docs-index": "2030-05-15T12:00:00Z",
		"tools": "2030-05-15T12:00:00Z", "status": ""}
	if diff := cmp.Diff(want, times); diff != "" {
		t.Errorf("first (-want +got):\n%s", diff)
	}
	*clock = now.Add(48 * time.Hour)
	if err := l.store.SetSource(t.Context(),
		catalog.SourceState{Name: "docs", LastRun: now.Add(47 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	page := catalog.Record{Kind: catalog.KindDoc, Key: "mud", Title: "Mud", UpdatedAt: now.AddDate(-1, 0, 0)}
	if _, err := l.store.Apply(t.Context(),
		catalog.Batch{Source: "docs", Entries: []catalog.Entry{{Record: page}}}); err != nil {
		t.Fatal(err)
	}
	after, times := list()
	want["docs-index"], want["status"] = "2030-05-17T12:00:00Z", "2030-05-17T11:00:00Z"
	if diff := cmp.Diff(want, times); diff != "" {
		t.Errorf("after a change (-want +got):\n%s", diff)
	}
	if after["docs-index"] <= before["docs-index"] || after["tools"] != before["tools"] {
		t.Errorf("sizes were %v and are %v", before, after)
	}
}
