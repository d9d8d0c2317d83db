package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/retrieval/stack"
	"almanac/text/dates"
)

const (
	// metaAnchor is the catalog's key for the anchor day.
	metaAnchor = "sample_anchor"
	// anchorLife is the age at which a stored anchor day is renewed at start, so
	// that recent dates of the sample stay recent.
	anchorLife = 14 * 24 * time.Hour
)

// isSample reports whether a network's sources are those of the sample, which
// come with the program.
func isSample(n network.Network) bool {
	return len(n.Sources) > 0 && !slices.ContainsFunc(n.Sources, func(src network.Source) bool {
		return src.Kind != connectors.Sample
	})
}

// sampleAnchor returns the day that the dates of a sample network are relative
// to: the configured one, else the stored one while it is fresh, else today. If
// the day changes, the next sync reloads the sample. A network without sample
// sources has no anchor.
func (a *app) sampleAnchor(
	ctx context.Context, n network.Network, store *sqlstore.Store, now time.Time,
) (time.Time, error) {
	var sources []string
	for _, src := range n.Sources {
		if src.Kind == connectors.Sample {
			sources = append(sources, src.Name)
		}
	}
	if len(sources) == 0 {
		return time.Time{}, nil
	}
	kept, err := store.Meta(ctx, metaAnchor)
	if err != nil {
		return time.Time{}, err
	}
	day := anchorDay(a.config.Sample.Anchor, kept, now)
	text := day.Format(time.DateOnly)
	if text == kept {
		return day, nil
	}
	if kept != "" {
		a.log.Info("sample dates re-anchored, reloading", "from", kept, "to", text)
	}
	// The day is stored last, so that all of this is repeated after a crash.
	for _, name := range sources {
		if _, err := store.Apply(ctx, catalog.Batch{Source: name, Cursor: new("")}); err != nil {
			return time.Time{}, err
		}
	}
	return day, store.SetMeta(ctx, metaAnchor, text)
}

// anchorDay chooses among the configured day, the stored one (ignored if it does
// not parse) and today.
func anchorDay(configured, kept string, now time.Time) time.Time {
	if day := dates.At(configured, dates.Day); !day.IsZero() {
		return day
	}
	if day := dates.At(kept, dates.Day); !day.IsZero() && now.Sub(day) <= anchorLife {
		return day
	}
	return now.UTC().Truncate(24 * time.Hour)
}

// load syncs what waits for nobody's word: the sample network into an empty directory,
// and what changed in a folder of documents.
func (a *app) load(ctx context.Context, n network.Network, at datadir.Catalog, store *sqlstore.Store) error {
	done, err := stack.Synced(ctx, store)
	if isFolder := networks.IsFolder(a.config.Network.Name); err != nil || !isFolder && (done || !isSample(n)) {
		return err
	}
	if done && at.Sealed != nil { // as the folder was read last
		return nil
	}
	pipeline, err := a.pipeline(ctx, n, store, at.Dir, nil, false)
	if err != nil {
		return err
	}
	reports, err := pipeline.Sync(ctx, nil)
	if err := cmp.Or(failures(reports), err); err != nil {
		return err
	}
	return errors.Join(pipeline.Derive(ctx), stack.MarkSynced(ctx, store))
}
