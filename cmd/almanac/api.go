package main

import (
	"context"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/meta"
	"almanac/api/op"
)

// apiConfig is what every transport of this process serves.
func (a *app) apiConfig(b kb.Base) api.Config {
	all := api.Operations(b)
	s := a.config.Server
	return api.Config{
		Serving: op.Serving{Operations: all, Log: a.log, Ready: func() (bool, float64) {
			st := b.Search.Status(context.Background())
			return st.Ready, st.Progress
		}},
		Resources: meta.Resources(b, all),
		Name:      b.Network.Title, Description: b.Network.Description, Version: version(), PublicURL: b.PublicURL,
		Instructions: "Knowledge base of " + b.Network.Title + ". Start with search or semantic_search, read full texts with get_doc, and cite each answer's url.",
		AdminToken:   s.AdminToken, AllowedOrigins: s.AllowedOrigins, TrustedProxies: s.TrustedProxies,
		Limits: api.Limits{REST: a.config.Limit.REST, MCP: a.config.Limit.MCP, Web: a.config.Limit.Web},
		Down: func() []string {
			down := []string{}
			for _, d := range b.Search.Status(context.Background()).Down {
				down = append(down, d.Engine+": "+d.Reason)
			}
			return down
		},
	}
}
