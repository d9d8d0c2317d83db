package eval_test

import (
	"bytes"
	"strings"
	"testing"

	"almanac/retrieval/eval"
)

// FuzzQrels holds that judgments parse without panic and that what parses
// measures without NaN.
func FuzzQrels(f *testing.F) {
	for _, seed := range []string{someQrels, "q 0 d 1\n", "q\td e\t-1\r\n\r\n", "q d 31", "\ufeffquery-id\tx\tscore\n",
		"q\t\t\t1", "q d 1\nq d 2", "\x00 \xff 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		judgments, err := eval.ReadQrels(strings.NewReader(text), "qrels.tsv")
		if err != nil {
			if !strings.Contains(err.Error(), "qrels.tsv:") {
				t.Fatalf("the error names no line: %v", err)
			}
			return
		}
		for _, of := range judgments {
			var ranking []string
			for id := range of {
				if id == "" {
					t.Fatal("a document without id")
				}
				ranking = append(ranking, id)
			}
			if m := eval.Measure(ranking, of, 1, nil); !(m.NDCG10 >= 0 && m.NDCG10 <= 1+1e-9) {
				t.Fatalf("%+v of %v", m, of)
			}
		}
	})
}

// FuzzCollection holds that queries and documents parse without panic and
// have ids.
func FuzzCollection(f *testing.F) {
	for _, seed := range []string{someQueries, `{"_id":"a","title":"b","text":"c"}`, `{"_id":1}`, "[]", "{}\n{", "null",
		`{"_id":"a","text":"\ud800"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		queries, err := eval.ParseQueries(strings.NewReader(text), "queries.jsonl")
		for _, q := range queries {
			if q.ID == "" || strings.TrimSpace(q.Text) == "" {
				t.Fatalf("%+v (%v)", q, err)
			}
		}
		_ = eval.ParseDocuments(strings.NewReader(text), "corpus.jsonl", func(d eval.Document) error {
			if d.ID == "" {
				t.Fatal("a document without id")
			}
			return nil
		})
	})
}

// FuzzRun holds that a run parses without panic, each document once, and that
// what was read can be written and read again.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{"q Q0 d 1 0.5 t\n", "q Q0 d 1 0.5 t\nq Q0 e 2 0.5 t\nq Q0 d 3 0.1 t",
		"q\tQ0\td e\t1\t1e300\tt", "q Q0 d 1 Inf t\nq Q0 e 2 -Inf t", "q Q0 d 1 NaN t", "q d 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rankings, err := eval.ParseRun(strings.NewReader(text), "run")
		if err != nil {
			return
		}
		c := eval.Collection{Judgments: map[string]map[string]int{}}
		for q, ids := range rankings {
			seen := map[string]bool{}
			for _, id := range ids {
				if seen[id] {
					t.Fatalf("%q occurs twice", id)
				}
				seen[id] = true
			}
			c.Queries = append(c.Queries, eval.Query{ID: q, Text: "x"})
		}
		var b bytes.Buffer
		if err := eval.WriteRun(&b, eval.Evaluate(c, rankings, eval.Options{}), "t"); err != nil ||
			strings.Contains(b.String(), "\ufeff") {
			return // ids with white space, or with what is a byte-order mark at the start
		}
		again, err := eval.ParseRun(&b, "again")
		if err != nil {
			t.Fatal(err)
		}
		for q, ids := range rankings {
			if strings.Join(again[q], "\n") != strings.Join(ids, "\n") {
				t.Fatalf("%s: %q, then %q", q, ids, again[q])
			}
		}
	})
}
