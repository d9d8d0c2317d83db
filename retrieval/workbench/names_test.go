package workbench_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/retrieval/eval"
	"almanac/retrieval/workbench"
)

// TestNames names records of three paths, of which two questions share one,
// and a topic that has none.
func TestNames(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var entries []catalog.Entry
	for _, r := range []catalog.Record{
		{Kind: catalog.KindDoc, Key: "tides", Path: "docs/tides.md"}, {Kind: catalog.KindTopic, Key: "7"},
		{Kind: catalog.KindFAQ, Key: "ebb", Path: "faq.yaml"}, {Kind: catalog.KindFAQ, Key: "flood", Path: "faq.yaml"},
	} {
		r.Title = r.Key
		entries = append(entries, catalog.Entry{Record: r})
	}
	if _, err := store.Apply(t.Context(), catalog.Batch{Source: "shore", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		what, pool string
		judged     []string
		want       string
	}{
		{"paths alone", "", []string{"docs/tides.md", "faq.yaml"}, "docs/tides.md faq.yaml faq.yaml"},
		{"a reference names what has no path of its own", "", []string{"docs/tides.md", "topic:7"},
			"docs/tides.md faq:ebb faq:flood topic:7"},
		{"a path that is judged stays one document", "", []string{"topic:7", "faq.yaml"},
			"docs/tides.md faq.yaml faq.yaml topic:7"},
		{"so does one of the pool", "faq.yaml", []string{"topic:7"}, "docs/tides.md faq.yaml faq.yaml topic:7"},
		{"a reference to what has a path of its own is none", "", []string{"faq:ebb", "doc:tides"},
			"docs/tides.md faq:ebb faq:flood topic:7"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			files := fstest.MapFS{"queries.jsonl": {Data: []byte(`{"_id":"q","text":"when is low water"}`)},
				"qrels.tsv": {Data: []byte("q\t" + strings.Join(tt.judged, "\t1\nq\t") + "\t1\n")}}
			if tt.pool != "" {
				files["pool.txt"] = &fstest.MapFile{Data: []byte(tt.pool)}
			}
			c, err := eval.LoadFS(files, "shore")
			if err != nil || c.Name != "shore" {
				t.Fatal(c.Name, err)
			}
			names, err := workbench.Names(t.Context(), store, c)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Sorted(maps.Values(names)), " "); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
