// Package kb is the knowledge base as operations see it: the catalog, the
// searcher, and what the rows of all answers have in common. An operation is
// a function of Base. It asks for
//
//	Rows      a list, filtered and paged (list.go)
//	Record    one record, by the ways to name it: Keyed, Titled, Locate (record.go)
//	Referrers the records that refer to one; Targets: those that it refers to (linked.go)
//	Newest    the last snapshot of a series (derived.go)
//	Derived   a value computed from the whole catalog; DerivedFrom: from a query (derived.go)
//
// Packages below it take it on: arg has the types of arguments, find searches,
// read reads texts in parts, evidence says what an answer rests on. The
// operations themselves are in one package per group.
package kb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/recent"
	"almanac/catalog/sqlstore"
	"almanac/retrieval"
)

// Base is passed to every operation.
type Base struct {
	Catalog   *sqlstore.Store
	Search    retrieval.Searcher
	Network   network.Network
	PublicURL string // without a slash at the end
	Remote    ToolCaller
	Now       func() time.Time
	Tally     *tally.Tally // of searches; nil: they are not counted
	// Published returns why not only people at this machine reach the service; "" = only
	// they do; nil: nothing is known of it, and it counts as published.
	Published func(context.Context) (why string, err error)

	memo  *memo
	heads *recent.Cache[int64, catalog.Record]
	words *strings.Replacer
}

// recentHeads is how many records are kept in memory, without their bodies, after they were found: 2 to 10 MB.
const recentHeads = 4_000

// Prepared returns the base with the network's terms and empty caches, unless it has
// them. Copies of one prepared base share its caches.
func (b Base) Prepared() Base {
	if b.memo == nil {
		b.memo, b.words = &memo{}, arg.Words(b.Network)
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
			if with, err := o.WithExample(words); err == nil { // a mistake in a network's file costs only the example
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

// ToolCaller calls tools of other servers; package remote implements it.
type ToolCaller interface {
	// Call calls a tool of the server at an endpoint, which may change something
	// there: no request is sent twice. Its error is ErrCredentials, one of package
	// op with a message for the client, or ctx's.
	Call(ctx context.Context, endpoint, tool string, arguments json.RawMessage) (ToolResult, error)
}

// ErrCredentials: the server answers only clients that identify themselves.
var ErrCredentials = errors.New("the server asks for credentials")

// ToolResult is what a tool of another server answered: a third party's text.
type ToolResult struct {
	Text    string // its first part if Bytes is more
	Bytes   int    // length of the whole text
	IsError bool   // the tool reports a failure
}
