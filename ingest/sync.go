package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/outbound"
	"almanac/ingest/privacy"
)

// Sync runs the named sources once, or all of them if names is empty, one after
// the other in the network's order: a record that several sources yield belongs
// to the first of them. A failing source does not stop the next; the error joins their
// failures. It is ErrUnknownSource if the network has no source with a name.
// After all sources it gives up the former ones, whose reports follow.
// Sync does not update derived records; see Derive.
func (p *Pipeline) Sync(ctx context.Context, names []string) ([]Report, error) {
	sources, err := p.sources(names)
	if err != nil {
		return nil, err
	}
	all := len(names) == 0
	if all {
		if err := p.begin(ctx); err != nil {
			return nil, err
		}
	}
	var reports []Report
	var errs []error
	for _, src := range sources {
		if ctx.Err() != nil {
			errs = append(errs, ctx.Err())
			break
		}
		report := p.Run(ctx, src)
		reports = append(reports, report)
		errs = append(errs, report.Err)
	}
	if all {
		for _, report := range p.giveUp(ctx) {
			reports = append(reports, report)
			errs = append(errs, report.Err)
		}
	}
	return reports, errors.Join(errs...)
}

// sources returns the named sources in the network's order.
func (p *Pipeline) sources(names []string) ([]network.Source, error) {
	if len(names) == 0 {
		return p.config.Network.Sources, nil
	}
	wanted := map[string]bool{}
	for _, n := range names {
		wanted[n] = true
	}
	var known []string
	var sources []network.Source
	for _, src := range p.config.Network.Sources {
		known = append(known, src.Name)
		if wanted[src.Name] {
			sources = append(sources, src)
			delete(wanted, src.Name)
		}
	}
	for _, n := range names {
		if wanted[n] {
			return nil, fmt.Errorf("ingest: %w %q: network %s has %s",
				ErrUnknownSource, n, p.config.Network.Name, strings.Join(known, ", "))
		}
	}
	return sources, nil
}

// connector makes the source's connector, with its own directory.
func (r *run) connector(http *outbound.Client) (Connector[[]byte], error) {
	if err := os.MkdirAll(r.dir, 0o700); err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	return r.config.Connectors.Connector(r.src, Environment{
		Network: r.config.Network, Now: r.config.Now, Log: r.log, HTTP: http, Files: r.config.Files,
		WorkDir: r.dir, CorpusDir: r.config.CorpusDir, Pseudonym: r.people.Pseudonym,
	})
}

// Run runs one source and stores the source's state.
func (p *Pipeline) Run(ctx context.Context, src network.Source) Report {
	started := p.config.Now()
	ctx, s := otel.Tracer("almanac").Start(ctx, "source "+src.Name)
	p.config.Progress.Start(src.Name)
	r := &run{Pipeline: p, src: src, began: p.config.Now(), dir: filepath.Join(p.config.WorkDir, src.Name),
		log: p.config.Log.With("source", src.Name), report: Report{Source: src.Name}}
	err := r.open(ctx)
	if err == nil {
		err = r.pull(ctx)
	}
	if err != nil {
		err = fmt.Errorf("ingest: source %s: %w", src.Name, err)
	}
	r.report.Err = err
	r.remark()
	if err := r.close(ctx, started); err != nil {
		r.report.Err = errors.Join(r.report.Err, err)
	}
	r.report.Took = p.config.Now().Sub(started)
	r.tell(s)
	p.config.Progress.Done(r.report)
	r.logEnd(ctx)
	if ctx.Err() == nil {
		p.ended(src, r.report.Err)
	}
	return r.report
}

// tell says in the span of a run what became of it.
func (r *run) tell(s trace.Span) {
	s.SetAttributes(attribute.String("kind", r.src.Kind), attribute.Int("created", r.report.Created),
		attribute.Int("updated", r.report.Updated), attribute.Int("deleted", r.report.Deleted),
		attribute.Int("skipped", r.report.Skipped))
	if r.report.Err != nil {
		s.SetStatus(codes.Error, r.report.Err.Error())
	}
	s.End()
}

// after returns the names of the sources that come after one in the network.
func (p *Pipeline) after(src network.Source) (names []string) {
	all := p.config.Network.Sources
	at := slices.IndexFunc(all, func(s network.Source) bool { return s.Name == src.Name })
	if at < 0 {
		return nil
	}
	for _, s := range all[at+1:] {
		names = append(names, s.Name)
	}
	return names
}

// open reads the source's state and records from the catalog.
func (r *run) open(ctx context.Context) error {
	states, err := r.config.Store.Sources(ctx)
	if err != nil {
		return fmt.Errorf("sync state: %w", err)
	}
	for _, s := range states {
		if s.Name == r.src.Name {
			r.state = s
		}
	}
	over, anew := r.inherits(r.src)
	guard, again := openGuard(r.dir)
	if r.over, r.guard = over, guard; !anew && !again {
		if err := r.recall(ctx); err != nil {
			return err
		}
	}
	if r.people, err = privacy.Open(ctx, r.config.Store); err != nil {
		return err
	}
	if r.live, err = r.config.Store.LiveKeys(ctx, r.src.Name); err != nil {
		return fmt.Errorf("live records: %w", err)
	}
	return nil
}

