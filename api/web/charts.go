package web

import (
	"time"

	"almanac/api/look"
	"almanac/api/operations"
)

// figure is what a chart draws of snapshots: a number, or a pointer to one.
type figure[T any] struct {
	name, format string
	value        func(T) any
}

func charts[T any](snapshots []T, at func(T) *time.Time, figures ...figure[T]) (all []look.Chart) {
	for _, f := range figures {
		all = append(all, look.Chart{Name: f.name, Format: f.format, Points: look.Series(snapshots, at, f.value)})
	}
	return all
}

// prepareCharts draws the history among the answers of a page.
func prepareCharts(_ *Handler, v *view) error {
	for _, a := range v.answers {
		switch h := a.answer.(type) {
		case operations.History[operations.NetworkSnapshot]:
			type snapshot = operations.NetworkSnapshot
			v.Extra = charts(h.Items, func(s snapshot) *time.Time { return s.CapturedAt },
				figure[snapshot]{"Validators", "number", func(s snapshot) any { return s.ValidatorCount }},
				figure[snapshot]{"Featured apps", "number", func(s snapshot) any { return s.FeaturedApps }},
				figure[snapshot]{"Rewards of apps", "number", func(s snapshot) any { return s.AppRewards }},
				figure[snapshot]{"Rewards of validators", "number", func(s snapshot) any { return s.ValidatorRewards }})
		case operations.History[operations.MarketSnapshot]:
			type snapshot = operations.MarketSnapshot
			v.Extra = charts(h.Items, func(s snapshot) *time.Time { return s.CapturedAt },
				figure[snapshot]{"Price", "usd", func(s snapshot) any { return s.PriceUSD }},
				figure[snapshot]{"Value locked", "usd", func(s snapshot) any { return s.TVLUSD }},
				figure[snapshot]{"Market value", "usd", func(s snapshot) any { return s.MarketCapUSD }},
				figure[snapshot]{"Traded in 24 hours", "usd", func(s snapshot) any { return s.Volume24hUSD }})
		case operations.Contents:
			type snapshot = operations.ContentsSnapshot
			v.Extra = charts(h.History, func(s snapshot) *time.Time { return s.CapturedAt },
				figure[snapshot]{"Proposals", "number", func(s snapshot) any { return s.CIPs }},
				figure[snapshot]{"Discussions", "number", func(s snapshot) any { return s.Topics }},
				figure[snapshot]{"Documentation", "number", func(s snapshot) any { return s.Docs }})
		}
	}
	return nil
}
