package main

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"almanac/embed"
	"almanac/embed/transformer"
	"almanac/ingest/sample"
)

// sampleTexts are the texts that an index of the sample embeds, by how many passages
// have them, if its dates hang on a day.
func sampleTexts(t *testing.T, anchor time.Time) map[string]int {
	t.Helper()
	at := site{fixture{network: "sample"}, filepath.Join(t.TempDir(), "data"),
		environ(t.TempDir(), "ALMANAC_SAMPLE_ANCHOR="+anchor.Format(time.DateOnly))}
	at.run(t, "search", "tide") // loads the sample
	texts := map[string]int{}
	for _, text := range at.passages(t) {
		texts[text]++
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
