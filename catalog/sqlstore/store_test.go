package sqlstore_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/catalog/postgres"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/catalogfile"
	"almanac/testing/postgrestest"
)

// promise is one subtest.
type promise struct {
	name string
	test func(f fixture)
}

func TestMain(m *testing.M) { os.Exit(postgrestest.M{M: m}.Run()) }

// TestSQLite holds the promises of the catalog on SQLite.
func TestSQLite(t *testing.T) {
	hold(t, func(t *testing.T) (*sqlstore.Store, error) {
		return sqlite.Open(t.Context(), sqlite.Config{Path: catalogfile.Empty(t)})
	})
}

// TestPostgreSQL holds the same promises on PostgreSQL.
func TestPostgreSQL(t *testing.T) {
	address := postgrestest.Database(t)
	open := func(t *testing.T) (*sqlstore.Store, error) {
		return postgres.Open(t.Context(), postgres.Config{URL: address})
	}
	if err := must(open(t)).Close(); err != nil {
		t.Fatal(err)
	}
	hold(t, func(t *testing.T) (*sqlstore.Store, error) {
		postgrestest.Empty(t, address)
		return open(t)
	})
}

// hold checks empty stores that open makes: each subtest is named after the promise that it holds.
func hold(t *testing.T, open func(t *testing.T) (*sqlstore.Store, error)) {
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
					store := must(open(t))
					t.Cleanup(func() {
						if err := store.Close(); err != nil {
							t.Error(err)
						}
					})
					p.test(fixture{t, t.Context(), store})
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
	store *sqlstore.Store
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

const ugly = "nul \x00 invalid \xff\xfe end"

var textPromises = []promise{
	{"Unicode is kept as it is", func(f fixture) {
		for _, key := range []string{"żółć", "日本語", "🦉", "e\u0301", "\u202eabc", "line\nbreak", "' OR 1=1 --"} {
			r := doc(key)
			r.Body, r.Tags = key+key, []string{key}
			f.put("docs", r)
			got := f.get(key)
			f.equal("body", got.Body, key+key)
			f.equal("tags", got.Tags, []string{key})
		}
	}},
	{"NUL and invalid UTF-8 do not fail a batch anywhere", func(f fixture) {
		r := catalog.Record{Kind: catalog.KindDoc, Key: ugly, Title: ugly, URL: ugly, Path: ugly, Container: ugly,
			State: ugly, Category: ugly, Author: ugly, Body: ugly, Summary: ugly, Tags: []string{ugly},
			Data: []byte("{\"a\":\"\xff\"}")}
		cursor := ugly
		result := f.apply(catalog.Batch{Source: ugly, Cursor: &cursor,
			Entries: []catalog.Entry{{Record: r, Aliases: []string{"alias " + ugly},
				Links: []catalog.Link{mention(ugly, ugly)},
				Votes: []catalog.Vote{{Voter: ugly, Choice: ugly, Reason: ugly, URL: ugly}}}, {Record: doc("after")}},
			Events: []catalog.Event{{Ref: ref(ugly), Field: ugly, From: ugly, To: ugly, RawFrom: ugly, RawTo: ugly,
				Via: ugly, Commit: ugly, URL: ugly, Subject: ugly}},
		})
		f.equal("result", result, catalog.Result{Created: 2})
		clean := catalog.Clean(ugly)
		got := f.get(ugly)
		f.equal("key", got.Key, clean)
		f.equal("body", got.Body, clean)
		f.equal("data", string(got.Data), `{"a":"�`+`"}`)
		f.equal("by alias", f.get("alias "+ugly).ID, got.ID)
		f.lists(catalog.ListQuery{Sources: []string{ugly}, States: []string{ugly}, Tags: []string{ugly}, Author: ugly},
			clean)
		f.equal("events", len(f.events(catalog.EventQuery{Ref: ref(ugly), Field: ugly})), 1)
		f.equal("links", len(must(f.store.LinksTo(f.ctx, ref(ugly)))), 1)
		f.equal("live", len(must(f.store.LiveKeys(f.ctx, ugly))), 2)
		f.equal("again", f.put(ugly, with("after", func(*catalog.Record) {})), catalog.Result{Unchanged: 1})
	}},
	{"NUL and invalid UTF-8 do not fail other writes", func(f fixture) {
		f.check(f.store.SetMeta(f.ctx, ugly, ugly))
		f.equal("meta", must(f.store.Meta(f.ctx, ugly)), catalog.Clean(ugly))
		f.check(f.store.SetSource(f.ctx, catalog.SourceState{Name: ugly, Kind: ugly, Error: ugly}))
		must(f.store.Enqueue(f.ctx, catalog.Request{Kind: ugly, Argument: ugly}))
		g := f.generation(ugly)
		f.equal("again", f.generation(ugly), g)
		p := catalog.Passage{ID: 1, Anchor: ugly, Section: ugly, Heading: ugly, Text: ugly,
			Places: []catalog.Place{{Anchor: ugly, Section: ugly, Heading: ugly}}}
		f.check(f.store.PutPassages(f.ctx, g.ID, batch(1, catalog.RecordPassages{Passages: []catalog.Passage{p},
			Document: ugly})))
		f.equal("documents are bytes", f.documents(g.ID), []string{"0 " + ugly})
	}},
	{"huge bodies and titles are kept whole", func(f fixture) {
		r := doc("big")
		r.Title = strings.Repeat("long title ", 10_000)
		r.Body = strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB
		r.Data = data(catalog.Doc{Format: strings.Repeat("x", 1<<20)})
		f.put("docs", r)
		got := f.get("big")
		f.equal("title", got.Title == r.Title, true)
		f.equal("body", got.Body == r.Body, true)
		f.equal("data", bytes.Equal(got.Data, r.Data), true)
		f.equal("again", f.put("docs", r), catalog.Result{Unchanged: 1})
		f.lists(catalog.ListQuery{Text: "title long", Order: catalog.ByTitle}, "big")
	}},
	{"a key longer than MaxKey is refused", func(f fixture) {
		if _, err := f.store.Apply(f.ctx, catalog.Batch{Source: "docs",
			Entries: entries(doc(strings.Repeat("k", catalog.MaxKey+1)))}); err == nil {
			f.Fatal("no error")
		}
		long := strings.Repeat("1k", catalog.MaxKey/2)
		f.put("docs", doc(long))
		f.lists(catalog.ListQuery{}, long)
	}},
}
