package embedded_test

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/retrieval/vector/embedded"

	"pgregory.net/rapid"
)

// tolerance allows for 16 bits of each component.
const tolerance = 1e-4

// reference is an index by definition.
type reference map[int64]vector.Record

func (r reference) search(q []float32, f func(vector.Record) bool, k int) (ids []passage.ID,
	scores map[passage.ID]float64) {
	scores = make(map[passage.ID]float64)
	for _, rec := range r {
		if !f(rec) {
			continue
		}
		for i, v := range rec.Vectors {
			var qv, vv, qq float64
			for j := range v {
				qv += float64(q[j]) * float64(v[j])
				vv += float64(v[j]) * float64(v[j])
				qq += float64(q[j]) * float64(q[j])
			}
			if vv > 0 {
				scores[passage.NewID(rec.ID, i)] = qv / math.Sqrt(vv*qq)
			}
		}
	}
	ids = slices.SortedFunc(maps.Keys(scores), func(a, b passage.ID) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return ids[:min(k, len(ids))], scores
}

// smallVector draws components from few values, so that ties, zeros and
// vectors of any length happen.
func smallVector(dimensions int) *rapid.Generator[[]float32] {
	return rapid.SliceOfN(rapid.Map(rapid.IntRange(-2, 2), func(n int) float32 { return float32(n) / 2 }), dimensions,
		dimensions)
}

func TestIndexAgreesWithItsDefinition(t *testing.T) {
	const dimensions = 3
	rapid.Check(t, func(t *rapid.T) {
		x, err := embedded.Open(embedded.Config{Dimensions: dimensions})
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		want := reference{}
		kinds := rapid.SampledFrom([]string{"doc", "Doc", "topic", ""})
		id := rapid.Int64Range(1, 9)
		for range rapid.IntRange(1, 12).Draw(t, "batches") {
			b := vector.Batch{Delete: rapid.SliceOfN(id, 0, 3).Draw(t, "delete"),
				Checkpoint: rapid.Int64Min(1).Draw(t, "checkpoint")}
			for _, gone := range b.Delete {
				delete(want, gone)
			}
			for range rapid.IntRange(0, 4).Draw(t, "records") {
				r := vector.Record{ID: id.Draw(t, "id"), Attributes: passage.Attributes{
					Kind: kinds.Draw(t, "kind"), Date: time.Unix(rapid.Int64Range(0, 3).Draw(t, "date"), 0)},
					Vectors: rapid.SliceOfN(smallVector(dimensions), 0, 4).Draw(t, "vectors")}
				b.Records = append(b.Records, r)
				want[r.ID] = r
			}
			if err := x.Apply(context.Background(), b); err != nil {
				t.Fatal(err)
			}
			if got := x.At(); got != b.Checkpoint {
				t.Fatalf("checkpoint %d, want %d", got, b.Checkpoint)
			}
		}
		q := smallVector(dimensions).Filter(func(v []float32) bool {
			return slices.Max(v) > 0 || slices.Min(v) < 0
		}).Draw(t, "query")
		k := rapid.IntRange(1, 40).Draw(t, "k")
		since := rapid.Int64Range(0, 3).Draw(t, "since")
		f := passage.Filter{Kinds: []string{"DOC"}, Since: time.Unix(since, 0)}
		match := func(r vector.Record) bool {
			return (r.Attributes.Kind == "doc" || r.Attributes.Kind == "Doc") && r.Attributes.Date.Unix() >= since
		}
		if rapid.Bool().Draw(t, "unfiltered") {
			f, match = passage.Filter{}, func(vector.Record) bool { return true }
		}
		hits, err := x.Search(context.Background(), q, f, k)
		if err != nil {
			t.Fatal(err)
		}
		best, scores := want.search(q, match, k)
		if len(hits) != len(best) {
			t.Fatalf("%d hits, want %d", len(hits), len(best))
		}
		for i, h := range hits {
			exact, ok := scores[h.Passage]
			if !ok || math.Abs(float64(h.Score)-exact) > tolerance ||
				math.Abs(exact-scores[best[i]]) > 2*tolerance {
				t.Fatalf("hit %d is %+v (exactly %v, %v), want a score of %v", i, h, exact, ok, scores[best[i]])
			}
			if i > 0 && (h.Score > hits[i-1].Score || h.Score == hits[i-1].Score && h.Passage < hits[i-1].Passage) {
				t.Fatalf("hit %d (%+v) after %+v", i, h, hits[i-1])
			}
		}
	})
}

// Enough records come and go here that codes are used, rows are laid out
// again and the mean is computed again, while others search.
func TestIndexStaysRightWhileItIsRewritten(t *testing.T) {
	const records, dimensions = 2500, 64
	random := rand.New(rand.NewPCG(9, 9))
	pool := clustered(random, 4*records+20, dimensions)
	queries, pool := pool[:20], pool[20:]
	path := filepath.Join(t.TempDir(), "vectors")
	x := open(t, embedded.Config{Path: path, Dimensions: dimensions})
	want := reference{}

	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			hits, err := x.Search(context.Background(), queries[i%len(queries)], passage.Filter{}, 20)
			if err != nil || !slices.IsSortedFunc(hits,
				func(a, b vector.Hit) int { return cmp.Compare(b.Score, a.Score) }) {
				t.Errorf("search during a batch: error %v, hits %v", err, hits)
				return
			}
		}
	})
	compacted := false
	for n := range 40 {
		b := vector.Batch{Checkpoint: int64(n + 1)}
		for range 250 {
			id := 1 + random.Int64N(records)
			if random.IntN(5) == 0 {
				b.Delete = append(b.Delete, id)
				delete(want, id)
			}
			r := vector.Record{ID: 1 + random.Int64N(records),
				Attributes: passage.Attributes{Kind: []string{"doc", "topic"}[id%2]}}
			for range random.IntN(4) {
				r.Vectors = append(r.Vectors, pool[random.IntN(len(pool))])
			}
			b.Records = append(b.Records, r)
		}
		for _, r := range b.Records {
			want[r.ID] = r
		}
		before, _ := x.Rows()
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		after, dead := x.Rows()
		compacted = compacted || after < before
		if dead*4 > after && dead > 1500 {
			t.Fatalf("%d of %d rows are dead", dead, after)
		}
	}
	close(done)
	wg.Wait()
	if !compacted {
		t.Error("rows were never laid out again: the test does not cover it")
	}
	check := func(x *embedded.Index) {
		t.Helper()
		found, total := 0, 0
		for _, q := range queries {
			for _, f := range []passage.Filter{{}, {Kinds: []string{"topic"}}} {
				hits, err := x.Search(t.Context(), q, f, 20)
				if err != nil {
					t.Fatal(err)
				}
				best, scores := want.search(q, func(r vector.Record) bool {
					return f.Empty() || r.Attributes.Kind == "topic"
				}, 20)
				for _, h := range hits {
					if s, ok := scores[h.Passage]; !ok || math.Abs(s-float64(h.Score)) > tolerance {
						t.Fatalf("hit %+v, exactly %v (%v)", h, s, ok)
					}
					if scores[h.Passage] >= scores[best[len(best)-1]]-2*tolerance {
						found++
					}
				}
				total += len(best)
			}
		}
		if r := float64(found) / float64(total); r < 0.98 {
			t.Errorf("recall@20 = %.3f", r)
		}
	}
	check(x)
	if rows, _ := x.Rows(); rows <= embedded.ExactRows {
		t.Errorf("%d rows: codes are not tested", rows)
	}
	if err := x.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(open(t, embedded.Config{Path: path, Dimensions: dimensions}))
}

