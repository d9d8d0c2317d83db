package ingest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/mention"
	"almanac/text/dates"
)

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
	position := fmt.Sprintf("%d %d %s", Edition, head, today)
	if done, err := store.Meta(ctx, derivedFrom); err != nil || done == position {
		return err
	}
	for _, f := range derive.Facts {
		if err := p.deriveFact(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
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

// deriveFact writes the records and links of a fact, and removes those that it
// has no more, if what it is made of or Edition changed.
func (p *Pipeline) deriveFact(ctx context.Context, f derive.Fact) error {
	store := p.config.Store
	heads, _, err := store.List(ctx, catalog.ListQuery{Kinds: f.From})
	if err != nil {
		return err
	}
	heads = slices.DeleteFunc(heads, func(r catalog.Record) bool { return r.Source == catalog.DerivedSource })
	slices.SortFunc(heads, func(a, b catalog.Record) int { return cmp.Compare(a.ID, b.ID) })
	digest := sha256.New()
	for _, r := range heads {
		fmt.Fprintf(digest, "%d %s\n", r.ID, r.Hash)
	}
	from := fmt.Sprintf("%d %x", Edition, digest.Sum(nil))
	if done, err := store.Meta(ctx, derivedFact+f.Name); err != nil || done == from {
		return err
	}
	in, err := p.inputOf(ctx, f, heads)
	if err != nil {
		return err
	}
	entries, err := f.Make(ctx, in)
	if err != nil {
		return err
	}
	for i := range entries {
		mention.AddProposals(p.config.Network.Proposals, &entries[i], maxHanging)
	}
	if err := p.replaceDerived(ctx, f.Of, entries); err != nil {
		return err
	}
	return store.SetMeta(ctx, derivedFact+f.Name, from)
}

// inputOf reads what a fact is made of.
func (p *Pipeline) inputOf(ctx context.Context, f derive.Fact, heads []catalog.Record) (derive.Input, error) {
	in := derive.Input{}
	var texts []int64
	for _, r := range heads {
		e := catalog.Entry{Record: r}
		switch r.Kind {
		case f.Texts:
			texts = append(texts, r.ID)
			continue
		case f.Links:
			var err error
			if e.Links, err = p.config.Store.LinksFrom(ctx, r.ID); err != nil {
				return nil, err
			}
		}
		in[r.Kind] = append(in[r.Kind], e)
	}
	for part := range slices.Chunk(texts, batchEntries) {
		records, err := p.config.Store.Records(ctx, part)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			in[r.Kind] = append(in[r.Kind], catalog.Entry{Record: r})
		}
	}
	return in, nil
}

// replaceDerived replaces the entries of one kind that the derived source has.
func (p *Pipeline) replaceDerived(ctx context.Context, of catalog.Kind, entries []catalog.Entry) error {
	store := p.config.Store
	vanished, err := store.LiveKeys(ctx, catalog.DerivedSource)
	if err != nil {
		return err
	}
	for _, e := range entries {
		delete(vanished, e.Record.Ref())
	}
	var gone []int64
	for ref, id := range vanished {
		if ref.Kind == of {
			gone = append(gone, id)
		}
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
	at := dates.At(today, dates.Day)
	newest, err := store.Snapshots(ctx, catalog.SeriesStats, 1)
	if err != nil {
		return err
	}
	if len(newest) > 0 && newest[0].CapturedAt.Equal(at) && bytes.Equal(newest[0].Data, data) {
		return nil
	}
	return store.PutSnapshot(ctx, catalog.Snapshot{Series: catalog.SeriesStats, CapturedAt: at, Data: data})
}
