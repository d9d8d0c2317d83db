package index

import (
	"context"
	"errors"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/embed"
	"almanac/retrieval/passage"
)

// brokenStore is a catalog of which one method fails.
type brokenStore struct {
	catalog.Store
	method string
}

var errBroken = errors.New("the disk cannot be read")

func (s *brokenStore) err(method string) error {
	if s.method == method {
		return &catalog.Failure{Op: method, Err: errBroken}
	}
	return nil
}

func (s *brokenStore) LastChange(ctx context.Context) (int64, error) {
	n, err := s.Store.LastChange(ctx)
	return n, errors.Join(err, s.err("LastChange"))
}

func (s *brokenStore) CountChanges(ctx context.Context, after int64) (int, error) {
	n, err := s.Store.CountChanges(ctx, after)
	return n, errors.Join(err, s.err("CountChanges"))
}

func (s *brokenStore) Changes(ctx context.Context, after int64, limit int) ([]catalog.Change, error) {
	list, err := s.Store.Changes(ctx, after, limit)
	return list, errors.Join(err, s.err("Changes"))
}

func (s *brokenStore) Records(ctx context.Context, ids []int64) ([]catalog.Record, error) {
	list, err := s.Store.Records(ctx, ids)
	return list, errors.Join(err, s.err("Records"))
}

func (s *brokenStore) AddWords(ctx context.Context, generation int64, words []string) error {
	if err := s.err("AddWords"); err != nil {
		return err
	}
	return s.Store.AddWords(ctx, generation, words)
}

func (s *brokenStore) PutPassages(ctx context.Context, generation int64, b catalog.IndexBatch) error {
	if err := s.err("PutPassages"); err != nil {
		return err
	}
	return s.Store.PutPassages(ctx, generation, b)
}

func (s *brokenStore) Generations(ctx context.Context) ([]catalog.Generation, error) {
	list, err := s.Store.Generations(ctx)
	return list, errors.Join(err, s.err("Generations"))
}

func (s *brokenStore) Words(ctx context.Context, generation int64) ([]string, error) {
	list, err := s.Store.Words(ctx, generation)
	return list, errors.Join(err, s.err("Words"))
}

func (s *brokenStore) Passages(ctx context.Context, generation int64, ids []int64) ([]catalog.Passage, error) {
	list, err := s.Store.Passages(ctx, generation, ids)
	return list, errors.Join(err, s.err("Passages"))
}

func (s *brokenStore) ScanDocuments(
	ctx context.Context, generation int64, fn func(record int64, data []byte) error,
) error {
	return errors.Join(s.Store.ScanDocuments(ctx, generation, fn), s.err("ScanDocuments"))
}

// TestACatalogThatFailsLosesNothing: what is not stored is not indexed either, and comes with
// the next try.
func TestACatalogThatFailsLosesNothing(t *testing.T) {
	for _, method := range []string{"LastChange", "CountChanges", "Changes", "Records", "AddWords", "PutPassages"} {
		f := fixture(t, Config{}, "rotate")
		follow(t, f)
		store := &brokenStore{f.cfg.Store.(catalog.Store), method}
		f.cfg.Store = store
		write(t, store, "rotate", "burn", "mint")
		if _, err := f.CatchUp(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
		if records, _ := f.Corpus().Size(); records != 1 {
			t.Errorf("%s: %d records are indexed", method, records)
		}
		store.method = ""
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
	f.cfg.Store = &brokenStore{f.cfg.Store.(catalog.Store), "LastChange"}
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
	for _, method := range []string{"Generations", "Words", "ScanDocuments", "LastChange"} {
		cfg := before.cfg
		cfg.Store = &brokenStore{before.cfg.Store.(catalog.Store), method}
		if err := New(cfg).Load(t.Context()); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", method, err)
		}
	}
	r, err := before.cfg.Store.(catalog.Store).Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "0"})
	if err != nil {
		t.Fatal(err)
	}
	id := passage.NewID(r.ID, 0)
	store := &brokenStore{before.cfg.Store.(catalog.Store), "Passages"}
	before.cfg.Store = store
	if texts, err := before.Texts(t.Context(), []passage.ID{id}); !errors.Is(err, errBroken) || texts != nil {
		t.Errorf("texts that cannot be read are %+v, %v", texts, err)
	}
	store.method = ""
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

func broken(method string) *brokenVectors {
	return &brokenVectors{heldVectors: &heldVectors{vectors: map[int64][][]float32{}}, method: method}
}

// TestAnEngineHereThatFailsIsAnError: without it nothing can be said to be indexed.
func TestAnEngineHereThatFailsIsAnError(t *testing.T) {
	vectors := broken("Flush")
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
