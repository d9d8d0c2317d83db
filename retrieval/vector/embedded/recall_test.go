package embedded_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"almanac/embed"
	"almanac/embed/static"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/retrieval/vector/embedded"
	"almanac/testing/race"
)

// clustered returns n unit vectors around n/50 centres that lie off the
// origin, as embeddings of texts do.
func clustered(random *rand.Rand, n, dimensions int) [][]float32 {
	centres := make([][]float64, max(1, n/50))
	for i := range centres {
		centres[i] = make([]float64, dimensions)
		for j := range centres[i] {
			centres[i][j] = random.NormFloat64()
			if j%8 == 0 {
				centres[i][j] += 0.7
			}
		}
	}
	slab, vs := make([]float32, n*dimensions), make([][]float32, n)
	for i := range vs {
		vs[i] = slab[i*dimensions : (i+1)*dimensions : (i+1)*dimensions]
		centre, square := centres[random.IntN(len(centres))], 0.0
		for j := range vs[i] {
			c := centre[j] + 0.8*random.NormFloat64()
			vs[i][j] = float32(c)
			square += c * c
		}
		for j := range vs[i] {
			vs[i][j] /= float32(math.Sqrt(square))
		}
	}
	return vs
}

// fill adds vectors as records of five passages in batches.
func fill(t testing.TB, x *embedded.Index, vs [][]float32) {
	t.Helper()
	const perRecord, perBatch = 5, 2000
	id := int64(1_000_000)
	for len(vs) > 0 {
		var b vector.Batch
		for range perBatch {
			n := min(perRecord, len(vs))
			if n == 0 {
				break
			}
			kind := []string{"doc", "topic", "issue", "rare"}[min(id%100, 3)]
			b.Records = append(b.Records, vector.Record{ID: id, Attributes: passage.Attributes{Kind: kind},
				Vectors: vs[:n]})
			vs, id = vs[n:], id+1
		}
		b.Checkpoint = id
		if err := x.Apply(context.Background(), b); err != nil {
			t.Fatal(err)
		}
	}
}

// recalls returns, for each k, the share of the true best k that searches
// find, and compares the scores. The greatest k comes last.
func recalls(t testing.TB, x *embedded.Index, queries [][]float32, ks ...int) []float64 {
	t.Helper()
	shares := make([]float64, len(ks))
	for _, q := range queries {
		truth := x.SearchExactly(q, ks[len(ks)-1])
		for i, k := range ks {
			hits, err := x.Search(context.Background(), q, passage.Filter{}, k)
			if err != nil {
				t.Fatal(err)
			}
			scores := make(map[passage.ID]float32, len(hits))
			for _, h := range hits {
				scores[h.Passage] = h.Score
			}
			for _, h := range truth[:k] {
				s, ok := scores[h.Passage]
				if ok {
					shares[i] += 1 / float64(k*len(queries))
				}
				if ok && s != h.Score {
					t.Fatalf("passage %d has score %v, exactly %v", h.Passage, s, h.Score)
				}
			}
		}
	}
	return shares
}

var recallDepths = []int{1, 10, 50, 200, 1000}

func checkRecalls(t *testing.T, got []float64, least ...float64) {
	t.Helper()
	for i, k := range recallDepths {
		t.Logf("recall@%d = %.4f", k, got[i])
		if got[i] < least[i] {
			t.Errorf("recall@%d = %.4f, want at least %v", k, got[i], least[i])
		}
	}
}

func TestSearchFindsWhatAnExactScanFinds(t *testing.T) {
	race.Skip(t)
	for dimensions, n := range map[int]int{64: 10_000, 256: 20_000, 384: 10_000} {
		t.Run(fmt.Sprintf("dimensions=%d", dimensions), func(t *testing.T) {
			vs := clustered(rand.New(rand.NewPCG(1, uint64(dimensions))), n+40, dimensions)
			x := open(t, embedded.Config{Dimensions: dimensions})
			fill(t, x, vs[40:])
			// A cluster has 50 vectors. What ranks behind them is noise, all
			// at nearly the same distance, which is harder than real texts.
			checkRecalls(t, recalls(t, x, vs[:40], recallDepths...), 1, 0.995, 0.995, 0.96, 0.96)
		})
	}
}

