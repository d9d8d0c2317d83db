package qdrant

import (
	"context"
	"errors"
	"slices"
	"testing"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"

	"almanac/catalog"
	"almanac/retrieval/vector"
)

// paused is a writer that is stopped before a request of its next batch.
type paused struct {
	client.PointsClient
	meanwhile func() // what others do until it goes on
}

func (p *paused) Upsert(ctx context.Context, in *client.UpsertPoints, o ...grpc.CallOption) (
	*client.PointsOperationResponse, error,
) {
	if f := p.meanwhile; f != nil {
		p.meanwhile = nil
		f()
	}
	return p.PointsClient.Upsert(ctx, in, o...)
}

// successors returns the index of a writer and that of the next, which opens it later.
func successors(t *testing.T) (s standIn, first *Index, next func() *Index) {
	s = startStandIn(t)
	c := config(s.Addr)
	c.Epoch = 1
	first = openAt(t, c)
	c.Epoch = 2
	return s, first, func() *Index { return openAt(t, c) }
}

// TestAnOvertakenWriterIsRefused holds that nothing of a writer is written once the next has
// looked at the collection.
func TestAnOvertakenWriterIsRefused(t *testing.T) {
	s, first, next := successors(t)
	apply(t, first, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 5})
	second := next()
	if at := checkpointOf(t, second); at != 5 {
		t.Errorf("it begins at %d", at)
	}
	late := vector.Batch{Records: []vector.Record{record(2, 1)}, After: 5, Checkpoint: 6}
	before := s.ids(first.name)
	if err := first.Apply(t.Context(), late); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("a batch: %v", err)
	}
	if err := first.Promote(t.Context()); err != nil {
		t.Errorf("promoted while nothing serves: %v", err)
	}
	if after := s.ids(first.name); !slices.Equal(before, after) {
		t.Errorf("points %d, before %d", after, before)
	}
	apply(t, second, late)
	if err := second.Promote(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := first.config
	c.Generation = 2
	if err := use(t, c); !errors.Is(err, catalog.ErrOvertaken) {
		t.Errorf("another generation of the first: %v", err)
	}
	if !slices.Equal(s.names(), []string{second.name}) || s.aliases()[c.Collection] != second.name {
		t.Errorf("collections %q, aliases %q", s.names(), s.aliases())
	}
}

// TestWhatIsWrittenTooLateIsReadAgain stops a writer in the middle of a batch until the next
// one has written: that continues from before what the first left.
func TestWhatIsWrittenTooLateIsReadAgain(t *testing.T) {
	for name, c := range map[string]struct {
		cut  bool // the batch does not end
		from int64
	}{"whole": {false, 7}, "cut off": {true, 5}} {
		t.Run(name, func(t *testing.T) {
			s, first, next := successors(t)
			apply(t, first, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 5})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var second *Index
			first.points = &paused{first.points, func() {
				second = next()
				checkpointOf(t, second)
				apply(t, second, vector.Batch{Delete: []int64{1}, After: 5, Checkpoint: 9})
				if c.cut {
					s.Fault(func(method string, _ any) error {
						if method == "Points/Delete" {
							cancel()
							return ctx.Err()
						}
						return nil
					})
				}
			}}
			err := first.Apply(ctx, vector.Batch{Records: []vector.Record{record(1, 2)}, After: 5, Checkpoint: 7})
			if (err != nil) != c.cut {
				t.Fatal(err)
			}
			s.heal()
			if err := second.Apply(t.Context(), vector.Batch{After: 9, Checkpoint: 10}); !errors.Is(err, vector.ErrLost) {
				t.Errorf("the next batch: %v", err)
			}
			if at := checkpointOf(t, second); at != c.from {
				t.Errorf("it continues from %d, want %d", at, c.from)
			}
			apply(t, second, vector.Batch{Delete: []int64{1}, After: c.from, Checkpoint: 9})
			if ids := s.ids(second.name); len(ids) > 0 {
				t.Errorf("points %d are left", ids)
			}
			if err := first.Apply(t.Context(), vector.Batch{After: 7, Checkpoint: 8}); !errors.Is(err, catalog.ErrOvertaken) {
				t.Errorf("another batch of the first: %v", err)
			}
		})
	}
}

// TestAMarkIsPutInOrder holds that replicas cannot end with marks of different processes.
func TestAMarkIsPutInOrder(t *testing.T) {
	s, first, _ := successors(t)
	marks := 0
	s.Fault(func(_ string, in any) error {
		if u, ok := in.(*client.UpsertPoints); ok && u.GetPoints()[0].GetId().GetNum() == checkpointID {
			marks++
			if u.GetOrdering().GetType() != client.WriteOrderingType_Medium {
				t.Errorf("a mark with the ordering %v", u.GetOrdering())
			}
		}
		return nil
	})
	apply(t, first, vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 5})
	if marks == 0 {
		t.Error("no mark is written")
	}
}
