package qdranttest

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"almanac/testing/recordingtest"
)

// health is a server whose answers tell calls apart: the status counts the
// calls, and an unknown service and a call without the key are errors.
type health struct {
	grpc_health_v1.UnimplementedHealthServer
	calls atomic.Int32
}

func (h *health) Check(ctx context.Context,
	r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	switch {
	case strings.Join(md["api-key"], " ") != "hush":
		return nil, status.Error(codes.Unauthenticated, "no key")
	case r.GetService() == "none":
		return nil, status.Error(codes.NotFound, "no service, said hush")
	}
	n := h.calls.Add(1)
	return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_ServingStatus(n % 3)}, nil
}

func startHealth(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, &health{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func dial(t *testing.T, addr string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// check says what a call with a key answers.
func check(t *testing.T, conn *grpc.ClientConn, key, service string) string {
	t.Helper()
	ctx := metadata.AppendToOutgoingContext(t.Context(), "api-key", key)
	r, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return fmt.Sprintf("%v: %s", status.Code(err), status.Convert(err).Message())
	}
	return r.GetStatus().String()
}

func TestRecordedCallsArePlayed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.jsonl")
	options := recordingtest.Options{Server: "health 1.0", Secrets: []string{"hush"}}
	var said []string
	calls := []string{"a", "none", "a", "b", "a"}
	t.Run("record", func(t *testing.T) {
		if err := flag.Set("record", "true"); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("record", "false")
		conn := dial(t, GRPC(t, file, startHealth(t), options))
		for _, service := range calls {
			said = append(said, check(t, conn, "hush", service))
		}
		said = append(said, check(t, conn, "wrong", "c"))
	})
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(written), "hush") || !strings.Contains(string(written),
		`{"path":"/grpc.health.v1.Health/Check","body":{"json":{"service":"b"}},"status":0`) {
		t.Errorf("recording:\n%s", written)
	}
	conn := dial(t, GRPC(t, file, "", options))
	// "b" out of order: only the calls with its body count.
	for _, i := range []int{3, 0, 1, 2, 4, 3, 4, 1} {
		want := strings.ReplaceAll(said[i], "hush", "secret-1")
		if got := check(t, conn, "any", calls[i]); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
	if got := check(t, conn, "any", "c"); got != "Unauthenticated: no key" {
		t.Errorf("a refused call: %s", got)
	}
}
