package sqlstore_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
)

func passages(record int64, texts ...string) catalog.RecordPassages {
	rp := catalog.RecordPassages{Record: record, Document: "\x00\xff" + strings.Join(texts, "")}
	for i, text := range texts {
		rp.Passages = append(rp.Passages, catalog.Passage{ID: record<<16 | int64(i), Record: record, Ordinal: i,
			Anchor: "a", Section: "a~2", Heading: "One › Two", Text: text,
			Places: []catalog.Place{{Anchor: "a"}, {At: 7, Anchor: "b", Section: "b", Heading: "One › “<b>"}}})
	}
	return rp
}

// batch has records up to a position in the change log.
func batch(checkpoint int64, records ...catalog.RecordPassages) catalog.IndexBatch {
	return catalog.IndexBatch{Records: records, Checkpoint: checkpoint}
}

func (f fixture) generation(fingerprint string) catalog.Generation {
	f.Helper()
	g := must(f.store.OpenGeneration(f.ctx, fingerprint))
	return g
}

// documents scans a generation.
func (f fixture) documents(generation int64) []string {
	f.Helper()
	out := []string{}
	f.check(f.store.ScanDocuments(f.ctx, generation, func(record int64, data []byte) error {
		out = append(out, fmt.Sprintf("%d %s", record, data))
		return nil
	}))
	return out
}

// statistics scans those of a generation after a position.
func (f fixture) statistics(generation, after int64) []string {
	f.Helper()
	out := []string{}
	f.check(f.store.ScanStatistics(f.ctx, generation, after, func(s catalog.Statistics) error {
		out = append(out, fmt.Sprintf("%d–%d %s", s.Since, s.Until, s.Data))
		return nil
	}))
	return out
}

// texts returns those of the passages of records below ten.
func (f fixture) texts(generation int64) []string {
	f.Helper()
	var ids []int64
	for record := range int64(10) {
		for o := range int64(5) {
			ids = append(ids, record<<16|o)
		}
	}
	list := must(f.store.Passages(f.ctx, generation, ids))
	out := []string{}
	for _, p := range list {
		out = append(out, fmt.Sprintf("%d.%d %s", p.Record, p.Ordinal, p.Text))
	}
	slices.Sort(out)
	return out
}

