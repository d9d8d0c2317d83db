package main

import (
	"time"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/mcp"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/remote"
	"almanac/api/web"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/ingest/connectors"
	"almanac/retrieval"
)

// base returns the knowledge base of a service that listens on an address.
func (a *app) base(n network.Network, store *sqlstore.Store, search retrieval.Searcher, listen string) kb.Base {
	allow, _ := a.config.Allowed() // checked with the configuration
	b := kb.Base{
		Catalog: store, Search: search, Network: n, Now: now, PublicURL: a.config.PublicURL(listen),
	}
	b.Remote = remote.New(remote.Config{Allow: allow, Version: version()})
	return b.Prepared()
}

// soon is how long after its start the program lets calls wait for an index that is
// still loading.
const soon = 2 * time.Second

// apiConfig returns the configuration that all transports share.
func (a *app) apiConfig(b kb.Base) api.Config {
	all := api.Operations(b)
	ready, down := api.Health(b.Search)
	s := a.config.Server
	serving := op.Serving{Operations: all, Log: a.log, Ready: ready, Until: time.Now().Add(soon)}
	if !connectors.Whole(b.Network) {
		serving.Kinds = api.Kinds(b)
	}
	offer := mcp.Offer{Instructions: api.Instructions(b), Resources: api.ResourcesOf(b, all)}
	if a.config.MCP.Prompts {
		offer.Prompts = api.Prompts
	}
	return api.Config{
		Program: meta.Program{Serving: serving, Version: version(), Down: down, Catalog: b.Catalog.Ping},
		Site: web.Site{Name: b.Network.Title, About: b.Network.Description, Proposals: b.Network.Proposals,
			Items: b.Items, Now: b.Now, Clicks: s.Clicks},
		Offer: offer, PublicURL: b.PublicURL,
		AdminToken: s.AdminToken, AllowedOrigins: s.AllowedOrigins, TrustedProxies: s.TrustedProxies,
		Tally:  b.Tally,
		Limits: api.Limits{REST: a.config.Limit.REST, MCP: a.config.Limit.MCP, Web: a.config.Limit.Web},
		LimitSetting: func(limit string) string {
			return config.EnvName("limit."+limit) + "=0 in the server's environment switches it off"
		},
	}
}
