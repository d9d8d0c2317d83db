package catalogtest

import (
	"errors"
	"fmt"
	"slices"

	"almanac/catalog"
)

func passages(record int64, texts ...string) catalog.RecordPassages {
	rp := catalog.RecordPassages{Record: record}
	for i, text := range texts {
		rp.Passages = append(rp.Passages, catalog.Passage{ID: record<<16 | int64(i), Record: record, Ordinal: i,
			Anchor: "a", Section: "a~2", Heading: "One › Two", Text: text, Terms: []byte{0, 1, 255, byte(i)}, Hash: "h"})
	}
	return rp
}

func (f fixture) generation(fingerprint string) catalog.Generation {
	f.Helper()
	g, err := f.store.OpenGeneration(f.ctx, fingerprint)
	f.check(err)
	return g
}

// texts scans a generation.
func (f fixture) texts(generation int64) []string {
	f.Helper()
	var out []string
	f.check(f.store.ScanPassages(f.ctx, generation, true, func(p catalog.Passage) error {
		out = append(out, fmt.Sprintf("%d.%d %s", p.Record, p.Ordinal, p.Text))
		return nil
	}))
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
		list, err := f.store.Generations(f.ctx)
		f.check(err)
		f.equal("generations", list, []catalog.Generation{a, b})
	}},
	{"passages are read as they were written", func(f fixture) {
		g := f.generation("g").ID
		want := passages(7, "first", "second")
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{want}, 3))
		got, err := f.store.RecordPassages(f.ctx, g, 7)
		f.check(err)
		f.equal("by record", got, want.Passages)
		got, err = f.store.Passages(f.ctx, g, []int64{7<<16 | 1, 1})
		f.check(err)
		f.equal("by id", got, want.Passages[1:])
	}},
	{"passages and checkpoint move together", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "a")}, 5))
		f.equal("checkpoint", f.generation("g").Checkpoint, int64(5))
		twice := passages(2, "b", "c")
		twice.Passages[1].ID = twice.Passages[0].ID
		if err := f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "new"), twice}, 9); err == nil {
			f.Fatal("two passages with one id were taken")
		}
		f.equal("checkpoint", f.generation("g").Checkpoint, int64(5))
		f.equal("passages", f.texts(g), []string{"1.0 a"})
	}},
	{"a record's passages are replaced as a whole", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "a", "b", "c"), passages(2, "d")},
			1))
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "e")}, 2))
		f.equal("passages", f.texts(g), []string{"1.0 e", "2.0 d"})
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{{Record: 1}}, 3))
		f.equal("passages", f.texts(g), []string{"2.0 d"})
	}},
	{"generations do not share passages", func(f fixture) {
		a, b := f.generation("a").ID, f.generation("b").ID
		f.check(f.store.PutPassages(f.ctx, a, []catalog.RecordPassages{passages(1, "of a")}, 1))
		f.check(f.store.PutPassages(f.ctx, b, []catalog.RecordPassages{passages(1, "of b")}, 2))
		f.check(f.store.DropGeneration(f.ctx, a))
		f.equal("a", len(f.texts(a)), 0)
		f.equal("b", f.texts(b), []string{"1.0 of b"})
		list, err := f.store.Generations(f.ctx)
		f.check(err)
		f.equal("number", len(list), 1)
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
		words, err := f.store.Words(f.ctx, a)
		f.check(err)
		slices.Sort(words)
		f.equal("words", words, []string{"ledger", "wallet", "zürich"})
		f.check(f.store.DropGeneration(f.ctx, a))
		words, err = f.store.Words(f.ctx, a)
		f.check(err)
		f.equal("words of a dropped generation", len(words), 0)
	}},
	{"an unknown generation is ErrNotFound", func(f fixture) {
		f.missing(f.store.PutPassages(f.ctx, 99, []catalog.RecordPassages{passages(1, "a")}, 1))
	}},
	{"a scan goes by id and may leave the text out", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(9, "z"), passages(3, "x", "y")}, 1))
		f.equal("scan", f.texts(g), []string{"3.0 x", "3.1 y", "9.0 z"})
		f.check(f.store.ScanPassages(f.ctx, g, false, func(p catalog.Passage) error {
			if p.Text != "" || len(p.Terms) != 4 {
				return fmt.Errorf("passage is %+v", p)
			}
			return nil
		}))
	}},
	{"a scan ends with fn's error", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "a", "b")}, 1))
		stop, n := errors.New("stop"), 0
		err := f.store.ScanPassages(f.ctx, g, true, func(catalog.Passage) error { n++; return stop })
		if !errors.Is(err, stop) || n != 1 {
			f.Fatalf("error is %v after %d", err, n)
		}
	}},
	{"a scan can read and write in between", func(f fixture) {
		g := f.generation("g").ID
		f.check(f.store.PutPassages(f.ctx, g, []catalog.RecordPassages{passages(1, "a", "b")}, 1))
		f.check(f.store.ScanPassages(f.ctx, g, true, func(p catalog.Passage) error {
			if err := f.store.SetMeta(f.ctx, "k", "v"); err != nil {
				return err
			}
			_, err := f.store.RecordPassages(f.ctx, g, p.Record)
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
		f.check(f.store.PutPassages(f.ctx, g, list, 1))
		got, err := f.store.Passages(f.ctx, g, ids)
		f.check(err)
		f.equal("number", len(got), 1_200)
		f.check(f.store.PutPassages(f.ctx, g, list, 2))
		f.equal("number", len(f.texts(g)), 1_200)
	}},
}
