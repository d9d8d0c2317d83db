package qdrant

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"almanac/retrieval/passage"
	"almanac/retrieval/vector"
	"almanac/testing/qdranttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(addr string) Config {
	return Config{Addr: addr, Collection: "almanac-causeway", Generation: 3, Owner: "catalog-a", Dimensions: 4,
		Model: "model-1", Timeout: 5 * time.Second}
}

func openAt(t *testing.T, c Config) *Index {
	t.Helper()
	x, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

// use opens an index and calls it.
func use(t *testing.T, c Config) error {
	t.Helper()
	_, err := openAt(t, c).Checkpoint(t.Context())
	return err
}

var axis = []float32{1, 0, 0, 0}

func record(id int64, passages int) vector.Record {
	r := vector.Record{ID: id, Attributes: passage.Attributes{Kind: "doc"}}
	for range passages {
		r.Vectors = append(r.Vectors, axis)
	}
	return r
}

// certificate makes one for 127.0.0.1, and the roots that trust it.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func TestWrongConfigurationsAreRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no address", func(c *Config) { c.Addr = "" }, `address "" is not host:port`},
		{"no port", func(c *Config) { c.Addr = "qdrant" }, "not host:port"},
		{"no host", func(c *Config) { c.Addr = ":6334" }, "not host:port"},
		{"a URL", func(c *Config) { c.Addr = "http://qdrant.example.org:6334" },
			`"http://qdrant.example.org:6334" is not host:port`},
		{"a URL with a key", func(c *Config) { c.Addr = "https://hush@qdrant.example.org" }, "not host:port"},
		{"a port that is none", func(c *Config) { c.Addr = "qdrant:0" }, "not host:port"},
		{"a named port", func(c *Config) { c.Addr = "qdrant:grpc" }, "not host:port"},
		{"a key with a line end", func(c *Config) { c.Key = "hush\n" }, "API key has invalid characters"},
		{"no collection", func(c *Config) { c.Collection = "" }, "collection name"},
		{"a collection with a slash", func(c *Config) { c.Collection = "a/b" }, "collection name"},
		{"a negative generation", func(c *Config) { c.Generation = -1 }, "generation -1"},
		{"no owner", func(c *Config) { c.Owner = "" }, "no owner"},
		{"no dimensions", func(c *Config) { c.Dimensions = 0 }, "0 dimensions"},
		{"too many dimensions", func(c *Config) { c.Dimensions = 1 << 20 }, "dimensions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			wrong := config("127.0.0.1:1")
			c.change(&wrong)
			_, err := Open(t.Context(), wrong)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hush") ||
				errors.Is(err, vector.ErrUnavailable) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// faults are servers with which something is wrong, and what is said of it.
func faults(t *testing.T) map[string]struct {
	config Config
	want   string
} {
	identity, roots := certificate(t)
	overTLS := grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{identity}}))
	rest := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(rest.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	failing := func(err error) string {
		s := startStandIn(t)
		s.failOn("Collections/Get", err)
		return s.Addr
	}
	locked := func() string {
		s := startStandIn(t)
		s.RequireKey("other")
		return s.Addr
	}
	with := func(addr string, change func(*Config)) Config {
		c := config(addr)
		change(&c)
		return c
	}
	same := func(*Config) {}
	key := func(c *Config) { c.Key = "hush" }
	return map[string]struct {
		config Config
		want   string
	}{
		"nothing listens": {with("127.0.0.1:1", same), "refuses connections"},
		"an unknown host": {with("no..such.host:6334", same), "its host name is not known"},
		"the REST port":   {with(rest.Listener.Addr().String(), same), "does not answer in gRPC"},
		"TLS to a server without": {with(startStandIn(t).Addr, func(c *Config) { c.TLS = true }),
			"does not speak TLS there"},
		"no TLS to a server with": {with(qdranttest.StartAt(t, "127.0.0.1:0", overTLS).Addr, same),
			"does not answer in gRPC"},
		"an unknown certificate": {with(qdranttest.StartAt(t, "127.0.0.1:0", overTLS).Addr,
			func(c *Config) { c.TLS = true }),
			"certificate that is not accepted: certificate signed by unknown authority"},
		"a certificate of another": {with(strings.Replace(qdranttest.StartAt(t, "127.0.0.1:0", overTLS).Addr,
			"127.0.0.1", "localhost", 1), func(c *Config) { c.TLS, c.roots = true, roots }),
			"certificate that is not accepted"},
		"no answer": {with(silent.Addr().String(),
			func(c *Config) { c.Timeout = 50 * time.Millisecond }), "did not answer within 50ms"},
		"no key":      {with(locked(), same), "wants an API key and none is set"},
		"a wrong key": {with(locked(), key), "refuses the API key"},
		"a key that may not": {with(failing(status.Error(codes.PermissionDenied, "Global access is required")),
			key), "does not allow this with the API key: Global access is required"},
		"overload": {with(failing(status.Error(codes.ResourceExhausted, "Rate limiting exceeded")),
			same), "is overloaded or out of space: Rate limiting exceeded"},
		"an old server": {with(failing(status.Error(codes.Unimplemented, "")), same),
			"is it Qdrant 1.16 or newer?"},
		"an error of the server": {with(failing(status.Error(codes.Internal, "Service internal error:\nno space")),
			same), "reports an error: Service internal error: no space"},
		"a restarting server": {with(failing(status.Error(codes.Unavailable, "shutting down")), same),
			"cannot be reached: shutting down"},
		"a wrong request": {with(failing(status.Error(codes.InvalidArgument, "Wrong input")), same),
			"returned InvalidArgument: Wrong input"},
		"a text that goes on": {with(failing(status.Error(codes.Internal, strings.Repeat("é", 1000))), same),
			"éé…"},
		"a server that is no server": {with(failing(status.Error(codes.Unknown,
			"unexpected HTTP status code received from server: 502 (Bad Gateway)")), same),
			"does not answer in gRPC (502 (Bad Gateway)): is this its gRPC port"},
		"a proxy that knows no such": {with(failing(status.Error(codes.Unimplemented,
			"unexpected HTTP status code received from server: 404 (Not Found)")), same),
			"does not answer in gRPC (404 (Not Found))"},
		"a chain of certificates": {with(failing(status.Error(codes.Unavailable,
			`transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority (possibly because of "x509: invalid signature" while trying`)), same), "not accepted: certificate signed by unknown authority"},
	}
}

