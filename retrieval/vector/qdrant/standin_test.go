package qdrant

import (
	"context"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	client "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// standIn is as much of a Qdrant server as tests of faults need: collections,
// aliases and points by id. It finds nothing by vectors; that is what the
// conformance suite on a real server's answers is for.
type standIn struct {
	addr string

	mu      sync.Mutex // guards everything below
	version string
	key     string
	fault   func(ctx context.Context, method string, in any) error // before a call; nil: none
	calls   map[string]int
	made    map[string]*standInCollection
	aliases map[string]string
}

type standInCollection struct {
	info   *client.CollectionInfo
	points map[uint64]*client.PointStruct
}

// startStandIn serves on addr, or on any port of loopback.
func startStandIn(t *testing.T, addr string, o ...grpc.ServerOption) *standIn {
	t.Helper()
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &standIn{addr: listener.Addr().String(), version: "1.18.3", calls: map[string]int{}, made: map[string]*standInCollection{}, aliases: map[string]string{}}
	server := grpc.NewServer(append(o, grpc.MaxRecvMsgSize(maxMessage), grpc.UnaryInterceptor(s.intercept))...)
	client.RegisterQdrantServer(server, standInService{s: s})
	client.RegisterCollectionsServer(server, standInCollections{s: s})
	client.RegisterPointsServer(server, standInPoints{s: s})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s
}

func (s *standIn) intercept(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	method := strings.TrimPrefix(info.FullMethod, "/qdrant.")
	md, _ := metadata.FromIncomingContext(ctx)
	s.mu.Lock()
	s.calls[method]++
	key, fault := s.key, s.fault
	s.mu.Unlock()
	if key != "" && method != "Qdrant/HealthCheck" && strings.Join(md["api-key"], "") != key {
		return nil, status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
	}
	if fault != nil {
		if err := fault(ctx, method, in); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return next(ctx, in)
}

// set changes the server between calls.
func (s *standIn) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// failOn makes calls of a method fail.
func (s *standIn) failOn(method string, err error) {
	s.set(func() {
		s.fault = func(_ context.Context, m string, _ any) error {
			if m == method {
				return err
			}
			return nil
		}
	})
}

func (s *standIn) heal() { s.set(func() { s.fault = nil }) }

func (s *standIn) count(method string) (n int) {
	s.set(func() { n = s.calls[method] })
	return n
}

// ids returns the points of a collection without the checkpoint's, ascending.
func (s *standIn) ids(collection string) (ids []uint64) {
	s.set(func() {
		if c := s.made[collection]; c != nil {
			ids = slices.DeleteFunc(slices.Sorted(maps.Keys(c.points)), func(id uint64) bool { return id == checkpointID })
		}
	})
	return ids
}

func (s *standIn) names() (names []string) {
	s.set(func() { names = slices.Sorted(maps.Keys(s.made)) })
	return names
}

func (s *standIn) find(name string) (*standInCollection, error) {
	if target, ok := s.aliases[name]; ok {
		name = target
	}
	if c := s.made[name]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

type standInService struct {
	client.UnimplementedQdrantServer
	s *standIn
}

func (x standInService) HealthCheck(context.Context, *client.HealthCheckRequest) (*client.HealthCheckReply, error) {
	return &client.HealthCheckReply{Title: "qdrant - vector search engine", Version: x.s.version}, nil
}

type standInCollections struct {
	client.UnimplementedCollectionsServer
	s *standIn
}

func (x standInCollections) Get(_ context.Context, r *client.GetCollectionInfoRequest) (*client.GetCollectionInfoResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &client.GetCollectionInfoResponse{Result: proto.CloneOf(c.info)}, nil
}

func (x standInCollections) Create(_ context.Context, r *client.CreateCollection) (*client.CollectionOperationResponse, error) {
	if x.s.made[r.GetCollectionName()] != nil {
		return nil, status.Error(codes.AlreadyExists, "already exists")
	}
	x.s.made[r.GetCollectionName()] = &standInCollection{points: map[uint64]*client.PointStruct{}, info: &client.CollectionInfo{
		PayloadSchema: map[string]*client.PayloadSchemaInfo{},
		Config: &client.CollectionConfig{Metadata: r.GetMetadata(), Params: &client.CollectionParams{
			VectorsConfig: r.GetVectorsConfig(), SparseVectorsConfig: r.GetSparseVectorsConfig(),
			ShardNumber: r.GetShardNumber(), ReplicationFactor: r.ReplicationFactor}}}}
	return &client.CollectionOperationResponse{Result: true}, nil
}

func (x standInCollections) Delete(_ context.Context, r *client.DeleteCollection) (*client.CollectionOperationResponse, error) {
	delete(x.s.made, r.GetCollectionName())
	return &client.CollectionOperationResponse{Result: true}, nil
}

func (x standInCollections) List(context.Context, *client.ListCollectionsRequest) (*client.ListCollectionsResponse, error) {
	var list client.ListCollectionsResponse
	for _, name := range slices.Sorted(maps.Keys(x.s.made)) {
		list.Collections = append(list.Collections, &client.CollectionDescription{Name: name})
	}
	return &list, nil
}

func (x standInCollections) ListAliases(context.Context, *client.ListAliasesRequest) (*client.ListAliasesResponse, error) {
	var list client.ListAliasesResponse
	for alias, name := range x.s.aliases {
		list.Aliases = append(list.Aliases, &client.AliasDescription{AliasName: alias, CollectionName: name})
	}
	return &list, nil
}

func (x standInCollections) UpdateAliases(_ context.Context, r *client.ChangeAliases) (*client.CollectionOperationResponse, error) {
	for _, a := range r.GetActions() {
		if gone := a.GetDeleteAlias(); gone != nil {
			delete(x.s.aliases, gone.GetAliasName())
		}
		if added := a.GetCreateAlias(); added != nil {
			if x.s.made[added.GetAliasName()] != nil {
				return nil, status.Error(codes.InvalidArgument, "Wrong input: collection with the same name exists")
			}
			x.s.aliases[added.GetAliasName()] = added.GetCollectionName()
		}
	}
	return &client.CollectionOperationResponse{Result: true}, nil
}

type standInPoints struct {
	client.UnimplementedPointsServer
	s *standIn
}

var done = &client.PointsOperationResponse{Result: &client.UpdateResult{Status: client.UpdateStatus_Completed}}

func (x standInPoints) Upsert(_ context.Context, r *client.UpsertPoints) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	for _, p := range r.GetPoints() {
		c.points[p.GetId().GetNum()] = p
	}
	return done, nil
}

func (x standInPoints) Delete(_ context.Context, r *client.DeletePoints) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	f := r.GetPoints().GetFilter()
	kept := map[uint64]bool{}
	for _, condition := range f.GetMustNot() {
		for _, id := range condition.GetHasId().GetHasId() {
			kept[id.GetNum()] = true
		}
	}
	records := f.GetMust()[0].GetField().GetMatch().GetIntegers().GetIntegers()
	maps.DeleteFunc(c.points, func(id uint64, p *client.PointStruct) bool {
		record, ok := p.GetPayload()[recordField]
		return ok && slices.Contains(records, record.GetIntegerValue()) && !kept[id]
	})
	return done, nil
}

func (x standInPoints) DeleteVectors(context.Context, *client.DeletePointVectors) (*client.PointsOperationResponse, error) {
	return done, nil
}

func (x standInPoints) CreateFieldIndex(_ context.Context, r *client.CreateFieldIndexCollection) (*client.PointsOperationResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	c.info.PayloadSchema[r.GetFieldName()] = &client.PayloadSchemaInfo{}
	return done, nil
}

func (x standInPoints) Get(_ context.Context, r *client.GetPoints) (*client.GetResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	var got client.GetResponse
	for _, id := range r.GetIds() {
		if p := c.points[id.GetNum()]; p != nil {
			got.Result = append(got.Result, &client.RetrievedPoint{Id: p.GetId(), Payload: p.GetPayload()})
		}
	}
	return &got, nil
}

func (x standInPoints) Query(_ context.Context, r *client.QueryPoints) (*client.QueryResponse, error) {
	if _, err := x.s.find(r.GetCollectionName()); err != nil {
		return nil, err
	}
	return &client.QueryResponse{}, nil
}
