package api

import (
	"context"

	"github.com/ulule/limiter/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/server"
	"almanac/api/tally"
	"almanac/api/web"
)

// Config of the handlers.
type Config struct {
	meta.Program
	web.Site
	Resources []op.Resource
	Dashboard form.Config // without a Store there is none
	// Instructions are for models that use the tools.
	Instructions func(context.Context) string
	// Prompts says that clients of the tools can ask for Prompts.
	Prompts   bool
	PublicURL string // {base_url}: https://kb.example.org

	// Loopback and AdminLoopback mean that the listener is only reachable from
	// this machine: Host headers are checked. Otherwise AdminToken is required.
	Loopback, AdminLoopback bool
	AdminToken              string
	AllowedHosts            []string // besides PublicURL's
	AllowedOrigins          []string // pages that may use /mcp, and read
	TrustedProxies          []string // addresses and networks
	// Audience says whether others reach the service, and so whether any page may read; nil:
	// only pages that may use /mcp.
	Audience *server.Audience

	Limits Limits
	// LimitSetting says how the operator changes a limit (rest, mcp, web), for
	// refusals on a loopback listener; nil: they say nothing of it.
	LimitSetting func(limit string) string
	// LocalFree means that calls from this machine, which no proxy passed on, are not
	// counted.
	LocalFree bool
	// LimitStore is shared by all buckets; nil = one in memory.
	LimitStore limiter.Store

	Metrics *admin.Metrics
	// Tally takes the violations of the content security policy, and the clicks that pages
	// report; nil: they are not counted.
	Tally *tally.Tally
}

// readers are the origins whose pages may read answers.
func (c Config) readers() server.Origins { return c.Audience.Readers(c.AllowedOrigins, c.Loopback) }

// Limits are the calls a client has in limit.Period; 0 = no limit.
type Limits struct{ REST, MCP, Web int }
