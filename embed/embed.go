// Package embed turns texts into vectors. The interface is here with the
// cache in front of any embedder; static holds the embedded model. It imports
// nothing of ours.
package embed

import "context"

// Purpose says which side of a search a text is on: models that were trained
// with prefixes need to know.
type Purpose int

// The two purposes.
const (
	Document Purpose = iota
	Query
)

// Embedder turns texts into unit vectors. It is safe for concurrent use.
type Embedder interface {
	// Embed returns one vector of Dimensions float32 per text, L2-normalised,
	// or the zero vector for a text without anything the model knows.
	Embed(ctx context.Context, texts []string, p Purpose) ([][]float32, error)
	// Dimensions is the length of every vector.
	Dimensions() int
	// Model identifies the model and its parameters; vectors of different
	// models never meet.
	Model() string
}
