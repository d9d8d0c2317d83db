package remote

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"almanac/embed"
)

func FuzzVector(f *testing.F) {
	for _, text := range []string{`[1,2]`, `[]`, `[null]`, `[1e39]`, `[[1]]`, `["]"]`, `null`, `[0x1p-2]`, `[Infinity]`,
		`[1_0]`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var got Vector
		if json.Unmarshal(raw, &got) != nil {
			return
		}
		var want []float64
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%s is read as %v, but %v", raw, got, err)
		}
		for i, x := range want {
			if got[i] != float32(x) && math.Abs(float64(got[i])-x) > 1e-6*math.Abs(x) {
				t.Errorf("%s: component %d is %v", raw, i, got[i])
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d components", raw, len(got))
		}
	})
}

func TestNormalise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32(), 1, 8).Draw(t, "v")
		zero := !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
		if err := normalise(v); err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		if zero != (sum == 0) || !zero && math.Abs(sum-1) > 1e-5 {
			t.Fatalf("%v has the square %g", v, sum)
		}
	})
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := normalise([]float32{0, float32(x)}); err == nil {
			t.Errorf("%v is a component", x)
		}
	}
}

func TestPrefixes(t *testing.T) {
	const represent = "Represent this sentence for searching relevant passages: "
	const instruct = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
	for _, c := range []struct {
		model           string
		query, document string
		known           bool
	}{
		{"nomic-embed-text:latest", "search_query: ", "search_document: ", true},
		{"nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: ", true},
		{"text-embedding-nomic-embed-text-v1.5", "search_query: ", "search_document: ", true},
		{"intfloat/e5-base-v2", "query: ", "passage: ", true},
		{"intfloat/multilingual-e5-large", "query: ", "passage: ", true},
		{"jeffh/intfloat-multilingual-e5-small:f16", "query: ", "passage: ", true},
		{"intfloat/multilingual-e5-large-instruct", instruct + " ", "", true},
		{"BAAI/bge-small-en-v1.5", represent, "", true},
		{"bge-large:335m", represent, "", true},
		{"bge-base-en", represent, "", true},
		{"bge-m3:latest", "", "", true},
		{"BAAI/bge-base-zh-v1.5", "", "", false},
		{"embeddinggemma:300m", "task: search result | query: ", "title: none | text: ", true},
		{"google/EmbeddingGemma-300m", "task: search result | query: ", "title: none | text: ", true},
		{"all-minilm:latest", "", "", true},
		{"sentence-transformers/all-MiniLM-L6-v2", "", "", true},
		{"mxbai-embed-large:335m-v1-fp16", represent, "", true},
		{"snowflake-arctic-embed2:568m", "query: ", "", true},
		{"Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", "", true},
		{"snowflake-arctic-embed:22m", "", "", false},
		{"qwen3-embedding:0.6b", instruct, "", true},
		{"text-embedding-3-small", "", "", false},
		{"note5:latest", "", "", false},
		{"", "", "", false},
	} {
		got, known := prefixesFor(c.model)
		if got.of(embed.Query) != c.query || got.of(embed.Document) != c.document || known != c.known {
			t.Errorf("%s: %+v, known %v", c.model, got, known)
		}
	}
}
