// Package kb is the knowledge base as operations see it: the catalog and the
// searcher they ask, the arguments and forms that they share, and one helper
// for each way of asking:
//
//	Rows      a list, filtered and paged (list.go)
//	Read      a record's text in parts; Thread: with its children (text.go)
//	FindRows  a search among some kinds; BestOf: the best of each (find.go)
//	Linked    the records that refer to one (linked.go)
//	Latest    a series of snapshots (series.go)
//	Derived   what follows from the whole catalog (derived.go)
//
// The operations themselves are in one package per group.
package kb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/retrieval"
)

// Base is what operations work with.
type Base struct {
	Catalog   catalog.Reader
	Search    retrieval.Searcher
	Network   network.Network
	PublicURL string // without a slash at the end
	Now       func() time.Time

	memo  *memo
	words *strings.Replacer
}

// Prepared returns the base with the network's words and with room for what is
// Derived: api.Operations prepares the base of the groups.
func (b Base) Prepared() Base {
	b.memo, b.words = newMemo(), wordsOf(b.Network)
	return b
}

// Op is an operation of any knowledge base: a group is a list of them.
type Op func(Base) op.Operation

// New makes an operation of a function; its texts and constraints are written
// in the network's words.
func New[In, Out any](s op.Spec, run func(context.Context, Base, In) (Out, error)) Op {
	return func(b Base) op.Operation {
		s := s
		s.Words = b.words
		return op.New(s, func(ctx context.Context, in In) (Out, error) { return run(ctx, b, in) })
	}
}

// NotFound turns the catalog's error into the operation's, in words.
func NotFound(err error, format string, args ...any) error {
	if errors.Is(err, catalog.ErrNotFound) {
		return op.NotFound(format, args...)
	}
	return err
}

// Decode reads a record's data; a record that does not hold its kind's form
// is a mistake of ours.
func Decode[T any](r catalog.Record) (T, error) {
	v, err := catalog.Decode[T](r)
	if err != nil {
		return v, fmt.Errorf("record %d: %w", r.ID, err)
	}
	return v, nil
}
