// Package qdranttest is a fake Qdrant server for tests: as much of its gRPC API
// as package qdrant uses, in memory, with faults that are hard to provoke in a
// real server. It compares a query with every point, so its results are exact.
//
// GRPC records the calls of a real server and plays them back.
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

// Server is a fake that listens on loopback.
type Server struct {
	Addr string // host:port

	mu      sync.Mutex // guards everything below
	version string
	key     string
	full    bool
	fault   func(method string, in any) error // nil: none
	calls   map[string]int                    // by method
	state   State
}

// State is the content of a server.
type State struct {
	Collections map[string]*Collection
	Aliases     map[string]string // to collections
}

// Collection is the description of a collection, and its points by id.
type Collection struct {
	Info   *client.CollectionInfo
	Points map[uint64]*client.PointStruct
}

// Start starts a server without collections on any port; it stops when tb ends.
func Start(tb testing.TB) *Server { return StartAt(tb, "127.0.0.1:0") }

// StartAt is Start at an address, with further options.
func StartAt(tb testing.TB, addr string, options ...grpc.ServerOption) *Server {
	tb.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	return StartOn(tb, listener, options...)
}

// StartOn is Start on a listener, which it closes at the end.
func StartOn(tb testing.TB, listener net.Listener, options ...grpc.ServerOption) *Server {
	tb.Helper()
	s := &Server{Addr: listener.Addr().String(), version: "1.18.3", calls: map[string]int{},
		state: State{Collections: map[string]*Collection{}, Aliases: map[string]string{}}}
	const maxMessage = 64 << 20
	server := grpc.NewServer(append(options, grpc.MaxRecvMsgSize(maxMessage), grpc.UnaryInterceptor(s.intercept))...)
	client.RegisterQdrantServer(server, service{s: s})
	client.RegisterCollectionsServer(server, collections{s: s})
	client.RegisterPointsServer(server, points{s: s})
	go func() { _ = server.Serve(listener) }() // until it is stopped
	tb.Cleanup(server.Stop)
	return s
}

// do runs f between two calls.
func (s *Server) do(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// RequireKey makes the server require an API key.
func (s *Server) RequireKey(key string) { s.do(func() { s.key = key }) }

// Version sets the release that the server reports.
func (s *Server) Version(version string) { s.do(func() { s.version = version }) }

// Fault sets a function that is called before every call, named like
// Points/Upsert, and makes it fail with the error it returns; nil removes it.
func (s *Server) Fault(fault func(method string, in any) error) { s.do(func() { s.fault = fault }) }

// Calls counts the calls of a method, named like Points/Upsert.
func (s *Server) Calls(method string) (n int) {
	s.do(func() { n = s.calls[method] })
	return n
}

// Change reads or changes the content of the server, between two calls.
func (s *Server) Change(change func(State)) { s.do(func() { change(s.state) }) }

// Empty simulates a restart with an empty disk: collections and aliases are gone.
func (s *Server) Empty() {
	s.Change(func(state State) {
		clear(state.Collections)
		clear(state.Aliases)
	})
}

// Full makes writes fail as on a full disk, or work again.
func (s *Server) Full(on bool) { s.do(func() { s.full = on }) }

// ChangeCollections changes the description of every collection, as an older or
// newer program may have left it.
func (s *Server) ChangeCollections(change func(info *client.CollectionInfo)) {
	s.Change(func(state State) {
		for _, c := range state.Collections {
			change(c.Info)
		}
	})
}

// Passages returns the points that the collections hold, without those of
// neither vector, ascending: one in two collections is there twice.
func (s *Server) Passages() (ids []int64) {
	s.Change(func(state State) {
		for _, c := range state.Collections {
			for id, p := range c.Points {
				if len(p.GetVectors().GetVectors().GetVectors()) > 0 {
					ids = append(ids, int64(id))
				}
			}
		}
	})
	slices.Sort(ids)
	return ids
}

// intercept holds the lock for a whole call, so that each is atomic.
func (s *Server) intercept(ctx context.Context, in any, info *grpc.UnaryServerInfo,
	next grpc.UnaryHandler) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	method := strings.TrimPrefix(info.FullMethod, "/qdrant.")
	s.calls[method]++
	md, _ := metadata.FromIncomingContext(ctx)
	if given := strings.Join(md["api-key"], ""); s.key != "" && given != s.key && method != "Qdrant/HealthCheck" {
		if given == "" {
			return nil, status.Error(codes.Unauthenticated, "Must provide an API key or an Authorization bearer token")
		}
		return nil, status.Error(codes.Unauthenticated, "Invalid API key or JWT")
	}
	if s.fault != nil {
		if err := s.fault(method, in); err != nil {
			return nil, err
		}
	}
	switch in.(type) {
	case *client.UpsertPoints, *client.DeletePoints, *client.DeletePointVectors, *client.CreateCollection:
		if s.full {
			return nil, status.Error(codes.Internal,
				"Service internal error: No space left on device: WAL buffer size exceeds available disk space")
		}
	}
	return next(ctx, in)
}

