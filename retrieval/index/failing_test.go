package index

import (
	"context"
	"errors"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/retrieval/passage"
	"almanac/testing/catalogfile"
)

var errBroken = errors.New("the disk cannot be read")

// broken is a catalog of which an operation fails, until it has no name.
func broken(store *sqlstore.Store, op *string) *sqlstore.Store {
	return catalogfile.Around(store, func(name string, do func() error) error {
		if name == *op {
			return errBroken
		}
		return do()
	})
}

// TestACatalogThatFailsLosesNothing: what is not stored is not indexed either, and comes with
// the next try.
func TestACatalogThatFailsLosesNothing(t *testing.T) {
	for _, method := range []string{"last change", "count changes", "changes", "records", "add words", "put passages"} {
		f := fixture(t, Config{}, "rotate")
		follow(t, f)
		op := method
		f.cfg.Store = broken(f.cfg.Store, &op)
		write(t, f.cfg.Store, "rotate", "burn", "mint")
		if _, err := f.CatchUp(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
		if records, _ := f.Corpus().Size(); records != 1 {
			t.Errorf("%s: %d records are indexed", method, records)
		}
		op = ""
		follow(t, f)
		if records, _ := f.Corpus().Size(); records != 3 {
			t.Errorf("%s: %d records are indexed after the failure", method, records)
		}
	}
}

// TestACatalogThatFailsIsNotTheEnginesFault: what is fed separately is well, whatever the
// catalog says.
func TestACatalogThatFailsIsNotTheEnginesFault(t *testing.T) {
	f := fixture(t, Config{Engines: onServers()}, "rotate")
	f.MarkReady()
	f.cfg.Store = broken(f.cfg.Store, new("last change"))
	for _, fd := range f.separate {
		_, err := f.catchUp(t.Context(), fd)
		f.recordFailure(fd, err)
	}
	for _, h := range f.Health() {
		if h.Err != nil {
			t.Errorf("%s is blamed: %v", h.Name, h.Err)
		}
	}
}

// TestAnIndexThatCannotBeReadIsNotLoaded: an empty one in its place would answer that there
// is nothing.
func TestAnIndexThatCannotBeReadIsNotLoaded(t *testing.T) {
	before := fixture(t, Config{}, "rotate", "burn")
	follow(t, before)
	for _, method := range []string{"generations", "words", "scan documents", "last change"} {
		cfg := before.cfg
		cfg.Store = broken(before.cfg.Store, &method)
		if err := New(cfg).Load(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	r, err := before.cfg.Store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "0"})
	if err != nil {
		t.Fatal(err)
	}
	id := passage.NewID(r.ID, 0)
	op := "passages"
	before.cfg.Store = broken(before.cfg.Store, &op)
	if texts, err := before.Texts(t.Context(), []passage.ID{id}); !errors.Is(err, errBroken) || texts != nil {
		t.Errorf("texts that cannot be read are %+v, %v", texts, err)
	}
	op = ""
	if texts, err := before.Texts(t.Context(), []passage.ID{id}); err != nil || texts[0].Text != "rotate" {
		t.Errorf("when they can be read they are %+v, %v", texts, err)
	}
}

// brokenVectors is a vector index of which one method fails.
type brokenVectors struct {
	*heldVectors
	method   string
	promoted int
}

func (x *brokenVectors) Checkpoint(ctx context.Context) (int64, error) {
	if x.method == "Checkpoint" {
		return 0, errBroken
	}
	return x.heldVectors.Checkpoint(ctx)
}

func (x *brokenVectors) Flush(context.Context) error {
	if x.method == "Flush" {
		return errBroken
	}
	return nil
}

func (x *brokenVectors) Promote(context.Context) error {
	if x.method == "Promote" {
		return errBroken
	}
	x.promoted++
	return nil
}

func brokenBy(method string) *brokenVectors {
	return &brokenVectors{heldVectors: &heldVectors{vectors: map[int64][][]float32{}}, method: method}
}

// TestAnEngineHereThatFailsIsAnError: without it nothing can be said to be indexed.
func TestAnEngineHereThatFailsIsAnError(t *testing.T) {
	vectors := brokenBy("Flush")
	f := fixture(t, Config{Engines: Engines{Vector: vectors, Embedder: &poisoned{word: "poison"}}}, "rotate")
	if _, err := f.CatchUp(t.Context()); !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "flush") {
		t.Errorf("what is not durable: %v", err)
	}
	vectors.method = "Checkpoint"
	err := New(f.cfg).Load(t.Context())
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "vector engine") {
		t.Errorf("an engine that cannot be read: %v", err)
	}
}

// TestAServerThatIsAheadIsFilledAgain: it has changes of a catalog that was replaced by an
// older copy.
func TestAServerThatIsAheadIsFilledAgain(t *testing.T) {
	vectors := &heldVectors{vectors: map[int64][][]float32{}}
	vectors.checkpoint.Store(1000)
	f := fixture(t, Config{Engines: Engines{Vector: vectors, VectorServer: true, Embedder: &poisoned{word: "poison"}}},
		"rotate", "burn")
	follow(t, f)
	head, err := f.cfg.Store.LastChange(t.Context())
	if err != nil || len(vectors.vectors) != 2 || vectors.checkpoint.Load() != head {
		t.Errorf("it has %d records up to %d of %d, %v", len(vectors.vectors), vectors.checkpoint.Load(), head, err)
	}
}

// refusesThenFails refuses several texts at once, and is away when it is asked for one.
type refusesThenFails struct{ poisoned }

func (e *refusesThenFails) Embed(_ context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	if len(texts) > 1 {
		return nil, embed.ErrRefused
	}
	return nil, embed.ErrUnavailable
}

// TestAModelThatGoesAwayRefusesNothing: a text is given up only if it was refused itself.
func TestAModelThatGoesAwayRefusesNothing(t *testing.T) {
	vectors := &heldVectors{vectors: map[int64][][]float32{}}
	long := "# Buoys\n\n" + strings.Repeat("buoy ", 200) + "\n\n# Lamps\n\n" + strings.Repeat("lamp ", 200)
	f := fixture(t, Config{Engines: Engines{Vector: vectors, Embedder: &refusesThenFails{}, EmbedderServer: true}}, long)
	follow(t, f)
	h := f.Health()[0]
	if !errors.Is(h.Err, embed.ErrUnavailable) || h.Refused != 0 || h.Lag != 1 || len(vectors.vectors) != 0 {
		t.Errorf("health %+v with %d records", h, len(vectors.vectors))
	}
}
