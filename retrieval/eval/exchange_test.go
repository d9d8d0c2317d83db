package eval_test

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"almanac/ingest/sample"
	"almanac/retrieval/eval"
)

// fsOf is files as a file system.
func fsOf(files map[string][]byte) fs.FS {
	out := fstest.MapFS{}
	for name, data := range files {
		out[name] = &fstest.MapFile{Data: data}
	}
	return out
}

func TestTheSampleIsWrittenAsItWasRead(t *testing.T) {
	c, err := eval.ReadCase(sample.Judged(), "sample")
	if err != nil {
		t.Fatal(err)
	}
	files, err := c.Files("Judged queries.")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"queries.jsonl", "qrels.tsv"} {
		want, err := fs.ReadFile(sample.Judged(), name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(files[name], want) {
			t.Errorf("%s changes: %s", name, cmp.Diff(string(want), string(files[name])))
		}
	}
	if !strings.Contains(string(files["README.md"]), "80 queries with 1947 judgments") {
		t.Errorf("%s", files["README.md"])
	}
	var trec bytes.Buffer
	if err := c.WriteQrels(&trec); err != nil {
		t.Fatal(err)
	}
	again, err := eval.ReadQrels(&trec, "qrels")
	if d := cmp.Diff(c.Judgments, again); d != "" || err != nil {
		t.Errorf("TREC's form changes judgments: %v %s", err, d)
	}
}

func TestReadCase(t *testing.T) {
	queries := []byte(`{"_id": "q 1", "text": "a <b> & \"c\"", "kind": "task", "need": "how", "note": "–"}` + "\n" +
		`{"_id": "q2", "text": "nobody judged it"}` + "\n")
	c, err := eval.ReadCase(fsOf(map[string][]byte{"x/queries.jsonl": queries, "x/qrels.tsv": []byte("q 1\tb c.md\t2\n")}), "x")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Queries) != 2 || c.Queries[0].Need != "how" || c.Judgments["q 1"]["b c.md"] != 2 {
		t.Fatalf("%+v", c)
	}
	files, err := c.Files("")
	if err != nil || !bytes.Equal(files["queries.jsonl"], queries) {
		t.Errorf("%v: %s", err, files["queries.jsonl"])
	}
	if err := c.WriteQrels(new(bytes.Buffer)); err == nil {
		t.Error("TREC's form holds white space")
	}
	c.Judgments["q2"] = map[string]int{"a\tb": 1}
	if _, err := c.Files(""); err == nil {
		t.Error("a tab in an id is written")
	}
	for _, files := range []map[string][]byte{{}, {"a/queries.jsonl": queries, "b/queries.jsonl": queries},
		{"queries.jsonl": []byte("{}")}, {"queries.jsonl": queries, "qrels.tsv": []byte("q2\tx\n")}} {
		if _, err := eval.ReadCase(fsOf(files), "x"); err == nil {
			t.Errorf("%v is read", files)
		}
	}
}

// FuzzCase holds that what is read of files is written so that it reads as
// the same.
func FuzzCase(f *testing.F) {
	f.Add(someQueries, someQrels)
	f.Add(`{"_id":"q","text":"t","need":"\u2028<n>"}`, "q\td e\t3\n")
	f.Add(`{"_id":" q","text":"t"}`, "q 0 d -1")
	f.Fuzz(func(t *testing.T, queries, qrels string) {
		c, err := eval.ReadCase(fsOf(map[string][]byte{"queries.jsonl": []byte(queries), "qrels.tsv": []byte(qrels)}), "x")
		if err != nil {
			return
		}
		files, err := c.Files("")
		if err != nil {
			return // ids that lines cannot hold
		}
		again, err := eval.ReadCase(fsOf(files), "x")
		if err != nil {
			t.Fatalf("%v of %q", err, files)
		}
		if d := cmp.Diff(c.Queries, again.Queries); d != "" {
			t.Fatal(d)
		}
		for _, q := range c.Queries {
			if d := cmp.Diff(c.Judgments[q.ID], again.Judgments[q.ID]); d != "" {
				t.Fatal(d)
			}
		}
	})
}
