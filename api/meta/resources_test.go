package meta

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestIndexDocs holds that pages of one repository come together, in order.
func TestIndexDocs(t *testing.T) {
	got := indexDocs([]catalog.Record{
		{ID: 3, Container: "tide/docs", Title: "Start", Path: "docs/start.md"},
		{ID: 1, Container: "tide/guides", Title: "Guide"},
		{ID: 2, Container: "tide/docs", Title: "Ports", Path: "docs/ports.md"},
	})
	want := DocsIndex{Total: 3, Corpora: []Corpus{
		{Repository: "tide/docs", Pages: 2, Docs: []DocPage{
			{ID: 3, Title: "Start", Path: "docs/start.md"},
			{ID: 2, Title: "Ports", Path: "docs/ports.md"},
		}},
		{Repository: "tide/guides", Pages: 1, Docs: []DocPage{{ID: 1, Title: "Guide"}}},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
