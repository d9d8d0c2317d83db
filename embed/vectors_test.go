package embed_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"almanac/embed"
)

// TestKnownVectorsAreNotEmbedded holds that vectors of a file stand for the model that
// made them, as documents of their texts, and no other.
func TestKnownVectorsAreNotEmbedded(t *testing.T) {
	inner := &counting{name: "m", dims: 64}
	var texts []string
	var vectors [][]float32
	for n := range 40 {
		texts = append(texts, fmt.Sprint("text ", n))
		vectors = append(vectors, inner.vector(texts[n], embed.Document))
	}
	texts, vectors = append(texts, "nothing"), append(vectors, make([]float32, 64))
	known, err := embed.ReadVectors(embed.EncodeVectors("m", texts, vectors))
	if err != nil {
		t.Fatal(err)
	}
	open := func(inner *counting) *embed.Cache {
		c := embed.NewCache(inner, embed.CacheConfig{Path: filepath.Join(t.TempDir(), "e.db"), Known: known})
		t.Cleanup(func() { c.Close() })
		return c
	}
	c := open(inner)
	got, err := c.Embed(t.Context(), append([]string{"new"}, texts...), embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, inner.asked, "new")
	for i, v := range vectors {
		var product, length, square float64
		for j, x := range v {
			y := got[i+1][j]
			product, length, square = product+float64(x*y), length+float64(x*x), square+float64(y*y)
		}
		if cosine := product / math.Sqrt(length*square); length > 0 && !(cosine > .9999) {
			t.Errorf("%s: cosine %.5f", texts[i], cosine)
		}
	}
	inner.asked = nil
	if _, err := c.Embed(t.Context(), texts[:1], embed.Query); err != nil {
		t.Fatal(err)
	}
	expect(t, inner.asked, "text 0") // a query is another text
	for _, other := range []*counting{{name: "another", dims: 64}, {name: "m", dims: 32}} {
		expect(t, asks(t, open(other), other, embed.Document, "text 0"), "text 0")
	}
}

func TestOtherFilesHaveNoVectors(t *testing.T) {
	file := embed.EncodeVectors("m", []string{"a"}, [][]float32{{1, 0}})
	for name, data := range map[string][]byte{"nothing": nil, "another": []byte("almanac weights"),
		"a cut one": file[:len(file)-1], "a header": file[:19]} {
		if _, err := embed.ReadVectors(data); err == nil {
			t.Errorf("%s is read", name)
		}
	}
}
