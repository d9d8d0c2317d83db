package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"almanac/api"
	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/api/limit"
	apiserver "almanac/api/server"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/jobs"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/progress"
	"almanac/cmd/telemetry"
	"almanac/cmd/terminal"
	"almanac/ingest"
	"almanac/ingest/networks"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/retrieval/workbench"
)

type serveCmd struct {
	Listen string `help:"Public listener; default ${listen}." placeholder:"ADDR" setting:"server.listen"`
	Admin  string `help:"Admin listener; default ${admin}, empty: none." placeholder:"ADDR" setting:"server.admin"`
}

func (*serveCmd) Help() string {
	return `It listens immediately: /health returns 200 from then on, /ready when the first
index is complete. Port 0 takes any free one; the log has the address. On a
signal to terminate or hang up /ready returns 503, the listeners close after
server.drain_delay, and running requests are completed; a second signal ends the
process. A client has 60 calls in 15 minutes, which ALMANAC_LIMIT_REST=0,
ALMANAC_LIMIT_MCP=0 and ALMANAC_LIMIT_WEB=0 lift. In a terminal, and with
--folder, calls from this machine are not counted; ALMANAC_LIMIT_LOCAL says
on or off.`
}

// Run serves until ctx ends. Requests drain before index and catalog close.
func (*serveCmd) Run(ctx context.Context, a *app) (err error) {
	n, at, store, err := openCatalog(ctx, a.openToWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	if err := a.firstCase(ctx, store); err != nil {
		return err
	}
	if a.config.Sync.Enabled {
		if err := a.checkCorpus(n); err != nil {
			return err
		}
	}
	metrics := a.metrics(store)
	end, err := a.telemetry(ctx, metrics.Registry)
	if err != nil {
		return err
	}
	defer end()
	w := &work{app: a, network: n, store: store, dir: at.Dir, metrics: metrics}
	if a.config.Judge.URL != "" {
		if w.judge, err = workbench.OpenModel(a.config.Judge); err != nil {
			return err
		}
	}
	keeper, err := a.keeper(n, at, store, metrics.Embedded, w)
	if err != nil {
		return err
	}
	w.keeper = keeper
	metrics.WatchIndex(keeper, a.engines()...)
	bounds, err := a.connections(metrics)
	if err != nil {
		return err
	}
	public, private, err := a.listen(ctx)
	if err != nil {
		return err
	}
	revisions, err := a.revisions(n, store, keeper.Transformed)
	if err != nil {
		return errors.Join(err, closeListeners(public, private))
	}
	w.revisions = revisions
	searcher := limit.NewSearcher(metrics.Searcher(keeper), limit.StandardSearches()) // as doctor prints it
	base := a.base(n, store, searcher, public.Addr().String())
	audience := a.audience(public.Addr().String(), store)
	base.Published = audience.Published
	base.Tally = tally.New(store, now, a.log)
	defer func() { err = errors.Join(err, base.Tally.Close()) }()
	var draining atomic.Bool
	cfg := a.apiConfig(base)
	if url := a.config.Limit.Redis; url != "" {
		counts, err := limit.NewShared(limit.SharedConfig{URL: url, Prefix: "almanac:" + n.Name, Log: a.log})
		if err != nil {
			return errors.Join(err, closeListeners(public, private))
		}
		defer func() { err = errors.Join(err, counts.Close()) }()
		metrics.WatchLimits(counts.Away)
		cfg.LimitStore = counts
		cfg.Notes = func() []string {
			if counts.Away() {
				return []string{"Redis is away: each server counts calls for itself"}
			}
			return nil
		}
	}
	cfg.Audience = audience
	cfg.LocalFree = a.localFree(terminal.Is(a.err))
	cfg.Metrics, cfg.Loopback, cfg.Draining, cfg.Behind = metrics, isLoopback(public), draining.Load, keeper.Behind
	cfg.AdminLoopback = private == nil || isLoopback(private)
	cfg.Dashboard = form.Config{Source: revisions, Search: keeper, Network: n.Title, Version: version(),
		Find: base.Locate, Page: base.PageURL, Log: a.log, Metrics: metrics, Engines: a.engines(), Turn: w.turn,
		JudgeModel: a.config.Judge.Model}
	for _, v := range config.Values(a.config, a.origins) {
		cfg.Dashboard.Settings = append(cfg.Dashboard.Settings, form.Setting(v))
	}
	handlers, err := api.New(cfg)
	if err != nil {
		return errors.Join(err, closeListeners(public, private))
	}
	a.greet(n, public, base.PublicURL)
	a.log.Info("listening", "address", public.Addr().String(), "network", n.Name, "data", at.Dir)
	g, working := errgroup.WithContext(ctx)
	closing, closeAll := context.WithCancel(context.WithoutCancel(ctx))
	defer closeAll()
	serveHTTP(closing, g, public, bounds, handlers.Public, time.Minute, a.log)
	if private != nil {
		a.log.Info("admin listener ready", "address", private.Addr().String())
		// No timeout: the client sets the length of profiles.
		serveHTTP(closing, g, private, bounds, handlers.Admin, 0, a.log)
	}
	g.Go(func() error {
		defer closeAll()
		<-working.Done()
		draining.Store(true)
		if ctx.Err() != nil { // a signal, not a failure
			a.log.Info("draining", "cause", context.Cause(ctx).Error(), "requests", metrics.Running(),
				"delay", a.config.Server.DrainDelay)
			time.Sleep(a.config.Server.DrainDelay)
		}
		return nil
	})
	follow(working, g, revisions, keeper, a.log)
	g.Go(func() error {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		return at.Watch(working, store, tick.C)
	})
	g.Go(func() error {
		if err := at.Check(working); err != nil && working.Err() == nil {
			return err // answers would be wrong
		}
		return keeper.Run(working)
	})
	err = errors.Join(g.Wait(), keeper.Close())
	a.log.Info("stopped")
	return err
}

// greet prints on a terminal which addresses to open.
func (a *app) greet(n network.Network, public net.Listener, address string) {
	if !terminal.Is(a.err) {
		return
	}
	local := "http://" + public.Addr().String()
	fmt.Fprintf(a.err, `%s: open %s
agents connect with: claude mcp add --transport http almanac %s/mcp

`, n.Title, address, local)
}

// telemetry sends traces, and the metrics of a registry, where the environment says so.
func (a *app) telemetry(ctx context.Context, metrics prometheus.Gatherer) (stop func(), err error) {
	return telemetry.Start(ctx, telemetry.Config{Metrics: metrics, Version: version(), Texts: a.config.Telemetry.Texts,
		Log: a.log})
}

// engines returns the engines that are configured: all except the cross-encoder always
// are.
func (a *app) engines() []string {
	engines := []string{"keyword", "vector", "embedder"}
	if a.config.Rerank.URL != "" {
		engines = append(engines, "reranker")
	}
	return engines
}

// metrics returns the metrics of the program and its catalog.
func (a *app) metrics(store *sqlstore.Store) *admin.Metrics {
	m := admin.NewMetrics()
	m.Build(release, built().revision())
	m.WatchSources(store, now)
	return m
}

// localFree reports whether calls from this machine are not counted. Of its own accord
// the program counts them wherever it may be a service for others, and not where
// somebody started it in a terminal or for a folder of documents.
func (a *app) localFree(inTerminal bool) bool {
	switch a.config.Limit.Local {
	case "on":
		return false
	case "off":
		return true
	}
	return inTerminal || networks.IsFolder(a.config.Network.Name)
}

// audience decides whether others reach a service that listens on an address.
func (a *app) audience(listen string, facts apiserver.Facts) *apiserver.Audience {
	s := a.config.Server
	return apiserver.NewAudience(apiserver.Reach{Listen: listen, PublicURL: s.PublicURL, Proxies: s.TrustedProxies,
		Folder: networks.IsFolder(a.config.Network.Name)}, facts, a.log)
}

// work is what this process does besides answering while it writes the index:
// its sources' schedules, and the jobs that people ask for.
type work struct {
	*app
	network   network.Network
	store     *sqlstore.Store
	dir       string
	metrics   *admin.Metrics
	judge     *workbench.Model // nil: none
	keeper    *stack.Keeper
	revisions ranking.Source
	scheduler atomic.Pointer[ingest.Scheduler] // nil: nothing is synced
}

// sync runs the sources of a network on their schedules.
func (w *work) sync(ctx context.Context, firstPass func()) error {
	counted := progress.Sources(func(source string) *progress.Task { return progress.Lines(w.log, source, time.Now) },
		func(r ingest.Report) { w.metrics.Synced(r.Source, r.Err == nil, r.Took) })
	pipeline, err := w.pipeline(ctx, w.network, w.store, w.dir, counted, false)
	if err != nil {
		return err
	}
	scheduler := ingest.NewScheduler(pipeline)
	w.scheduler.Store(scheduler)
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

// jobs executes what people ask for until ctx ends.
func (w *work) jobs(ctx context.Context) {
	var scheduling sync.WaitGroup
	defer scheduling.Wait()
	scheduling.Go(func() { workbench.Schedule(ctx, w.store, w.log) })
	do := map[string]jobs.Do{
		"sync": w.syncNow,
		"reindex": func(ctx context.Context, _ catalog.Request, progress func(done, total int)) (any, error) {
			err := w.keeper.Rebuild(ctx, progress)
			st := w.keeper.Status(ctx)
			return indexed{st.Records, st.Passages}, err
		},
	}
	bench := workbench.Runner{Source: w.revisions, Index: w.keeper, Model: w.judge, Version: version()}
	for kind, searching := range bench.Jobs() {
		do[kind] = jobs.When(func(ctx context.Context) bool { return w.keeper.Status(ctx).Ready }, searching)
	}
	jobs.Runner{Store: w.store, Log: w.log, Do: do}.Run(ctx)
}

// turn says whether a source is being read and when it is read next; while another
// process syncs it knows neither.
func (w *work) turn(source string) (running bool, next time.Time) {
	if scheduler := w.scheduler.Load(); scheduler != nil {
		return scheduler.Turn(source)
	}
	return false, time.Time{}
}

// syncNow executes a request to sync.
func (w *work) syncNow(ctx context.Context, r catalog.Request, progress func(done, total int)) (any, error) {
	scheduler := w.scheduler.Load()
	if scheduler == nil {
		return nil, errors.New("sync.enabled is false: this server syncs nothing")
	}
	return nil, scheduler.Sync(ctx, r.Argument, progress)
}

// keeper returns the keeper of an open catalog's index. While it writes the index it
// does w; nil: nothing.
func (a *app) keeper(
	n network.Network, at datadir.Catalog, store *sqlstore.Store, embedded func(texts, unknown int), w *work,
) (*stack.Keeper, error) {
	cfg, err := a.stackConfig(n, at.Dir)
	cfg.Store, cfg.Sealed, cfg.Embedded = store, at.Sealed, embedded
	k := stack.KeeperConfig{Config: cfg, Reader: a.config.Server.Role == config.RoleReader}
	if w != nil {
		k.Jobs = w.jobs
	}
	if w != nil && a.config.Sync.Enabled {
		k.Sync = w.sync
	}
	return stack.NewKeeper(k), err
}
