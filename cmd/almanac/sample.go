package main

import (
	"context"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/connectors"
)

const (
	// metaAnchor is where the catalog keeps the anchor day.
	metaAnchor = "sample_anchor"
	// anchorLife is the age at which a kept anchor day is renewed at a start:
	// "last week" is to stay a week or two ago.
	anchorLife = 14 * 24 * time.Hour
)

// sampleAnchor returns the day that the dates of a fictional network hang on:
// the configured one, else the one of the first load while it is fresh, else
// today. A day other than the one before makes the next sync load the sample
// anew. A network without such a source has no anchor.
func (a *app) sampleAnchor(ctx context.Context, n network.Network, store catalog.Store, now time.Time) (time.Time, error) {
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
		a.log.Info("the sample network moves to another day and is loaded anew", "from", kept, "to", text)
	}
	// The day is stored last: after a crash in between all of this is repeated.
	for _, name := range sources {
		if _, err := store.Apply(ctx, catalog.Batch{Source: name, Cursor: new("")}); err != nil {
			return time.Time{}, err
		}
	}
	return day, store.SetMeta(ctx, metaAnchor, text)
}

// anchorDay chooses among the configured day, the kept one ("" or what does
// not parse is none) and today.
func anchorDay(configured, kept string, now time.Time) time.Time {
	if day, err := time.Parse(time.DateOnly, configured); err == nil {
		return day
	}
	if day, err := time.Parse(time.DateOnly, kept); err == nil && now.Sub(day) <= anchorLife {
		return day
	}
	return now.UTC().Truncate(24 * time.Hour)
}
