package qdrant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/protobuf/proto"

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
