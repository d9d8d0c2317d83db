package qdrant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	client "github.com/qdrant/go-client/qdrant"

	"almanac/retrieval/analysis"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
)

const (
	maxHits = 10_000 // that a search returns
	// Search requests a few more than it returns, so that equal scores at the end
	// of the list can be ordered by id, and more again while they are all equal, up
	// to maxTies.
	someTies = 16
	maxTies  = 4096
	// How many of the nearest by quantised vectors are rescored by the originals,
	// in multiples of the requested number, and the least breadth of the graph
	// search.
	oversampling = 2
	breadth      = 256
)

// Search returns the k passages of the greatest cosine, at most 10,000. The
// cosines are exact; the server may miss a passage.
func (x *Index) Search(ctx context.Context, query []float32, f passage.Filter, k int) ([]vector.Hit, error) {
	const doing = "search"
	q, err := vector.Unit(query, x.config.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("vector index: %s: %w", doing, err)
	}
	if isZero(q) {
		return nil, ctx.Err()
	}
	return x.best(ctx, doing, k, &client.QueryPoints{Query: client.NewQueryDense(q), Using: client.PtrOf(denseVector),
		Filter: conditions(f),
		Params: &client.SearchParams{HnswEf: client.PtrOf(uint64(max(breadth, 2*k))),
			Quantization: &client.QuantizationSearchParams{Rescore: client.PtrOf(true),
				Oversampling: client.PtrOf(float64(oversampling))}}})
}

// SearchTerms returns the k passages of the greatest sum of term weights, at
// most 10,000. The server's IDF is over the passages of a shard, and replaced
// passages count until their segment is rewritten.
func (x *Index) SearchTerms(ctx context.Context, terms []vector.Term, f passage.Filter, k int) ([]vector.Hit, error) {
	const doing = "search terms"
	weights := map[analysis.TermID]float64{}
	for _, t := range terms {
		if !(math.Abs(t.Weight) <= math.MaxFloat32) {
			return nil, fmt.Errorf("vector index: %s: term %d has weight %v", doing, t.ID, t.Weight)
		}
		if t.Weight > 0 {
			weights[t.ID] += t.Weight
		}
	}
	if len(weights) == 0 {
		return nil, ctx.Err()
	}
	var ids []uint32
	var values []float32
	for _, id := range slices.Sorted(maps.Keys(weights)) {
		ids, values = append(ids, uint32(id)), append(values, float32(weights[id]))
	}
	return x.best(ctx, doing, k, &client.QueryPoints{Query: client.NewQuerySparse(ids, values),
		Using: client.PtrOf(sparseVector), Filter: conditions(f)})
}

// best returns the k best hits of a query, equal scores by id.
func (x *Index) best(ctx context.Context, doing string, k int, q *client.QueryPoints) ([]vector.Hit, error) {
	if k = min(k, maxHits); k <= 0 {
		return nil, ctx.Err()
	}
	for limit := k + someTies; ; limit *= 2 {
		q.Limit = client.PtrOf(uint64(limit))
		hits, err := x.query(ctx, doing, q)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(hits, func(a, b vector.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
		})
		if n := len(hits); n < limit || hits[n-1].Score < hits[k-1].Score || limit-k >= maxTies {
			return hits[:min(k, n)], nil
		}
	}
}

// Scores returns the exact cosine of each passage: a search among the ids
// without index or quantisation. Fetching the vectors instead would transfer a
// hundred times the bytes.
func (x *Index) Scores(ctx context.Context, query []float32, ids []passage.ID) ([]float32, error) {
	const doing = "scores"
	q, err := vector.Unit(query, x.config.Dimensions)
	if err != nil {
		return nil, fmt.Errorf("vector index: %s: %w", doing, err)
	}
	scores := make([]float32, len(ids))
	places := make(map[passage.ID][]int, len(ids))
	for i, id := range ids {
		if id >= 0 {
			places[id] = append(places[id], i)
		}
	}
	if len(places) == 0 || isZero(q) {
		return scores, ctx.Err()
	}
	among := make([]*client.PointId, 0, len(places))
	for _, id := range slices.Sorted(maps.Keys(places)) {
		among = append(among, client.NewIDNum(uint64(id)))
	}
	hits, err := x.query(ctx, doing, &client.QueryPoints{Query: client.NewQueryDense(q),
		Using:  client.PtrOf(denseVector),
		Filter: &client.Filter{Must: []*client.Condition{client.NewHasID(among...)}},
		Limit:  client.PtrOf(uint64(len(among))),
		Params: &client.SearchParams{Exact: client.PtrOf(true)}})
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		for _, i := range places[h.Passage] {
			scores[i] = h.Score
		}
	}
	return scores, nil
}

