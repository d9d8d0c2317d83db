package judge

import (
	"archive/zip"
	"bytes"
	"testing"
)

func FuzzUnpack(f *testing.F) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, text := range map[string]string{"c/queries.jsonl": `{"_id":"q1","text":"t"}`, "c/qrels.tsv": "q1\ta\t3\n"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			f.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(archive.Bytes())
	f.Add([]byte("q1 0 a.md 3\r\nq1 0 b.md -1\n"))
	f.Add([]byte("PK\x05\x06" + string(make([]byte, 18)))) // an empty archive
	f.Add([]byte("query\tdocument\tgrade\n\xff\t\x00\t9223372036854775808\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := unpack("upload", body)
		if err != nil {
			return
		}
		for query, grades := range c.Judgments {
			for target := range grades {
				if query == "" || target == "" {
					t.Errorf("a judgment of %q for %q", target, query)
				}
			}
		}
	})
}
