package qdranttest

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type points struct {
	client.UnimplementedPointsServer
	s *Server
}

var written = &client.PointsOperationResponse{Result: &client.UpdateResult{Status: client.UpdateStatus_Completed}}

func (x points) Upsert(_ context.Context, r *client.UpsertPoints) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	for _, p := range r.GetPoints() {
		c.Points[p.GetId().GetNum()] = p
	}
	return written, nil
}

func (x points) Delete(_ context.Context, r *client.DeletePoints) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	listed := idsOf(r.GetPoints().GetPoints().GetIds())
	maps.DeleteFunc(c.Points, func(id uint64, p *client.PointStruct) bool {
		if f := r.GetPoints().GetFilter(); f != nil {
			return passes(f, p)
		}
		return listed[id]
	})
	return written, nil
}

func (x points) DeleteVectors(_ context.Context,
	r *client.DeletePointVectors) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	for id := range idsOf(r.GetPointsSelector().GetPoints().GetIds()) {
		for _, name := range r.GetVectors().GetNames() {
			delete(c.Points[id].GetVectors().GetVectors().GetVectors(), name)
		}
	}
	return written, nil
}

func (x points) CreateFieldIndex(_ context.Context,
	r *client.CreateFieldIndexCollection) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	c.Info.PayloadSchema[r.GetFieldName()] = &client.PayloadSchemaInfo{}
	return written, nil
}

func (x points) Get(_ context.Context, r *client.GetPoints) (*client.GetResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	var got client.GetResponse
	for _, id := range r.GetIds() {
		if p := c.Points[id.GetNum()]; p != nil {
			got.Result = append(got.Result, retrieved(p))
		}
	}
	return &got, nil
}

func retrieved(p *client.PointStruct) *client.RetrievedPoint {
	return &client.RetrievedPoint{Id: p.GetId(), Payload: p.GetPayload()}
}

// Scroll returns points by id, from an offset on.
func (x points) Scroll(_ context.Context, r *client.ScrollPoints) (*client.ScrollResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	limit := 10
	if r.Limit != nil {
		limit = int(r.GetLimit())
	}
	var page client.ScrollResponse
	for _, id := range slices.Sorted(maps.Keys(c.Points)) {
		p := c.Points[id]
		if id < r.GetOffset().GetNum() || !passes(r.GetFilter(), p) {
			continue
		}
		if len(page.Result) == limit {
			page.NextPageOffset = p.GetId()
			break
		}
		page.Result = append(page.Result, retrieved(p))
	}
	return &page, nil
}

// Query scores points by the cosine with a dense vector or by the dot product
// with a sparse one, whose weights are multiplied by IDF.
func (x points) Query(_ context.Context, r *client.QueryPoints) (*client.QueryResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	score, err := c.scorer(r)
	if err != nil {
		return nil, err
	}
	var answer client.QueryResponse
	for _, id := range slices.Sorted(maps.Keys(c.Points)) {
		p := c.Points[id]
		if v := vectorOf(p, r.GetUsing()); v != nil && passes(r.GetFilter(), p) {
			if s, ok := score(v); ok {
				answer.Result = append(answer.Result, &client.ScoredPoint{Id: p.GetId(), Score: s})
			}
		}
	}
	slices.SortStableFunc(answer.Result,
		func(a, b *client.ScoredPoint) int { return cmp.Compare(b.GetScore(), a.GetScore()) })
	limit := 10
	if r.Limit != nil {
		limit = int(r.GetLimit())
	}
	answer.Result = answer.Result[:min(limit, len(answer.Result))]
	return &answer, nil
}

// scorer returns how a query scores vectors, and which ones it finds.
func (c *Collection) scorer(r *client.QueryPoints) (func(*client.Vector) (float32, bool), error) {
	input := r.GetQuery().GetNearest()
	if dense := input.GetDense(); dense != nil {
		size := c.Info.GetConfig().GetParams().GetVectorsConfig().GetParamsMap().GetMap()[r.GetUsing()].GetSize()
		if uint64(len(dense.GetData())) != size {
			return nil, status.Errorf(codes.InvalidArgument,
				"Wrong input: Vector dimension error: expected dim: %d, got %d", size, len(dense.GetData()))
		}
		return func(v *client.Vector) (float32, bool) {
			return cosine(dense.GetData(), v.GetDense().GetData()), true
		}, nil
	}
	weights := map[uint32]float64{}
	for i, term := range input.GetSparse().GetIndices() {
		weights[term] = float64(input.GetSparse().GetValues()[i]) * c.idf(r.GetUsing(), term)
	}
	return func(v *client.Vector) (float32, bool) {
		sum, found := 0.0, false
		for i, term := range v.GetSparse().GetIndices() {
			w, ok := weights[term]
			found = found || ok
			sum += w * float64(v.GetSparse().GetValues()[i])
		}
		return float32(sum), found
	}, nil
}

// idf is ln(1 + (n − df + 0.5)/(df + 0.5)) over the vectors of a name.
func (c *Collection) idf(name string, term uint32) float64 {
	n, df := 0.0, 0.0
	for _, p := range c.Points {
		if v := vectorOf(p, name); v != nil {
			n++
			if slices.Contains(v.GetSparse().GetIndices(), term) {
				df++
			}
		}
	}
	return math.Log(1 + (n-df+0.5)/(df+0.5))
}

func cosine(a, b []float32) float32 {
	var ab, aa, bb float64
	for i := range min(len(a), len(b)) {
		x, y := float64(a[i]), float64(b[i])
		ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float32(ab / math.Sqrt(aa*bb))
}

// vectorOf returns a point's vector of a name, nil if it has none.
func vectorOf(p *client.PointStruct, name string) *client.Vector {
	return p.GetVectors().GetVectors().GetVectors()[name]
}

func idsOf(list []*client.PointId) map[uint64]bool {
	ids := make(map[uint64]bool, len(list))
	for _, id := range list {
		ids[id.GetNum()] = true
	}
	return ids
}

// passes reports whether a point has all that a filter must have and nothing
// that it must not.
func passes(f *client.Filter, p *client.PointStruct) bool {
	for _, c := range f.GetMust() {
		if !holds(c, p) {
			return false
		}
	}
	for _, c := range f.GetMustNot() {
		if holds(c, p) {
			return false
		}
	}
	return true
}

func holds(c *client.Condition, p *client.PointStruct) bool {
	if ids := c.GetHasId(); ids != nil {
		return slices.ContainsFunc(ids.GetHasId(),
			func(id *client.PointId) bool { return id.GetNum() == p.GetId().GetNum() })
	}
	field := c.GetField()
	value, ok := p.GetPayload()[field.GetKey()]
	if !ok {
		return false
	}
	if r := field.GetRange(); r != nil {
		n := float64(value.GetIntegerValue())
		return (r.Gte == nil || n >= r.GetGte()) && (r.Lt == nil || n < r.GetLt())
	}
	if words := field.GetMatch().GetKeywords(); words != nil {
		return slices.Contains(words.GetStrings(), value.GetStringValue())
	}
	return slices.Contains(field.GetMatch().GetIntegers().GetIntegers(), value.GetIntegerValue())
}
