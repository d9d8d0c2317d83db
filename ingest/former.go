package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/network"
)

// begin prepares a pass over all sources. A source that once yielded a record
// that another owned may have to take it over although nothing is new in it, so
// it reads everything again; so does a former source, should the network name it
// again.
func (p *Pipeline) begin(ctx context.Context) error {
	former, err := FormerSources(ctx, p.config.Store, p.config.Network)
	if err != nil {
		return fmt.Errorf("ingest: former sources: %w", err)
	}
	var names []string
	for _, f := range former {
		names = append(names, f.Name)
	}
	anew := map[string]bool{}
	if len(names) > 0 {
		if anew, err = p.forgetCursors(ctx, names); err != nil {
			return fmt.Errorf("ingest: former sources: %w", err)
		}
	}
	s := &p.succession
	s.mu.Lock()
	defer s.mu.Unlock()
	s.former, s.anew, s.ran, s.waited = names, anew, map[string]bool{}, map[string]bool{}
	return nil
}

// succeeds reports whether the pass takes over records of former sources.
func (p *Pipeline) succeeds() bool {
	s := &p.succession
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.former) > 0
}

// states returns the sync states of all sources by name.
func (p *Pipeline) states(ctx context.Context) (map[string]catalog.SourceState, error) {
	list, err := p.config.Store.Sources(ctx)
	states := make(map[string]catalog.SourceState, len(list))
	for _, st := range list {
		states[st.Name] = st
	}
	return states, err
}

// forgetCursors forgets where sources begin that are to read everything. They are
// also returned: a run of another process may store a cursor yet.
func (p *Pipeline) forgetCursors(ctx context.Context, former []string) (anew map[string]bool, err error) {
	states, err := p.config.Store.Sources(ctx)
	if err != nil {
		return nil, err
	}
	anew = map[string]bool{}
	for _, st := range states {
		if !st.Foreign && st.Cursor != "" && !slices.Contains(former, st.Name) {
			continue
		}
		anew[st.Name] = true
		if st.Cursor == "" {
			continue
		}
		if _, err := p.config.Store.Apply(ctx, catalog.Batch{Source: st.Name, Cursor: new("")}); err != nil {
			return nil, err
		}
	}
	return anew, nil
}

// inherits returns the sources whose records a source takes over, those that come
// after it in the network and former ones, and whether it reads everything.
func (p *Pipeline) inherits(src network.Source) (over []string, anew bool) {
	s := &p.succession
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(p.after(src), s.former...), s.anew[src.Name]
}

// ended notes that a source has ended a run.
func (p *Pipeline) ended(src network.Source, err error) {
	s := &p.succession
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ran == nil { // it is none of a pass
		return
	}
	s.ran[src.Name] = true
	if err == nil {
		delete(s.anew, src.Name)
	}
}

// giveUp gives up what former sources still have once every source of the network
// has ended a run since the pass began, successfully or not, and returns a report
// of each.
func (p *Pipeline) giveUp(ctx context.Context) (reports []Report) {
	s := &p.succession
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.former) == 0 || slices.ContainsFunc(p.config.Network.Sources,
		func(src network.Source) bool { return !s.ran[src.Name] }) {
		return nil
	}
	former, err := FormerSources(ctx, p.config.Store, p.config.Network)
	if err != nil {
		return []Report{p.kept(ctx, s.former[0], err)}
	}
	var left []string
	for _, f := range former {
		if !slices.Contains(s.former, f.Name) { // another process read it since the pass began
			continue
		}
		report := p.settle(ctx, f)
		if report.Err != nil || len(f.Awaits) > 0 {
			left = append(left, f.Name)
		}
		reports = append(reports, report)
	}
	s.former = left
	return reports
}

// settle gives up a former source, unless others have to be read before.
func (p *Pipeline) settle(ctx context.Context, f Former) Report {
	if len(f.Awaits) > 0 {
		others := strings.Join(f.Awaits, ", ")
		if !p.succession.waited[f.Name] {
			p.succession.waited[f.Name] = true
			p.config.Log.WarnContext(ctx, "the network file no longer names a source: its records stay until "+
				"others have been read", "source", f.Name, "records", f.Records, "others", others)
		}
		return Report{Source: f.Name, Former: "not in the network file: kept until " + others + " has been read"}
	}
	started := p.config.Now()
	deleted, err := p.drop(ctx, f.Name)
	if err != nil {
		return p.kept(ctx, f.Name, err)
	}
	p.config.Log.InfoContext(ctx, "given up what was left of a source that the network file no longer names",
		"source", f.Name, "records", deleted)
	records := "records"
	if deleted == 1 {
		records = "record"
	}
	return Report{
		Source: f.Name, Result: catalog.Result{Deleted: deleted}, Took: p.config.Now().Sub(started),
		Former: fmt.Sprintf("not in the network file: given up %d %s of %s", deleted, records, f.Name),
	}
}

// kept logs and reports why a former source could not be given up.
func (p *Pipeline) kept(ctx context.Context, name string, err error) Report {
	if ctx.Err() == nil {
		p.config.Log.ErrorContext(ctx, "a source that the network file no longer names could not be given up",
			"source", name, "error", err)
	}
	return Report{Source: name, Err: fmt.Errorf("ingest: give up source %s: %w", name, err)}
}

// drop removes what a source has: its state last, without which nobody would look
// for the rest.
func (p *Pipeline) drop(ctx context.Context, name string) (deleted int, err error) {
	store := p.config.Store
	live, err := store.LiveKeys(ctx, name)
	if err != nil {
		return 0, err
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Values(live)), batchEntries) {
		result, err := store.Apply(ctx, catalog.Batch{Source: name, Delete: ids})
		if err != nil {
			return deleted, err
		}
		deleted += result.Deleted
	}
	if err := p.removeWorkDir(name); err != nil {
		return deleted, fmt.Errorf("working directory: %w", err)
	}
	return deleted, store.DropSource(ctx, name)
}

// removeWorkDir removes a source's working directory. The name may be that of an
// imported corpus, which anybody wrote: it is looked for, not followed.
func (p *Pipeline) removeWorkDir(name string) error {
	dirs, err := os.ReadDir(p.config.WorkDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && slices.ContainsFunc(dirs, func(d fs.DirEntry) bool { return d.Name() == name }) {
		err = os.RemoveAll(filepath.Join(p.config.WorkDir, name))
	}
	return err
}
