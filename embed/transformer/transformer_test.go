package transformer

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/embed"
)

var load = sync.OnceValues(New)

func newEmbedder(t testing.TB) *Embedder {
	t.Helper()
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func vectors(t testing.TB, e *Embedder, p embed.Purpose, texts ...string) [][]float32 {
	t.Helper()
	vs, err := e.Embed(context.Background(), texts, p)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// golden are texts with the tokens and vectors that the original model gives in float32.
func golden(t testing.TB) []struct {
	Text   string
	IDs    []int32
	Vector []float32
} {
	t.Helper()
	var golden struct {
		Texts []struct {
			Text   string
			IDs    []int32
			Vector []float32
		}
	}
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	if len(golden.Texts) == 0 {
		t.Fatal("no golden vectors")
	}
	return golden.Texts
}

func TestVectorsAreThoseOfTheOriginal(t *testing.T) {
	e := newEmbedder(t)
	for _, g := range golden(t) {
		s := newScratch(e.weights)
		if s.add(e.tokens, g.Text, embed.Document); !slices.Equal(s.tokens, g.IDs) {
			t.Errorf("%.60q has tokens %v, want %v", g.Text, s.tokens, g.IDs)
		}
		v := vectors(t, e, embed.Document, g.Text)[0]
		cosine := dot(v, g.Vector) / math.Sqrt(dot(g.Vector, g.Vector))
		t.Logf("%.60q: %.5f", g.Text, cosine)
		if !(cosine >= 0.997) {
			t.Errorf("%.60q: cosine %.5f to the original's vector", g.Text, cosine)
		}
		if length := dot(v, v); !(math.Abs(length-1) < 1e-5) {
			t.Errorf("%.60q: length %v", g.Text, length)
		}
	}
}

func TestQueriesFollowTheInstruction(t *testing.T) {
	e := newEmbedder(t)
	const query = "how do I move my node to another machine?"
	asked := vectors(t, e, embed.Query, query)[0]
	if plain := vectors(t, e, embed.Document, instruction+query)[0]; !slices.Equal(asked, plain) {
		t.Error("a query's vector is not that of the instruction and the query")
	}
}

// TestAQueryInAnotherScriptIsNearNothing: the model knows English alone, and of Latin
// letters with marks, or among others, enough.
func TestAQueryInAnotherScriptIsNearNothing(t *testing.T) {
	e := newEmbedder(t)
	for query, near := range map[string]bool{
		"閘": false, "ﾛｯｸ": false, "등대지기는": false, "маяк": false, "ประตู": false, "gate 閘門開啟了": false,
		"閘 in the lock": true, "état": true, "42": true, "": true, "→ ✓": true,
	} {
		v := vectors(t, e, embed.Query, "harbour", query, "tide")
		if got := dot(v[1], v[1]) > 0; got != near || dot(v[0], v[0]) == 0 || dot(v[2], v[2]) == 0 {
			t.Errorf("%q has a vector: %v", query, got)
		}
	}
	if v := vectors(t, e, embed.Document, "閘"); dot(v[0], v[0]) == 0 {
		t.Error("a passage has none")
	}
}

// A text has one vector: what is embedded with it, before it or after it does
// not change a bit, nor where a batch ends.
func TestAVectorDoesNotDependOnOtherTexts(t *testing.T) {
	e := newEmbedder(t)
	long := strings.Repeat("the keeper of a lighthouse writes down each ship ", 30)
	texts := []string{"a short text", long, "", "another, with a few more words in it", long + "again", "last"}
	for range 12 { // several batches
		texts = append(texts, "words of a passage that fills a batch with others")
	}
	together := vectors(t, e, embed.Document, texts...)
	for i, text := range texts[:7] {
		if alone := vectors(t, e, embed.Document, text)[0]; !slices.Equal(alone, together[i]) {
			t.Errorf("text %d has another vector alone, cosine %v", i, dot(alone, together[i]))
		}
	}
	if !slices.Equal(together[6], together[17]) {
		t.Error("a text has two vectors")
	}
}

func TestOnlyTheFirst510TokensCount(t *testing.T) {
	text := strings.Repeat("word ", 510)
	vs := vectors(t, newEmbedder(t), embed.Document, text, text+strings.Repeat("more ", 5000))
	if !slices.Equal(vs[0], vs[1]) {
		t.Error("what is cut changes the vector")
	}
}

func TestEmbedAllocatesForVectorsAlone(t *testing.T) {
	e := newEmbedder(t)
	s := newScratch(e.weights)
	v := [][]float32{make([]float32, width), make([]float32, width)}
	if n := testing.AllocsPerRun(2, func() {
		for range v {
			s.add(e.tokens, "a keeper rotates the lamp", embed.Query)
		}
		if err := s.embed(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestEmbedGivesWay holds that what goes before is waited for many times in a text, and
// that the end of the context is noticed within it, without harm to the next text.
func TestEmbedGivesWay(t *testing.T) {
	e := newEmbedder(t)
	want := vectors(t, e, embed.Document, passage)
	ctx, cancel := context.WithCancel(t.Context())
	waits := 0
	giving := embed.GivingWay(ctx, func(context.Context) {
		if waits++; waits == 100 {
			cancel()
		}
	})
	if _, err := e.Embed(giving, []string{passage, passage}, embed.Document); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if waits < 100 || waits > 130 {
		t.Errorf("it waited %d times, and was to end at the hundredth", waits)
	}
	if got := vectors(t, e, embed.Document, passage); !slices.Equal(got[0], want[0]) {
		t.Error("the next text has another vector")
	}
}

func TestEmbedIsSafeForConcurrentUse(t *testing.T) {
	e := newEmbedder(t)
	texts := []string{"first text", "a second, longer text", "third"}
	want := vectors(t, e, embed.Document, texts...)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2 {
				got, err := e.Embed(context.Background(), texts, embed.Document)
				if err != nil || !slices.EqualFunc(got, want, slices.Equal[[]float32]) {
					t.Errorf("vectors differ (error %v)", err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// passage has some 200 tokens in 1,000 characters.
var passage = strings.Repeat("The keeper of a lighthouse rotates the lamp, restarts the service and checks "+
	"that its page reports version 0.5.9 (see `config.yaml`). ", 8)

func BenchmarkEmbed(b *testing.B) {
	e := newEmbedder(b)
	for name, c := range map[string]struct {
		tokens  int
		purpose embed.Purpose
	}{"query": {16, embed.Query}, "passage": {200, embed.Document}, "longest": {512, embed.Document}} {
		text := passage + passage + passage
		s := newScratch(e.weights)
		for ; ; text = text[:len(text)-1] {
			s.tokens = s.tokens[:0]
			if s.add(e.tokens, text, c.purpose); len(s.tokens) < c.tokens || c.tokens == positions {
				break
			}
		}
		b.Run(name, func(b *testing.B) {
			b.ReportMetric(float64(len(s.tokens)), "tokens")
			for b.Loop() {
				vectors(b, e, c.purpose, text)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

// BenchmarkEmbedCold measures a query when other work has driven the weights from the caches.
func BenchmarkEmbedCold(b *testing.B) {
	e := newEmbedder(b)
	other := make([]byte, 128<<20)
	for b.Loop() {
		b.StopTimer()
		for i := 0; i < len(other); i += 64 {
			other[i]++
		}
		b.StartTimer()
		vectors(b, e, embed.Query, "how does the keeper rotate the lamp?")
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}
