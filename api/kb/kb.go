// Package kb is the knowledge base as operations see it: the catalog, the
// searcher, the arguments and forms that operations share, and one function for
// each kind of query:
//
//	Rows      a list, filtered and paged (list.go)
//	Read      a record's text in parts; Thread: with its children (text.go)
//	ReadPart  a section of a text, or a thread around a post (part.go, thread.go)
//	FindRows  a search among some kinds; BestOf: the best of each (find.go);
//	          Among: only some records (among.go); Matches, FindTexts (matches.go)
//	Linked    the records that refer to one; Targets: those that it refers to (linked.go)
//	Latest    a series of snapshots (series.go)
//	Derived   a value computed from the whole catalog (derived.go); DerivedFrom: from a query (matches.go)
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
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/recent"
	"almanac/retrieval"
)

// Base is passed to every operation.
type Base struct {
	Catalog   catalog.Reader
	Search    retrieval.Searcher
	Network   network.Network
	PublicURL string // without a slash at the end
	Remote    ToolCaller
	Now       func() time.Time
	Tally     *tally.Tally // of searches; nil: they are not counted

	memo  *memo
	heads *recent.Cache[int64, catalog.Record]
	words *strings.Replacer
}

// recentHeads is how many records are kept in memory, without their bodies, after they were found: 2 to 10 MB.
const recentHeads = 4_000

// Prepared returns the base with the network's terms and caches of what is derived and found,
// unless it has them. What shares caches is made from one prepared base.
func (b Base) Prepared() Base {
	if b.memo == nil {
		b.memo, b.words = newMemo(), wordsOf(b.Network)
		b.heads = recent.New[int64, catalog.Record](recentHeads)
	}
	return b
}

// Op makes an operation for a knowledge base. A group is a list of Ops.
type Op func(Base) op.Operation

// New makes an operation from a function; its texts and constraints use the
// network's terms.
func New[In, Out any](s op.Spec, run func(context.Context, Base, In) (Out, error)) Op {
	return func(b Base) op.Operation {
		s := s
		s.Words = b.words
		o := op.New(s, func(ctx context.Context, in In) (Out, error) { return run(ctx, b, in) })
		if words, ok := b.Network.Examples[s.ID]; ok {
			if with, err := o.WithExample(words); err == nil { // a network's mistake costs only its example
				o = with
			}
		}
		return o
	}
}

// NotFound turns the catalog's error into the operation's, with a message.
func NotFound(err error, format string, args ...any) error {
	if errors.Is(err, catalog.ErrNotFound) {
		return op.NotFound(format, args...)
	}
	return err
}

// Decode reads the data of a record. An error is internal: the record does not
// have the form of its kind.
func Decode[T any](r catalog.Record) (T, error) {
	v, err := catalog.Decode[T](r)
	if err != nil {
		return v, fmt.Errorf("record %d: %w", r.ID, err)
	}
	return v, nil
}
