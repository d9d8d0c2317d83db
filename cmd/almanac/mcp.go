package main

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/limit"
	"almanac/api/tally"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest/networks"
)

type mcpCmd struct {
	Toolsets string `help:"Only the tools of these groups, such as cips,search; also extras, all." placeholder:"GROUPS"`
	Tools    string `help:"Only these tools, or these besides the groups." placeholder:"NAMES"`
}

func (*mcpCmd) Help() string {
	return `For clients that start a server themselves. It reads the data directory and
follows the changes of a running server or sync. It does not sync itself, but
loads the sample network into an empty directory, and a folder of documents at
its start. Logs go to standard error.`
}

// Run serves until the client closes its end.
func (c *mcpCmd) Run(ctx context.Context, a *app) (err error) {
	n, at, store, err := openCatalog(ctx, a.open)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	end, err := a.telemetry(ctx, nil)
	if err != nil {
		return err
	}
	defer end()
	keeper, err := a.keeper(n, at, store, nil, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	revisions, err := a.revisions(n, store, keeper.Transformed)
	if err != nil {
		return err
	}
	base := a.base(n, store, limit.NewSearcher(keeper, limit.StandardSearches()), a.config.Server.Listen)
	if at.Sealed == nil {
		base.Tally = tally.New(store, now, a.log)
		defer func() { err = errors.Join(err, base.Tally.Close()) }()
	}
	cfg := a.apiConfig(base)
	cfg.AdminLoopback = true // nothing listens
	cfg.Obstacle = a.unsynced(n, at.Dir, store)
	handlers, err := api.New(cfg)
	if err != nil {
		return err
	}
	query := url.Values{"toolsets": {c.Toolsets}, "tools": {c.Tools}}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	follow(ctx, g, revisions, keeper, a.log)
	g.Go(func() error {
		err := a.load(ctx, n, at, store)
		switch {
		case err == nil:
			return keeper.Follow(ctx)
		case ctx.Err() != nil && errors.Is(err, context.Canceled):
			return nil // the client closed its end before there was anything to follow
		}
		return err
	})
	g.Go(func() error {
		defer stop() // the client closed its end
		return handlers.MCP.ServeStdio(ctx, query.Encode())
	})
	return g.Wait()
}

// unsynced returns a function that says what to run before there is anything to
// answer from. The sample and a folder need nothing.
func (a *app) unsynced(n network.Network, dir string, store *sqlstore.Store) func(context.Context) string {
	var filled atomic.Bool
	return func(ctx context.Context) string {
		if isSample(n) || networks.IsFolder(a.config.Network.Name) || filled.Load() {
			return ""
		}
		head, err := store.LastChange(ctx)
		if err != nil || head > 0 {
			filled.Store(err == nil)
			return ""
		}
		return a.here("nothing is indexed in " + dir + ": run `almanac sync` or `almanac serve`")
	}
}
