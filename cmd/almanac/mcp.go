package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/kb"
)

type mcpCmd struct {
	Toolsets string `help:"Only the tools of these groups, such as cips,search." placeholder:"GROUPS"`
}

func (*mcpCmd) Help() string {
	return `For clients that start a server themselves. It reads the data directory and
follows the changes of a running server or sync, but does not sync itself. Logs
go to standard error.`
}

// Run serves until the client closes its end.
func (c *mcpCmd) Run(ctx context.Context, a *app) (err error) {
	n, dir, store, err := a.openCatalog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keeper, err := a.keeper(n, dir, store, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	cfg := a.apiConfig(kb.Base{Catalog: store, Search: keeper, Network: n,
		PublicURL: a.config.publicURL(a.config.Server.Listen), Now: time.Now}.Prepared())
	cfg.AdminLoopback = true // nothing listens
	handlers, err := api.New(cfg)
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Toolsets != "" {
		query.Set("toolsets", c.Toolsets)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return keeper.Follow(ctx) })
	g.Go(func() error {
		defer stop() // the client closed its end
		return handlers.MCP.ServeStdio(ctx, query.Encode())
	})
	return g.Wait()
}
