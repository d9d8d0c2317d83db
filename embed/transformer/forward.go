package transformer

import (
	"context"
	"math"

	"almanac/embed"
	"almanac/embed/transformer/kernel"
	"almanac/embed/wordpiece"
)

const (
	// batch is how many tokens are embedded at once, of any number of texts.
	batch = positions
	// chunk is how many rows pass through a layer's matrices one after the other,
	// so that what they make of them stays in the cache.
	chunk = 64
	// spare rows follow those of a batch: kernels take whole groups.
	spare = kernel.Rows
)

// scratch is what texts are embedded in. Tokens and rows of the texts follow
// each other without a gap. Kernels take rows in groups: what they make of rows
// that do not belong to the text or batch is never read.
type scratch struct {
	weights *weights
	tokens  []int32
	ends    []int // of each text in tokens

	rows     []float32 // what the layers pass on
	attended []float32 // queries, keys and values
	mixed    []float32 // values by attention
	out      []float32 // of a matrix
	numbers  kernel.Numbers
	keys     []float32 // of a head: a column for each token
	scores   []float32 // of kernel.Quad tokens: a column for each token
}

func newScratch(w *weights) *scratch {
	const rows = batch + spare
	return &scratch{
		weights:  w,
		rows:     make([]float32, rows*width),
		attended: make([]float32, rows*3*width),
		mixed:    make([]float32, rows*width),
		out:      make([]float32, chunk*inner),
		numbers: kernel.Numbers{
			Values: make([]uint8, chunk*inner), Scales: make([]float32, chunk), Zeros: make([]int32, chunk)},
		keys:   make([]float32, head*positions),
		scores: make([]float32, kernel.Quad*positions),
	}
}

// add adds a text to those that are embedded next.
func (s *scratch) add(t *wordpiece.Tokenizer, text string, p embed.Purpose) {
	from := len(s.tokens)
	s.tokens = append(s.tokens, wordpiece.First)
	if p == embed.Query {
		s.tokens = t.Append(s.tokens, instruction)
	}
	s.tokens = t.Append(s.tokens, text)
	s.tokens = append(s.tokens[:min(len(s.tokens), from+positions-1)], wordpiece.Last)
	s.ends = append(s.ends, len(s.tokens))
}

// embed puts the vectors of the first texts into vectors and forgets the texts.
func (s *scratch) embed(ctx context.Context, vectors [][]float32) error {
	texts := len(vectors)
	if texts == 0 {
		return ctx.Err()
	}
	ends := s.ends[:texts]
	n := ends[texts-1]
	s.look(ends)
	for i := range s.weights.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		n = s.pass(ctx, &s.weights.layers[i], n, ends, i == layers-1)
	}
	for i, v := range vectors {
		copy(v, s.rows[i*width:])
		normalise(v)
	}
	n = ends[texts-1]
	s.tokens = append(s.tokens[:0], s.tokens[n:]...)
	s.ends = append(s.ends[:0], s.ends[texts:]...)
	for i := range s.ends {
		s.ends[i] -= n
	}
	return nil
}

// look makes rows of the tokens' words and places.
func (s *scratch) look(ends []int) {
	w, start := s.weights, 0
	for _, end := range ends {
		for i, token := range s.tokens[start:end] {
			row := s.row(start + i)
			scale := w.scales[token]
			for j, b := range w.words[int(token)*width:][:width] {
				row[j] = float32(int8(b)) * scale
			}
			kernel.AddAndNormalise(row, w.positions[i*width:(i+1)*width], w.norm.gain, w.norm.bias)
		}
		start = end
	}
}

func (s *scratch) row(i int) []float32 { return s.rows[i*width : (i+1)*width] }

// pass passes n rows through a layer and returns how many there are then: the
// last one needs the first row of each text alone.
func (s *scratch) pass(ctx context.Context, l *layer, n int, ends []int, last bool) int {
	for from := 0; from < n; from += chunk {
		embed.GiveWay(ctx)
		s.multiply(s.attended[from*3*width:], &l.attend, s.rows[from*width:], min(chunk, n-from))
	}
	start := 0
	for i, end := range ends {
		if !last {
			s.attend(ctx, start, end, end)
		} else {
			s.attend(ctx, start, end, start+1)
			copy(s.row(i), s.row(start))
			copy(s.mixed[i*width:(i+1)*width], s.mixed[start*width:])
		}
		start = end
	}
	if last {
		n = len(ends)
	}
	for from := 0; from < n; from += chunk {
		rows := min(chunk, n-from)
		embed.GiveWay(ctx)
		s.multiply(s.out, &l.mix, s.mixed[from*width:], rows)
		s.join(from, rows, l.mixed)
		kernel.Gelu(s.multiply(s.out, &l.widen, s.rows[from*width:], rows))
		s.multiply(s.out, &l.narrow, s.out, rows)
		s.join(from, rows, l.passed)
	}
	return n
}

// multiply puts the product of rows of x and a matrix into out, and returns it.
func (s *scratch) multiply(out []float32, m *kernel.Matrix, x []float32, rows int) []float32 {
	rows = (rows + kernel.Rows - 1) / kernel.Rows * kernel.Rows
	numbers := kernel.Numbers{
		Values: s.numbers.Values[:rows*m.In], Scales: s.numbers.Scales[:rows], Zeros: s.numbers.Zeros[:rows]}
	numbers.Quantise(x[:rows*m.In])
	out = out[:rows*m.Out]
	m.Multiply(out, numbers)
	return out
}

// join adds what a layer made of rows to them.
func (s *scratch) join(from, rows int, by norm) {
	for i := range rows {
		kernel.AddAndNormalise(s.row(from+i), s.out[i*width:(i+1)*width], by.gain, by.bias)
	}
}

// attend mixes the values of a text's tokens from start to end, for those before
// until, by how much the queries of these match the keys.
func (s *scratch) attend(ctx context.Context, start, end, until int) {
	const stride = 3 * width
	n := end - start
	columns := (n + kernel.Lane - 1) / kernel.Lane * kernel.Lane
	keys := s.keys[:head*columns]
	for h := range heads {
		embed.GiveWay(ctx)
		queries, values := s.attended[h*head:], s.attended[2*width+h*head:]
		for i := range n {
			for d, x := range s.attended[(start+i)*stride+width+h*head:][:head] {
				keys[d*columns+i] = x
			}
		}
		for at := start; at < until; at += kernel.Quad {
			scores := kernel.Block{Data: s.scores, Stride: columns}
			kernel.Multiply(scores, kernel.Block{Data: queries[at*stride:], Stride: stride},
				kernel.Block{Data: keys, Stride: columns}, head, columns)
			for i := range kernel.Quad {
				row := s.scores[i*columns : (i+1)*columns]
				for j := n; j < columns; j++ {
					row[j] = -math.MaxFloat32
				}
				kernel.Softmax(row)
			}
			kernel.Multiply(kernel.Block{Data: s.mixed[at*width+h*head:], Stride: width}, scores,
				kernel.Block{Data: values[start*stride:], Stride: stride}, n, head)
		}
	}
}

// normalise brings a vector to length 1.
func normalise(v []float32) {
	var square float64
	for _, x := range v {
		square += float64(x) * float64(x)
	}
	scale := float32(1 / math.Sqrt(square))
	for i := range v {
		v[i] *= scale
	}
}
