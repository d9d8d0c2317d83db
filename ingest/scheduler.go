package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/privacy"
	"almanac/text/options"
	"almanac/text/webaddress"
)

const (
	// tickEvery is how often the day is looked at.
	tickEvery = time.Second
	// jitter varies an interval by a tenth in both directions, so that instances
	// and sources do not send requests at the same moment.
	jitter = 0.1
	// A failed source is retried after retryFirst, then after twice as long each
	// time, up to retryMost or its own interval.
	retryFirst = 30 * time.Second
	retryMost  = time.Hour
	// slots is how many sources run at the same time after the first pass.
	slots = 4
	// patience is how long the first pass waits for a source before the next one
	// begins beside it.
	patience = 30 * time.Second
)

// Scheduler runs a pipeline's sources: in a first pass one after the other in
// the network's order, but waiting for none longer than half a minute, and then
// each on its own interval, and whenever what it reads on this machine changes. The
// first pass leaves out those of other machines whose interval is not over since the
// run that the catalog has, in whichever process that was. A source never overlaps
// itself or another that uses the same host; a failed one is retried with growing
// intervals.
type Scheduler struct {
	pipeline  *Pipeline
	schedules []*schedule
	slots     chan struct{}
	hosts     map[string]chan struct{} // by host, full while a source uses it
	passed    chan struct{}            // closed when the first pass is over but for deriving
	firstPass chan struct{}
	ran       chan struct{} // full if a source has run since the catalog was derived from
}

// schedule is when one source runs. One goroutine at a time uses it.
type schedule struct {
	src     network.Source
	hosts   []string // of its requests, sorted
	backoff *backoff.ExponentialBackOff
	next    time.Duration // until the next run
	idle    bool          // no next run unless requested
	jobs    chan job      // requested runs
	watch   *watch
	turn    atomic.Pointer[turn]
}

// turn says when a source runs, for people.
type turn struct {
	running bool
	next    time.Time // zero: not planned
}

// job is a requested run. It ends with ctx; done gets its error.
type job struct {
	ctx  context.Context
	done chan<- error
}

// NewScheduler makes a scheduler for the sources of a pipeline's network.
func NewScheduler(p *Pipeline) *Scheduler {
	s := &Scheduler{
		pipeline: p, slots: make(chan struct{}, slots), hosts: map[string]chan struct{}{},
		passed: make(chan struct{}), firstPass: make(chan struct{}), ran: make(chan struct{}, 1),
	}
	for _, src := range p.config.Network.Sources {
		most := retryMost
		if src.Every > 0 {
			most = min(most, src.Every)
		}
		hosts := hostsOf(src)
		for _, h := range hosts {
			s.hosts[h] = make(chan struct{}, 1)
		}
		s.schedules = append(s.schedules, &schedule{
			src: src, hosts: hosts, jobs: make(chan job), watch: p.watchOf(src),
			backoff: &backoff.ExponentialBackOff{
				InitialInterval: min(retryFirst, most), RandomizationFactor: jitter, Multiplier: 2, MaxInterval: most,
			},
		})
		s.schedules[len(s.schedules)-1].turn.Store(&turn{})
	}
	return s
}

// Turn reports whether a source runs, and when it does next; zero: that is not
// planned.
func (s *Scheduler) Turn(source string) (running bool, next time.Time) {
	for _, c := range s.schedules {
		if c.src.Name == source {
			t := c.turn.Load()
			return t.running, t.next
		}
	}
	return false, time.Time{}
}

// FirstPass returns a channel that is closed when every source has had its turn:
// it has run once, successfully or not, or is slow and still runs.
func (s *Scheduler) FirstPass() <-chan struct{} { return s.firstPass }

