package qdrant

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	client "github.com/qdrant/go-client/qdrant"

	"almanac/retrieval/vector"
	"almanac/testing/qdranttest"
	"almanac/testing/recordingtest"
	"almanac/testing/vectortest"
)

// live is the address of a Qdrant server for tests, without TLS, and liveKey
// its API key if it has one. With it, or with a program that tests start, the suite runs
// there (and with -record writes its recording again), and so do the tests that no
// recording can answer.
var (
	live    = os.Getenv("ALMANAC_TEST_QDRANT_ADDR")
	liveKey = os.Getenv("ALMANAC_TEST_QDRANT_KEY")
)

// server returns a connection to a live server and its version.
func server(t *testing.T, addr string) (*client.GrpcClient, string) {
	t.Helper()
	conn, err := Config{Addr: addr, Key: liveKey, Timeout: 10 * time.Second}.dial()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	c := client.NewGrpcClientFromConn(conn)
	health, err := c.Qdrant().HealthCheck(t.Context(), &client.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return c, health.GetVersion()
}

var notInNames = regexp.MustCompile(`[^a-z]+`)

// liveConfig is that of a test; what the test leaves on the live server is
// removed before and after it.
func liveConfig(t *testing.T, addr string, n int) Config {
	t.Helper()
	c := Config{Addr: addr, Key: liveKey, Generation: 1, Owner: "conformance", Dimensions: vectortest.Dimensions,
		Model: "test", Quantize: true, Timeout: 30 * time.Second,
		Collection: fmt.Sprintf("test-%s-%d", strings.Trim(notInNames.ReplaceAllString(strings.ToLower(t.Name()), "-"),
			"-"), n)}
	if live != "" {
		s, _ := server(t, live)
		drop := func() {
			list, err := s.Collections().List(context.Background(), &client.ListCollectionsRequest{})
			if err != nil {
				t.Error(err)
			}
			for _, d := range list.GetCollections() {
				if _, ok := generationOf(c.Collection, d.GetName()); !ok {
					continue
				}
				if _, err := s.Collections().Delete(context.Background(),
					&client.DeleteCollection{CollectionName: d.GetName()}); err != nil {
					t.Error(err)
				}
			}
		}
		drop()
		t.Cleanup(drop)
	}
	return c
}

func TestConformance(t *testing.T) {
	o := recordingtest.Options{Secrets: []string{liveKey}}
	real := live
	if real == "" && qdranttest.Program() != "" {
		real = qdranttest.Nodes(t, 1)[0].Addr
	}
	if real != "" {
		_, version := server(t, real)
		o.Server = "Qdrant " + version
	}
	addr := qdranttest.GRPC(t, "testdata/conformance.jsonl", real, o)
	configs := map[vector.Index]Config{}
	made := map[string]int{} // by test
	vectortest.Run(t, vectortest.Options{
		SplitBatches: true,
		New: func(t *testing.T) vector.Index {
			made[t.Name()]++
			c := liveConfig(t, addr, made[t.Name()])
			x := openAt(t, c)
			configs[x] = c
			return x
		},
		Reopen: func(t *testing.T, x vector.Index) vector.Index {
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			again := openAt(t, configs[x])
			configs[again] = configs[x]
			return again
		},
	})
}