// permanent are the faults that a person has to mend.
var permanent = []string{"no key", "a wrong key", "a key that may not", "an old server", "a wrong request"}

func TestEveryFaultIsASentence(t *testing.T) {
	for name, c := range faults(t) {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			c.config.Log = slog.New(slog.NewTextHandler(&log, nil))
			lasting := slices.Contains(permanent, name)
			check := func(call string, err error) {
				t.Helper()
				if err == nil || !strings.Contains(err.Error(), c.want) ||
					!strings.Contains(err.Error(), c.config.Addr) {
					t.Errorf("%s: error %v, want one with %q and the address", call, err, c.want)
					return
				}
				if errors.Is(err, vector.ErrUnavailable) == lasting {
					t.Errorf("%s: %v: is ErrUnavailable: %v", call, err, !lasting)
				}
				if strings.Contains(err.Error(), "hush") || strings.ContainsAny(err.Error(), "\n") ||
					len(err.Error()) > 600 {
					t.Errorf("%s: error %q", call, err)
				}
			}
			x, err := Open(t.Context(), c.config)
			if err != nil {
				t.Fatalf("open: %v", err)
			} else {
				defer x.Close()
				_, err := x.Search(t.Context(), axis, passage.Filter{}, 1)
				check("search", err)
				_, err = x.SearchTerms(t.Context(), []vector.Term{{ID: 1, Weight: 1}}, passage.Filter{}, 1)
				check("search terms", err)
				_, err = x.Scores(t.Context(), axis, []passage.ID{1})
				check("scores", err)
				_, err = x.Checkpoint(t.Context())
				check("checkpoint", err)
				check("apply",
					x.Apply(t.Context(), vector.Batch{Records: []vector.Record{record(1, 1)}, Checkpoint: 1}))
				check("promote", x.Promote(t.Context()))
				if !strings.Contains(log.String(), "cannot be used yet") {
					t.Errorf("log: %s", log.String())
				}
			}
			if strings.Contains(log.String(), "hush") {
				t.Errorf("the key is in the log: %s", log.String())
			}
		})
	}
}

