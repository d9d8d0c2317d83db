// Package catalogtest is the suite every catalog.Store must pass. A store runs
// it with its constructor:
//
//	func TestConformance(t *testing.T) {
//		catalogtest.Run(t, func(t *testing.T) catalog.Store { return open(t) })
//	}
//
// Each subtest is named after the promise it checks and gets an empty
// store, which the constructor's cleanup closes. It imports only catalog.
package catalogtest

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
)

// promise is one subtest.
type promise struct {
	name string
	test func(f fixture)
}

// Run checks the stores that open returns.
func Run(t *testing.T, open func(t *testing.T) catalog.Store) {
	groups := []struct {
		name     string
		promises []promise
	}{
		{"apply", applyPromises}, {"tombstones", tombstonePromises}, {"ownership", ownershipPromises},
		{"facts", factPromises},
		{"hanging", hangingPromises}, {"read", readPromises}, {"list", listPromises}, {"range", rangePromises},
		{"order", orderPromises}, {"links", linkPromises}, {"votes", votePromises}, {"events", eventPromises},
		{"changes", changePromises}, {"state", statePromises}, {"relevance", relevancePromises},
		{"analytics", analyticsPromises},
		{"dump", dumpPromises}, {"index", indexPromises}, {"text", textPromises}, {"concurrency", concurrencyPromises},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, p := range g.promises {
				t.Run(p.name, func(t *testing.T) {
					defer failed(t)
					p.test(fixture{t, t.Context(), open(t)})
				})
			}
		})
	}
}

// must returns what a store has to answer.
func must[T any](answer T, err error) T {
	if err != nil {
		panic(failure{err})
	}
	return answer
}

type failure struct{ error }

// failed ends the test of a store that did not answer.
func failed(t *testing.T) {
	switch p := recover().(type) {
	case nil:
	case failure:
		t.Fatalf("%v\n%s", p.error, debug.Stack())
	default:
		panic(p)
	}
}

// fixture is a store under test with shorthands that fail the test.
type fixture struct {
	*testing.T
	ctx   context.Context
	store catalog.Store
}

// day is a moment of the fixtures' calendar.
func day(n int) time.Time { return time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC).AddDate(0, 0, n) }

// doc is a plain record.
func doc(key string) catalog.Record {
	return catalog.Record{Kind: catalog.KindDoc, Key: key, Title: "Title of " + key, Body: "Body of " + key}
}

func ref(key string) catalog.Ref { return catalog.Ref{Kind: catalog.KindDoc, Key: key} }

func entries(records ...catalog.Record) []catalog.Entry {
	list := make([]catalog.Entry, len(records))
	for i, r := range records {
		list[i].Record = r
	}
	return list
}

func (f fixture) check(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f fixture) equal(what string, got, want any) {
	f.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		f.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func (f fixture) missing(err error) {
	f.Helper()
	if !errors.Is(err, catalog.ErrNotFound) {
		f.Fatalf("error is %v, want ErrNotFound", err)
	}
}

func (f fixture) apply(b catalog.Batch) catalog.Result {
	f.Helper()
	result := must(f.store.Apply(f.ctx, b))
	return result
}

// put applies records of a source.
func (f fixture) put(source string, records ...catalog.Record) catalog.Result {
	f.Helper()
	return f.apply(catalog.Batch{Source: source, Entries: entries(records...)})
}

// give applies entries of a source.
func (f fixture) give(source string, list ...catalog.Entry) catalog.Result {
	f.Helper()
	return f.apply(catalog.Batch{Source: source, Entries: list})
}

func (f fixture) delete(source string, ids ...int64) catalog.Result {
	f.Helper()
	return f.apply(catalog.Batch{Source: source, Delete: ids})
}

func (f fixture) get(key string) catalog.Record {
	f.Helper()
	r := must(f.store.Get(f.ctx, ref(key)))
	return r
}

func (f fixture) gone(key string) {
	f.Helper()
	_, err := f.store.Get(f.ctx, ref(key))
	f.missing(err)
}

// keys lists and returns the keys of the page and the total.
func (f fixture) keys(q catalog.ListQuery) ([]string, int) {
	f.Helper()
	list, total, err := f.store.List(f.ctx, q)
	f.check(err)
	return keysOf(list), total
}

// lists checks a list that is not cut into pages.
func (f fixture) lists(q catalog.ListQuery, want ...string) {
	f.Helper()
	got, total := f.keys(q)
	f.equal("keys", got, want)
	f.equal("total", total, len(want))
}

func keysOf(list []catalog.Record) []string {
	var keys []string
	for _, r := range list {
		keys = append(keys, r.Key)
	}
	return keys
}

func (f fixture) linksFrom(id int64, relations ...catalog.Relation) []catalog.Link {
	f.Helper()
	links := must(f.store.LinksFrom(f.ctx, id, relations...))
	return links
}

func (f fixture) aliases(id int64) []string {
	f.Helper()
	list := must(f.store.Aliases(f.ctx, id))
	return list
}

func (f fixture) changes(after int64) []catalog.Change {
	f.Helper()
	list := must(f.store.Changes(f.ctx, after, 0))
	return list
}

func (f fixture) last() int64 {
	f.Helper()
	seq := must(f.store.LastChange(f.ctx))
	return seq
}

// quiet checks that fn logs no change.
func (f fixture) quiet(fn func()) {
	f.Helper()
	before := f.last()
	fn()
	f.equal("last change", f.last(), before)
}

func mention(key, snippet string) catalog.Link {
	return catalog.Link{Relation: catalog.Mentions, To: ref(key), Snippet: snippet}
}

func data(v any) json.RawMessage {
	raw, err := catalog.Encode(v)
	if err != nil {
		panic(err)
	}
	return raw
}
