package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
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

// drain is how long requests that are under way may take after a signal.
const drain = 10 * time.Second

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
	cfg, err := a.stackConfig(n, dir)
	if err != nil {
		return err
	}
	store, err := openCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	cfg.Store = store
	keeper := stack.NewKeeper(stack.KeeperConfig{Config: cfg, Sync: a.syncing(n, store, dir), Drain: drain})
	public, admin, err := a.listen(ctx)
	if err != nil {
		return err
	}
	b := kb.Base{Catalog: store, Search: keeper, Network: n, PublicURL: a.config.publicURL(public.Addr().String()), Now: time.Now}
	handlers, err := a.handlers(b, public, admin)
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

// listen opens the listeners; admin is nil when it is switched off.
func (a *app) listen(ctx context.Context) (public, admin net.Listener, err error) {
	if public, err = listenOn(ctx, a.config.Server.Listen, "--listen"); err != nil {
		return nil, nil, err
	}
	if a.config.Server.Admin == "" {
		return public, nil, nil
	}
	if admin, err = listenOn(ctx, a.config.Server.Admin, "--admin"); err == nil && !isLoopback(admin) && a.config.Server.AdminToken == "" {
		err = fmt.Errorf("the admin listener on %s can be reached from other machines: set %s, or listen on 127.0.0.1", admin.Addr(), envName("server.admin_token"))
	}
	if err != nil {
		return nil, nil, errors.Join(err, closeListeners(public, admin))
	}
	return public, admin, nil
}

func listenOn(ctx context.Context, address, flag string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", address)
	if e, ok := errors.AsType[*net.OpError](err); ok {
		err = e.Err // the address is named below
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%s): %w", address, flag, err)
	}
	return l, nil
}

func closeListeners(all ...net.Listener) error {
	var err error
	for _, l := range all {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	return err
}

// serveHTTP serves until ctx ends, then drains.
func serveHTTP(ctx context.Context, g *errgroup.Group, l net.Listener, h http.Handler, writeTimeout time.Duration, log *slog.Logger) {
	server := api.NewServer(h, writeTimeout, log)
	g.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve %s: %w", l.Addr(), err)
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		err := server.Shutdown(stop)
		if errors.Is(err, context.DeadlineExceeded) {
			log.Warn("requests were cut off: they took longer than a stop waits", "address", l.Addr().String(), "wait", drain)
			err = server.Close()
		}
		return err
	})
}

// handlers assembles the API over the catalog.
func (a *app) handlers(b kb.Base, public, admin net.Listener) (*api.Handlers, error) {
	cfg := a.apiConfig(b)
	cfg.Metrics = newMetrics(b.Search, b.Catalog, b.Now)
	cfg.Loopback = isLoopback(public)
	cfg.AdminLoopback = admin == nil || isLoopback(admin)
	return api.New(cfg)
}

func isLoopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
