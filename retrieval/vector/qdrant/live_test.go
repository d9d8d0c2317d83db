package qdrant

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/testing/qdranttest"
	"almanac/testing/vectortest"
	"almanac/testing/wait"
)

// liveIndex opens an index on a live server, or skips the test.
func liveIndex(t *testing.T) *Index {
	t.Helper()
	addr := live
	if addr == "" {
		addr = qdranttest.Nodes(t, 1)[0].Addr
	}
	return openAt(t, liveConfig(t, addr, 1))
}

func randomUnit(random *rand.Rand) []float32 {
	v := make([]float32, vectortest.Dimensions)
	var square float64
	for i := range v {
		v[i] = float32(random.NormFloat64())
		square += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}

// pack returns a passage of these terms.
func pack(t interface{ Fatal(...any) }, words ...string) analysis.Packed {
	var tokens []analysis.Token
	for i, w := range words {
		tokens = append(tokens, analysis.Token{Term: w, Position: i})
	}
	p, err := analysis.View(analysis.Pack([analysis.NumFields][]analysis.Token{analysis.Body: tokens}))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLiveVectorsLeaveIndexedSegments: what a point had is gone though its
// segment was built into an index, in which a server leaves the vectors that
// a write does not name.
func TestLiveVectorsLeaveIndexedSegments(t *testing.T) {
	x, random := liveIndex(t), rand.New(rand.NewPCG(3, 3))
	if _, err := x.collections.Update(t.Context(), &client.UpdateCollection{CollectionName: x.name,
		OptimizersConfig: &client.OptimizersConfigDiff{IndexingThreshold: proto.Uint64(1)}}); err != nil {
		t.Fatal(err)
	}
	var b vector.Batch
	for id := range int64(3000) {
		b.Records = append(b.Records, vector.Record{ID: id, Vectors: [][]float32{randomUnit(random)},
			Terms: []analysis.Packed{pack(t, "old", fmt.Sprint("n", id))}})
	}
	b.Checkpoint = 1
	apply(t, x, b)
	wait.Until(t, "the vectors are indexed", func() bool {
		info, err := x.info(t.Context(), x.name)
		if err != nil {
			t.Fatal(err)
		}
		return info.GetIndexedVectorsCount() > 1000 && info.GetStatus() == client.CollectionStatus_Green
	})
	kept := b.Records[7].Vectors[0]
	apply(t, x, vector.Batch{After: 1, Checkpoint: 2, Records: []vector.Record{
		{ID: 7, Vectors: [][]float32{kept}},
		{ID: 8, Vectors: [][]float32{make([]float32, len(kept))}, Terms: b.Records[8].Terms}}})
	for word, want := range map[string]int{"n7": 0, "n8": 1, "n9": 1} {
		hits, err := x.SearchTerms(t.Context(), []vector.Term{{ID: analysis.IDOf(word), Weight: 1}}, passage.Filter{},
			5)
		if err != nil || len(hits) != want {
			t.Errorf("%s: hits %v, error %v, want %d", word, hits, err, want)
		}
	}
	scores, err := x.Scores(t.Context(), kept, []passage.ID{passage.NewID(7, 0), passage.NewID(8, 0)})
	if err != nil || scores[0] < 0.999 || scores[1] != 0 {
		t.Errorf("scores %v, error %v, want 1 and 0", scores, err)
	}
}

// TestLiveMatchesTheModel applies random batches and compares with a map.
func TestLiveMatchesTheModel(t *testing.T) {
	x := liveIndex(t)
	at := int64(0)
	held := map[int64]vector.Record{}
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		id := rapid.Int64Range(0, 12)
		kind := rapid.SampledFrom([]string{"doc", "Doc", "topic", ""})
		b := vector.Batch{After: at, Checkpoint: at + 1}
		for _, gone := range rapid.SliceOfN(id, 0, 3).Draw(t, "delete") {
			b.Delete = append(b.Delete, gone)
			delete(held, gone)
		}
		for range rapid.IntRange(0, 4).Draw(t, "records") {
			r := vector.Record{ID: id.Draw(t, "id"), Attributes: passage.Attributes{Kind: kind.Draw(t, "kind"),
				Date: time.Unix(rapid.Int64Range(0, 3).Draw(t, "date"), 0)}}
			for range rapid.IntRange(0, 4).Draw(t, "passages") {
				v := randomUnit(random)
				if rapid.Bool().Draw(t, "zero") {
					clear(v)
				}
				r.Vectors = append(r.Vectors, v)
				r.Terms = append(r.Terms,
					pack(t, rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 4).Draw(t, "words")...))
			}
			b.Records = append(b.Records, r)
			held[r.ID] = r
		}
		for range rapid.IntRange(1, 2).Draw(t, "times") {
			if err := x.Apply(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		at++
		f := passage.Filter{}
		if rapid.Bool().Draw(t, "filtered") {
			f = passage.Filter{Kinds: []string{"DOC"}, Since: time.Unix(1, 0), Until: time.Unix(3, 0)}
		}
		q := randomUnit(random)
		var dense, sparse []passage.ID
		score := map[passage.ID]float64{}
		for _, r := range held {
			if d := r.Attributes.Date.Unix(); !f.Empty() &&
				((r.Attributes.Kind != "doc" && r.Attributes.Kind != "Doc") || d < 1 || d >= 3) {
				continue
			}
			for n, v := range r.Vectors {
				id := passage.NewID(r.ID, n)
				if !isZero(v) {
					dense = append(dense, id)
					for i := range v {
						score[id] += float64(v[i]) * float64(q[i])
					}
				}
				if body := r.Terms[n].Field(analysis.Body); slices.ContainsFunc([]string{"a", "b"},
					func(w string) bool {
						for i := range body.Len() {
							if body.ID(i) == analysis.IDOf(w) {
								return true
							}
						}
						return false
					}) {
					sparse = append(sparse, id)
				}
			}
		}
		slices.SortFunc(dense, func(a, b passage.ID) int { return cmp.Compare(score[b], score[a]) })
		hits, err := x.Search(t.Context(), q, f, 100)
		if err != nil || len(hits) != len(dense) {
			t.Fatalf("%d hits, error %v, want %d", len(hits), err, len(dense))
		}
		for i, h := range hits {
			if math.Abs(float64(h.Score)-score[dense[i]]) > 1e-5 || math.Abs(score[h.Passage]-score[dense[i]]) > 1e-5 {
				t.Fatalf("hit %d: %+v, want %d with %v", i, h, dense[i], score[dense[i]])
			}
		}
		hits, err = x.SearchTerms(t.Context(),
			[]vector.Term{{ID: analysis.IDOf("a"), Weight: 1}, {ID: analysis.IDOf("b"), Weight: 1}}, f, 100)
		var got []passage.ID
		for _, h := range hits {
			got = append(got, h.Passage)
		}
		slices.Sort(got)
		slices.Sort(sparse)
		if err != nil || !slices.Equal(got, sparse) {
			t.Fatalf("terms: passages %v, error %v, want %v", got, err, sparse)
		}
	})
}

// TestLivePromotion moves the alias while queries run, and back to what an
// empty server makes of it.
func TestLivePromotion(t *testing.T) {
	old := liveIndex(t)
	c := old.config
	if err := old.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Generation = 2
	x, random := openAt(t, c), rand.New(rand.NewPCG(5, 5))
	q := randomUnit(random)
	apply(t, x, vector.Batch{Records: []vector.Record{{ID: 1, Vectors: [][]float32{q}}}, Checkpoint: 1})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if hits, err := x.Search(t.Context(), q, passage.Filter{}, 1); err != nil || len(hits) != 1 {
					t.Errorf("hits %v, error %v", hits, err)
					return
				}
			}
		})
	}
	if err := x.Promote(t.Context()); err != nil {
		t.Error(err)
	}
	close(done)
	wg.Wait()
	if serving, err := x.serving(t.Context()); err != nil || serving != x.name {
		t.Errorf("the alias names %s, error %v", serving, err)
	}
	if _, err := old.Search(t.Context(), q, passage.Filter{}, 1); !errors.Is(err, vector.ErrUnavailable) {
		t.Errorf("search in the old generation: error %v", err)
	}
	// The server loses the collection.
	if _, err := x.collections.Delete(t.Context(), &client.DeleteCollection{CollectionName: x.name}); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Search(t.Context(), q, passage.Filter{}, 1); err == nil {
		t.Error("a lost collection answers")
	}
	if at := checkpointOf(t, x); at != 0 {
		t.Errorf("checkpoint %d, want 0", at)
	}
}
