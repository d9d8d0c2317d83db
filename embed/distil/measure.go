package distil

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"almanac/embed"

	"gonum.org/v1/gonum/mat"
)

// Measured says how well a model approximates the teacher on held-out passages.
type Measured struct {
	Model string `json:"model"`
	// Cosine is the mean cosine to the teacher's vectors after the rotation
	// that suits the model best: models have spaces of their own, and a
	// rotation changes nothing within one.
	Cosine float64 `json:"cosine"`
	// Similarity is the correlation (Pearson) of the model's similarities with
	// the teacher's over all pairs of passages; searches see nothing else.
	Similarity float64 `json:"similarity"`
}

// taught holds texts with the teacher's unit vectors, by row.
type taught struct {
	texts   []string
	vectors []float32
	dims    int
}

func (t taught) part(from, to int) taught {
	return taught{t.texts[from:to], t.vectors[from*t.dims : to*t.dims], t.dims}
}

func (t taught) vector(i int) []float32 { return t.vectors[i*t.dims : (i+1)*t.dims] }

func (t taught) matrix() *mat.Dense {
	m := mat.NewDense(len(t.texts), t.dims, nil)
	for i := range t.texts {
		setRow(m, i, t.vector(i))
	}
	return m
}

func setRow(m *mat.Dense, i int, v []float32) {
	row := m.RawRowView(i)
	for j, x := range v {
		row[j] = float64(x)
	}
}

// turned is the most passages that the rotation into the teacher's space is fitted to.
const turned = 5000

// measure fits the rotation to some passages and measures on others.
func measure(ctx context.Context, e embed.Embedder, fit, held taught) (Measured, error) {
	m := Measured{Model: e.Model()}
	fit = fit.part(0, min(turned, len(fit.texts)))
	known, err := vectorsOf(ctx, e, fit.texts)
	if err != nil {
		return m, err
	}
	asked, err := vectorsOf(ctx, e, held.texts)
	if err != nil {
		return m, err
	}
	turn, err := rotation(known, fit.matrix())
	if err != nil {
		return m, err
	}
	teacher := held.matrix()
	var there mat.Dense
	there.Mul(asked, turn)
	for i := range held.texts {
		m.Cosine += cosine(there.RawRowView(i), teacher.RawRowView(i)) / float64(len(held.texts))
	}
	m.Similarity = correlation(similarities(asked), similarities(teacher))
	m.Cosine, m.Similarity = rounded(m.Cosine), rounded(m.Similarity)
	return m, nil
}

// vectorsOf embeds texts in batches.
func vectorsOf(ctx context.Context, e embed.Embedder, texts []string) (*mat.Dense, error) {
	m := mat.NewDense(len(texts), e.Dimensions(), nil)
	at := 0
	for chunk := range slices.Chunk(texts, batch) {
		vectors, err := e.Embed(ctx, chunk, embed.Document)
		if err != nil {
			return nil, err
		}
		if len(vectors) != len(chunk) {
			return nil, fmt.Errorf("%s returned %d vectors for %d texts", e.Model(), len(vectors), len(chunk))
		}
		for _, v := range vectors {
			setRow(m, at, v)
			at++
		}
	}
	return m, nil
}

// rotation is the orthogonal map from a's space to b's that brings the rows of
// a nearest to those of b (Schönemann 1966: U·Vᵀ with UΣVᵀ = aᵀb). If the
// spaces differ in dimensions, the smaller is embedded in the greater.
func rotation(a, b *mat.Dense) (*mat.Dense, error) {
	var product mat.Dense
	product.Mul(a.T(), b)
	var svd mat.SVD
	if !svd.Factorize(&product, mat.SVDThin) {
		return nil, errors.New("a singular value decomposition did not converge")
	}
	var u, v, out mat.Dense
	svd.UTo(&u)
	svd.VTo(&v)
	out.Mul(&u, v.T())
	return &out, nil
}

// similarities are the dot products of all pairs of rows.
func similarities(m *mat.Dense) []float64 {
	var gram mat.Dense
	gram.Mul(m, m.T())
	n, _ := gram.Dims()
	out := make([]float64, 0, n*(n-1)/2)
	for i := range n {
		out = append(out, gram.RawRowView(i)[i+1:]...)
	}
	return out
}

// correlation is Pearson's, 0 if one side does not vary.
func correlation(a, b []float64) float64 {
	var ma, mb float64
	for i := range a {
		ma += a[i] / float64(len(a))
		mb += b[i] / float64(len(b))
	}
	var ab, aa, bb float64
	for i := range a {
		x, y := a[i]-ma, b[i]-mb
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// cosine is 0 if one side is the zero vector.
func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// rounded returns x to four decimal places.
func rounded(x float64) float64 { return math.Round(x*1e4) / 1e4 }
