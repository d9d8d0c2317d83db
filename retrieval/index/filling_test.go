package index

import (
	"context"
	"errors"
	"slices"
	"testing"

	"almanac/catalog"
	"almanac/embed"
)

func TestWhatChangedIsNamed(t *testing.T) {
	for _, tt := range []struct {
		was, is string
		want    []string
	}{
		{"analysis 3, model tide", "analysis 3, model tide", nil},
		{"analysis 3, model tide", "analysis 4, model tide", []string{"analysis 4 instead of 3"}},
		{"analysis 3, model tide", "analysis 3, model surf 2", []string{"model surf 2 instead of tide"}},
		{"analysis 3\nretired 7", "analysis 3", nil}, // a generation that was retired
		{"analysis 3", "analysis 3, corpus 1", []string{"corpus 1 instead of none"}},
	} {
		if got := Changed(tt.was, tt.is); !slices.Equal(got, tt.want) {
			t.Errorf("from %q to %q changed %q, want %q", tt.was, tt.is, got, tt.want)
		}
	}
	got := Changed(Fingerprint("tide"), Fingerprint("surf"))
	if want := []string{"model surf instead of tide"}; !slices.Equal(got, want) {
		t.Errorf("with another model changed %q, want %q", got, want)
	}
}

// TestPathsAreSearchedByTheirEnd: the folders next to the file and its name, and the key
// where the path does not have it.
func TestPathsAreSearchedByTheirEnd(t *testing.T) {
	for _, tt := range []struct{ path, key, want string }{
		{"site/docs/ops/keys/rotation.md", "rotation", "ops / keys / rotation"},
		{"rotation.md", "rotation", "rotation"},
		{"ops/rotation.md", "HBR-7", "HBR-7 ops / rotation"},
		{"", "HBR-7", "HBR-7"},
	} {
		if got := pathText(catalog.Record{Path: tt.path, Key: tt.key}); got != tt.want {
			t.Errorf("%q of %s is searched as %q, want %q", tt.path, tt.key, got, tt.want)
		}
	}
}

// politeModel gives way before it embeds, as a model in the program does.
type politeModel struct {
	poisoned
	most  int // texts in one call
	calls int
}

func (e *politeModel) Embed(ctx context.Context, texts []string, p embed.Purpose) ([][]float32, error) {
	e.calls, e.most = e.calls+1, max(e.most, len(texts))
	embed.GiveWay(ctx)
	return e.poisoned.Embed(ctx, texts, p)
}

// TestAnIndexBesideAnotherGivesWay before each record and each text, and has words before
// vectors.
func TestAnIndexBesideAnotherGivesWay(t *testing.T) {
	waits := 0
	var f *Follower
	model := &politeModel{poisoned: poisoned{word: "poison"}}
	vectors := &heldVectors{vectors: map[int64][][]float32{}}
	f = fixture(t, Config{Engines: Engines{Vector: vectors, VectorServer: true, Embedder: model},
		Yield: func(context.Context) {
			if waits++; model.calls > 0 && f.local.position.Load() < f.head.Load() {
				t.Error("a text is embedded before all words are indexed")
			}
		}}, "rotate", "burn")
	if _, err := f.follow(t.Context(), f.local); err != nil {
		t.Fatal(err)
	}
	write(t, f.cfg.Store, "rotate", "burn", "mint") // one more
	if _, err := f.follow(t.Context(), f.separate[0]); err != nil || model.calls > 0 {
		t.Errorf("%d texts are embedded while words are to be indexed, %v", model.calls, err)
	}
	follow(t, f)
	// Each record is cut for its words, again for its vectors, and its one passage embedded.
	if model.calls != 3 || model.most != 1 || waits != 9 {
		t.Errorf("it embeds in %d calls of at most %d texts and waits %d times", model.calls, model.most, waits)
	}
	if n, passages := f.Filled(); n != 3 || passages != 3 || len(vectors.vectors) != 3 {
		t.Errorf("%d of %d passages have vectors, and %d records", n, passages, len(vectors.vectors))
	}
	model.calls, f.cfg.Embedder = 0, away{}
	write(t, f.cfg.Store, "rotate again")
	follow(t, f)
	if h := f.Health()[0]; !errors.Is(h.Err, embed.ErrUnavailable) || h.Lag != 1 {
		t.Errorf("without a model: %+v", h)
	}
}

// TestAnIndexThatGivesWayCanBeStopped while it waits; what it had not indexed comes later.
func TestAnIndexThatGivesWayCanBeStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	f := fixture(t, Config{Yield: func(context.Context) { stop() }}, "rotate", "burn")
	if _, err := f.CatchUp(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it is stopped with %v", err)
	}
	if err := f.Wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits is told %v", err)
	}
	if records, _ := f.Corpus().Size(); records != 0 {
		t.Errorf("%d records are indexed", records)
	}
	follow(t, f)
	if records, _ := f.Corpus().Size(); records != 2 {
		t.Errorf("%d records are indexed later", records)
	}
}

// readerOf reads beside a process that writes, and has everything.
func readerOf(t *testing.T, writer *Follower) *Follower {
	t.Helper()
	cfg := writer.cfg
	cfg.ReadOnly = true
	reader := New(cfg)
	if err := reader.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(t, reader)
	return reader
}

// TestAReaderKeepsTextsOfAGenerationThatIsGone: they are stored nowhere else.
func TestAReaderKeepsTextsOfAGenerationThatIsGone(t *testing.T) {
	writer := fixture(t, Config{}, "rotate")
	reader := readerOf(t, writer)
	if err := writer.cfg.Store.DropGeneration(t.Context(), writer.cfg.Generation.ID); err != nil {
		t.Fatal(err)
	}
	follow(t, reader)
	if len(reader.texts) != 1 {
		t.Errorf("%d texts are kept", len(reader.texts))
	}
}
