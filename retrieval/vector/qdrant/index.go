// Package qdrant is the vector engine on a Qdrant server or cluster, over its gRPC API.
//
// One collection holds one generation of the index; an alias without the
// generation names the one that serves. A passage is a point: its id is the
// passage's, its dense vector the embedding (cosine, int8 in memory, hits
// rescored by the original), its sparse vector the BM25 weights of its terms
// (see weights.go), to which the server adds the terms' IDF, and its payload
// the attributes for filters. Dense and sparse are searched separately: they
// are two lists of a fusion that also has lists of other engines.
//
// Lists are of passages, not grouped by record: the reranker scores the listed
// passages, and the server's groups of one would hide all but the best. A list
// of twice the length reaches as many records at less cost: recall@100 of 400
// passages and of 200 groups is the same to three digits on four judged
// collections, in 1.2 to 4.4 ms against 5.6 to 10.3 ms.
//
// The mark is a point of the same collection, with neither vector nor attributes. It has
// the checkpoint, and the epoch of the process that wrote it. It is written after the
// points of its batch are there, so it is lost and restored with them, and never ahead of
// them.
package qdrant

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	client "github.com/qdrant/go-client/qdrant"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"almanac/retrieval/vector"
)

// Config describes an index. Quantize, OnDisk, Shards and Replicas apply to a
// new collection; an existing one keeps its own.
type Config struct {
	Addr string // host:port of the gRPC interface; of several nodes of a cluster with commas
	TLS  bool
	Key  string // API key; "" none

	Collection string // base name: letters, digits, ".", "_" and "-"
	Generation int64
	// Owner identifies the catalog that is indexed: a collection of another owner,
	// or without one, is refused.
	Owner      string
	Epoch      int64 // of the writer: one below that of the mark is refused
	Dimensions int
	Model      string // model of the vectors

	Quantize bool   // int8 scalar quantisation in memory; the setting is on by default
	OnDisk   bool   // original vectors and sparse index on disk
	Shards   uint32 // 0: the server's default
	Replicas uint32 // 0: the server's default

	// ReadOnly leaves the collection to another process: Apply, Flush and
	// Promote do nothing.
	ReadOnly bool
	Timeout  time.Duration // of one request; default 10 s
	Log      *slog.Logger  // default: none

	roots *x509.CertPool // nil: the system's
}

// ErrClosed is the error of every method of a closed index.
var ErrClosed = errors.New("vector index is closed")

// Index is a vector index on a server. Every method calls it: if it cannot be
// reached the error wraps vector.ErrUnavailable. Any other error needs an
// operator to fix it.
type Index struct {
	config      Config
	name        string // of the collection
	conn        *grpc.ClientConn
	service     client.QdrantClient
	collections client.CollectionsClient
	points      client.PointsClient

	turn     chan struct{} // held while preparing the collection
	prepared atomic.Bool   // the collection exists and was checked
	promoted bool          // by Promote, which runs where Checkpoint does
	closed   atomic.Bool
}

var _ vector.Sparse = (*Index)(nil)

const (
	maxDimensions = 1 << 16
	maxMessage    = 64 << 20         // bytes of a response
	openTimeout   = 2 * time.Second  // of Open's first call of the server
	reconnect     = 5 * time.Second  // the longest pause between tries to connect
	keepAlive     = 30 * time.Second // of silence, then the connection is tested
)

var collectionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Open connects to the server and prepares the collection. If the server
// refuses, or does not answer within two seconds, that is logged and is the
// error of every call until it is fixed: the program can use its other engines.
// Only a wrong configuration is an error of Open.
func Open(ctx context.Context, c Config) (*Index, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("vector index: %w", err)
	}
	if c.Timeout <= 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Key != "" && !c.TLS && slices.ContainsFunc(c.addrs(), func(addr string) bool {
		host, _, _ := net.SplitHostPort(addr)
		return !isLoopback(host)
	}) {
		c.Log.Warn("the API key is sent unencrypted, TLS is off", "address", c.Addr)
	}
	conn, err := c.dial()
	if err != nil {
		return nil, fmt.Errorf("vector index: address %s: %w", c.Addr, err)
	}
	services := client.NewGrpcClientFromConn(conn)
	x := &Index{config: c, name: generationName(c.Collection, c.Generation), conn: conn, turn: make(chan struct{}, 1),
		service: services.Qdrant(), collections: services.Collections(), points: services.Points()}
	first, cancel := context.WithTimeout(ctx, c.Timeout) // a new collection with its indexes takes seconds
	defer cancel()
	if err = x.prepareIf(first, !c.ReadOnly, openTimeout); err != nil {
		if ctx.Err() != nil {
			return nil, errors.Join(err, x.Close())
		}
		c.Log.Warn("the vector server cannot be used yet", "address", c.Addr, "error", err)
	}
	return x, nil
}

