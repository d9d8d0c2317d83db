package transformer

import (
	_ "embed" // the weights
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"almanac/embed/transformer/kernel"
	"almanac/embed/wordpiece"
)

// The model's shape.
const (
	width     = 384
	layers    = 12
	heads     = 12
	head      = width / heads
	inner     = 1536
	positions = 512
)

//go:embed bge-small-en-v1.5.weights
var file []byte

// header begins the file: what it is and the version of the format.
const header = "almanac weights bge-small-en-v1.5 1\n"

// align is what the place of each array in the file is a multiple of: a line
// of the processor's cache.
const align = 64

// weights are the model's. Matrices and the table of words are numbers of 8 bits
// with a scale for each column, or row of the table; they are read in place.
type weights struct {
	words     []byte // a row of int8 for each token
	scales    []float32
	positions []float32 // a row for each; that of the only segment is added
	norm      norm
	layers    [layers]layer
}

// norm is what brings a row to mean and deviation.
type norm struct{ gain, bias []float32 }

type layer struct {
	attend kernel.Matrix // a row's query, key and value, side by side
	mix    kernel.Matrix // what was attended to
	mixed  norm
	widen  kernel.Matrix
	narrow kernel.Matrix
	passed norm
}

// arrays reads or writes arrays in the order of the file.
type arrays interface {
	bytes(at *[]byte, n int)
	ints(at *[]int32, n int)
	floats(at *[]float32, n int)
}

// each passes all arrays in the order of the file, which is the format.
func (w *weights) each(a arrays) {
	a.bytes(&w.words, wordpiece.Size*width)
	a.floats(&w.scales, wordpiece.Size)
	a.floats(&w.positions, positions*width)
	w.norm.each(a)
	for i := range w.layers {
		l := &w.layers[i]
		matrix(a, &l.attend, width, 3*width)
		matrix(a, &l.mix, width, width)
		l.mixed.each(a)
		matrix(a, &l.widen, width, inner)
		matrix(a, &l.narrow, inner, width)
		l.passed.each(a)
	}
}

func (n *norm) each(a arrays) {
	a.floats(&n.gain, width)
	a.floats(&n.bias, width)
}

func matrix(a arrays, m *kernel.Matrix, in, out int) {
	m.In, m.Out = in, out
	a.bytes(&m.Packed, in*out)
	a.ints(&m.Sums, out)
	a.floats(&m.Scales, out)
	a.floats(&m.Bias, out)
}

var errFile = errors.New("transformer: the file of weights is not what this program was made with")

// read reads a file. Queries are scaled so that their products with keys are
// exponents of 2: softmax(q·k/√head) in base e.
func read(file []byte) (*weights, error) {
	r := reader{rest: file}
	var begin []byte
	var w weights
	if r.bytes(&begin, align); !strings.HasPrefix(string(begin), header) {
		return nil, errFile
	}
	if w.each(&r); r.short || len(r.rest) > 0 {
		return nil, errFile
	}
	for i := range w.layers {
		m := &w.layers[i].attend
		for o := range width {
			m.Scales[o] *= math.Log2E / sqrtHead
			m.Bias[o] *= math.Log2E / sqrtHead
		}
	}
	return &w, nil
}

const sqrtHead = 5.656854249492381

// reader reads arrays from a file.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) bytes(at *[]byte, n int) {
	padded := (n + align - 1) / align * align
	if r.short = r.short || len(r.rest) < padded; r.short {
		*at = make([]byte, n)
		return
	}
	*at, r.rest = r.rest[:n:n], r.rest[padded:]
}

func (r *reader) ints(at *[]int32, n int) {
	var raw []byte
	r.bytes(&raw, 4*n)
	*at = make([]int32, n)
	for i := range *at {
		(*at)[i] = int32(binary.LittleEndian.Uint32(raw[4*i:]))
	}
}

func (r *reader) floats(at *[]float32, n int) {
	var raw []byte
	r.bytes(&raw, 4*n)
	*at = make([]float32, n)
	for i := range *at {
		(*at)[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
}