func TestOpenDoesNotWaitForASilentServer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // shorter than openTimeout
	defer cancel()
	if x, err := Open(ctx, config(silent.Addr().String())); !errors.Is(err, context.DeadlineExceeded) ||
		!strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("index %v, error %v, want the context's", x, err)
	}
}

func TestTLSAndKey(t *testing.T) {
	identity, roots := certificate(t)
	s := qdranttest.StartAt(t, "127.0.0.1:0",
		grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{identity}})))
	s.RequireKey("hush")
	c := config(s.Addr)
	c.TLS, c.roots, c.Key = true, roots, "hush"
	if at, err := openAt(t, c).Checkpoint(t.Context()); at != 0 || err != nil {
		t.Errorf("checkpoint %d, error %v", at, err)
	}
}

func TestAKeyInTheOpenIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		addr  string
		tls   bool
		warns bool
	}{{"no..such.host:6334", false, true}, {"no..such.host:6334", true, false}, {"127.0.0.1:1", false, false}} {
		var log bytes.Buffer
		with := config(c.addr)
		with.Key, with.TLS, with.Log = "hush", c.tls, slog.New(slog.NewTextHandler(&log, nil))
		openAt(t, with)
		if strings.Contains(log.String(), "unencrypted") != c.warns {
			t.Errorf("%+v: log %s", c, log.String())
		}
	}
}

func TestClosedIndex(t *testing.T) {
	x := openAt(t, config(startStandIn(t).Addr))
	for range 2 {
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, searchErr := x.Search(t.Context(), axis, passage.Filter{}, 1)
	_, checkpointErr := x.Checkpoint(t.Context())
	for _, err := range []error{searchErr, checkpointErr, x.Apply(t.Context(), vector.Batch{Checkpoint: 1}),
		x.Flush(t.Context()), x.Promote(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error %v, want ErrClosed", err)
		}
	}
}

// FuzzDiagnose: whatever a server says, what is made of it is one line of
// modest length.
func FuzzDiagnose(f *testing.F) {
	f.Add(uint32(codes.Unavailable),
		`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`)
	f.Add(uint32(codes.Unavailable),
		`connection error: desc = "transport: authentication handshake failed: tls: failed to verify certificate: x509: "`)
	f.Add(uint32(codes.Internal), "a\nb\x00\xff")
	f.Add(uint32(99), strings.Repeat("é", 400))
	x := &Index{config: config("127.0.0.1:1"), name: "almanac-causeway-g3"}
	f.Fuzz(func(t *testing.T, code uint32, message string) {
		err := x.fail(context.Background(), "search", status.Error(codes.Code(code), message))
		if err == nil || !utf8.ValidString(err.Error()) || strings.ContainsFunc(err.Error(), unicode.IsControl) ||
			len(err.Error()) > 600 {
			t.Errorf("error %q", err)
		}
	})
}

func FuzzGenerationOf(f *testing.F) {
	for _, name := range []string{"a-g1", "a-g", "a-g01", "a-g-1", "a-g99999999999999999999", "b-g1", "a-gx-g2", ""} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if n, ok := generationOf("a", name); ok && generationName("a", n) != name {
			t.Errorf("%q is generation %d", name, n)
		}
	})
}

func TestTheServerContinuesTheTrace(t *testing.T) {
	told := make(chan string, 1)
	addr := qdranttest.StartAt(t, "127.0.0.1:0", grpc.ChainUnaryInterceptor(func(ctx context.Context, in any,
		_ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		select {
		case told <- strings.Join(metadata.ValueFromIncomingContext(ctx, "traceparent"), " "):
		default:
		}
		return next(ctx, in)
	})).Addr
	x := openAt(t, config(addr))
	<-told // what opening it asked
	ctx, s := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "vector")
	if _, err := x.Checkpoint(ctx); err != nil {
		t.Fatal(err)
	}
	if id, got := s.SpanContext().SpanID().String(), <-told; !strings.Contains(got, id) {
		t.Errorf("the server is told %q of the span %s", got, id)
	}
}