// recall reads what the run before left for this one. Of a program that kept it in
// files, those are removed, and everything is read again.
func (r *run) recall(ctx context.Context) error {
	if r.state.Cursor == "" {
		return nil
	}
	packed, err := r.config.Store.State(ctx, r.src.Name)
	if err == nil {
		r.before, err = unpack(r.state.Cursor, packed)
	}
	if err != nil {
		return fmt.Errorf("what the run before left: %w", err)
	}
	if r.before == nil {
		states, _ := filepath.Glob(filepath.Join(r.dir, "state-*")) // the pattern is valid
		for _, former := range append(states, filepath.Join(r.dir, "in-hand")) {
			_ = os.RemoveAll(former) // nothing reads it
		}
	}
	return nil
}

// A run may take half the interval of its source, which is at least shortRun:
// no source holds another up for ever. The first runs, which read all there is,
// may take firstRun.
const (
	shortRun = time.Hour
	firstRun = 24 * time.Hour
)

var errLate = errors.New("the run was ended")

// limit returns how long the run may take.
func (r *run) limit() time.Duration {
	if r.state.LastSuccess.IsZero() {
		return firstRun
	}
	return max(shortRun, r.src.Every/2)
}

// pull runs the connector and finishes the run. The records that a failing
// connector yielded are kept; only cursor and tombstones need a complete run.
func (r *run) pull(ctx context.Context) error {
	http := r.config.HTTP.For(addressesOf(r.src)...)
	defer http.Close()
	c, err := r.connector(http)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, r.guard.close)() // an interruption is not the fault of what is parsed
	limit := r.limit()
	within, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	outcome, err := r.protect(within, c)
	if within.Err() != nil {
		err = context.Cause(within)
	}
	if errors.Is(err, errLate) {
		err = fmt.Errorf("%w after %s: what was read is kept, and the next run begins where this one did", err, limit)
	}
	if err == nil {
		return r.finish(ctx, outcome)
	}
	if ctx.Err() == nil {
		err = errors.Join(err, r.flush(ctx))
	}
	return err
}

// protect turns a connector's panic into an error. What was parsed then is left to the
// next run to skip.
func (r *run) protect(ctx context.Context, c Connector[[]byte]) (o Outcome, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			r.log.ErrorContext(ctx, "the connector panicked", "cause", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("the connector panicked: %v", cause)
		}
	}()
	r.after, o, err = c.Sync(ctx, r.before, r)
	r.guard.close()
	return o, err
}

// remark says of the report what was left out. A run that found the source where it
// was, or failed before it looked, knows nothing newer than the last one that looked.
func (r *run) remark() {
	switch {
	case r.report.Skipped > 0 || len(r.put) > 0:
	case r.report.Err != nil || r.before != nil && bytes.Equal(r.before, r.after):
		r.report.Skipped, r.report.Remark = r.state.Skipped, r.state.Remark
		return
	}
	r.report.Remark = Reasons(r.report.Problems, r.report.Skipped)
	if r.report.Err == nil && len(r.live) == r.report.Deleted && len(r.snapshots) == 0 && !r.yields() {
		r.report.Remark = strings.TrimSuffix(catalog.NoRecords+"; "+r.report.Remark, "; ")
	}
}

// yields reports whether the run put a good record.
func (r *run) yields() bool {
	for _, good := range r.put {
		if good {
			return true
		}
	}
	return false
}

// settings is a digest of what the network file says of how the source is read; of a
// kind without options of its own, whose files come with the program, also of that.
func (p *Pipeline) settings(src network.Source) string {
	by := ""
	if _, fixed := p.config.Connectors.options(src.Kind); !fixed {
		by = program()
	}
	return Digest(by, src.Kind, src.Options.Values(), p.config.Network.Proposals.Key("0"))
}

// closeTimeout limits the storing of a source's state after its run.
const closeTimeout = 10 * time.Second

// close stores the source's state, even if the run was cancelled.
func (r *run) close(ctx context.Context, started time.Time) error {
	s := catalog.SourceState{
		Name: r.src.Name, Kind: r.src.Kind, LastRun: started, LastSuccess: r.state.LastSuccess,
		Skipped: r.report.Skipped, Remark: r.report.Remark, Settings: r.state.Settings, Freshness: r.src.Freshness,
	}
	switch {
	case r.report.Err == nil:
		s.LastSuccess, s.Settings = r.config.Now(), r.settings(r.src)
	case ctx.Err() != nil:
		s.Error = "interrupted"
	default:
		s.Error = privacy.Mask(r.report.Failure())
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := r.config.Store.SetSource(ctx, s); err != nil {
		return fmt.Errorf("ingest: source %s: store its state: %w", r.src.Name, err)
	}
	return nil
}

func (r *run) logEnd(ctx context.Context) {
	level, message := slog.LevelInfo, "synced"
	attrs := []any{
		"created", r.report.Created, "updated", r.report.Updated, "unchanged", r.report.Unchanged,
		"foreign", r.report.Foreign, "deleted", r.report.Deleted, "skipped", r.report.Skipped,
		"warned", r.report.Warned, "took", r.report.Took,
	}
	switch {
	case r.report.Err != nil && ctx.Err() != nil:
		message = "sync interrupted"
	case r.report.Err != nil:
		level, message = slog.LevelError, "sync failed"
		attrs = append(attrs, "error", r.report.Err)
	}
	r.log.Log(ctx, level, message, attrs...)
}
