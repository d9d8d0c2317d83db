// Package static is the embedding model that comes with the binary: a table
// of one vector per WordPiece, summed over a text. It needs no server and no
// floating-point library and takes tens of microseconds per passage.
//
// The table was distilled from all-MiniLM-L6-v2 (Apache-2.0), whose
// vocabulary it shares. The package imports embed and nothing else of ours.
package static

import (
	"context"
	_ "embed" // the model's files
	"fmt"
	"math"
	"sync"

	"almanac/embed"
)

var (
	//go:embed static256.npz
	modelFile []byte
	//go:embed vocab.txt
	vocabFile string
)

const (
	dimensions = 256
	// model names the files above and the weighting; a test ties it to their
	// hash, so that neither changes without a new name.
	model = "static256-1-sqrtidf"
)

// Embedder is the embedded model. It is safe for concurrent use.
type Embedder struct {
	tokens *tokenizer
	table  []byte    // int8 rows of dimensions, by token id
	coef   []float32 // by token id: weight × scale of its row
	ids    sync.Pool // *[]int32, scratch of Embed
}

var _ embed.Embedder = (*Embedder)(nil)

// New unpacks the model, which takes about a tenth of a second and 9 MB. A
// token counts with weight sqrt(idf), the idf being that of the texts the
// model was trained on, so a text's vector does not depend on the corpus.
func New() (*Embedder, error) {
	return newEmbedder(func(idf float32) float32 { return float32(math.Sqrt(float64(idf))) })
}

// newEmbedder builds the model with a token weight computed from its idf.
func newEmbedder(weight func(idf float32) float32) (*Embedder, error) {
	tokens, err := newTokenizer(vocabFile)
	if err != nil {
		return nil, fmt.Errorf("static model: vocabulary: %w", err)
	}
	n := tokens.size
	file, err := openNPZ(modelFile)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	table, err := file.int8s("table", n, dimensions)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	coef, err := file.float32s("scale", n)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	idf, err := file.float32s("idf_train", n)
	if err != nil {
		return nil, fmt.Errorf("static model: %w", err)
	}
	for i := range coef {
		coef[i] *= weight(idf[i])
	}
	e := &Embedder{tokens: tokens, table: table, coef: coef}
	e.ids.New = func() any { return new([]int32) }
	return e, nil
}

// Dimensions is 256.
func (e *Embedder) Dimensions() int { return dimensions }

// Model names the table and its weighting.
func (e *Embedder) Model() string { return model }

// Embed returns the unit vector of each text, which is the same for both
// purposes. A text without a token has the zero vector. The only error is
// that of ctx.
func (e *Embedder) Embed(ctx context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	slab := make([]float32, len(texts)*dimensions)
	buf := e.ids.Get().(*[]int32)
	defer e.ids.Put(buf)
	for i, text := range texts {
		if i%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ids := e.tokens.appendIDs((*buf)[:0], text)
		v := slab[i*dimensions : (i+1)*dimensions : (i+1)*dimensions]
		e.sum((*[dimensions]float32)(v), ids)
		normalise(v)
		vectors[i] = v
		*buf = ids
	}
	return vectors, nil
}

// floats converts the bytes of the table: a load is cheaper than a
// sign extension and a conversion.
var floats = func() (f [256]float32) {
	for b := range f {
		f[b] = float32(int8(b))
	}
	return f
}()

// sum adds the tokens' weighted rows to v, four at a time to save loads and
// stores of v.
func (e *Embedder) sum(v *[dimensions]float32, ids []int32) {
	for ; len(ids) >= 4; ids = ids[4:] {
		r0, r1, r2, r3 := e.row(ids[0]), e.row(ids[1]), e.row(ids[2]), e.row(ids[3])
		c0, c1, c2, c3 := e.coef[ids[0]], e.coef[ids[1]], e.coef[ids[2]], e.coef[ids[3]]
		for i := range v {
			v[i] += c0*floats[r0[i]] + c1*floats[r1[i]] + c2*floats[r2[i]] + c3*floats[r3[i]]
		}
	}
	for _, id := range ids {
		r, c := e.row(id), e.coef[id]
		for i := range v {
			v[i] += c * floats[r[i]]
		}
	}
}

func (e *Embedder) row(id int32) *[dimensions]byte {
	return (*[dimensions]byte)(e.table[int(id)*dimensions:])
}

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
