package main

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/retrieval/stack"
)

type serveCmd struct {
	Listen string `help:"Address of the public listener; default ${listen}." placeholder:"ADDR" setting:"server.listen"`
	Admin  string `help:"Address of the admin listener; default ${admin}, empty switches it off." placeholder:"ADDR" setting:"server.admin"`
}

func (*serveCmd) Help() string {
	return `It listens at once: /health answers 200 from then on, /ready when the first
index is complete. Port 0 takes any free one; the log tells the address. A
termination signal lets requests under way finish; a second one does not.`
}

// Run serves until ctx ends. Requests drain before what they stand on closes.
func (*serveCmd) Run(ctx context.Context, a *app) (err error) {
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	if a.config.Sync.Enabled {
		if err := a.checkCorpus(n); err != nil {
			return err
		}
	}
	store, err := openCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keeper, err := a.keeper(n, dir, store, a.syncing(n, store, dir))
	if err != nil {
		return err
	}
	public, admin, err := a.listen(ctx)
	if err != nil {
		return err
	}
	cfg := a.apiConfig(kb.Base{Catalog: store, Search: keeper, Network: n,
		PublicURL: a.config.publicURL(public.Addr().String()), Now: time.Now})
	cfg.Metrics, cfg.Loopback = newMetrics(keeper, store, time.Now), isLoopback(public)
	cfg.AdminLoopback = admin == nil || isLoopback(admin)
	handlers, err := api.New(cfg)
	if err != nil {
		return errors.Join(err, closeListeners(public, admin))
	}
	a.log.Info("listening", "address", public.Addr().String(), "network", n.Name, "data", dir)
	g, ctx := errgroup.WithContext(ctx)
	serveHTTP(ctx, g, public, handlers.Public, time.Minute, a.log)
	if admin != nil {
		a.log.Info("listening for the operator", "address", admin.Addr().String())
		serveHTTP(ctx, g, admin, handlers.Admin, 0, a.log) // profiles take as long as they are asked to
	}
	g.Go(func() error { return keeper.Run(ctx) })
	err = errors.Join(g.Wait(), keeper.Close())
	a.log.Info("stopped")
	return err
}

// syncing runs the sources of a network on their schedules; nil where the
// configuration switches that off.
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

// keeper returns what keeps the index of an open catalog up to date.
func (a *app) keeper(n network.Network, dir string, store catalog.Store,
	sync func(context.Context, func()) error,
) (*stack.Keeper, error) {
	cfg, err := a.stackConfig(n, dir)
	cfg.Store = store
	return stack.NewKeeper(stack.KeeperConfig{Config: cfg, Sync: sync, Drain: drain}), err
}
