package eval_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"almanac/retrieval/eval"
)

// files writes files into a directory of their own.
func files(t *testing.T, content map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	someQueries = `{"_id":"q1","text":"rotate keys","kind":"task"}` + "\n" + `{"_id":"q2","text":"traffic fees"}` + "\n"
	someQrels   = "query-id\tcorpus-id\tscore\nq1\tops/keys.md\t3\nq2\tfees.md\t1\n"
)

func TestLoad(t *testing.T) {
	tests := []struct {
		name           string
		queries, qrels string
		pool           string
		judgments      map[string]map[string]int
	}{
		{"with a header and tabs", someQueries, someQrels, "",
			map[string]map[string]int{"q1": {"ops/keys.md": 3}, "q2": {"fees.md": 1}}},
		{"without a header, though the first query is called query1",
			`{"_id":"query1","text":"x"}`, "query1\ta\t2\n", "", map[string]map[string]int{"query1": {"a": 2}}},
		{"TREC's four columns between spaces", someQueries, "q1 0 ops/keys.md 3\nq2 Q0 fees.md 1", "",
			map[string]map[string]int{"q1": {"ops/keys.md": 3}, "q2": {"fees.md": 1}}},
		{"blank lines, carriage returns, a byte-order mark, no last line end", "\ufeff" +
			strings.ReplaceAll(someQueries, "\n", "\r\n\r\n"),
			"\ufeff" + strings.ReplaceAll(someQrels, "\n", "\r\n \r\n") + "q2\tb\t0", "",
			map[string]map[string]int{"q1": {"ops/keys.md": 3}, "q2": {"fees.md": 1, "b": 0}}},
		{"ids with spaces between tabs", someQueries, "q1\tops/my keys.md\t-1\nq2\t0\ta b\t2\n", "",
			map[string]map[string]int{"q1": {"ops/my keys.md": -1}, "q2": {"a b": 2}}},
		{"the same judgment twice", someQueries, someQrels + "q1\tops/keys.md\t3\n", "",
			map[string]map[string]int{"q1": {"ops/keys.md": 3}, "q2": {"fees.md": 1}}},
		{"a pool", someQueries, someQrels, "ops/keys.md\r\n\nfees.md\n",
			map[string]map[string]int{"q1": {"ops/keys.md": 3}, "q2": {"fees.md": 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			content := map[string]string{"queries.jsonl": tt.queries, "qrels.tsv": tt.qrels}
			if tt.pool != "" {
				content["pool.txt"] = tt.pool
			}
			c, err := eval.Load(files(t, content))
			if err != nil {
				t.Fatal(err)
			}
			if len(c.Queries) != len(tt.judgments) {
				t.Errorf("%d queries, want %d", len(c.Queries), len(tt.judgments))
			}
			for q, of := range tt.judgments {
				for id, grade := range of {
					if got, ok := c.Judgments[q][id]; !ok || got != grade {
						t.Errorf("%s %s: grade %d %v, want %d", q, id, got, ok, grade)
					}
				}
				if len(c.Judgments[q]) != len(of) {
					t.Errorf("%s: %d judgments, want %d", q, len(c.Judgments[q]), len(of))
				}
			}
			if got := len(c.Pool); (tt.pool != "") != (c.Pool != nil) || tt.pool != "" && got != 2 {
				t.Errorf("pool %v", c.Pool)
			}
		})
	}
	t.Run("sets of copies", func(t *testing.T) {
		content := map[string]string{"queries.jsonl": someQueries, "qrels.tsv": someQrels,
			"clusters.tsv": "7\tops/keys.md\n7\tops/old keys.md\n8\tfees.md\n"}
		c, err := eval.Load(files(t, content))
		if err != nil || len(c.Clusters) != 3 || c.Clusters["ops/old keys.md"] != "7" {
			t.Errorf("clusters %v (%v)", c.Clusters, err)
		}
		for text, want := range map[string]string{"7 a\n8 a\n": "clusters.tsv:2: document a is in cluster 7 already",
			"7\n": "clusters.tsv:1: want the columns cluster, document"} {
			content["clusters.tsv"] = text
			if _, err := eval.Load(files(t, content)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		}
	})
	t.Run("a query without judgments is left out", func(t *testing.T) {
		c, err := eval.Load(files(t, map[string]string{"queries.jsonl": someQueries + `{"_id":"q3","text":"z"}`,
			"qrels.tsv": someQrels + "q9\tx\t1\n"}))
		if err != nil || len(c.Queries) != 2 {
			t.Errorf("%d queries (%v), want 2", len(c.Queries), err)
		}
	})
	t.Run("judgments may stand elsewhere", func(t *testing.T) {
		dir := files(t, map[string]string{"queries.jsonl": someQueries, "other.txt": "q2 0 fees.md 2\n"})
		c, err := eval.LoadWith(dir, filepath.Join(dir, "other.txt"))
		if err != nil || len(c.Queries) != 1 || c.Queries[0].ID != "q2" {
			t.Errorf("queries %v (%v), want q2", c.Queries, err)
		}
	})
	t.Run("the name is that of the directory", func(t *testing.T) {
		dir := files(t, map[string]string{"queries.jsonl": someQueries, "qrels.tsv": someQrels})
		t.Chdir(dir)
		c, err := eval.Load(".")
		if err != nil || c.Name != filepath.Base(dir) {
			t.Errorf("name %q (%v), want %q", c.Name, err, filepath.Base(dir))
		}
	})
}

func TestLoadNamesTheMistake(t *testing.T) {
	tests := []struct{ name, queries, qrels, want string }{
		{"broken JSON", someQueries + `{"_id":"q3",`, someQrels, "queries.jsonl:3: unexpected end of JSON input"},
		{"a query without text", `{"_id":"q1","text":" "}`, someQrels, "queries.jsonl:1: a query needs _id and text"},
		{"a query twice", someQueries + "\n" + someQueries, someQrels, `queries.jsonl:4: query "q1" occurs twice`},
		{"a grade that is no number", someQueries, someQrels + "q1\tx\tgood\n",
			`qrels.tsv:4: grade "good" is not an integer`},
		{"a fraction as grade", someQueries, someQrels + "q1\tx\t1.5\n", `qrels.tsv:4: grade "1.5"`},
		{"a grade whose gain would be infinite", someQueries, someQrels + "q1\tx\t5000\n", `qrels.tsv:4: grade "5000"`},
		{"two columns", someQueries, someQrels + "q1 x\n", "qrels.tsv:4: want the columns"},
		{"no document", someQueries, someQrels + "q1\t\t1\n", "qrels.tsv:4: want the columns"},
		{"two grades for one document", someQueries, someQrels + "q1\tops/keys.md\t1\n",
			"qrels.tsv:4: query q1, document ops/keys.md has the grade 3 already"},
		{"no judged query", someQueries, "q7\tx\t1\n", "no query has a judgment"},
		{"nothing", "", "", "no query has a judgment"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := eval.Load(files(t, map[string]string{"queries.jsonl": tt.queries, "qrels.tsv": tt.qrels}))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
	for _, missing := range []string{"queries.jsonl", "qrels.tsv"} {
		content := map[string]string{"queries.jsonl": someQueries, "qrels.tsv": someQrels}
		delete(content, missing)
		if _, err := eval.Load(files(t, content)); !errors.Is(err, fs.ErrNotExist) ||
			!strings.Contains(err.Error(), missing) {
			t.Errorf("without %s: %v", missing, err)
		}
	}
}

func TestDocuments(t *testing.T) {
	collect := func(text string) (ids []string, err error) {
		err = eval.ReadDocuments(files(t, map[string]string{"corpus.jsonl": text}), func(d eval.Document) error {
			ids = append(ids, d.ID)
			return nil
		})
		return ids, err
	}
	ids, err := collect("{\"_id\":\"a\",\"title\":\"A\",\"text\":\"x\"}\r\n\r\n{\"_id\":\"b\"}")
	if err != nil || !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("documents %q (%v)", ids, err)
	}
	for text, want := range map[string]string{
		`{"_id":"a"}` + "\n" + `{"_id":"a"}`: `corpus.jsonl:2: document "a" occurs twice`,
		`{"title":"x"}`:                      "corpus.jsonl:1: a document needs _id",
		"\n\n[1]":                            "corpus.jsonl:3: json: cannot unmarshal array",
	} {
		if _, err := collect(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := eval.ReadDocuments(t.TempDir(), func(eval.Document) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	stop := errors.New("stop")
	err = eval.ReadDocuments(files(t, map[string]string{"corpus.jsonl": `{"_id":"a"}`}),
		func(eval.Document) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("the caller's error is lost: %v", err)
	}
}

func TestLoadFSNamesTheMistake(t *testing.T) {
	_, err := eval.LoadFS(fstest.MapFS{"qrels.tsv": {Data: []byte("q\n")}}, "shore")
	if err == nil || !strings.Contains(err.Error(), "qrels.tsv:1") {
		t.Error(err)
	}
}
