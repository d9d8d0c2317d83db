package main

import (
	"almanac/api"
	"almanac/api/kb"
	"almanac/api/meta"
	"almanac/api/op"
)

// apiConfig returns the configuration that all transports share.
func (a *app) apiConfig(b kb.Base) api.Config {
	all := api.Operations(b)
	ready, down := api.Health(b.Search)
	s := a.config.Server
	return api.Config{
		Serving: op.Serving{Operations: all, Log: a.log, Ready: ready}, Down: down, Resources: meta.Resources(b, all),
		Name: b.Network.Title, Description: b.Network.Description, Version: version(), PublicURL: b.PublicURL,
		Instructions: "Knowledge base of " + b.Network.Title + ". Start with search or semantic_search, " +
			"read full texts with get_doc, and cite each answer's url.",
		AdminToken: s.AdminToken, AllowedOrigins: s.AllowedOrigins, TrustedProxies: s.TrustedProxies,
		Limits: api.Limits{REST: a.config.Limit.REST, MCP: a.config.Limit.MCP, Web: a.config.Limit.Web},
	}
}
