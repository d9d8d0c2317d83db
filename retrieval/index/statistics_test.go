package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/keyword"
	"almanac/testing/catalogfile"
)

var errCutOff = errors.New("the connection was cut off")

// anyKeyword takes changes and answers nothing.
type anyKeyword struct {
	keyword.Engine
	at int64
}

func (e *anyKeyword) Apply(_ context.Context, b keyword.Batch) error {
	e.at = b.Checkpoint
	return nil
}
func (e *anyKeyword) Checkpoint(context.Context) (int64, error) { return e.at, nil }
func (e *anyKeyword) Flush(context.Context) error               { return nil }

// onServers are engines of which others have the changes too.
func onServers() Engines {
	return Engines{Keyword: &anyKeyword{}, KeywordServer: true, Vector: &heldVectors{vectors: map[int64][][]float32{}},
		VectorServer: true, Embedder: &poisoned{word: "poison"}}
}

// beside returns another loaded follower of a generation.
func beside(t *testing.T, f *Follower, change func(*Config)) *Follower {
	t.Helper()
	cfg := f.cfg
	cfg.Engines = onServers()
	change(&cfg)
	next := New(cfg)
	if err := next.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return next
}

func asReader(c *Config) { c.ReadOnly, c.Stored = true, true }
func asWriter(c *Config) { c.ReadOnly, c.Stored = false, true }
func inMemory(c *Config) { c.ReadOnly, c.Stored = false, false }

func follow(t *testing.T, f *Follower) {
	t.Helper()
	if _, err := f.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sameStatistics compares all that is counted in two corpora, and what words are read as.
func sameStatistics(t *testing.T, what string, got, want *Follower) {
	t.Helper()
	a, b := got.Corpus(), want.Corpus()
	if !bytes.Equal(a.Whole().Encode(), b.Whole().Encode()) {
		x, y := a.Size()
		v, w := b.Size()
		t.Errorf("%s: other statistics: %d records, %d passages; want %d, %d", what, x, y, v, w)
	}
	for _, word := range []string{"beacom", "lantren", "harbuor", "tidess"} {
		if x, y := fmt.Sprint(a.Expand(word, 5)), fmt.Sprint(b.Expand(word, 5)); x != y {
			t.Errorf("%s: %s is read as %s, want %s", what, word, x, y)
		}
	}
}

// TestAReaderTakesWhatIsStored changes documents under readers that leave them in the
// catalog: they have what a reader with the documents in memory has, and read no record.
func TestAReaderTakesWhatIsStored(t *testing.T) {
	first := fixture(t, Config{Engines: onServers()}, "beacon harbour", "lantern", "tides of the harbour")
	records := 0
	store := catalogfile.Around(first.cfg.Store, func(op string, do func() error) error {
		if op == "records" {
			records++
		}
		return do()
	})
	early := beside(t, first, func(c *Config) { asReader(c); c.Store = store })
	writer := first
	edits := [][]string{{"beacon", "lantern", "tides"}, {"harbour", "harbour lantern", "tides", "beacon beacon"},
		{"quay"}, {"quay", "quay", "quay", "harbour"}, {strings.Repeat("tides and lantern ", 900)}}
	for round, bodies := range edits {
		write(t, first.cfg.Store, bodies...)
		if round == 2 {
			remove(t, first.cfg.Store, "3")
		}
		switch round {
		case 1:
			writer = beside(t, first, asWriter)
		case 3:
			writer = beside(t, first, inMemory) // stores the whole again
		}
		follow(t, writer)
		follow(t, early)
		want := beside(t, first, func(c *Config) { c.ReadOnly = true })
		follow(t, want)
		sameStatistics(t, fmt.Sprint("a reader in round ", round), early, want)
		sameStatistics(t, fmt.Sprint("the writer in round ", round), writer, want)
		late := beside(t, first, asReader)
		sameStatistics(t, fmt.Sprint("a new reader in round ", round), late, want)
		for record := range int64(6) {
			d, err := early.Corpus().Document(t.Context(), record)
			if x, _ := want.Corpus().Document(t.Context(), record); err != nil || (d == nil) != (x == nil) ||
				d != nil && d.Encoded() != x.Encoded() {
				t.Errorf("round %d: document %d is not that in memory: %v", round, record, err)
			}
		}
	}
	if records > 0 {
		t.Errorf("the reader read records %d times", records)
	}
}

// remove deletes a record.
func remove(t *testing.T, store *sqlstore.Store, key string) {
	t.Helper()
	r, err := store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: key})
	if err == nil {
		_, err = store.Apply(t.Context(), catalog.Batch{Source: "site", Delete: []int64{r.ID}})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStatisticsAreCountedWhereThereAreNone has an index of which none were stored: readers
// say so, and the process that writes counts them.
func TestStatisticsAreCountedWhereThereAreNone(t *testing.T) {
	alone := fixture(t, Config{}, "beacon harbour", "lantern", "tides")
	follow(t, alone)
	reader := beside(t, alone, asReader)
	if _, err := reader.CatchUp(t.Context()); !errors.Is(err, errUncounted) {
		t.Errorf("without statistics a reader says %v", err)
	}
	writer := beside(t, alone, asWriter)
	sameStatistics(t, "counted", writer, alone)
	follow(t, reader)
	sameStatistics(t, "a reader", reader, alone)
	write(t, alone.cfg.Store, "quay") // by a process without servers
	follow(t, alone)
	sameStatistics(t, "counted again", beside(t, alone, asWriter), alone)
	damaged := catalog.IndexBatch{Checkpoint: writer.head.Load() + 9, Statistics: []byte("noise")}
	if err := alone.cfg.Store.PutPassages(t.Context(), alone.cfg.Generation.ID, damaged); err != nil {
		t.Fatal(err)
	}
	late := New(reader.cfg)
	if err := late.Load(t.Context()); err == nil || !strings.Contains(err.Error(), "reindex") {
		t.Errorf("damaged statistics: %v", err)
	}
	sameStatistics(t, "counted instead of damaged ones", beside(t, alone, asWriter), alone)
}

// TestABatchThatIsStoredWithoutAnAnswer has the catalog store batches whose writer does not
// learn of it, with another change before it tries again: nothing is counted twice.
func TestABatchThatIsStoredWithoutAnAnswer(t *testing.T) {
	for name, role := range map[string]func(*Config){"in memory": inMemory, "in the catalog": asWriter} {
		first := fixture(t, Config{Engines: onServers()}, "beacon harbour", "lantern")
		follow(t, first)
		cutOff := false // the next batch is stored without an answer
		store := catalogfile.Around(first.cfg.Store, func(op string, do func() error) error {
			err := do()
			if err == nil && cutOff && op == "put passages" {
				cutOff, err = false, errCutOff
			}
			return err
		})
		writer := beside(t, first, func(c *Config) { role(c); c.Store = store })
		reader := beside(t, first, asReader)
		for round := range 3 {
			write(t, store, fmt.Sprint("beacon tides ", round), "harbour")
			cutOff = true
			if _, err := writer.CatchUp(t.Context()); !errors.Is(err, errCutOff) {
				t.Fatalf("%s: error %v", name, err)
			}
			follow(t, reader)
			write(t, store, "lantern", fmt.Sprint("harbour lantern ", round), "quay")
			follow(t, writer)
			follow(t, reader)
			want := beside(t, first, func(c *Config) { c.ReadOnly = true })
			sameStatistics(t, name+", the writer", writer, want)
			sameStatistics(t, name+", a reader", reader, want)
		}
	}
}
