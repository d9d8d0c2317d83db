package distil

import (
	"bytes"
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Whiten centres and whitens the rows that count.
func Whiten(ctx context.Context, rows [][]float64, counts []bool) ([][]float64, error) {
	m, n := ofRows(rows), 0
	for _, ok := range counts {
		if ok {
			n++
		}
	}
	centre(m, counts)
	err := whiten(ctx, m, n)
	return toRows(m), err
}

// Regress solves for sparse rows given densely.
func Regress(ctx context.Context, x, z [][]float64, target [][]float32, lambda float64, steps int,
	progress func(done, total int)) ([][]float64, error) {
	b := &bags{start: []int{0}}
	for _, row := range x {
		for t, v := range row {
			if v != 0 {
				b.token, b.value = append(b.token, int32(t)), append(b.value, float32(v))
			}
		}
		b.start = append(b.start, len(b.token))
	}
	var flat []float32
	for _, row := range target {
		flat = append(flat, row...)
	}
	w := ofRows(z)
	err := regress(ctx, b, w, flat, lambda, steps, progress)
	return toRows(w), err
}

func ofRows(rows [][]float64) matrix {
	m := newMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.row(i), row)
	}
	return m
}

func toRows(m matrix) [][]float64 {
	out := make([][]float64, m.rows())
	for i := range out {
		out[i] = m.row(i)
	}
	return out
}

// Quantise rounds rows to int8 without projecting them.
func Quantise(ctx context.Context, rows [][]float64, idf []float32) ([]int8, []float32, error) {
	m := ofRows(rows)
	identity := mat.NewDense(m.columns, m.columns, nil)
	for i := range m.columns {
		identity.Set(i, i, 1)
	}
	return quantise(ctx, m, identity, idf)
}

// Draw takes limit of the texts.
func Draw(limit int, seed uint64, texts ...string) []string {
	d := draw{limit: limit, seed: seed}
	for _, t := range texts {
		d.add(t)
	}
	return d.texts()
}

// Spelled is the text that the teacher embeds for a token.
func Spelled(token string) string { return spelled(token) }

// WorkHeader is the header of a work file.
func WorkHeader(model string, dims int) []byte { return workHeader(model, dims) }

// RecordSize is the size of a record of a work file.
func RecordSize(dims int) int { return recordSize(dims) }

// ReadWork reads a work file: how many texts it has vectors of, and how many
// records.
func ReadWork(data []byte, model string, dims int) (texts int, records int64, err error) {
	at, records, err := readWork(bytes.NewReader(data), workHeader(model, dims), dims)
	for _, n := range at {
		if n >= records {
			return 0, 0, errOtherTeacher
		}
	}
	return len(at), records, err
}

// WorkFile is a work file.
type WorkFile struct{ w *workFile }

// OpenWork opens a work file.
func OpenWork(path, model string, dims int) (WorkFile, error) {
	w, err := openWork(path, model, dims)
	return WorkFile{w}, err
}

// Put stores vectors.
func (f WorkFile) Put(texts []string, vectors [][]float32) error {
	keys := make([]textKey, len(texts))
	for i, t := range texts {
		keys[i] = keyOf(t)
	}
	return f.w.append(keys, vectors)
}

// Get reads a vector, nil if there is none.
func (f WorkFile) Get(text string) ([]float32, error) {
	if !f.w.has(keyOf(text)) {
		return nil, nil
	}
	v := make([]float32, f.w.dims)
	return v, f.w.read(keyOf(text), v)
}

// Close closes it.
func (f WorkFile) Close() error { return f.w.close() }

// Rotation is the rotation from a's space to b's.
func Rotation(a, b [][]float64) ([][]float64, error) {
	m, err := rotation(ofRows(a).dense(0, len(a)), ofRows(b).dense(0, len(b)))
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(a[0]))
	for i := range out {
		out[i] = m.RawRowView(i)
	}
	return out, nil
}

// Correlation is Pearson's.
func Correlation(a, b []float64) float64 { return math.Round(correlation(a, b)*1e9) / 1e9 }