// Records of many passages lie across blocks, one is longer than a block, and
// enough of them change that blocks are cleaned one after the other.
func TestBlocksAreCleaned(t *testing.T) {
	const records, dimensions, longest = 400, 8, embedded.BlockRows + 500
	random := rand.New(rand.NewPCG(4, 4))
	pool := clustered(random, longest, dimensions)
	path := filepath.Join(t.TempDir(), "vectors")
	x := open(t, embedded.Config{Path: path, Dimensions: dimensions})
	want, cleaned := reference{}, 0
	for n := range 80 {
		b := vector.Batch{Checkpoint: int64(n + 1)}
		for range 20 {
			r := vector.Record{ID: 1 + random.Int64N(records)}
			for range random.IntN(120) {
				r.Vectors = append(r.Vectors, pool[random.IntN(len(pool))])
			}
			b.Records = append(b.Records, r)
		}
		if n%10 == 5 {
			b.Records = append(b.Records, vector.Record{ID: 7, Vectors: pool[:longest-n]})
		}
		for _, r := range b.Records {
			want[r.ID] = r
		}
		before, _ := x.Rows()
		if err := x.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		rows, dead := x.Rows()
		if rows < before {
			cleaned++
		}
		live := 0
		for _, r := range want {
			live += len(r.Vectors)
		}
		if rows-dead != live || dead*4 > rows && dead > 1024 {
			t.Fatalf("batch %d: %d rows, %d dead, want %d alive and no more than a quarter dead", n, rows, dead, live)
		}
		if n%20 == 19 {
			checkScores(t, x, want, pool[n])
			flush(t, x)
			x = open(t, embedded.Config{Path: path, Dimensions: dimensions})
			checkScores(t, x, want, pool[n])
		}
	}
	if cleaned < 5 {
		t.Errorf("blocks were cleaned %d times: the test does not cover it", cleaned)
	}
}

