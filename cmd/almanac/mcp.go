package main

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/kb"
)

type mcpCmd struct {
	Toolsets string `help:"Only the tools of these groups, such as cips,search." placeholder:"GROUPS"`
}

// Run serves the tools on standard input and output. It follows the change
// log beside a running serve, and syncs nothing itself.
func (c *mcpCmd) Run(ctx context.Context, a *app) error {
	s, n, err := a.openStack(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	searcher := &lateSearcher{}
	searcher.set(s)
	handlers, err := api.New(a.apiConfig(kb.Base{Catalog: s.store, Search: searcher, Network: n, PublicURL: a.config.Server.PublicURL, Now: time.Now}))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.follower.Run(ctx) })
	g.Go(func() error {
		if err := a.complete(ctx, s); err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
	g.Go(func() error {
		defer stop() // the client closed its end
		return handlers.MCP.ServeStdio(ctx, c.Toolsets)
	})
	return g.Wait()
}
