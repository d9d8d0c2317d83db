package catalog

import (
	"context"
	"time"
)

type startKey struct{}

// WithStart returns the context of a request that began at a time.
func WithStart(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, startKey{}, at)
}

// Start returns when the request of a context began, if that is known. Stores let
// the reads of older requests go first: an answer that takes many does not wait
// behind all newer ones before each of them. A read of no request is as old as
// itself.
func Start(ctx context.Context) (at time.Time, ok bool) {
	at, ok = ctx.Value(startKey{}).(time.Time)
	return at, ok
}
