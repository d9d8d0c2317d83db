// Package remote calls tools of other servers by MCP over HTTP. Such a server is a
// stranger: it may be slow, endless, broken or hostile. So each call has one deadline,
// answers have a maximum size, private addresses are refused, no request is sent
// twice, and a server that keeps failing is not called for a while.
package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/sony/gobreaker/v2"

	"almanac/api/admit"
	"almanac/api/kb"
	"almanac/api/op"
	"almanac/ingest/outbound"
)

const (
	// callTime is the time for all requests of a call. It is shorter than that
	// of an operation, so that the client reads what went wrong.
	callTime = 10 * time.Second
	// pause is how long a server is not called after maxFailures failed calls in a
	// row.
	pause       = 30 * time.Second
	maxFailures = 3
	// maxCalls bounds the concurrent calls, maxOfOne those of one client, maxRequests
	// those to one host.
	maxCalls    = 8
	maxOfOne    = 2
	maxRequests = 4
	// maxBody is the maximum size of one response in bytes.
	maxBody = 1 << 20
)

// Config configures a Client. The zero value of every field works.
type Config struct {
	// Allow lists private networks that servers may be in: not what these redirect to.
	Allow []netip.Prefix
	// Timeout is the time for all requests of a call, Pause how long a failing
	// server is left alone.
	Timeout, Pause time.Duration
	// Transport replaces the network.
	Transport http.RoundTripper
	// Version is that of this program, for the servers.
	Version string
}

// Client implements kb.ToolCaller. It may be used concurrently.
type Client struct {
	config Config
	http   *outbound.Client
	mcp    *mcp.Client

	mu      sync.Mutex
	servers map[string]*server // by endpoint
	running map[string]int     // calls by client
	calls   int                // running
}

// server is what the client knows of one server.
type server struct {
	breaker *gobreaker.CircuitBreaker[kb.ToolResult]
	http    http.RoundTripper // may use the allowed networks for this server alone
	tools   toolList
}

// New makes a client.
func New(c Config) *Client {
	c.Timeout, c.Pause = cmp.Or(c.Timeout, callTime), cmp.Or(c.Pause, pause)
	return &Client{
		config: c,
		http: outbound.New(outbound.Config{
			Allow: c.Allow, Timeout: c.Timeout, MaxBody: maxBody, PerHost: maxRequests, Transport: c.Transport,
		}),
		mcp: mcp.NewClient(&mcp.Implementation{Name: "almanac", Version: cmp.Or(c.Version, "0")}, &mcp.ClientOptions{
			Capabilities:   &mcp.ClientCapabilities{},                  // servers can ask nothing of us
			MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // it sends calls again
		}),
		servers: map[string]*server{}, running: map[string]int{},
	}
}

// Call implements kb.ToolCaller.
func (c *Client) Call(ctx context.Context, endpoint, tool string, arguments json.RawMessage) (kb.ToolResult, error) {
	of := admit.Client(ctx)
	if err := c.enter(of); err != nil {
		return kb.ToolResult{}, err
	}
	defer c.leave(of)
	s := c.server(endpoint)
	result, err := s.breaker.Execute(func() (kb.ToolResult, error) {
		return c.call(ctx, s, endpoint, tool, arguments)
	})
	if failed, ok := errors.AsType[*failure](err); ok {
		return result, op.Unavailable(c.config.Pause, "%s", failed.message)
	}
	if errors.Is(err, gobreaker.ErrOpenState) || errors.Is(err, gobreaker.ErrTooManyRequests) {
		err = op.Unavailable(c.config.Pause, "the server failed %d times in a row and is left alone for a while", maxFailures)
	}
	return result, err
}

// enter counts a call of a client, unless it or all have too many; calls of nobody
// are bounded as those of all.
func (c *Client) enter(client string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.calls >= maxCalls:
		return op.Unavailable(time.Second, "%d calls to other servers are running", maxCalls)
	case client != "" && c.running[client] >= maxOfOne:
		return op.Unavailable(time.Second, "%d of your calls to other servers are running", maxOfOne)
	}
	c.calls++
	c.running[client]++
	return nil
}

func (c *Client) leave(client string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls--
	if c.running[client]--; c.running[client] == 0 {
		delete(c.running, client)
	}
}

// server returns what is known of the server at an endpoint. There are no more
// of them than the directory lists.
func (c *Client) server(endpoint string) *server {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.servers[endpoint]
	if !ok {
		s = &server{http: c.http.For(endpoint).Once(), breaker: gobreaker.NewCircuitBreaker[kb.ToolResult](gobreaker.Settings{
			MaxRequests: 1, Timeout: c.config.Pause,
			ReadyToTrip: func(n gobreaker.Counts) bool { return n.ConsecutiveFailures >= maxFailures },
			IsSuccessful: func(err error) bool {
				_, failed := errors.AsType[*failure](err)
				return !failed
			},
			IsExcluded: func(err error) bool { return errors.Is(err, context.Canceled) },
		})}
		c.servers[endpoint] = s
	}
	return s
}
