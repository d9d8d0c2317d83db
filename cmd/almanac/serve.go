package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/ingest"
	"almanac/retrieval/stack"
)

type serveCmd struct {
	Listen string `help:"Public listener; default ${listen}." placeholder:"ADDR" setting:"server.listen"`
	Admin  string `help:"Admin listener; default ${admin}, empty: none." placeholder:"ADDR" setting:"server.admin"`
}

func (*serveCmd) Help() string {
	return `It listens immediately: /health returns 200 from then on, /ready when the first
index is complete. Port 0 takes any free one; the log has the address. On a
termination signal running requests are completed; a second signal ends the
process.`
}

// Run serves until ctx ends. Requests drain before index and catalog close.
func (*serveCmd) Run(ctx context.Context, a *app) (err error) {
	n, dir, store, err := a.openCatalog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if a.config.Sync.Enabled {
		if err := a.checkCorpus(n); err != nil {
			return err
		}
	}
	keeper, err := a.keeper(n, dir, store, a.syncing(n, store, dir))
	if err != nil {
		return err
	}
	metrics := newMetrics(keeper, store, time.Now)
	public, admin, err := a.listen(ctx, metrics)
	if err != nil {
		return err
	}
	base := a.base(n, store, keeper, public.Addr().String())
	base.Tally = tally.New(store, time.Now, a.log)
	defer func() { err = errors.Join(err, base.Tally.Close()) }()
	cfg := a.apiConfig(base)
	cfg.Metrics, cfg.Loopback = metrics, isLoopback(public)
	cfg.AdminLoopback = admin == nil || isLoopback(admin)
	handlers, err := api.New(cfg)
	if err != nil {
		return errors.Join(err, closeListeners(public, admin))
	}
	a.log.Info("listening", "address", public.Addr().String(), "network", n.Name, "data", dir)
	g, ctx := errgroup.WithContext(ctx)
	serveHTTP(ctx, g, public, handlers.Public, time.Minute, a.log)
	if admin != nil {
		a.log.Info("admin listener ready", "address", admin.Addr().String())
		serveHTTP(ctx, g, admin, handlers.Admin, 0, a.log) // no timeout: the client sets the length of profiles
	}
	g.Go(func() error {
		if err := sqlite.Check(ctx, datadir.Catalog(dir)); err != nil {
			return err // answers would be wrong
		}
		return keeper.Run(ctx)
	})
	err = errors.Join(g.Wait(), keeper.Close())
	a.log.Info("stopped")
	return err
}

// syncing runs the sources of a network on their schedules; nil if that is
// switched off.
func (a *app) syncing(n network.Network, store catalog.Store, dir string) func(context.Context, func()) error {
	if !a.config.Sync.Enabled {
		return nil
	}
	return func(ctx context.Context, firstPass func()) error {
		pipeline, err := a.pipeline(ctx, n, store, dir, false)
		if err != nil {
			return err
		}
		scheduler := ingest.NewScheduler(pipeline)
		go func() {
			select {
			case <-scheduler.FirstPass():
				firstPass()
			case <-ctx.Done():
			}
		}()
		scheduler.Run(ctx)
		return nil
	}
}

// keeper returns the keeper of an open catalog's index.
func (a *app) keeper(
	n network.Network, dir string, store catalog.Store, sync func(context.Context, func()) error,
) (*stack.Keeper, error) {
	cfg, err := a.stackConfig(n, dir)
	cfg.Store = store
	return stack.NewKeeper(stack.KeeperConfig{Config: cfg, Sync: sync, Drain: drain}), err
}
