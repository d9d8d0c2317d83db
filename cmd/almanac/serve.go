package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/retrieval"
)

type serveCmd struct {
	Listen string `help:"Address of the public listener." placeholder:"ADDR" setting:"server.listen"`
	Admin  string `help:"Address of the admin listener; empty switches it off." placeholder:"ADDR" setting:"server.admin"`
}

// drain is how long requests that are under way may take after a signal.
const drain = 10 * time.Second

func (c *serveCmd) Run(ctx context.Context, a *app) error {
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	store, err := openCatalog(ctx, dir, n.Name)
	if err != nil {
		return err
	}
	public, admin, err := a.listen(ctx)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	searcher := &lateSearcher{}
	handlers, err := a.handlers(n, store, searcher, public, admin)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	g, ctx := errgroup.WithContext(ctx)
	serveHTTP(ctx, g, public, handlers.Public, time.Minute, a.log)
	if admin != nil {
		serveHTTP(ctx, g, admin, handlers.Admin, 0, a.log) // profiles take as long as they are asked to
	}
	a.log.Info("listening", "address", public.Addr().String(), "network", n.Name, "data", dir)
	g.Go(func() error { return a.backend(ctx, n, dir, store, searcher) })
	err = g.Wait()
	a.log.Info("stopped")
	return err
}

// listen opens the listeners.
func (a *app) listen(ctx context.Context) (public, admin net.Listener, err error) {
	var lc net.ListenConfig
	if public, err = lc.Listen(ctx, "tcp", a.config.Server.Listen); err != nil {
		return nil, nil, fmt.Errorf("cannot listen on %s: %w", a.config.Server.Listen, err)
	}
	if a.config.Server.Admin == "" {
		return public, nil, nil
	}
	if admin, err = lc.Listen(ctx, "tcp", a.config.Server.Admin); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("cannot listen on %s: %w", a.config.Server.Admin, err), public.Close())
	}
	return public, admin, nil
}

// serveHTTP serves until ctx ends, then drains.
func serveHTTP(ctx context.Context, g *errgroup.Group, l net.Listener, h http.Handler, writeTimeout time.Duration, log *slog.Logger) {
	server := api.NewServer(h, writeTimeout, log)
	g.Go(func() error {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	g.Go(func() error {
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		return server.Shutdown(stop)
	})
}

// handlers assembles the API over the catalog.
func (a *app) handlers(n network.Network, store catalog.Store, searcher *lateSearcher, public, admin net.Listener) (*api.Handlers, error) {
	base := kb.Base{Catalog: store, Search: searcher, Network: n, PublicURL: a.config.Server.PublicURL, Now: time.Now}
	cfg := a.apiConfig(base)
	cfg.Loopback = isLoopback(public)
	cfg.AdminLoopback = admin == nil || isLoopback(admin)
	return api.New(cfg)
}

func isLoopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}

// backend opens the engines behind the listeners, brings the index up to date
// and keeps the sources in sync until ctx ends.
func (a *app) backend(ctx context.Context, n network.Network, dir string, store catalog.Store, searcher *lateSearcher) (err error) {
	s, err := openEngines(ctx, a.stackConfig(n, dir), store)
	if err != nil {
		if ctx.Err() != nil {
			err = nil // stopped while loading
		}
		return errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, s.close()) }()
	searcher.set(s)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.follower.Run(ctx) })
	g.Go(func() error {
		err := a.keepInSync(ctx, n, s)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
	return g.Wait()
}

// keepInSync makes the first index complete and then runs the schedule. A
// process that does not write the index leaves syncing to the one that does.
func (a *app) keepInSync(ctx context.Context, n network.Network, s *stack) error {
	if !a.config.Sync.Enabled || s.lock == nil {
		return a.complete(ctx, s)
	}
	fresh, err := neverSynced(ctx, s.store)
	if err != nil {
		return err
	}
	pipeline, err := a.pipeline(ctx, n, s.store, s.dir, false)
	if err != nil {
		return err
	}
	scheduler := ingest.NewScheduler(pipeline)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { scheduler.Run(ctx); return nil })
	g.Go(func() error {
		if fresh {
			// What a first sync could read is served, also if a source failed.
			select {
			case <-scheduler.FirstPass():
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return a.complete(ctx, s)
	})
	return g.Wait()
}

// complete waits until everything in the catalog is indexed.
func (a *app) complete(ctx context.Context, s *stack) error {
	head, err := s.store.LastChange(ctx)
	if err != nil {
		return err
	}
	if err := s.follower.Wait(ctx, head); err != nil {
		return err
	}
	s.follower.MarkReady()
	records, passages := s.follower.Table().Size()
	a.log.Info("ready", "records", records, "passages", passages)
	return nil
}

func neverSynced(ctx context.Context, store catalog.Store) (bool, error) {
	sources, err := store.Sources(ctx)
	if err != nil {
		return false, err
	}
	for _, st := range sources {
		if !st.LastSuccess.IsZero() {
			return false, nil
		}
	}
	return true, nil
}

// lateSearcher stands for the searcher until the engines are open.
type lateSearcher struct{ stack atomic.Pointer[stack] }

func (l *lateSearcher) set(s *stack) { l.stack.Store(s) }

func (l *lateSearcher) Search(ctx context.Context, r retrieval.Request) (retrieval.Response, error) {
	if s := l.stack.Load(); s != nil {
		return s.searcher.Search(ctx, r)
	}
	return retrieval.Response{}, retrieval.ErrNotReady
}

func (l *lateSearcher) Status(ctx context.Context) retrieval.Status {
	if s := l.stack.Load(); s != nil {
		return s.searcher.Status(ctx)
	}
	return retrieval.Status{}
}
