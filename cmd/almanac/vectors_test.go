package main

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/embed"
	"almanac/embed/transformer"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
	"almanac/retrieval/passage"
	"almanac/retrieval/profile"
	"almanac/retrieval/stack"
)

// sampleTexts are the texts that an index of the sample embeds, by how many passages
// have them, if its dates hang on a day.
func sampleTexts(t *testing.T, anchor time.Time) map[string]int {
	t.Helper()
	n, err := networks.Load("sample")
	if err != nil {
		t.Fatal(err)
	}
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(dir, "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	pipeline := ingest.New(ingest.Config{Store: store, Network: n, Now: time.Now, Log: log, WorkDir: t.TempDir(),
		Connectors: connectors.All(anchor)})
	if _, err := pipeline.Sync(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Load(profile.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	s, err := stack.Open(t.Context(), stack.Config{Dir: dir, Store: store, Profiles: []profile.Profile{p}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CatchUp(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	generation, _, err := s.Indexed()
	if err != nil {
		t.Fatal(err)
	}
	records, _, err := store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{}
	for _, r := range records {
		ids := make([]int64, 64)
		for i := range ids {
			ids[i] = int64(passage.NewID(r.ID, i))
		}
		passages, err := store.Passages(t.Context(), generation, ids)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range passages {
			texts[passage.EmbedText(r.Title, passage.Piece{Heading: p.Heading, Text: p.Text})]++
		}
	}
	_, want := s.Follower.Corpus().Size()
	got := 0
	for _, n := range texts {
		got += n
	}
	if got != want {
		t.Fatalf("%d passages were found of %d", got, want)
	}
	return texts
}

// unmade is a model that keeps what it should embed.
const width = 384

type unmade struct{ asked []string }

func (*unmade) Model() string   { return transformer.Model }
func (*unmade) Dimensions() int { return width }
func (u *unmade) Embed(_ context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	u.asked = append(u.asked, texts...)
	vectors := make([][]float32, len(texts))
	for i := range vectors {
		vectors[i] = make([]float32, width)
	}
	return vectors, nil
}

// TestTheSampleHasItsVectors holds that an index of the sample by the transformer costs
// little, whatever the day, and that the vectors which come with the program are
// the transformer's. With -update it makes those that are missing: of the texts that are
// the same on different days.
func TestTheSampleHasItsVectors(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	today := time.Now().UTC().Truncate(day)
	model, err := transformer.New()
	if err != nil {
		t.Fatal(err)
	}
	known, err := embed.ReadVectors(sample.Vectors)
	if err != nil {
		t.Fatal(err)
	}
	texts, later := sampleTexts(t, today), sampleTexts(t, today.Add(101*day))
	if *updateTour {
		kept := slices.DeleteFunc(slices.Sorted(maps.Keys(texts)), func(text string) bool { return later[text] == 0 })
		cache := embed.NewCache(model, embed.CacheConfig{Known: known})
		vectors, err := cache.Embed(t.Context(), kept, embed.Document)
		if err != nil {
			t.Fatal(err)
		}
		file := embed.EncodeVectors(transformer.Model, kept, vectors)
		if err := os.WriteFile("../../ingest/sample/sample.vectors", file, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if size := len(sample.Vectors); size > 1500<<10 {
		t.Errorf("the vectors take %d bytes", size)
	}
	var none unmade
	cache := embed.NewCache(&none, embed.CacheConfig{Known: known})
	all := slices.Sorted(maps.Keys(texts))
	have, err := cache.Embed(t.Context(), all, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	passages, dated, missing := 0, 0, 0
	for text, n := range texts {
		if passages += n; later[text] == 0 {
			dated += n
		}
	}
	for _, text := range none.asked {
		if later[text] > 0 {
			missing += texts[text]
		}
	}
	t.Logf("of %d passages %d have dates that move, and %d others no vector", passages, dated, missing)
	if dated > passages/6 {
		t.Errorf("%d of %d passages have dates that move: their vectors cannot be made before", dated, passages)
	}
	if missing > (passages-dated)/20 {
		t.Errorf("%d of %d passages have no vector: make them again with -update", missing, passages-dated)
	}
	for i := 0; i < len(all); i += max(1, len(all)/8) {
		made, err := model.Embed(t.Context(), all[i:i+1], embed.Document)
		if err != nil {
			t.Fatal(err)
		}
		var product, square float64
		for j, x := range made[0] {
			product += float64(x * have[i][j])
			square += float64(have[i][j] * have[i][j])
		}
		if cosine := product / math.Sqrt(square); square > 0 && !(cosine > .998) {
			t.Errorf("%.60q: cosine %.5f", all[i], cosine)
		}
	}
}
