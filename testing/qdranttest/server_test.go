package qdranttest_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/retrieval/vector/qdrant"
	"almanac/testing/qdranttest"
	"almanac/testing/vectortest"
)

func open(t *testing.T, c qdrant.Config) *qdrant.Index {
	t.Helper()
	x, err := qdrant.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// TestEnoughForTheIndex runs the suite that the index passes on the server
// that this one fakes.
func TestEnoughForTheIndex(t *testing.T) {
	t.Parallel()
	configs := map[vector.Index]qdrant.Config{}
	vectortest.Run(t, vectortest.Options{
		SplitBatches: true,
		New: func(t *testing.T) vector.Index {
			c := qdrant.Config{Addr: qdranttest.Start(t).Addr, Collection: "x", Generation: 1, Owner: "test",
				Model: "test", Dimensions: vectortest.Dimensions, Quantize: true}
			x := open(t, c)
			configs[x] = c
			return x
		},
		Reopen: func(t *testing.T, closed vector.Index) vector.Index {
			x := open(t, configs[closed])
			configs[x] = configs[closed]
			return x
		},
	})
}

// started returns an index with two records on a server.
func started(t *testing.T) (*qdranttest.Server, *qdrant.Index, qdrant.Config) {
	t.Helper()
	s := qdranttest.Start(t)
	s.RequireKey("hush")
	c := qdrant.Config{Addr: s.Addr, Key: "hush", Collection: "x", Generation: 1, Owner: "test", Model: "test",
		Dimensions: 2}
	x := open(t, c)
	records := []vector.Record{{ID: 1, Vectors: [][]float32{{1, 0}}}, {ID: 2, Vectors: [][]float32{{0, 1}}}}
	if err := x.Apply(t.Context(), vector.Batch{Records: records, Checkpoint: 2}); err != nil {
		t.Fatal(err)
	}
	return s, x, c
}

func found(t *testing.T, x *qdrant.Index) (records []int64, err error) {
	t.Helper()
	hits, err := x.Search(t.Context(), []float32{1, 0}, passage.Filter{}, 10)
	for _, h := range hits {
		records = append(records, h.Passage.Record())
	}
	return records, err
}

var both = []int64{int64(passage.NewID(1, 0)), int64(passage.NewID(2, 0))}

func TestPromotion(t *testing.T) {
	t.Parallel()
	s, x, _ := started(t)
	for range 2 {
		if err := x.Promote(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := found(t, x); err != nil || !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("%v, %v", got, err)
		}
	}
	if got := s.Passages(); !slices.Equal(got, both) {
		t.Errorf("holds %v, not %v", got, both)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	s, x, _ := started(t)
	s.Empty()
	if _, err := found(t, x); !errors.Is(err, vector.ErrUnavailable) {
		t.Errorf("search: %v", err)
	}
	if at, err := x.Checkpoint(t.Context()); at != 0 || err != nil || len(s.Passages()) != 0 {
		t.Errorf("checkpoint %d, %v, passages %v", at, err, s.Passages())
	}
	if err := x.Apply(t.Context(), vector.Batch{After: 2, Checkpoint: 3}); !errors.Is(err, vector.ErrLost) {
		t.Errorf("apply: %v", err)
	}
}

func TestFull(t *testing.T) {
	t.Parallel()
	s, x, _ := started(t)
	s.Full(true)
	err := x.Apply(t.Context(), vector.Batch{Delete: []int64{1}, After: 2, Checkpoint: 3})
	if !errors.Is(err, vector.ErrUnavailable) || !strings.Contains(err.Error(), "has no space left on its disk") {
		t.Errorf("apply: %v", err)
	}
	if got, err := found(t, x); err != nil || len(got) != 2 {
		t.Errorf("search: %v, %v", got, err)
	}
	s.Full(false)
	if err := x.Apply(t.Context(), vector.Batch{Delete: []int64{1}, After: 2, Checkpoint: 3}); err != nil {
		t.Error(err)
	}
	if got, err := found(t, x); err != nil || !slices.Equal(got, []int64{2}) {
		t.Errorf("search: %v, %v", got, err)
	}
}

func TestCollectionThatSomebodyChanged(t *testing.T) {
	t.Parallel()
	s, _, c := started(t)
	s.ChangeCollections(func(info *client.CollectionInfo) {
		info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()["dense"].Size = 3
	})
	x, err := qdrant.Open(t.Context(), c)
	if err == nil { // then the first call says it
		t.Cleanup(func() { _ = x.Close() })
		_, err = x.Checkpoint(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "dimensions") {
		t.Errorf("%v", err)
	}
}

func TestKeyAndPages(t *testing.T) {
	t.Parallel()
	s, _, c := started(t)
	conn, err := grpc.NewClient(s.Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := client.NewPointsClient(conn).Count(t.Context(),
		&client.CountPoints{CollectionName: "x-g1"}); err == nil || !strings.Contains(err.Error(), "API key") {
		t.Errorf("without a key: %v", err)
	}
	s.RequireKey("")
	n, err := client.NewPointsClient(conn).Count(t.Context(), &client.CountPoints{CollectionName: c.Collection + "-g1"})
	if err != nil || n.GetResult().GetCount() != 3 {
		t.Errorf("two passages and the checkpoint, and it counts %v, %v", n, err)
	}
	var ids []int64
	for offset := (*client.PointId)(nil); ; {
		page, err := client.NewPointsClient(conn).Scroll(t.Context(),
			&client.ScrollPoints{CollectionName: "x-g1", Limit: client.PtrOf(uint32(2)), Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range page.GetResult() {
			ids = append(ids, int64(p.GetId().GetNum()))
		}
		if offset = page.GetNextPageOffset(); offset == nil {
			break
		}
	}
	if len(ids) != 3 || !slices.Equal(ids[:2], both) {
		t.Errorf("%v", ids)
	}
}
