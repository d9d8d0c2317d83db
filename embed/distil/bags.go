package distil

import (
	"math"
	"slices"

	"almanac/embed/static"
)

// bags are passages as sparse rows (CSR): by token, its count or, once weighted, its weight.
type bags struct {
	start []int // of each row, and the end of the last
	token []int32
	value []float32
}

// newBags counts the tokens of texts.
func newBags(tokens *static.Tokenizer, texts []string) *bags {
	b := &bags{start: make([]int, 1, len(texts)+1)}
	var ids []int32
	for _, text := range texts {
		ids = tokens.Append(ids[:0], text)
		slices.Sort(ids)
		for i, id := range ids {
			if i > 0 && id == ids[i-1] {
				b.value[len(b.value)-1]++
			} else {
				b.token, b.value = append(b.token, id), append(b.value, 1)
			}
		}
		b.start = append(b.start, len(b.token))
	}
	return b
}

func (b *bags) rows() int { return len(b.start) - 1 }

func (b *bags) row(i int) (tokens []int32, values []float32) {
	from, to := b.start[i], b.start[i+1]
	return b.token[from:to], b.value[from:to]
}

// part returns the rows [from, to); it shares their values.
func (b *bags) part(from, to int) *bags {
	return &bags{start: b.start[from : to+1], token: b.token, value: b.value}
}

// keep drops the rows that are not wanted.
func (b *bags) keep(wanted []bool) {
	rows, at := 0, 0
	for i, keep := range wanted {
		tokens, values := b.row(i)
		if !keep {
			continue
		}
		copy(b.token[at:], tokens)
		copy(b.value[at:], values)
		at += len(tokens)
		rows++
		b.start[rows] = at // row i+1 starts at or behind it
	}
	b.start, b.token, b.value = b.start[:rows+1], b.token[:at], b.value[:at]
}

// share is the share of all tokens that are this one.
func (b *bags) share(token int32) float64 {
	var of, all float64
	for i, t := range b.token {
		all += float64(b.value[i])
		if t == token {
			of += float64(b.value[i])
		}
	}
	return of / max(1, all)
}

// idf is that of the rows, by token.
func (b *bags) idf(tokens int) []float32 {
	df := make([]int, tokens)
	for i := range b.rows() {
		has, _ := b.row(i)
		for _, t := range has {
			df[t]++
		}
	}
	return idf(df, b.rows())
}

// idf is ln(1 + (n−df+½)/(df+½)) by token, df of the n passages having it.
func idf(df []int, n int) []float32 {
	out := make([]float32, len(df))
	for t, has := range df {
		out[t] = float32(math.Log1p((float64(n-has) + 0.5) / (float64(has) + 0.5)))
	}
	return out
}

// weigh multiplies every value with its token's weight.
func (b *bags) weigh(weights []float32) {
	for i := range b.rows() {
		tokens, values := b.row(i)
		for j, t := range tokens {
			values[j] *= weights[t]
		}
	}
}

// scale divides row i by what, and empties it if that is 0.
func (b *bags) scale(i int, what float64) {
	_, values := b.row(i)
	for j := range values {
		if what == 0 {
			values[j] = 0
		} else {
			values[j] = float32(float64(values[j]) / what)
		}
	}
}
