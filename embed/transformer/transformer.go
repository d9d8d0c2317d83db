// Package transformer is the better embedding model that comes with the binary:
// bge-small-en-v1.5 (BAAI, MIT licence), a BERT of twelve layers. It takes some
// twenty milliseconds of a core with AVX-512 VNNI for a passage, three times that
// with AVX2, and no server. Its weights and what is multiplied with them are numbers
// of 8 bits, each column or row with a scale of its own; everything else is float32.
package transformer

import (
	"context"
	"sync"
	"unicode"

	"almanac/embed"
	"almanac/embed/transformer/kernel"
	"almanac/embed/wordpiece"
)

const (
	// Model names the weights in 8 bits; a test ties it to their hash and that of
	// the vocabulary, so that none changes without a new name.
	Model = embed.Transformer + "-int8-1"
	// Unrelated is a cosine that the nearest passage to a query of another subject seldom
	// reaches: recipes, football and presidents have .50 to .57 over the sample, its
	// judged queries .57 to .89.
	Unrelated = .56
	// instruction precedes queries, as the model was trained; passages have none.
	instruction = "Represent this sentence for searching relevant passages: "
)

// Embedder is the model. It is safe for concurrent use.
type Embedder struct {
	tokens  *wordpiece.Tokenizer
	weights *weights
	scratch sync.Pool // of *scratch
}

var _ embed.Embedder = (*Embedder)(nil)

// New reads the weights, most of them in place.
func New() (*Embedder, error) {
	w, err := read(file)
	if err != nil {
		return nil, err
	}
	e := &Embedder{tokens: wordpiece.New(), weights: w}
	e.scratch.New = func() any { return newScratch(w) }
	return e, nil
}

// Dimensions is 384.
func (e *Embedder) Dimensions() int { return width }

// Model names the weights.
func (e *Embedder) Model() string { return Model }

// Fast reports whether this processor has what the model needs to embed a passage in
// tens of milliseconds; else it takes seconds.
func Fast() bool { return kernel.Fast() }

// Embed returns the unit vector of each text, of which the first 510 tokens
// count. A text without a token has the vector of an empty text, and a query in
// another script than Latin the zero vector, which is near nothing: the model knows
// English, and all that it does not know is alike to it. The only error is the one of
// ctx, which ends the work between layers.
func (e *Embedder) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	slab := make([]float32, len(texts)*width)
	s := e.scratch.Get().(*scratch)
	defer e.scratch.Put(s)
	s.tokens, s.ends = s.tokens[:0], s.ends[:0]
	first := 0 // text of the batch
	for i, text := range texts {
		vectors[i] = slab[i*width : (i+1)*width : (i+1)*width]
		if s.add(e.tokens, text, p); len(s.tokens) <= batch {
			continue
		}
		if err := s.embed(ctx, vectors[first:i]); err != nil {
			return nil, err
		}
		first = i
	}
	if err := s.embed(ctx, vectors[first:]); err != nil {
		return nil, err
	}
	for i, text := range texts {
		if p == embed.Query && foreign(text) {
			clear(vectors[i])
		}
	}
	return vectors, nil
}

// foreign reports whether most letters of a text are of another script than Latin.
func foreign(text string) bool {
	latin, others := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Latin, r):
			latin++
		case unicode.IsLetter(r):
			others++
		}
	}
	return others > latin
}
