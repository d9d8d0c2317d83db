package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest/mention"
)

// derivedEdition is the version of what is derived: a newer program with
// another one derives again.
const derivedEdition = "2"

// Meta keys that record what the derived records were made from.
const (
	derivedFrom   = "derived.from"   // edition, change-log position and day
	derivedInputs = "derived.inputs" // edition and digest of the input records
)

// How many snapshots of a series are kept: 90 days of daily or quarter-hourly
// ones.
const (
	keepDays   = 90
	keepFrames = keepDays * 24 * 4
)

// derivation is the state of a pipeline's derivations.
type derivation struct {
	mu  sync.Mutex // held while deriving: one at a time
	day string     // of the last attempt, in UTC
}

// Derive updates what is computed from the catalog: radar items from release
// notes, links between projects, repositories, applications, releases and
// operations, and the day's statistics. Records and links belong to
// catalog.DerivedSource, which is not a source of the network and has no sync
// state. It does nothing while neither the catalog nor the day has changed,
// and writes only what differs; if interrupted, it is repeated as a whole.
// Concurrent calls wait for each other.
func (p *Pipeline) Derive(ctx context.Context) error {
	p.derived.mu.Lock()
	defer p.derived.mu.Unlock()
	today := p.config.Now().UTC().Format(time.DateOnly)
	p.derived.day = today
	if err := p.derive(ctx, today); err != nil {
		return fmt.Errorf("ingest: derive: %w", err)
	}
	return nil
}

// follow derives between the runs of a scheduler. A failure is logged, and the
// next run tries again.
func (p *Pipeline) follow(ctx context.Context) {
	if err := p.Derive(ctx); err != nil && ctx.Err() == nil {
		p.config.Log.ErrorContext(ctx, "derived records could not be updated", "error", err)
	}
}

// followDay calls follow once per UTC day: sources may not change for longer.
func (p *Pipeline) followDay(ctx context.Context) {
	p.derived.mu.Lock()
	day := p.derived.day
	p.derived.mu.Unlock()
	if day != p.config.Now().UTC().Format(time.DateOnly) {
		p.follow(ctx)
	}
}

func (p *Pipeline) derive(ctx context.Context, today string) error {
	store := p.config.Store
	head, err := store.LastChange(ctx)
	if err != nil {
		return err
	}
	position := fmt.Sprintf("%s %d %s", derivedEdition, head, today)
	if done, err := store.Meta(ctx, derivedFrom); err != nil || done == position {
		return err
	}
	if err := p.deriveRecords(ctx); err != nil {
		return err
	}
	if err := p.deriveStats(ctx, today); err != nil {
		return fmt.Errorf("statistics: %w", err)
	}
	kept := map[string]int{
		catalog.SeriesStats:   keepDays,
		catalog.SeriesNetwork: keepFrames,
		catalog.SeriesMarket:  keepFrames,
	}
	for series, keep := range kept {
		if err := store.PruneSnapshots(ctx, series, keep); err != nil {
			return fmt.Errorf("old snapshots: %w", err)
		}
	}
	// The writes above moved the log past position, so the next call looks once
	// more; storing the later position could miss a change made in between.
	return store.SetMeta(ctx, derivedFrom, position)
}

// inputKinds are the kinds that derived records and links are made from.
var inputKinds = []catalog.Kind{
	catalog.KindRelease, catalog.KindRadar, catalog.KindOperation,
	catalog.KindProject, catalog.KindRepo, catalog.KindApp,
}

// deriveRecords writes the records and links derived from others, and removes
// those that are no longer derived.
func (p *Pipeline) deriveRecords(ctx context.Context) error {
	store := p.config.Store
	heads, _, err := store.List(ctx, catalog.ListQuery{Kinds: inputKinds})
	if err != nil {
		return err
	}
	of := map[catalog.Kind][]catalog.Record{}
	digest := sha256.New()
	slices.SortFunc(heads, func(a, b catalog.Record) int { return cmp.Compare(a.ID, b.ID) })
	for _, r := range heads {
		if r.Source != catalog.DerivedSource {
			of[r.Kind] = append(of[r.Kind], r)
			fmt.Fprintf(digest, "%d %s\n", r.ID, r.Hash)
		}
	}
	inputs := fmt.Sprintf("%s %x", derivedEdition, digest.Sum(nil))
	if done, err := store.Meta(ctx, derivedInputs); err != nil || done == inputs {
		return err
	}
	entries, err := p.radar(ctx, of[catalog.KindRelease], of[catalog.KindRadar])
	if err != nil {
		return fmt.Errorf("radar: %w", err)
	}
	entries = append(entries, derive.Joins(of[catalog.KindProject], of[catalog.KindRepo], of[catalog.KindApp])...)
	entries = append(entries, derive.OperationLinks(of[catalog.KindOperation], of[catalog.KindRelease])...)
	if err := p.replaceDerived(ctx, entries); err != nil {
		return err
	}
	return store.SetMeta(ctx, derivedInputs, inputs)
}

// radar makes the radar items of releases, given the curated ones.
func (p *Pipeline) radar(ctx context.Context, releases, curated []catalog.Record) ([]catalog.Entry, error) {
	var withBody []catalog.Record
	ids := make([]int64, len(releases))
	for i, r := range releases {
		ids[i] = r.ID
	}
	for part := range slices.Chunk(ids, batchEntries) {
		records, err := p.config.Store.Records(ctx, part)
		if err != nil {
			return nil, err
		}
		withBody = append(withBody, records...)
	}
	written := make([]catalog.Entry, len(curated))
	for i, r := range curated {
		links, err := p.config.Store.LinksFrom(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		written[i] = catalog.Entry{Record: r, Links: links}
	}
	entries := derive.RadarItems(withBody, written)
	for i := range entries {
		mention.AddProposals(p.config.Network.Proposals, &entries[i])
	}
	return entries, nil
}

// replaceDerived replaces the records of the derived source with the entries.
func (p *Pipeline) replaceDerived(ctx context.Context, entries []catalog.Entry) error {
	store := p.config.Store
	vanished, err := store.LiveKeys(ctx, catalog.DerivedSource)
	if err != nil {
		return err
	}
	for _, e := range entries {
		delete(vanished, e.Record.Ref())
	}
	var gone []int64
	for _, id := range vanished {
		gone = append(gone, id)
	}
	slices.Sort(gone)
	for part := range slices.Chunk(entries, batchEntries) {
		if _, err := store.Apply(ctx, catalog.Batch{Source: catalog.DerivedSource, Entries: part}); err != nil {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	_, err = store.Apply(ctx, catalog.Batch{Source: catalog.DerivedSource, Delete: gone})
	return err
}

// deriveStats stores the catalog's figures as the day's snapshot, whose time is
// the start of the day: later figures of the same day replace it.
func (p *Pipeline) deriveStats(ctx context.Context, today string) error {
	store := p.config.Store
	counts, err := store.Counts(ctx)
	if err != nil {
		return err
	}
	proposals, _, err := store.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}})
	if err != nil {
		return err
	}
	data, err := catalog.Encode(derive.Stats(counts, proposals))
	if err != nil {
		return err
	}
	at, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return err
	}
	newest, err := store.Snapshots(ctx, catalog.SeriesStats, 1)
	if err != nil {
		return err
	}
	if len(newest) > 0 && newest[0].CapturedAt.Equal(at) && bytes.Equal(newest[0].Data, data) {
		return nil
	}
	return store.PutSnapshot(ctx, catalog.Snapshot{Series: catalog.SeriesStats, CapturedAt: at, Data: data})
}
