package workbench_test

import (
	"testing"

	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// TestAnyHandleNamesARecord: a judgment that is resolved is the one by which the
// record is known.
func TestAnyHandleNamesARecord(t *testing.T) {
	_, store, _ := library(t)
	_, err := store.Apply(t.Context(), catalog.Batch{Source: "shore", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindCIP, Key: "TIP-00008", Title: "Ebb", Path: "tips/8.md",
			URL: "https://forge.example/8"}},
		{Record: catalog.Record{Kind: catalog.KindTopic, Key: "7", Title: "Tides"}},
		{Record: catalog.Record{Kind: catalog.KindVideo, Key: "7", Title: "Tides"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ebb, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: "TIP-00008"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range ebb.Handles() {
		found, err := workbench.Resolve(t.Context(), store, name)
		target, targetErr := workbench.Target(t.Context(), store, ebb, map[string]bool{name: true})
		if err != nil || targetErr != nil || found.ID != ebb.ID || target != name {
			t.Errorf("%s: %s, %v; it is known as %s, %v", name, found.Ref(), err, target, targetErr)
		}
	}
	for _, name := range []string{"7", "nothing", "doc:TIP-00008", "1"} {
		if found, err := workbench.Resolve(t.Context(), store, name); err == nil {
			t.Errorf("%s is %s", name, found.Ref())
		}
	}
}