// Run runs the sources until ctx is done and returns when all have stopped. It
// is called once.
func (s *Scheduler) Run(ctx context.Context) {
	if err := s.pipeline.begin(ctx); err != nil && ctx.Err() == nil {
		s.pipeline.config.Log.ErrorContext(ctx, "sources that the network file no longer names keep their records",
			"error", err)
	}
	states, err := s.pipeline.states(ctx)
	if err != nil && ctx.Err() == nil {
		s.pipeline.config.Log.ErrorContext(ctx, "when sources ran last is not known: all run now", "error", err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, c := range s.schedules {
		if s.continues(c, states[c.src.Name]) {
			wg.Go(func() { s.drive(ctx, c) })
			continue
		}
		ran := make(chan struct{})
		wg.Go(func() {
			_ = s.run(ctx, c, nil) // the pipeline reports and logs the error
			close(ran)
			s.drive(ctx, c)
		})
		select {
		case <-ran:
		case <-time.After(patience):
			s.pipeline.config.Log.WarnContext(ctx, "the first pass goes on without waiting for a slow source",
				"source", c.src.Name)
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return
		}
	}
	close(s.passed)
	s.pipeline.follow(ctx)
	close(s.firstPass)
	s.follow(ctx)
}

// continues plans the next run of a source by its last one; false: it is due. It is if it
// reads this machine, which costs nobody anything, or was not read to the end, or not as it
// is configured now, or if the network file names sources no longer, whose records others
// may yield.
func (s *Scheduler) continues(c *schedule, last catalog.SourceState) bool {
	p, planned := s.pipeline, c.planned()
	left := planned - p.config.Now().Sub(last.LastRun)
	if len(c.hosts) == 0 || c.src.Every == 0 || last.Cursor == "" || last.Error != "" ||
		last.Settings != p.settings(c.src) || p.succeeds() || left <= 0 {
		return false
	}
	c.next = min(left, planned) // their clocks may differ
	return true
}

// drive runs a source when it is due or requested, or when it changed on this
// machine, after the first pass.
func (s *Scheduler) drive(ctx context.Context, c *schedule) {
	select {
	case <-s.passed:
	case <-ctx.Done():
		return
	}
	for s.await(ctx, c) {
	}
}

// await waits for the next run of a source and runs it; false: ctx is done.
func (s *Scheduler) await(ctx context.Context, c *schedule) bool {
	var due <-chan time.Time
	if !c.idle {
		due = time.After(c.next)
		c.turn.Store(&turn{next: time.Now().Add(c.next)})
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-c.watch.next():
			if !c.watch.changed(ctx) {
				continue
			}
			_ = s.run(ctx, c, s.slots) // the pipeline reports and logs the error
		case <-due:
			_ = s.run(ctx, c, s.slots)
		case j := <-c.jobs:
			running, cancel := context.WithCancel(ctx)
			stop := context.AfterFunc(j.ctx, cancel)
			j.done <- s.run(running, c, s.slots)
			stop()
			cancel()
		}
		return true
	}
}

// run runs a source as soon as no other source uses its hosts and a slot is
// free; nil needs none.
func (s *Scheduler) run(ctx context.Context, c *schedule, slot chan struct{}) error {
	// All take hosts in the same order, and a slot last, so they cannot deadlock.
	var wanted []chan struct{}
	for _, h := range c.hosts {
		wanted = append(wanted, s.hosts[h])
	}
	if slot != nil {
		wanted = append(wanted, slot)
	}
	for _, place := range wanted {
		select {
		case place <- struct{}{}:
			defer func() { <-place }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.turn.Store(&turn{running: true})
	c.watch.begin(ctx)
	err := s.pipeline.Run(ctx, c.src).Err
	c.turn.Store(&turn{})
	c.plan(err)
	s.pipeline.giveUp(ctx)
	select {
	case s.ran <- struct{}{}:
	default:
	}
	return err
}

// addressesOf returns the addresses in a source's options.
func addressesOf(src network.Source) (addresses []string) {
	src.Options.Walk(nil, func(_ options.Field, text string) {
		if webaddress.Host(text) != "" {
			addresses = append(addresses, text)
		}
	})
	return addresses
}

// hostsOf returns the hosts of the addresses in a source's options, sorted.
func hostsOf(src network.Source) (hosts []string) {
	for _, a := range addressesOf(src) {
		hosts = append(hosts, webaddress.Host(a))
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// plan sets the time of the next run after one that returned err.
func (c *schedule) plan(err error) {
	if err != nil {
		c.next, c.idle = c.backoff.NextBackOff(), false
		return
	}
	c.backoff.Reset()
	c.idle = c.src.Every == 0
	c.next = c.planned()
}

// planned is how long after a run the next one is.
func (c *schedule) planned() time.Duration {
	return time.Duration(float64(c.src.Every) * (1 - jitter + 2*jitter*rand.Float64()))
}

// follow derives after runs, and when the day changes, until ctx is done. No source waits for it, however
// long the texts are that one of them gave.
func (s *Scheduler) follow(ctx context.Context) {
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.ran:
			s.pipeline.follow(ctx)
		case <-tick.C:
			s.pipeline.followDay(ctx)
		}
	}
}

// Sync runs a source, or all for "", as soon as the first pass is over and
// nothing else uses their hosts, and then derives. progress gets how many have
// run. It is called while Run runs.
func (s *Scheduler) Sync(ctx context.Context, source string, progress func(done, total int)) error {
	var names []string
	if source != "" {
		names = []string{source}
	}
	sources, err := s.pipeline.sources(names)
	if err != nil {
		return err
	}
	var errs []error
	for i, src := range sources {
		progress(i, len(sources))
		errs = append(errs, s.request(ctx, src.Name))
	}
	s.pipeline.follow(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	progress(len(sources), len(sources))
	if err := errors.Join(errs...); err != nil {
		return errors.New(privacy.Mask(err.Error()))
	}
	return nil
}

// request runs a source on its schedule's goroutine and waits for the end.
func (s *Scheduler) request(ctx context.Context, source string) error {
	for _, c := range s.schedules {
		if c.src.Name != source {
			continue
		}
		done := make(chan error, 1)
		select {
		case c.jobs <- job{ctx, done}:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