func (c Config) addrs() []string { return strings.Split(c.Addr, ",") }

func (c Config) validate() error {
	for _, shown := range c.addrs() {
		host, port, err := net.SplitHostPort(shown)
		if strings.Contains(shown, "@") {
			shown = "with a user" // or with a key
		}
		if n, portErr := strconv.Atoi(port); err != nil || portErr != nil || n < 1 || n > 65535 || host == "" ||
			strings.ContainsAny(host, "/@") {
			return fmt.Errorf("address %q is not host:port of Qdrant's gRPC interface, for example localhost:6334", shown)
		}
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("the API key has invalid characters: white space, control characters or non-ASCII ones")
	}
	switch {
	case !collectionName.MatchString(c.Collection):
		return fmt.Errorf("collection name %q: allowed are up to 128 letters, digits, \".\", \"_\" and \"-\"",
			c.Collection)
	case c.Generation < 0:
		return fmt.Errorf("generation %d is negative", c.Generation)
	case c.Owner == "":
		return errors.New("no owner is given")
	case c.Dimensions <= 0 || c.Dimensions > maxDimensions:
		return fmt.Errorf("%d dimensions, want 1 to %d", c.Dimensions, maxDimensions)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// nodes makes calls go to the nodes of a cluster in turn, and again to another if one is
// gone: every node answers for all. To repeat a call does no harm, whatever it writes.
const nodes = `{"loadBalancingConfig": [{"round_robin": {}}], "methodConfig": [{"name": [{}], "retryPolicy":
	{"maxAttempts": 4, "initialBackoff": "0.02s", "maxBackoff": "0.2s", "backoffMultiplier": 3,
	"retryableStatusCodes": ["UNAVAILABLE"]}}]}`

// dial returns a connection, which is opened by the first call.
func (c Config) dial() (*grpc.ClientConn, error) {
	transport := insecure.NewCredentials()
	if c.TLS {
		transport = credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.roots})
	}
	retry := backoff.DefaultConfig
	retry.MaxDelay = reconnect
	addrs := c.addrs()
	target := "dns:///" + addrs[0] // with an explicit scheme no address is mistaken for one
	var several []grpc.DialOption
	if len(addrs) > 1 {
		listed := manual.NewBuilderWithScheme("listed")
		target = listed.Scheme() + ":///" + addrs[0]
		var state resolver.State
		for _, addr := range addrs { // each certificate is for the node's own name
			state.Addresses = append(state.Addresses, resolver.Address{Addr: addr, ServerName: addr})
		}
		listed.InitialState(state)
		several = []grpc.DialOption{grpc.WithResolvers(listed), grpc.WithDefaultServiceConfig(nodes)}
	}
	return grpc.NewClient(target, append(several,
		grpc.WithTransportCredentials(transport),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: retry, MinConnectTimeout: reconnect}),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepAlive, Timeout: reconnect}),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage), grpc.MaxCallSendMsgSize(maxMessage)),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, in, out any, conn *grpc.ClientConn,
			call grpc.UnaryInvoker, o ...grpc.CallOption) error {
			if c.Key != "" {
				ctx = metadata.AppendToOutgoingContext(ctx, "api-key", c.Key)
			}
			sent := propagation.MapCarrier{}
			propagation.TraceContext{}.Inject(ctx, sent)
			for name, value := range sent {
				ctx = metadata.AppendToOutgoingContext(ctx, name, value)
			}
			ctx, cancel := context.WithTimeout(ctx, c.Timeout)
			defer cancel()
			return call(ctx, method, in, out, conn, o...)
		}))...)
}

// Flush does nothing: an applied batch is in the server's write-ahead log.
func (x *Index) Flush(ctx context.Context) error {
	if x.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}

// Close closes the connection; the collection stays. Running calls fail.
func (x *Index) Close() error {
	if x.closed.Swap(true) {
		return nil
	}
	return x.conn.Close()
}
