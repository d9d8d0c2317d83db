package mcp_test

import (
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"almanac/api/mcp"
	"almanac/api/op/optest"
)

// TestServeForConformance listens on ALMANAC_MCP_LISTEN for ten minutes, so
// that the protocol's own conformance suite can be run against it:
//
//	ALMANAC_MCP_LISTEN=127.0.0.1:9099 go test -run TestServeForConformance ./api/mcp &
//	npx @modelcontextprotocol/conformance server --url http://127.0.0.1:9099/mcp --scenario tools-list
func TestServeForConformance(t *testing.T) {
	addr := os.Getenv("ALMANAC_MCP_LISTEN")
	if addr == "" {
		t.Skip("set ALMANAC_MCP_LISTEN to an address to serve the conformance suite")
	}
	s, err := mcp.New(mcp.Config{Name: "almanac", Version: "test", Operations: optest.Operations(),
		Resources: []mcp.Resource{mcp.ToolsResource(optest.Operations())}, Loopback: true, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Second}
	time.AfterFunc(10*time.Minute, func() { _ = srv.Close() })
	_ = srv.Serve(l)
}