// checkScores compares the score of every passage, and how many are found.
func checkScores(t *testing.T, x *embedded.Index, want reference, q []float32) {
	t.Helper()
	ids, exact := want.search(q, func(vector.Record) bool { return true }, math.MaxInt)
	scores, err := x.Scores(t.Context(), q, ids)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		if math.Abs(float64(scores[i])-exact[id]) > tolerance {
			t.Fatalf("passage %d has score %v, want %v", id, scores[i], exact[id])
		}
	}
	if hits := x.SearchExactly(q, len(ids)+1); len(hits) != len(ids) {
		t.Fatalf("%d passages are found, want %d", len(hits), len(ids))
	}
}

func TestApply(t *testing.T) {
	unit := func(i int) []float32 { v := make([]float32, 8); v[i] = 1; return v }
	ctx := context.Background()

	t.Run("a vector that is not finite refuses the batch", func(t *testing.T) {
		x := open(t, embedded.Config{Dimensions: 8})
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			v := unit(0)
			v[3] = float32(bad)
			err := x.Apply(ctx, vector.Batch{Records: []vector.Record{{ID: 1, Vectors: [][]float32{v}}}, Checkpoint: 1})
			if err == nil || x.At() != 0 {
				t.Errorf("%v: error %v, checkpoint %d", bad, err, x.At())
			}
			if _, err := x.Search(ctx, v, passage.Filter{}, 1); err == nil {
				t.Errorf("%v: accepted as a query", bad)
			}
		}
	})
	t.Run("attributes of a refused batch do not mix with others", func(t *testing.T) {
		x := open(t, embedded.Config{Dimensions: 8})
		if err := x.Apply(ctx,
			vector.Batch{Records: []vector.Record{record(1, "a", unit(0)), record(2, "b", unit(0)[:3])}}); err == nil {
			t.Fatal("no error")
		}
		for i, r := range []vector.Record{record(3, "b", unit(0)), record(4, "a", unit(1)), record(5, "c", unit(2))} {
			if err := x.Apply(ctx, vector.Batch{Records: []vector.Record{r}, Checkpoint: int64(i)}); err != nil {
				t.Fatal(err)
			}
		}
		for kind, id := range map[string]int64{"a": 4, "b": 3, "c": 5} {
			hits, err := x.Search(ctx, unit(0), passage.Filter{Kinds: []string{kind}}, 5)
			if err != nil || len(hits) != 1 || hits[0].Passage.Record() != id {
				t.Errorf("kind %s: %+v, error %v, want record %d", kind, hits, err, id)
			}
		}
	})
	t.Run("a change of attributes keeps the vectors where they are", func(t *testing.T) {
		x := open(t, embedded.Config{Dimensions: 8})
		for i, kind := range []string{"a", "b", "b"} {
			r := vector.Record{ID: 1, Attributes: passage.Attributes{Kind: kind},
				Vectors: [][]float32{unit(0), unit(1)}}
			if err := x.Apply(ctx, vector.Batch{Records: []vector.Record{r}, Checkpoint: int64(i + 1)}); err != nil {
				t.Fatal(err)
			}
		}
		if rows, dead := x.Rows(); rows != 2 || dead != 0 {
			t.Errorf("%d rows, %d dead, want 2 and 0", rows, dead)
		}
		hits, err := x.Search(ctx, unit(1), passage.Filter{Kinds: []string{"b"}}, 5)
		if err != nil || len(hits) != 2 {
			t.Errorf("hits %+v, error %v", hits, err)
		}
	})
	t.Run("passages are counted with their records", func(t *testing.T) {
		x := open(t, embedded.Config{Dimensions: 8})
		two := vector.Record{ID: 1, Vectors: [][]float32{unit(0), unit(1)}}
		for i, b := range []vector.Batch{{Records: []vector.Record{two, record(2, "a", unit(2))}},
			{Delete: []int64{2}}, {Delete: []int64{1}}} {
			b.Checkpoint = int64(i + 1)
			if err := x.Apply(ctx, b); err != nil {
				t.Fatal(err)
			}
			if n := x.Size(); n != []int{3, 2, 0}[i] {
				t.Errorf("after batch %d there are %d passages", i, n)
			}
		}
	})
	t.Run("a batch that cannot be changes nothing", func(t *testing.T) {
		x := open(t, embedded.Config{Dimensions: 8})
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		many := vector.Record{ID: 2, Vectors: make([][]float32, passage.MaxPerRecord+1)}
		err := x.Apply(ctx, vector.Batch{Records: []vector.Record{record(1, "a", unit(0)), many}, Checkpoint: 1})
		if err == nil || !strings.Contains(err.Error(), "record 2") {
			t.Errorf("a record of too many passages: error %v", err)
		}
		err = x.Apply(cancelled, vector.Batch{Records: []vector.Record{record(1, "a", unit(0))}, Checkpoint: 1})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled one: error %v", err)
		}
		if n := x.Size(); n != 0 || x.At() != 0 {
			t.Errorf("%d passages at %d", n, x.At())
		}
	})
	t.Run("vectors of very many dimensions are found by their codes", func(t *testing.T) {
		const dimensions = 1100 // more than what codes are made in without allocating
		x := open(t, embedded.Config{Dimensions: dimensions})
		vs := clustered(rand.New(rand.NewPCG(7, 7)), embedded.ExactRows*2, dimensions)
		fill(t, x, vs)
		for _, i := range []int{0, 17, len(vs) - 1} {
			hits, err := x.Search(ctx, vs[i], passage.Filter{}, 1)
			if err != nil || len(hits) != 1 || math.Abs(float64(hits[0].Score)-1) > tolerance {
				t.Errorf("vector %d: %+v, error %v", i, hits, err)
			}
		}
	})
}

func record(id int64, kind string, vs ...[]float32) vector.Record {
	return vector.Record{ID: id, Attributes: passage.Attributes{Kind: kind}, Vectors: vs}
}
