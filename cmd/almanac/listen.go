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
	"almanac/api/admin"
	"almanac/api/limit"
	"almanac/cmd/config"
)

// drain is the time that running requests have after a signal.
const drain = 10 * time.Second

// connections are the bounds of each listener.
func (a *app) connections(metrics *admin.Metrics) (limit.Connections, error) {
	proxies, err := limit.ParseProxies(a.config.Server.TrustedProxies)
	return limit.Connections{
		Total: a.config.Limit.Connections, PerClient: a.config.Limit.ClientConnections, Proxies: proxies,
		Refused: metrics.Refusals("connections"),
	}, err
}

// listen opens the listeners; admin is nil when it is switched off.
func (a *app) listen(ctx context.Context) (public, admin net.Listener, err error) {
	if public, err = listenOn(ctx, a.config.Server.Listen, "--listen"); err != nil {
		return nil, nil, err
	}
	if a.config.Server.Admin == "" {
		return public, nil, nil
	}
	admin, err = listenOn(ctx, a.config.Server.Admin, "--admin")
	if err == nil && !isLoopback(admin) && a.config.Server.AdminToken == "" {
		err = fmt.Errorf("the admin listener on %s can be reached from other machines: set %s, or listen on 127.0.0.1",
			admin.Addr(), config.EnvName("server.admin_token"))
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
func serveHTTP(
	ctx context.Context, g *errgroup.Group, l net.Listener, bounds limit.Connections, h http.Handler,
	writeTimeout time.Duration, log *slog.Logger,
) {
	server := api.NewServer(h, writeTimeout, log)
	l = bounds.Listen(l, server)
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
			log.Warn("requests cut off at shutdown", "address", l.Addr().String(), "wait", drain)
			err = server.Close()
		}
		return err
	})
}

func isLoopback(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsLoopback()
}
