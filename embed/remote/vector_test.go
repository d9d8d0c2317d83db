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
	}{
		{"nomic-embed-text:latest", "search_query: ", "search_document: "},
		{"nomic-ai/nomic-embed-text-v1.5", "search_query: ", "search_document: "},
		{"intfloat/e5-base-v2", "query: ", "passage: "},
		{"intfloat/multilingual-e5-large", "query: ", "passage: "},
		{"intfloat/multilingual-e5-large-instruct", instruct + " ", ""},
		{"BAAI/bge-small-en-v1.5", represent, ""},
		{"bge-large:335m", represent, ""},
		{"bge-m3:latest", "", ""},
		{"BAAI/bge-base-zh-v1.5", "", ""},
		{"embeddinggemma:300m", "task: search result | query: ", "title: none | text: "},
		{"all-minilm:latest", "", ""},
		{"mxbai-embed-large:335m-v1-fp16", represent, ""},
		{"snowflake-arctic-embed2:568m", "query: ", ""},
		{"Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""},
		{"snowflake-arctic-embed:22m", "", ""},
		{"qwen3-embedding:0.6b", instruct, ""},
		{"", "", ""},
	} {
		got := prefixesFor(c.model)
		if got.of(embed.Query) != c.query || got.of(embed.Document) != c.document {
			t.Errorf("%s: %+v", c.model, got)
		}
	}
}
