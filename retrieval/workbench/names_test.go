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

// TestNames names records of four paths, of which two questions share one, and topics
// that have none, by every handle.
func TestNames(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var entries []catalog.Entry
	for _, r := range []catalog.Record{
		{Kind: catalog.KindDoc, Key: "tides", Path: "docs/tides.md"}, {Kind: catalog.KindTopic, Key: "7"},
		{Kind: catalog.KindCIP, Key: "TIP-00008", Path: "tips/tip-00008.md", URL: "https://forge.example/8"},
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
		{"paths alone", "", []string{"docs/tides.md", "faq.yaml"}, "docs/tides.md faq.yaml faq.yaml tips/tip-00008.md"},
		{"a reference names what has no path of its own", "", []string{"docs/tides.md", "topic:7"},
			"docs/tides.md faq:ebb faq:flood tips/tip-00008.md topic:7"},
		{"a path that is judged stays one document", "", []string{"topic:7", "faq.yaml"},
			"docs/tides.md faq.yaml faq.yaml tips/tip-00008.md topic:7"},
		{"so does one of the pool", "faq.yaml", []string{"topic:7"}, "docs/tides.md faq.yaml faq.yaml tips/tip-00008.md topic:7"},
		{"a reference to what has a path of its own", "", []string{"faq:ebb", "doc:tides"},
			"doc:tides faq:ebb faq:flood tips/tip-00008.md topic:7"},
		{"a reference of a proposal", "", []string{"cip:TIP-00008"},
			"cip:TIP-00008 docs/tides.md faq:ebb faq:flood topic:7"},
		{"its key", "", []string{"TIP-00008"}, "TIP-00008 docs/tides.md faq:ebb faq:flood topic:7"},
		{"its number", "", []string{"00008"}, "00008 docs/tides.md faq:ebb faq:flood topic:7"},
		{"its address", "", []string{"https://forge.example/8"},
			"docs/tides.md faq:ebb faq:flood https://forge.example/8 topic:7"},
		{"an id", "", []string{"1000000"}, "1000000 faq:ebb faq:flood tips/tip-00008.md topic:7"},
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
