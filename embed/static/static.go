// Package static is the quick embedding model that comes with the binary: a table of
// one vector per WordPiece, summed over a text. It needs no server and no
// floating-point library and takes tens of microseconds per passage.
//
// The table was distilled from all-MiniLM-L6-v2 (Apache-2.0), whose vocabulary
// it shares; docs/reference/measurements.md says how.
package static

import (
	"context"
	_ "embed" // the model's file
	"errors"
	"fmt"
	"math"
	"sync"

	"almanac/embed"
	"almanac/embed/wordpiece"
)

//go:embed static256.npz
var modelFile []byte

const (
	// model names the file above, the vocabulary and the weighting; a test ties it
	// to their hash, so that neither changes without a new name.
	model      = "static256-1-sqrtidf"
	dimensions = 256
)

// Embedder is the model. It is safe for concurrent use.
type Embedder struct {
	tokens *wordpiece.Tokenizer
	table  []int8    // rows of dimensions, by token id
	coef   []float32 // by token id: weight × scale of its row
	ids    sync.Pool // *[]int32, scratch of Embed
}

var _ embed.Embedder = (*Embedder)(nil)

// New returns the model, of which a process has one: to unpack it takes a tenth of a
// second and 9 MB. A token has weight sqrt(idf), with the idf of the texts the model was
// trained on, so a text's vector does not depend on the corpus.
func New() (*Embedder, error) { return unpacked() }

var unpacked = sync.OnceValues(func() (*Embedder, error) { return newEmbedder(rootOfIDF) })

func rootOfIDF(idf float32) float32 { return float32(math.Sqrt(float64(idf))) }

// newEmbedder computes a token's weight from its idf.
func newEmbedder(weight func(idf float32) float32) (*Embedder, error) {
	z, err := openNPZ(modelFile)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	table, errTable := z.int8s("table", wordpiece.Size, dimensions)
	coef, errScale := z.float32s("scale", wordpiece.Size)
	idf, errIDF := z.float32s("idf_train", wordpiece.Size)
	if err := errors.Join(errTable, errScale, errIDF); err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	e := &Embedder{tokens: wordpiece.New(), table: table, coef: coef}
	e.ids.New = func() any { return new([]int32) }
	for id := range coef {
		coef[id] *= weight(idf[id])
	}
	return e, nil
}

// Dimensions is 256.
func (e *Embedder) Dimensions() int { return dimensions }

// Model names the table and its weighting.
func (e *Embedder) Model() string { return model }

// Embed returns the unit vector of each text, which is the same for both purposes.
// A text without a token has the zero vector. The only error is the one of ctx.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	slab := make([]float32, len(texts)*dimensions)
	buf := e.ids.Get().(*[]int32)
	defer e.ids.Put(buf)
	for i, text := range texts {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ids := e.tokens.Append((*buf)[:0], text)
		v := slab[i*dimensions : (i+1)*dimensions : (i+1)*dimensions]
		e.sum(v, ids)
		normalise(v)
		vectors[i] = v
		*buf = ids
	}
	return vectors, nil
}

// floats converts the values of the table by lookup: a load is cheaper than a
// sign extension and a conversion.
var floats = func() (f [256]float32) {
	for b := range f {
		f[b] = float32(int8(b))
	}
	return f
}()

// sum adds the tokens' weighted rows to v, four at a time to save loads and
// stores of v. The slices of v's length avoid bounds checks. The race detector does
// not watch it: the table is never written, and v is the caller's alone.
//
//go:norace
func (e *Embedder) sum(v []float32, ids []int32) {
	for ; len(ids) >= 4; ids = ids[4:] {
		r0, r1, r2, r3 := e.row(ids[0])[:len(v)], e.row(ids[1])[:len(v)], e.row(ids[2])[:len(v)], e.row(ids[3])[:len(v)]
		c0, c1, c2, c3 := e.coef[ids[0]], e.coef[ids[1]], e.coef[ids[2]], e.coef[ids[3]]
		for i := range v {
			v[i] += c0*floats[uint8(r0[i])] + c1*floats[uint8(r1[i])] + c2*floats[uint8(r2[i])] +
				c3*floats[uint8(r3[i])]
		}
	}
	for _, id := range ids {
		r, c := e.row(id)[:len(v)], e.coef[id]
		for i := range v {
			v[i] += c * floats[uint8(r[i])]
		}
	}
}

func (e *Embedder) row(id int32) []int8 { return e.table[int(id)*dimensions:] }

// normalise scales v to length 1 and leaves the zero vector as it is.
func normalise(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	if square == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= scale
	}
}

// CountTokens returns the number of WordPiece tokens of a text. Other tokenizers
// differ, but rank texts by length alike.
func (e *Embedder) CountTokens(text string) int {
	buf := e.ids.Get().(*[]int32)
	defer e.ids.Put(buf)
	*buf = e.tokens.Append((*buf)[:0], text)
	return len(*buf)
}