func (s *Server) find(name string) (*Collection, error) {
	if target, ok := s.state.Aliases[name]; ok {
		name = target
	}
	if c := s.state.Collections[name]; c != nil {
		return c, nil
	}
	return nil, status.Errorf(codes.NotFound, "Not found: Collection `%s` doesn't exist!", name)
}

type service struct {
	client.UnimplementedQdrantServer
	s *Server
}

func (x service) HealthCheck(context.Context, *client.HealthCheckRequest) (*client.HealthCheckReply, error) {
	return &client.HealthCheckReply{Title: "qdrant - vector search engine", Version: x.s.version}, nil
}

type collections struct {
	client.UnimplementedCollectionsServer
	s *Server
}

var changed = &client.CollectionOperationResponse{Result: true}

func (x collections) Get(_ context.Context,
	r *client.GetCollectionInfoRequest) (*client.GetCollectionInfoResponse, error) {
	c, err := x.s.find(r.GetCollectionName())
	if err != nil {
		return nil, err
	}
	return &client.GetCollectionInfoResponse{Result: proto.CloneOf(c.Info)}, nil
}

func (x collections) List(context.Context, *client.ListCollectionsRequest) (*client.ListCollectionsResponse, error) {
	var list client.ListCollectionsResponse
	for _, name := range slices.Sorted(maps.Keys(x.s.state.Collections)) {
		list.Collections = append(list.Collections, &client.CollectionDescription{Name: name})
	}
	return &list, nil
}

func (x collections) Create(_ context.Context,
	r *client.CreateCollection) (*client.CollectionOperationResponse, error) {
	name := r.GetCollectionName()
	if x.s.state.Collections[name] != nil {
		return nil, status.Errorf(codes.AlreadyExists, "Wrong input: Collection `%s` already exists!", name)
	}
	x.s.state.Collections[name] = &Collection{Points: map[uint64]*client.PointStruct{}, Info: &client.CollectionInfo{
		Status: client.CollectionStatus_Green, PayloadSchema: map[string]*client.PayloadSchemaInfo{},
		Config: &client.CollectionConfig{Metadata: r.GetMetadata(), Params: &client.CollectionParams{
			VectorsConfig: r.GetVectorsConfig(), SparseVectorsConfig: r.GetSparseVectorsConfig(),
			ShardNumber: r.GetShardNumber(), ReplicationFactor: r.ReplicationFactor}}}}
	return changed, nil
}

func (x collections) Delete(_ context.Context,
	r *client.DeleteCollection) (*client.CollectionOperationResponse, error) {
	delete(x.s.state.Collections, r.GetCollectionName())
	return changed, nil
}

func (x collections) ListAliases(context.Context, *client.ListAliasesRequest) (*client.ListAliasesResponse, error) {
	var list client.ListAliasesResponse
	for _, alias := range slices.Sorted(maps.Keys(x.s.state.Aliases)) {
		list.Aliases = append(list.Aliases,
			&client.AliasDescription{AliasName: alias, CollectionName: x.s.state.Aliases[alias]})
	}
	return &list, nil
}

func (x collections) UpdateAliases(_ context.Context,
	r *client.ChangeAliases) (*client.CollectionOperationResponse, error) {
	for _, a := range r.GetActions() {
		if gone := a.GetDeleteAlias(); gone != nil {
			delete(x.s.state.Aliases, gone.GetAliasName())
		}
		if added := a.GetCreateAlias(); added != nil {
			if x.s.state.Collections[added.GetAliasName()] != nil {
				return nil, status.Error(codes.InvalidArgument, "Wrong input: Collection with the same name exists")
			}
			x.s.state.Aliases[added.GetAliasName()] = added.GetCollectionName()
		}
	}
	return changed, nil
}