var indexPromises = []promise{
	{"a fingerprint has one generation", func(f fixture) {
		a := f.generation("one")
		f.equal("again", f.generation("one"), a)
		b := f.generation("two")
		if a.ID == b.ID || a.CreatedAt.IsZero() || a.Checkpoint != 0 {
			f.Fatalf("generations are %+v and %+v", a, b)
		}
		f.equal("generations", must(f.store.Generations(f.ctx)), []catalog.Generation{a, b})
	}},
	{"a retired generation stays beside the one that takes its fingerprint", func(f fixture) {
		a := f.generation("one")
		f.check(f.store.PutPassages(f.ctx, a.ID, batch(3, passages(7, "first"))))
		f.check(f.store.RetireGeneration(f.ctx, a.ID))
		f.check(f.store.RetireGeneration(f.ctx, a.ID))
		b := f.generation("one")
		if a.ID == b.ID || len(f.texts(a.ID)) != 1 || len(f.texts(b.ID)) != 0 {
			f.Fatalf("generations are %+v and %+v", a, b)
		}
		if err := f.store.RestoreGeneration(f.ctx, a.ID); !errors.Is(err, catalog.ErrConflict) {
			f.Fatalf("error is %v", err)
		}
		f.check(f.store.DropGeneration(f.ctx, b.ID))
		f.check(f.store.RestoreGeneration(f.ctx, a.ID))
		f.equal("restored", f.generation("one").ID, a.ID)
		f.missing(f.store.RetireGeneration(f.ctx, 99))
	}},
	{"passages are read as they were written", func(f fixture) {
		g := f.generation("g").ID
		want := passages(7, "first", "second")
		f.check(f.store.PutPassages(f.ctx, g, batch(3, want)))
		f.equal("by id", must(f.store.Passages(f.ctx, g, []int64{7<<16 | 1, 1})), want.Passages[1:])
	}},
	{"passages and checkpoint move together", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(5, passages(1, "a"))))
		f.equal("checkpoint", f.generation("g").Checkpoint, int64(5))
		twice := passages(2, "b", "c")
		twice.Passages[1].ID = twice.Passages[0].ID
		if err := f.store.PutPassages(f.ctx, g, batch(9, passages(1, "new"), twice)); err == nil {
			f.Fatal("two passages with one id were taken")
		}
		f.equal("checkpoint", f.generation("g").Checkpoint, int64(5))
		f.equal("passages", f.texts(g), []string{"1.0 a"})
		f.equal("documents", f.documents(g), []string{"1 \x00\xffa"})
	}},
	{"a record's passages are replaced as a whole", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(1, passages(1, "a", "b", "c"), passages(2, "d"))))
		f.check(f.store.PutPassages(f.ctx, g, batch(2, passages(1, "e"))))
		f.equal("passages", f.texts(g), []string{"1.0 e", "2.0 d"})
		f.check(f.store.PutPassages(f.ctx, g, batch(3, catalog.RecordPassages{Record: 1})))
		f.equal("passages", f.texts(g), []string{"2.0 d"})
		f.equal("documents", f.documents(g), []string{"2 \x00\xffd"})
	}},
	{"generations do not share passages", func(f fixture) {
		a, b := f.generation("a").ID, f.generation("b").ID
		f.check(f.store.PutPassages(f.ctx, a, batch(1, passages(1, "of a"))))
		f.check(f.store.PutPassages(f.ctx, b, batch(2, passages(1, "of b"))))
		f.check(f.store.DropGeneration(f.ctx, a))
		f.equal("a", len(f.texts(a))+len(f.documents(a)), 0)
		f.equal("b", f.texts(b), []string{"1.0 of b"})
		f.equal("number", len(must(f.store.Generations(f.ctx))), 1)
		f.check(f.store.DropGeneration(f.ctx, a))
		if again := f.generation("a"); again.ID == a || again.Checkpoint != 0 {
			f.Fatalf("a dropped generation came back as %+v", again)
		}
	}},
	{"words are kept once, by generation", func(f fixture) {
		a, b := f.generation("a").ID, f.generation("b").ID
		f.check(f.store.AddWords(f.ctx, a, []string{"ledger", "zürich"}))
		f.check(f.store.AddWords(f.ctx, a, []string{"wallet", "ledger"}))
		f.check(f.store.AddWords(f.ctx, b, []string{"other"}))
		words := must(f.store.Words(f.ctx, a))
		slices.Sort(words)
		f.equal("words", words, []string{"ledger", "wallet", "zürich"})
		f.check(f.store.DropWords(f.ctx, a, []string{"wallet", "none"}))
		words = must(f.store.Words(f.ctx, a))
		slices.Sort(words)
		f.equal("words that are left", words, []string{"ledger", "zürich"})
		f.check(f.store.DropGeneration(f.ctx, a))
		f.equal("words of a dropped generation", len(must(f.store.Words(f.ctx, a))), 0)
	}},
	{"an unknown generation is ErrNotFound", func(f fixture) {
		f.missing(f.store.PutPassages(f.ctx, 99, batch(1, passages(1, "a"))))
	}},
	{"a scan goes by record", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(1, passages(9, "z"), passages(3, "x", "y"))))
		f.check(f.store.PutPassages(f.ctx, g, batch(2, passages(1, "w"))))
		f.equal("scan", f.documents(g), []string{"1 \x00\xffw", "3 \x00\xffxy", "9 \x00\xffz"})
	}},
	{"documents are read by record", func(f fixture) {
		g, other := f.generation("g").ID, f.generation("other").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(1, passages(1, "a"), passages(2, "b"), passages(3, "c"))))
		f.check(f.store.PutPassages(f.ctx, other, batch(1, passages(2, "of the other"))))
		var got []string
		f.check(f.store.Documents(f.ctx, g, []int64{3, 7, 2}, func(record int64, data []byte) error {
			got = append(got, fmt.Sprintf("%d %s", record, data))
			return nil
		}))
		slices.Sort(got)
		f.equal("documents", got, []string{"2 \x00\xffb", "3 \x00\xffc"})
		stop := errors.New("stop")
		err := f.store.Documents(f.ctx, g, []int64{1, 2}, func(int64, []byte) error { return stop })
		if !errors.Is(err, stop) {
			f.Fatalf("error is %v", err)
		}
	}},
	{"statistics go on from the checkpoint before", func(f fixture) {
		counted := func(checkpoint int64, data string, whole bool) catalog.IndexBatch {
			b := batch(checkpoint)
			b.Statistics, b.Whole = []byte(data), whole
			return b
		}
		g, other := f.generation("g").ID, f.generation("other").ID
		f.check(f.store.PutPassages(f.ctx, g, counted(4, "\x00first", false)))
		f.check(f.store.PutPassages(f.ctx, g, counted(4, "again", false)))
		f.check(f.store.PutPassages(f.ctx, g, counted(9, "second", false)))
		f.check(f.store.PutPassages(f.ctx, other, counted(5, "of the other", false)))
		f.equal("all", f.statistics(g, 0), []string{"0–4 \x00first", "4–9 second"})
		f.equal("after 4", f.statistics(g, 4), []string{"4–9 second"})
		f.check(f.store.PutPassages(f.ctx, g, counted(9, "whole", true)))
		f.check(f.store.PutPassages(f.ctx, g, counted(11, "third", false)))
		f.equal("after the whole", f.statistics(g, 4), []string{"0–9 whole", "9–11 third"})
		f.missing(f.store.PutPassages(f.ctx, 99, counted(1, "a", false)))
		twice := counted(12, "lost", false)
		twice.Records = []catalog.RecordPassages{passages(2, "b", "c")}
		twice.Records[0].Passages[1].ID = twice.Records[0].Passages[0].ID
		if err := f.store.PutPassages(f.ctx, g, twice); err == nil {
			f.Fatal("two passages with one id were taken")
		}
		f.equal("after a failure", f.statistics(g, 9), []string{"9–11 third"})
		f.check(f.store.DropGeneration(f.ctx, g))
		f.equal("of a dropped generation", len(f.statistics(g, 0)), 0)
		f.equal("of the other", len(f.statistics(other, 0)), 1)
	}},
	{"a scan ends with fn's error", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(1, passages(1, "a"), passages(2, "b"))))
		stop, n := errors.New("stop"), 0
		err := f.store.ScanDocuments(f.ctx, g, func(int64, []byte) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			f.Fatalf("error is %v after %d", err, n)
		}
	}},
	{"a scan can read and write in between", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, batch(1, passages(1, "a", "b"))))
		f.check(f.store.ScanDocuments(f.ctx, g, func(record int64, _ []byte) error {
			if err := f.store.SetMeta(f.ctx, "k", "v"); err != nil {
				return err
			}
			_, err := f.store.Passages(f.ctx, g, []int64{record << 16})
			return err
		}))
	}},
	{"ten thousand passage ids are one call", func(f fixture) {
		g := f.generation("g").ID
		var list []catalog.RecordPassages
		var ids []int64
		for i := range int64(10_000) {
			ids = append(ids, i<<16)
			if i < 1_200 {
				list = append(list, passages(i, "t"))
			}
		}
		f.check(f.store.PutPassages(f.ctx, g, batch(1, list...)))
		f.equal("number", len(must(f.store.Passages(f.ctx, g, ids))), 1_200)
		f.check(f.store.PutPassages(f.ctx, g, batch(2, list...)))
		f.equal("number", len(f.documents(g)), 1_200)
	}},
}
