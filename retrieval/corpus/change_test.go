package corpus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"almanac/catalog"
	"almanac/retrieval/analysis"
)

// table stands in for documents in a catalog.
type table map[int64]string

func (x table) read(_ context.Context, records []int64, fn func(int64, []byte) error) error {
	for _, r := range records {
		if raw, ok := x[r]; ok {
			if err := fn(r, []byte(raw)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestDocumentsInTheCatalogCountAlike has a process that leaves its documents in the
// catalog write batches, and another take what it stores of them, now and then only after
// the whole was stored again. Both have the statistics, the words and the documents of a
// corpus in memory.
func TestDocumentsInTheCatalogCountAlike(t *testing.T) {
	ids := rapid.OneOf(rapid.Int64Range(1, 9), rapid.Int64Range(0, 1<<40))
	rapid.Check(t, func(t *rapid.T) {
		stored, held := table{}, map[int64]source{}
		const few = 3000 // bytes: some documents
		memory := NewWriter(time.Now, nil)
		writer := NewWriter(time.Now, NewStore(stored.read, few))
		reader := NewWriter(time.Now, NewStore(stored.read, few))
		take := func(c Change) Change {
			got, err := DecodeChange(c.Encode())
			if err != nil {
				t.Fatal(err)
			}
			got.Whole = c.Whole
			return got
		}
		for batch := range rapid.IntRange(1, 8).Draw(t, "batches") {
			remove := rapid.SliceOfN(ids, 0, 3).Draw(t, "remove")
			put := map[int64]*Document{}
			for _, s := range rapid.SliceOfN(sources(ids), 0, 4).Draw(t, "put") {
				put[s.record.ID], held[s.record.ID] = NewDocument(s.record, s.passages), s
			}
			remove = slices.DeleteFunc(remove, func(r int64) bool { return put[r] != nil })
			for _, r := range remove {
				delete(held, r)
			}
			documents, words := slices.Collect(maps.Values(put)), []string{fmt.Sprintf("batch%c", 'a'+batch)}
			apply(t, memory, documents, remove, words)
			c, err := writer.Change(t.Context(), documents, remove, words)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range documents {
				stored[d.Record] = d.Encoded()
			}
			for _, r := range remove {
				delete(stored, r)
			}
			writer.Apply(c)
			if rapid.Bool().Draw(t, "whole") {
				c = writer.Corpus().Whole()
				c.Words = words
			}
			reader.Apply(take(c))
		}
		for _, w := range []*Writer{memory, writer, reader} {
			state{w.Corpus(), held}.check(t, time.Now())
			if got, want := w.Corpus().words.all, memory.Corpus().words.all; !slices.Equal(got, want) {
				t.Fatalf("words %q, want %q", got, want)
			}
			records := slices.Sorted(maps.Keys(held))
			list, err := w.Corpus().AppendDocuments(t.Context(), nil, append(records, 1<<41))
			if err != nil || len(list) != len(records) {
				t.Fatalf("%d documents of %d, %v", len(list), len(records), err)
			}
			for _, d := range list {
				if want, _ := memory.Corpus().Document(t.Context(), d.Record); d.raw != want.raw {
					t.Fatalf("document %d is another", d.Record)
				}
			}
		}
		if s := writer.Corpus().store; s.bytes > few {
			t.Fatalf("%d bytes of documents are kept, want at most %d", s.bytes, few)
		}
	})
}

// TestKeepsTheNewestDocument: what was read before a change, and comes after it, is not
// kept; what is kept is not read again.
func TestKeepsTheNewestDocument(t *testing.T) {
	edition := func(title string) *Document { return NewDocument(catalog.Record{ID: 5, Title: title}, nil) }
	stored, reads := table{5: edition("old").raw}, 0
	during := func() {}
	w := NewWriter(time.Now, NewStore(func(ctx context.Context, records []int64,
		fn func(int64, []byte) error) error {
		reads++
		read := maps.Clone(stored)
		during()
		return read.read(ctx, records, fn)
	}, 1<<20))
	title := func() string {
		d, err := w.Corpus().Document(t.Context(), 5)
		if err != nil {
			t.Fatal(err)
		}
		return d.Title
	}
	change := func() {
		stored[5] = edition("new").raw
		w.Apply(Change{records: []int64{5}})
	}
	during = change
	if got := title(); got != "old" {
		t.Errorf("what was read is %q", got)
	}
	during = func() {}
	if got := title(); got != "new" {
		t.Errorf("after the change it is %q", got)
	}
	if title(); reads != 2 {
		t.Errorf("%d reads, want 2", reads)
	}
	failed := errors.New("the catalog is away")
	w = NewWriter(time.Now, NewStore(func(context.Context, []int64, func(int64, []byte) error) error {
		return failed
	}, 1<<20))
	_, document := w.Corpus().Document(t.Context(), 5)
	_, list := w.Corpus().AppendDocuments(t.Context(), nil, []int64{5})
	_, next := w.Change(t.Context(), []*Document{edition("next")}, nil, nil)
	for _, err := range []error{document, list, next} {
		if !errors.Is(err, failed) {
			t.Errorf("error %v", err)
		}
	}
}

func FuzzDecodeChange(f *testing.F) {
	terms, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{
		analysis.Title: analysis.Analyze("a title"), analysis.Body: analysis.Analyze("the keys of CIP-56")}))
	if err != nil {
		f.Fatal(err)
	}
	d := NewDocument(catalog.Record{ID: 7, Title: "a title", CreatedAt: time.Unix(1<<30, 0)}, []analysis.Packed{terms})
	for _, c := range []Change{{}, Counted([]*Document{d}), {Words: []string{"keys", ""}}, changeOf(nil, []*Document{d})} {
		b := c.Encode()
		f.Add(b[:len(b)-crc32.Size])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := DecodeChange(b); err == nil {
			return // it has the checksum
		}
		c, err := DecodeChange(binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)))
		switch {
		case err != nil && !errors.Is(err, ErrCorrupt):
			t.Errorf("error %v", err)
		case err != nil:
			return
		}
		w := NewWriter(time.Now, NewStore(table{}.read, 0))
		w.Apply(c)
		w.Corpus().Statistics(c.terms.terms)
		w.Corpus().Expand("keyz", 3)
	})
}
