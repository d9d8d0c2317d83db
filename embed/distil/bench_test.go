package distil_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"almanac/embed"
	"almanac/embed/distil"
	"almanac/embed/static"
)

// quick is a teacher of the usual size that costs next to nothing: the bent sum of
// a few random numbers a word.
type quick struct{ dims int }

func (q quick) Model() string   { return "quick" }
func (q quick) Dimensions() int { return q.dims }

func (q quick) Embed(_ context.Context, texts []string, _ embed.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v := make([]float32, q.dims)
		for word := range strings.FieldsSeq(text) {
			h := fnv.New64a()
			h.Write([]byte(word))
			r := rand.New(rand.NewPCG(h.Sum64(), 1))
			for range 40 {
				v[r.IntN(q.dims)] += float32(r.IntN(9) - 4)
			}
		}
		for j, x := range v {
			v[j] = float32(math.Tanh(float64(x)/8)) + 0.1
		}
		out[i] = v
	}
	return out, nil
}

// passages are texts of 200 words of a vocabulary, frequent ones as often as
// in a language.
func passages(n int, vocabulary string) []string {
	var words []string
	for entry := range strings.Lines(vocabulary) {
		if entry = strings.TrimSpace(entry); len(entry) > 2 && entry[0] >= 'a' && entry[0] <= 'z' {
			words = append(words, entry)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	zipf := rand.NewZipf(r, 1.1, 20, uint64(len(words)-1))
	out := make([]string, n)
	for i := range out {
		text := make([]string, 200)
		for j := range text {
			text[j] = words[zipf.Uint64()]
		}
		out[i] = strings.Join(text, " ")
	}
	return out
}

// BenchmarkRun times everything but the teacher, whose answers are in the work
// file from the first run on.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 5000} {
		b.Run(fmt.Sprintf("passages=%d/tokens=30522/dimensions=384", n), func(b *testing.B) {
			dir := b.TempDir()
			c := distil.Config{Teacher: quick{384}, Vocabulary: static.Vocabulary(),
				Passages: giving(passages(n, static.Vocabulary())),
				Work:     filepath.Join(dir, "work"), Now: time.Now}
			run := 0
			once := func() {
				c.Out = filepath.Join(dir, fmt.Sprint(run))
				run++
				if _, err := distil.Run(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
			once()
			for b.Loop() {
				once()
			}
		})
	}
}
