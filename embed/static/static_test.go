package static_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"almanac/embed"
	"almanac/embed/static"
	"almanac/embed/wordpiece"

	"pgregory.net/rapid"
)

var load = sync.OnceValues(static.New)

func newEmbedder(t testing.TB) *static.Embedder {
	t.Helper()
	e, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

func vectorOf(t testing.TB, e *static.Embedder, text string) []float32 {
	t.Helper()
	vs, err := e.Embed(context.Background(), []string{text}, embed.Document)
	if err != nil {
		t.Fatal(err)
	}
	return vs[0]
}

func TestModelReproducesItsGoldenVectors(t *testing.T) {
	var golden []struct {
		Text string
		IDs  []int32
		Vec8 []float64
	}
	readJSON(t, "testdata/golden.json", &golden)
	if len(golden) == 0 {
		t.Fatal("golden.json is empty")
	}
	e, err := static.NewUnweighted()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range golden {
		if ids := e.Tokens(g.Text); !slices.Equal(ids, g.IDs) {
			t.Errorf("%q has tokens %v, want %v", g.Text, ids, g.IDs)
		}
		v := vectorOf(t, e, g.Text)
		for i, want := range g.Vec8 {
			if math.Abs(float64(v[i])-want) > 2e-6 {
				t.Errorf("%q: component %d is %v, want %v", g.Text, i, v[i], want)
			}
		}
	}
}

// The default weights have no figures from outside: this computes the sum as
// the model's description says, in float64 and straight from the file.
func TestDefaultWeightIsTheRootOfIDF(t *testing.T) {
	const n, dims = wordpiece.Size, 256
	_, table, err := static.ReadNPZ(static.File, "table", n, dims)
	if err != nil {
		t.Fatal(err)
	}
	scale, _, err := static.ReadNPZ(static.File, "scale", n)
	if err != nil {
		t.Fatal(err)
	}
	idf, _, err := static.ReadNPZ(static.File, "idf_train", n)
	if err != nil {
		t.Fatal(err)
	}
	e := newEmbedder(t)
	for _, text := range []string{"a validator rotates its signing key", "the the the quick index", "zzqx 漢"} {
		var want [dims]float64
		var square float64
		for _, id := range e.Tokens(text) {
			for i := range want {
				want[i] += math.Sqrt(float64(idf[id])) * float64(scale[id]) * float64(table[int(id)*dims+i])
			}
		}
		for _, x := range want {
			square += x * x
		}
		for i, x := range vectorOf(t, e, text) {
			if math.Abs(float64(x)-want[i]/math.Sqrt(square)) > 1e-5 {
				t.Fatalf("%q: component %d is %v, want %v", text, i, x, want[i]/math.Sqrt(square))
			}
		}
	}
}

func TestModelNameBelongsToTheseFiles(t *testing.T) {
	// Vectors of different models must never meet: whoever changes a file
	// changes the model's name here and in static.go together.
	const name = "static256-1-sqrtidf"
	const sum = "cb267996418dd6e5ac34860f5d902e3ca70c154af2b10f1631ba7877ae9a04b5"
	h := sha256.New()
	h.Write(static.File)
	h.Write([]byte(wordpiece.Vocabulary))
	if got := hex.EncodeToString(h.Sum(nil)); got != sum {
		t.Errorf("the model's files have hash %s, want %s: a changed model needs a new name", got, sum)
	}
	if got := newEmbedder(t).Model(); got != name {
		t.Errorf("Model() = %q, want %q", got, name)
	}
}

func TestVectorsHaveLengthOneOrZero(t *testing.T) {
	e := newEmbedder(t)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		vs, err := e.Embed(context.Background(), []string{text}, embed.Query)
		if err != nil {
			t.Fatal(err)
		}
		want := 1.0
		if len(e.Tokens(text)) == 0 {
			want = 0
		}
		if got := dot(vs[0], vs[0]); math.Abs(got-want) > 1e-5 {
			t.Fatalf("squared length %v, want %v", got, want)
		}
	})
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func BenchmarkEmbed(b *testing.B) {
	e := newEmbedder(b)
	passage := strings.Repeat("The operator of a node rotates the signing key, restarts the service and checks "+
		"that the health endpoint reports version 0.5.9 (see `config.yaml`). ", 6)
	b.Run("tokens=200", func(b *testing.B) {
		for len(e.Tokens(passage)) > 200 {
			passage = passage[:len(passage)-1]
		}
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Embed(context.Background(), []string{passage}, embed.Document); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("tokenise-only", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.Tokens(passage)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := static.NewUnweighted(); err != nil {
			b.Fatal(err)
		}
	}
}
