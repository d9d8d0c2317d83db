package static

// NewUnweighted is the model with weight 1 per token, which the golden file
// was computed with.
func NewUnweighted() (*Embedder, error) { return newEmbedder(func(float32) float32 { return 1 }) }

// Tokens returns the token ids of a text.
func (e *Embedder) Tokens(text string) []int32 { return e.tokens.Append(nil, text) }

// File is the model's.
var File = modelFile

// ReadNPZ reads one float32 and one int8 array of an archive.
func ReadNPZ(data []byte, name string, shape ...int) (floats []float32, ints []int8, err error) {
	z, err := openNPZ(data)
	if err != nil {
		return nil, nil, err
	}
	if floats, err = z.float32s(name, shape...); err == nil {
		return floats, nil, nil
	}
	ints, err = z.int8s(name, shape...)
	return nil, ints, err
}