// shared returns the directory of test collections next to the repository.
func shared(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("ALMANAC_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared")
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// judged returns the vectors of passages and queries of the collections.
func judged(t testing.TB) (passages, queries [][]float32) {
	t.Helper()
	e, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"scifact", "eips-known-item", "vendor-docs-rag", "cosqa"} {
		dir := filepath.Join(shared(t), "judged", name)
		var texts []string
		err := eachLine(filepath.Join(dir, "corpus.jsonl"), func(title, text string) {
			words := strings.Fields(text)
			for i := 0; i == 0 || i < len(words); i += 180 {
				texts = append(texts, title+"\n"+strings.Join(words[i:min(len(words), i+180)], " "))
			}
		})
		if errors.Is(err, os.ErrNotExist) {
			t.Skipf("the judged collection %s is missing (set ALMANAC_SHARED to the folder that holds judged/): %v",
				name, err)
		}
		if err != nil {
			t.Fatal(err)
		}
		passages = append(passages, embedAll(t, e, texts, embed.Document)...)
		texts = nil
		if err := eachLine(filepath.Join(dir, "queries.jsonl"),
			func(_, text string) { texts = append(texts, text) }); err != nil {
			t.Fatal(err)
		}
		queries = append(queries, embedAll(t, e, texts[:min(len(texts), 30)], embed.Query)...)
	}
	return passages, queries
}

func embedAll(t testing.TB, e embed.Embedder, texts []string, p embed.Purpose) [][]float32 {
	t.Helper()
	vs, err := e.Embed(context.Background(), texts, p)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func eachLine(path string, fn func(title, text string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var d struct{ Title, Text string }
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fn(d.Title, d.Text)
	}
	return lines.Err()
}

func TestSearchFindsWhatAnExactScanFindsInRealTexts(t *testing.T) {
	race.Skip(t)
	passages, queries := judged(t)
	x := open(t, embedded.Config{Dimensions: 256})
	fill(t, x, passages)
	checkRecalls(t, recalls(t, x, queries, recallDepths...), 0.99, 0.997, 0.997, 0.993, 0.997)
}

func TestManyEqualVectorsAreFoundInTheOrderOfTheirIDs(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	vs := clustered(random, 6001, 256)
	q, others := vs[0], vs[1:]
	x := open(t, embedded.Config{Dimensions: 256})
	// Records from the greatest id down, so that the order of rows is not
	// that of ids.
	for n := range 60 {
		var b vector.Batch
		for i := range 100 {
			id := int64(2_000_000 - n*100 - i)
			b.Records = append(b.Records, vector.Record{ID: id, Vectors: [][]float32{q, others[n*100+i]}})
		}
		b.Checkpoint = int64(n + 1)
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []int{1, 10, 200, 1000} {
		hits, err := x.Search(t.Context(), q, passage.Filter{}, k)
		if err != nil || len(hits) != k {
			t.Fatalf("%d hits, error %v, want %d", len(hits), err, k)
		}
		for i, h := range hits {
			if want := passage.NewID(2_000_000-5999+int64(i), 0); h.Passage != want {
				t.Fatalf("k = %d: hit %d is passage %d, want %d", k, i, h.Passage, want)
			}
		}
	}
}

// printHits is the other process of the next test: it prints what searches find
// by rows and by codes, with the bits of the scores.
func printHits() {
	vs := clustered(rand.New(rand.NewPCG(8, 8)), 8020, 100)
	x, err := embedded.Open(embedded.Config{Dimensions: 100})
	if err != nil {
		panic(err)
	}
	var b vector.Batch
	for i, v := range vs[20:] {
		b.Records = append(b.Records, vector.Record{ID: int64(i + 1), Vectors: [][]float32{v}})
	}
	if err := x.Apply(context.Background(), b); err != nil {
		panic(err)
	}
	for _, q := range vs[:20] {
		for _, k := range []int{10, 500} {
			hits, err := x.Search(context.Background(), q, passage.Filter{}, k)
			if err != nil {
				panic(err)
			}
			for _, h := range hits {
				fmt.Println(h.Passage, math.Float32bits(h.Score))
			}
		}
	}
}

func TestHitsAreTheSameOnEveryProcessor(t *testing.T) {
	var first []byte
	for _, features := range []string{"", "cpu.avx512f=off", "cpu.all=off"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ALMANAC_TEST_HITS=1", "GODEBUG="+features)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out
		}
		if len(out) == 0 || !bytes.Equal(out, first) {
			t.Errorf("with GODEBUG=%s other hits are found", features)
		}
	}
}
