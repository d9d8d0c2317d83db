package qdrant

import (
	"context"
	"fmt"
	"maps"
	"slices"

	client "github.com/qdrant/go-client/qdrant"
	"golang.org/x/sync/errgroup"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

const (
	upsertBytes = 1 << 20 // of the points of one request, about
	upserts     = 2       // requests at once
)

// Apply writes the points of the batch's records, removes their other points and those
// of deleted records, and then moves the checkpoint. Each request waits until the
// server has applied it, because one that was only accepted may fail later unnoticed,
// and shards progress at different speeds. After a failure, the next try writes
// everything again. If another process has taken over, nothing is written:
// catalog.ErrOvertaken.
func (x *Index) Apply(ctx context.Context, b vector.Batch) error {
	const doing = "apply"
	if x.closed.Load() {
		return fmt.Errorf("vector index: %s: %w", doing, ErrClosed)
	}
	if x.config.ReadOnly {
		return ctx.Err()
	}
	c, err := x.changes(b)
	if err != nil {
		return fmt.Errorf("vector index: %s: %w", doing, err)
	}
	at, err := x.Checkpoint(ctx)
	if err != nil {
		return err
	}
	if b.After > at {
		return fmt.Errorf("vector index: %s: changes after %d to an index of %d: %w", doing, b.After, at,
			vector.ErrLost)
	}
	for _, step := range []func(context.Context, changes) error{x.upsert, x.removeVectors, x.removePoints} {
		if err == nil {
			err = step(ctx, c)
		}
	}
	if err == nil && (b.Checkpoint != at || x.config.Epoch > 0) {
		err = x.putCheckpoint(ctx, b.Checkpoint)
	}
	if err == nil {
		return nil
	}
	if x.config.Epoch > 0 { // a part may be written, perhaps too late
		marking, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.config.Timeout)
		defer cancel()
		if unmarked := x.putCheckpoint(marking, at); unmarked != nil {
			x.config.Log.Warn("the collection is not marked", "error", x.fail(marking, "mark it", unmarked))
		}
	}
	return x.fail(ctx, doing, err)
}

// changes are the changes of a batch to the collection.
type changes struct {
	records []int64 // replaced or removed, ascending
	points  []*client.PointStruct
	bytes   []int // of points, about
	// bare holds the points without a vector of that name.
	bare map[string][]*client.PointId
}

// changes checks a batch: of a record given twice the last counts, and a record
// that is both deleted and given is kept.
func (x *Index) changes(b vector.Batch) (changes, error) {
	byID := make(map[int64]vector.Record, len(b.Records)+len(b.Delete))
	for _, id := range b.Delete {
		byID[id] = vector.Record{ID: id}
	}
	for _, r := range b.Records {
		byID[r.ID] = r
	}
	c := changes{records: slices.Sorted(maps.Keys(byID)), bare: map[string][]*client.PointId{}}
	for _, id := range c.records {
		if err := x.addRecord(&c, byID[id]); err != nil {
			return c, fmt.Errorf("record %d: %w", id, err)
		}
	}
	return c, nil
}

func (x *Index) addRecord(c *changes, r vector.Record) error {
	n := max(len(r.Vectors), len(r.Terms))
	switch {
	case r.ID < 0 || r.ID >= checkpointID/passage.MaxPerRecord:
		return fmt.Errorf("ids are from 0 to %d", checkpointID/passage.MaxPerRecord-1)
	case n > passage.MaxPerRecord:
		return fmt.Errorf("%d passages", n)
	case len(r.Vectors) != n && r.Vectors != nil, len(r.Terms) != n && r.Terms != nil:
		return fmt.Errorf("vectors of %d passages and terms of %d", len(r.Vectors), len(r.Terms))
	}
	payload := payloadOf(r.ID, r.Attributes)
	for i := range n {
		p := &client.PointStruct{Id: client.NewIDNum(uint64(passage.NewID(r.ID, i))), Payload: payload}
		vectors := map[string]*client.Vector{}
		if r.Vectors != nil {
			v, err := vector.Unit(r.Vectors[i], x.config.Dimensions)
			if err != nil {
				return fmt.Errorf("passage %d: %w", i, err)
			}
			if !isZero(v) {
				vectors[denseVector] = client.NewVectorDense(v)
			}
		}
		var terms analysis.Packed
		if r.Terms != nil {
			terms = r.Terms[i]
		}
		ids, weights := weightsOf(terms)
		if len(ids) > 0 {
			vectors[sparseVector] = client.NewVectorSparse(ids, weights)
		}
		if len(vectors) == 0 {
			continue // nothing finds it, so it gets no point
		}
		for _, name := range []string{denseVector, sparseVector} {
			if vectors[name] == nil {
				c.bare[name] = append(c.bare[name], p.Id)
			}
		}
		p.Vectors = client.NewVectorsMap(vectors)
		c.points = append(c.points, p)
		c.bytes = append(c.bytes, 4*x.config.Dimensions+8*len(ids)+200)
	}
	return nil
}

func isZero(v []float32) bool {
	return !slices.ContainsFunc(v, func(c float32) bool { return c != 0 })
}

// upsert writes the points.
func (x *Index) upsert(ctx context.Context, c changes) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(upserts)
	for first := 0; first < len(c.points); {
		last, size := first, 0
		for ; last < len(c.points) && (last == first || size+c.bytes[last] <= upsertBytes); last++ {
			size += c.bytes[last]
		}
		points := c.points[first:last]
		group.Go(func() error {
			_, err := x.points.Upsert(ctx, &client.UpsertPoints{CollectionName: x.name, Wait: client.PtrOf(true),
				Points: points})
			return err
		})
		first = last
	}
	return group.Wait()
}

// removeVectors removes the vectors that points no longer have: writing a point
// in an indexed segment keeps its other vectors.
func (x *Index) removeVectors(ctx context.Context, c changes) error {
	for _, name := range slices.Sorted(maps.Keys(c.bare)) {
		_, err := x.points.DeleteVectors(ctx,
			&client.DeletePointVectors{CollectionName: x.name, Wait: client.PtrOf(true),
				PointsSelector: client.NewPointsSelectorIDs(c.bare[name]),
				Vectors:        &client.VectorsSelector{Names: []string{name}}})
		if err != nil {
			return err
		}
	}
	return nil
}

// removePoints removes the points of the records that were not written.
func (x *Index) removePoints(ctx context.Context, c changes) error {
	if len(c.records) == 0 {
		return nil
	}
	gone := &client.Filter{Must: []*client.Condition{client.NewMatchInts(recordField, c.records...)}}
	if len(c.points) > 0 {
		written := make([]*client.PointId, len(c.points))
		for i, p := range c.points {
			written[i] = p.Id
		}
		gone.MustNot = []*client.Condition{client.NewHasID(written...)}
	}
	_, err := x.points.Delete(ctx, &client.DeletePoints{CollectionName: x.name, Wait: client.PtrOf(true),
		Points: client.NewPointsSelectorFilter(gone)})
	return err
}
