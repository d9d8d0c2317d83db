// Package kernel holds the inner loops of a transformer: products of 8-bit
// numbers with a matrix of weights, and what lies between them in float32.
// Scalar Go is the definition; assembly for AVX-512 VNNI, AVX2 and NEON is
// chosen at start by what the processor has, and GODEBUG=cpu.all=off chooses
// scalar Go.
//
// Products are sums of integers and the same to the bit in every
// implementation. Functions of floats differ in the last bits, as sums are
// taken in another order, but what they make of a row depends on nothing but
// the row: a text has one vector, whatever is embedded beside it.
package kernel

const (
	// Rows divides the number of rows that are multiplied with a matrix.
	Rows = 8
	// Columns divides the number of columns of a matrix.
	Columns = 48
	// Lane divides the lengths of rows of floats, and the number of rows of a matrix.
	Lane = 32
	// Quad is the number of rows that Multiply takes.
	Quad = 4
)

// step is how many neighbours in a row one instruction multiplies and adds.
const step = 4

// Matrix is a matrix of weights of 8 bits with a scale for each column: weight
// (i, o) is Scales[o] times int8(Packed[m.At(i, o)]).
type Matrix struct {
	In, Out int
	// Packed holds panels of Columns columns; in a panel, step rows after step
	// rows; of these, the numbers of a column side by side.
	Packed []byte
	Sums   []int32 // of the numbers of each column
	Scales []float32
	Bias   []float32
}

// At is the place of the weight of an input and an output in Packed.
func (m *Matrix) At(in, out int) int {
	return (out/Columns*m.In+in/step*step)*Columns + out%Columns*step + in%step
}

// Numbers are rows of numbers of 8 bits: what is in row r is about
// Scales[r] × (number − Zeros[r]).
type Numbers struct {
	Values []uint8
	Scales []float32
	Zeros  []int32
}

// Quantise makes numbers of rows of floats, as many as there are scales.
func (n Numbers) Quantise(x []float32) {
	rows := len(n.Scales)
	if rows == 0 || len(n.Zeros) != rows || len(n.Values) != len(x) || len(x) == 0 || len(x)%(rows*Lane) != 0 {
		panic("kernel: numbers do not match the rows")
	}
	width := len(x) / rows
	for r := range rows {
		n.Scales[r], n.Zeros[r] = quantise(n.Values[r*width:(r+1)*width], x[r*width:(r+1)*width])
	}
}

func quantise(values []uint8, x []float32) (scale float32, zero int32) {
	lo, hi := rangeOf(x)
	lo, hi = min(lo, 0), max(hi, 0)
	if lo == hi {
		clear(values)
		return 0, 0
	}
	inverse := 255 / (hi - lo)
	zero = nearest(float32(-lo * inverse))
	quantiseOf(values, x, inverse, zero)
	return (hi - lo) / 255, zero
}

// Multiply puts the product of rows of In numbers and the matrix, plus the bias,
// into out, Out for each row.
func (m *Matrix) Multiply(out []float32, x Numbers) {
	rows := len(x.Scales)
	if rows == 0 || rows%Rows != 0 || len(x.Zeros) != rows || len(x.Values) != rows*m.In || len(out) != rows*m.Out ||
		m.In%Lane != 0 || m.Out%Columns != 0 || len(m.Packed) != m.In*m.Out || len(m.Sums) != m.Out ||
		len(m.Scales) != m.Out || len(m.Bias) != m.Out {
		panic("kernel: the rows do not match the matrix")
	}
	var sums [Rows * Columns]int32
	for o := 0; o < m.Out; o += Columns {
		panel, columns := m.Packed[o*m.In:(o+Columns)*m.In], (*[Columns]int32)(m.Sums[o:])
		for r := 0; r < rows; r += Rows {
			sumsOf(&sums, x.Values[r*m.In:(r+Rows)*m.In], panel, columns)
			floatsOf(out[r*m.Out+o:], m.Out, &sums, columns, (*[Columns]float32)(m.Scales[o:]),
				(*[Columns]float32)(m.Bias[o:]), (*[Rows]float32)(x.Scales[r:]), (*[Rows]int32)(x.Zeros[r:]))
		}
	}
}

// Gelu replaces each x by x·Φ(x), the Gaussian error linear unit.
func Gelu(x []float32) {
	if len(x) == 0 || len(x)%Lane != 0 {
		panic("kernel: not whole lanes")
	}
	geluOf(x)
}

// Softmax replaces each x by 2ˣ over the sum of all 2ˣ.
func Softmax(x []float32) {
	if len(x) == 0 || len(x)%Lane != 0 {
		panic("kernel: not whole lanes")
	}
	softmaxOf(x)
}

// epsilon keeps the deviation of a row of equal numbers above 0.
const epsilon = 1e-12

// AddAndNormalise adds y to x, brings x to mean 0 and variance 1, then
// multiplies by gain and adds bias.
func AddAndNormalise(x, y, gain, bias []float32) {
	if len(x) == 0 || len(x)%Lane != 0 || len(y) != len(x) || len(gain) != len(x) || len(bias) != len(x) {
		panic("kernel: the rows do not match")
	}
	normaliseOf(x, y, gain, bias)
}

// Block is a part of a matrix of floats: its rows begin Stride apart.
type Block struct {
	Data   []float32
	Stride int
}

// reaches reports whether a block has that many rows and columns.
func (b Block) reaches(rows, columns int) bool { return len(b.Data) >= (rows-1)*b.Stride+columns }

// Multiply puts into Quad rows of c the product of Quad rows of a, depth wide,
// with depth rows of b, which like those of c are that many columns wide.
func Multiply(c, a, b Block, depth, columns int) {
	if depth <= 0 || columns <= 0 || columns%Lane != 0 || !c.reaches(Quad, columns) || !a.reaches(Quad, depth) ||
		!b.reaches(depth, columns) {
		panic("kernel: the blocks do not match")
	}
	multiplyOf(c, a, b, depth, columns)
}