// query requests ids and scores.
func (x *Index) query(ctx context.Context, doing string, q *client.QueryPoints) ([]vector.Hit, error) {
	if err := x.prepare(ctx, false); err != nil {
		return nil, err
	}
	q.CollectionName = x.name
	r, err := x.points.Query(ctx, q)
	if err != nil {
		return nil, x.fail(ctx, doing, err)
	}
	hits := make([]vector.Hit, len(r.GetResult()))
	for i, p := range r.GetResult() {
		hits[i] = vector.Hit{Passage: passage.ID(p.GetId().GetNum()), Score: p.GetScore()}
	}
	return hits, nil
}

// The payload of a point holds the attributes of its record for filters. Words
// are in one case, so that matching ignores it; a date is in microseconds since
// 1970, absent if unknown.
const (
	recordField    = "record"
	kindField      = "kind"
	sourceField    = "source"
	containerField = "container"
	stateField     = "state"
	dateField      = "date"
)

type payloadIndex struct {
	name   string
	kind   client.FieldType
	params *client.PayloadIndexParams
}

var payloadIndexes = []payloadIndex{
	{recordField, client.FieldType_FieldTypeInteger,
		client.NewPayloadIndexParamsInt(&client.IntegerIndexParams{Lookup: client.PtrOf(true),
			Range: client.PtrOf(false)})},
	{kindField, client.FieldType_FieldTypeKeyword, nil},
	{sourceField, client.FieldType_FieldTypeKeyword, nil},
	{containerField, client.FieldType_FieldTypeKeyword, nil},
	{stateField, client.FieldType_FieldTypeKeyword, nil},
	{dateField, client.FieldType_FieldTypeInteger,
		client.NewPayloadIndexParamsInt(&client.IntegerIndexParams{Lookup: client.PtrOf(false),
			Range: client.PtrOf(true)})},
}

func payloadOf(record int64, a passage.Attributes) map[string]*client.Value {
	payload := map[string]*client.Value{
		recordField:    client.NewValueInt(record),
		kindField:      client.NewValueString(passage.FoldCase(a.Kind)),
		sourceField:    client.NewValueString(passage.FoldCase(a.Source)),
		containerField: client.NewValueString(passage.FoldCase(a.Container)),
		stateField:     client.NewValueString(passage.FoldCase(a.State)),
	}
	if !a.Date.IsZero() {
		payload[dateField] = client.NewValueInt(a.Date.UnixMicro())
	}
	return payload
}

// conditions returns a filter in the server's form, nil for one that matches everything.
func conditions(f passage.Filter) *client.Filter {
	if f.Empty() {
		return nil
	}
	c := new(client.Filter)
	for _, words := range []struct {
		field  string
		values []string
	}{{kindField, f.Kinds}, {sourceField, f.Sources}, {containerField, f.Containers}, {stateField, f.States}} {
		if len(words.values) == 0 {
			continue
		}
		folded := make([]string, len(words.values))
		for i, w := range words.values {
			folded[i] = passage.FoldCase(w)
		}
		c.Must = append(c.Must, client.NewMatchKeywords(words.field, folded...))
	}
	var dates client.Range
	if !f.Since.IsZero() {
		dates.Gte = client.PtrOf(float64(passage.CeilMicro(f.Since)))
	}
	if !f.Until.IsZero() {
		dates.Lt = client.PtrOf(float64(passage.CeilMicro(f.Until)))
	}
	if dates.Gte != nil || dates.Lt != nil {
		c.Must = append(c.Must, client.NewRange(dateField, &dates))
	}
	if len(f.Records) > 0 {
		c.Must = append(c.Must, client.NewMatchInts(recordField, f.Records...))
	}
	return c
}
