package main

import (
	"context"

	"almanac/api"
	"almanac/api/cips"
	"almanac/api/community"
	"almanac/api/devfund"
	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/operations"
	"almanac/api/releases"
	"almanac/api/search"
)

// allOperations lists the operations of every group, in the order clients see
// them.
func allOperations(b kb.Base) []op.Operation {
	var all []op.Operation
	all = append(all, meta.Operations(b, func() []op.Operation { return all })...)
	for _, group := range []func(kb.Base) []op.Operation{
		cips.Operations, devfund.Operations, operations.Operations, search.Operations, library.Operations, community.Operations, releases.Operations,
	} {
		all = append(all, group(b)...)
	}
	return all
}

// apiConfig is what every transport of this process serves.
func (a *app) apiConfig(b kb.Base) api.Config {
	all := allOperations(b)
	s := a.config.Server
	return api.Config{
		Operations: all, Resources: meta.Resources(b, all),
		Name: b.Network.Title, Description: b.Network.Description, Version: version(), PublicURL: s.PublicURL,
		Instructions: "Knowledge base of " + b.Network.Title + ". Start with search or semantic_search, read full texts with get_doc, and cite each answer's url.",
		AdminToken:   s.AdminToken, AllowedOrigins: s.AllowedOrigins, TrustedProxies: s.TrustedProxies,
		Limits: api.Limits{REST: a.config.Limit.REST, MCP: a.config.Limit.MCP, Web: a.config.Limit.Web},
		Ready: func() (bool, float64) {
			st := b.Search.Status(context.Background())
			return st.Ready, st.Progress
		},
		Log: a.log,
	}
}
