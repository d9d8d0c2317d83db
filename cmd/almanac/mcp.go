package main

import (
	"context"
	"errors"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/tally"
)

type mcpCmd struct {
	Toolsets string `help:"Only the tools of these groups, such as cips,search; also extras, all." placeholder:"GROUPS"`
	Tools    string `help:"Only these tools, or these besides the groups." placeholder:"NAMES"`
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
	keeper, err := a.keeper(n, dir, store, nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	base := a.base(n, store, keeper, a.config.Server.Listen)
	base.Tally = tally.New(store, time.Now, a.log)
	defer func() { err = errors.Join(err, base.Tally.Close()) }()
	cfg := a.apiConfig(base)
	cfg.AdminLoopback = true // nothing listens
	handlers, err := api.New(cfg)
	if err != nil {
		return err
	}
	query := url.Values{"toolsets": {c.Toolsets}, "tools": {c.Tools}}
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
