// Package embed turns texts into vectors. It holds the interface and a cache
// for any embedder; static and transformer are the models in the binary, ollama
// and http call model servers.
package embed

import (
	"context"
	"errors"
)

// ErrUnavailable is wrapped by every error of an embedder whose model server
// cannot be used now but may be later: it does not answer, or not in time, or
// it asks to be called again later.
var ErrUnavailable = errors.New("the model server is unavailable")

// ErrRefused is wrapped by the error of an embedder whose model cannot embed one
// of the texts, whenever it is asked and whatever else it is asked for.
var ErrRefused = errors.New("the model refuses a text")

// The models in the binary, as settings name them. Auto is the table until an index
// of the transformer is complete, and on a processor on which that is slow.
const (
	Auto        = "auto"
	Table       = "table"
	Transformer = "bge-small-en-v1.5"
)

// Purpose says which side of a search a text is on: models that were trained with prefixes need it.
type Purpose int

// The two purposes.
const (
	Document Purpose = iota
	Query
)

type givingWay struct{}

// GivingWay returns a context under which a model in the program calls wait before each
// piece of its work, of less than a millisecond.
func GivingWay(ctx context.Context, wait func(context.Context)) context.Context {
	return context.WithValue(ctx, givingWay{}, wait)
}

// GiveWay waits for what goes before embedding, if the context says that anything does.
func GiveWay(ctx context.Context) {
	if wait, ok := ctx.Value(givingWay{}).(func(context.Context)); ok {
		wait(ctx)
	}
}

// Embedder turns texts into unit vectors. It is safe for concurrent use.
type Embedder interface {
	// Embed returns one vector of Dimensions float32 per text, L2-normalised,
	// or the zero vector for a text without anything the model knows. With an
	// error, vectors that are not nil are of texts that were embedded all the
	// same.
	Embed(ctx context.Context, texts []string, p Purpose) ([][]float32, error)
	// Dimensions is the length of every vector.
	Dimensions() int
	// Model identifies the model and its parameters; vectors of different
	// models must not be mixed.
	Model() string
}
