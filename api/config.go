package api

import (
	"context"
	"time"

	"github.com/ulule/limiter/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/api/edge"
	"almanac/api/kb"
	"almanac/api/op"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/retrieval"
)

// Config of the handlers.
type Config struct {
	op.Serving
	Resources []op.Resource
	Dashboard desk.Config // without a Store there is none
	// Items are the records that references name, for links in texts; nil: texts have none.
	Items func(context.Context, []catalog.Ref) (map[catalog.Ref]kb.Item, error)

	Name        string // of the service, for people: the network's
	Proposals   network.Proposals
	Description string // of the network
	// Instructions are for models that use the tools.
	Instructions func(context.Context) string
	// Prompts says that clients of the tools can ask for Prompts.
	Prompts   bool
	Version   string // of the program
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
	Audience *edge.Audience

	Limits Limits
	Now    func() time.Time // of pages; nil = the system's clock
	// Clicks says that pages report which results are shown and opened, which Tally
	// counts.
	Clicks bool
	// LimitSetting says how the operator changes a limit (rest, mcp, web), for
	// refusals on a loopback listener; nil: they say nothing of it.
	LimitSetting func(limit string) string
	// LocalFree means that calls from this machine, which no proxy passed on, are not
	// counted.
	LocalFree bool
	// LimitStore is shared by all buckets; nil = one in memory.
	LimitStore limiter.Store

	// Down lists the engines that do not answer; nil = none.
	Down func() []retrieval.Down
	// Catalog is why the catalog does not answer; nil = it always does.
	Catalog func(context.Context) error
	// Notes are what /ready says besides of what is not as configured; nil = nothing.
	Notes func() []string
	// Draining reports that the program is about to stop: /ready says so, and
	// everything else goes on; nil = never.
	Draining func() bool
	// Behind is for how long the index has not had everything of the catalog: beyond a
	// minute /ready says so. nil = never.
	Behind  func() time.Duration
	Metrics *admin.Metrics
	// Tally takes the violations of the content security policy; nil: they are
	// not counted.
	Tally *tally.Tally
}

// readers are the origins whose pages may read answers.
func (c Config) readers() edge.Origins { return c.Audience.Readers(c.AllowedOrigins, c.Loopback) }

// Limits are the calls a client has in limit.Period; 0 = no limit.
type Limits struct{ REST, MCP, Web int }
