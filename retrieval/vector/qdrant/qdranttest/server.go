// Package qdranttest is a stand-in for a Qdrant server in tests: as much of
// its gRPC interface as package qdrant uses, in memory, with the faults that a
// real server can hardly be made to have. It imports nothing of ours.
//
// It compares a query with every point, so that what it finds is exact.
package qdranttest

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

// Server is a stand-in that listens on loopback.
type Server struct {
	Addr string // host:port

	mu          sync.Mutex // guards everything below
	key         string
	full        bool
	collections map[string]*collection
	aliases     map[string]string // to collections
}

type collection struct {
	info   *client.CollectionInfo
	points map[uint64]*client.PointStruct
}

// Start starts a server without collections; tb ends it.
func Start(tb testing.TB) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{Addr: listener.Addr().String(), collections: map[string]*collection{}, aliases: map[string]string{}}
	const maxMessage = 64 << 20
	server := grpc.NewServer(grpc.MaxRecvMsgSize(maxMessage), grpc.UnaryInterceptor(s.intercept))
	client.RegisterQdrantServer(server, service{s: s})
	client.RegisterCollectionsServer(server, collections{s: s})
	client.RegisterPointsServer(server, points{s: s})
	go func() { _ = server.Serve(listener) }() // until it is stopped
	tb.Cleanup(server.Stop)
	return s
}

// RequireKey makes the server want an API key.
func (s *Server) RequireKey(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.key = key
}

// Empty is what a restart with another disk does: collections and aliases are
// gone.
func (s *Server) Empty() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.collections)
	clear(s.aliases)
}

// Full makes writes fail as they do on a full disk, or no more.
func (s *Server) Full(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = on
}

// ChangeCollections changes what is known of every collection, as an older or
// newer program may have left it.
func (s *Server) ChangeCollections(change func(info *client.CollectionInfo)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.collections {
		change(c.info)
	}
}

// Passages returns the points that the collections hold, without those of
// neither vector, ascending: one in two collections is there twice.
func (s *Server) Passages() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []int64
	for _, c := range s.collections {
		for id, p := range c.points {
			if len(p.GetVectors().GetVectors().GetVectors()) > 0 {
				ids = append(ids, int64(id))
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// intercept holds the lock for a whole call, so that each is a step.
func (s *Server) intercept(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	md, _ := metadata.FromIncomingContext(ctx)
	if given := strings.Join(md["api-key"], ""); s.key != "" && given != s.key && !strings.HasSuffix(info.FullMethod, "/HealthCheck") {
		if given == "" {
			return nil, status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
		}
		return nil, status.Error(codes.Unauthenticated, "Invalid API key or JWT")
	}
	switch in.(type) {
	case *client.UpsertPoints, *client.DeletePoints, *client.DeletePointVectors, *client.CreateCollection:
		if s.full {
			return nil, status.Error(codes.Internal, "Service internal error: No space left on device: WAL buffer size exceeds available disk space")
		}
	}
	return next(ctx, in)
}

func (s *Server) find(name string) (*collection, error) {
	if target, ok := s.aliases[name]; ok {
		name = target
	}
	if c := s.collections[name]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

type service struct {
	client.UnimplementedQdrantServer
	s *Server
}

func (service) HealthCheck(context.Context, *client.HealthCheckRequest) (*client.HealthCheckReply, error) {
	return &client.HealthCheckReply{Title: "qdrant - vector search engine", Version: "1.18.3"}, nil
}

type collections struct {
	client.UnimplementedCollectionsServer
	s *Server
}

var changed = &client.CollectionOperationResponse{Result: true}

func (x collections) Get(_ context.Context, r *client.GetCollectionInfoRequest) (*client.GetCollectionInfoResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &client.GetCollectionInfoResponse{Result: proto.CloneOf(c.info)}, nil
}

func (x collections) List(context.Context, *client.ListCollectionsRequest) (*client.ListCollectionsResponse, error) {
	var list client.ListCollectionsResponse
	for _, name := range slices.Sorted(maps.Keys(x.s.collections)) {
		list.Collections = append(list.Collections, &client.CollectionDescription{Name: name})
	}
	return &list, nil
}

func (x collections) Create(_ context.Context, r *client.CreateCollection) (*client.CollectionOperationResponse, error) {
	name := r.GetCollectionName()
	if x.s.collections[name] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
	}
	x.s.collections[name] = &collection{points: map[uint64]*client.PointStruct{}, info: &client.CollectionInfo{
		Status: client.CollectionStatus_Green, PayloadSchema: map[string]*client.PayloadSchemaInfo{},
		Config: &client.CollectionConfig{Metadata: r.GetMetadata(), Params: &client.CollectionParams{
			VectorsConfig: r.GetVectorsConfig(), SparseVectorsConfig: r.GetSparseVectorsConfig()}}}}
	return changed, nil
}

func (x collections) Delete(_ context.Context, r *client.DeleteCollection) (*client.CollectionOperationResponse, error) {
	delete(x.s.collections, r.GetCollectionName())
	return changed, nil
}

func (x collections) ListAliases(context.Context, *client.ListAliasesRequest) (*client.ListAliasesResponse, error) {
	var list client.ListAliasesResponse
	for _, alias := range slices.Sorted(maps.Keys(x.s.aliases)) {
		list.Aliases = append(list.Aliases, &client.AliasDescription{AliasName: alias, CollectionName: x.s.aliases[alias]})
	}
	return &list, nil
}

func (x collections) UpdateAliases(_ context.Context, r *client.ChangeAliases) (*client.CollectionOperationResponse, error) {
	for _, a := range r.GetActions() {
		if gone := a.GetDeleteAlias(); gone != nil {
			delete(x.s.aliases, gone.GetAliasName())
		}
		if added := a.GetCreateAlias(); added != nil {
			if x.s.collections[added.GetAliasName()] != nil {
				return nil, status.Error(codes.InvalidArgument, "Wrong input: Collection with the same name exists")
			}
			x.s.aliases[added.GetAliasName()] = added.GetCollectionName()
		}
	}
	return changed, nil
}
