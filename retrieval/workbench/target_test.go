package workbench_test

import (
	"fmt"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
	"almanac/testing/catalogfile"
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
		targets, targetErr := workbench.Targets(t.Context(), store, []catalog.Record{ebb}, map[string]bool{name: true})
		if err != nil || targetErr != nil || found.ID != ebb.ID || targets[ebb.ID] != name {
			t.Errorf("%s: %s, %v; it is known as %s, %v", name, found.Ref(), err, targets[ebb.ID], targetErr)
		}
	}
	for _, name := range []string{"7", "nothing", "doc:TIP-00008", "1"} {
		if found, err := workbench.Resolve(t.Context(), store, name); err == nil {
			t.Errorf("%s is %s", name, found.Ref())
		}
	}
}

// reads counts how often whole lists of records are read, and handles looked up.
type reads struct {
	*sqlstore.Store
	lists, lookups int
}

func readsOf(store *sqlstore.Store) *reads {
	r := &reads{}
	r.Store = catalogfile.Around(store, func(op string, do func() error) error {
		switch op {
		case "list":
			r.lists++
		case "handled":
			r.lookups++
		}
		return do()
	})
	return r
}

// TestPagesLookRecordsUp: the pool of a query whose documents are judged by their
// addresses, and the board of a case that was never measured, list no records; the board of
// one that was lists them once.
func TestPagesLookRecordsUp(t *testing.T) {
	pooler, store, c := library(t)
	var entries []catalog.Entry
	var judgments []catalog.Judgment
	for i := range 3 {
		key := fmt.Sprint("k", i)
		r, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: key})
		if err != nil {
			t.Fatal(err)
		}
		r.URL = "https://docs.example/" + key
		entries = append(entries, catalog.Entry{Record: r})
		judgments = append(judgments, catalog.Judgment{Query: "q1", Target: r.URL, Judge: "person/ada", Grade: 1})
	}
	if _, err := store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: entries}); err != nil {
		t.Fatal(err)
	}
	if err := store.PutJudgments(t.Context(), c.ID, judgments); err != nil {
		t.Fatal(err)
	}
	counted := readsOf(store)
	pooler.Store = counted.Store
	queries, err := store.Queries(t.Context(), c.ID)
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pooler.Pool(t.Context(), c, queries[0], []string{ranking.Live}, 20, "ada")
	if err != nil || pool.Find("https://docs.example/k1") < 0 {
		t.Errorf("the pool is %v, %v", pool, err)
	}
	if counted.lists != 0 || counted.lookups != 1 {
		t.Errorf("a pool lists the records %d times and looks %d times for handles", counted.lists, counted.lookups)
	}

	runner, topics, c := open(t)
	counted = readsOf(topics)
	bench := workbench.Bench{Source: ranking.Source{Store: counted.Store}, Index: runner.Index}
	board, err := bench.Board(t.Context(), c)
	if err != nil || len(board.Rows) != 3 || board.Run != nil {
		t.Errorf("the board is %v, %v", board, err)
	}
	if counted.lists != 0 || counted.lookups != 0 {
		t.Errorf("a board lists the records %d times and looks %d times for handles", counted.lists, counted.lookups)
	}

	// A case that was measured compares its documents once, until the catalog changes.
	if _, err := evaluate(t, runner, workbench.EvalTask{Case: c.ID, Profiles: []string{ranking.Live}}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if board, err = bench.Board(t.Context(), c); err != nil || board.NDCG == 0 {
			t.Errorf("the board is %v, %v", board, err)
		}
	}
	if counted.lists != 1 {
		t.Errorf("two boards list the records %d times", counted.lists)
	}
	_, err = topics.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{{Record: catalog.Record{
		Kind: catalog.KindDoc, Key: "quay", Title: "About the quay"}}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = bench.Board(t.Context(), c); err != nil || counted.lists != 2 {
		t.Errorf("after a change the records are listed %d times, %v", counted.lists, err)
	}
}
