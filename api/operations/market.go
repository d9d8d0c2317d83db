package operations

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
)

// App is a featured application.
type App struct {
	kb.Named
	Provider     string     `json:"provider"`
	Category     string     `json:"category"`
	LastActivity *time.Time `json:"last_activity"`
}

func app(b kb.Base, r catalog.Record) (App, error) {
	d, err := kb.Decode[catalog.App](r)
	return App{b.Named(r), d.Provider, r.Category, kb.Time(r.LastActivityAt)}, err
}

type appsIn struct {
	Category string `json:"category" maxLength:"100" doc:"only categories that contain this"`
	Sort     string `json:"sort" enum:"recent,name" default:"recent" doc:"by last activity, or by name"`
	Limit    int    `json:"limit" default:"25" minimum:"1" maximum:"100" doc:"how many to return"`
}

var apps = kb.New(op.Spec{
	ID: "list_featured_apps", Tool: "list_featured_apps", Kinds: []catalog.Kind{catalog.KindApp},
	Doc: `
List featured apps
Featured applications by last activity or name.

Lists the featured applications with provider, category and last activity; filter by category. Figures of one are in
get_app_metrics.
`,
}, func(ctx context.Context, b kb.Base, in appsIn) (kb.List[App], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindApp}, CategoryContains: in.Category, Order: catalog.ByLastActivity,
	}
	if in.Sort == "name" {
		q.Order = catalog.ByTitle
	}
	return kb.Rows(ctx, b, q, arg.Paging{Limit: in.Limit}, app)
})

// AppMetrics are the figures of one application.
type AppMetrics struct {
	App
	TVL       *float64 `json:"tvl" doc:"USD; null: not known"`
	Volume24h *float64 `json:"volume_24h" doc:"USD"`
	Users     *int64   `json:"users"`
	Rewards   *float64 `json:"rewards" doc:"in the network's coin, cumulative"`
	AsOf      string   `json:"as_of" doc:"of the figures; empty if their source does not say"`
	Source    string   `json:"source,omitempty" doc:"who reports the figures"`
	Project   *kb.Item `json:"project" doc:"of the catalogue; null if it has none"`
}

var appMetrics = kb.New(op.Spec{
	ID: "get_app_metrics", Tool: "get_app_metrics", MayFail: notFound, Kinds: []catalog.Kind{catalog.KindApp},
	Doc: `
Figures of a featured app
One application's value locked, volume and users.

Returns one featured application's value locked, 24 h volume, users and last activity, with its project. Figures that
nobody reports are null.
`,
}, func(ctx context.Context, b kb.Base, in appIn) (m AppMetrics, err error) {
	r, err := b.Keyed(ctx, catalog.KindApp, in.ID)
	if err != nil {
		return m, err
	}
	if m.App, err = app(b, r); err != nil {
		return m, err
	}
	d, err := kb.Decode[catalog.App](r)
	m.TVL, m.Volume24h, m.Users, m.Rewards = d.TVL, d.Volume24h, d.Users, d.Rewards
	m.AsOf, m.Source = d.MetricsAt, d.MetricsOf
	if p, err := b.Catalog.Head(ctx, catalog.Ref{Kind: catalog.KindProject, Key: d.Project}); err == nil {
		m.Project = new(b.Item(p))
	}
	return m, err
})

type appIn struct {
	ID string `json:"app_id" required:"true" maxLength:"300" doc:"contract id of list_featured_apps"`
}

// Supply is the supply of one asset.
type Supply struct {
	kb.Named
	Supply     *float64 `json:"supply" doc:"in units; null: not known"`
	Provenance string   `json:"provenance" enum:"chain_derived,issuer_reported"`
	Holders    *int64   `json:"holders" doc:"null: not disclosed"`
	HoldersRaw string   `json:"holders_note,omitempty" doc:"not_disclosed if holders is null"`
	Issuer     string   `json:"issuer,omitempty"`
	PriceUSD   *float64 `json:"price_usd"`
	AsOf       string   `json:"as_of" doc:"of the supply; empty if its source does not say"`
}

func supply(b kb.Base, r catalog.Record) (Supply, error) {
	d, err := kb.Decode[catalog.Asset](r)
	s := Supply{b.Named(r), d.Supply, d.Provenance, d.Holders, "", d.Issuer, d.PriceUSD, d.AsOf}
	if s.Holders == nil {
		s.HoldersRaw = "not_disclosed"
	}
	return s, err
}

type assetIn struct {
	Asset string `json:"asset" maxLength:"50" doc:"symbol; all assets if left out"`
}

var supplies = kb.New(op.Spec{
	ID: "get_asset_supply", Tool: "get_asset_supply", MayFail: notFound, Kinds: []catalog.Kind{catalog.KindAsset},
	Doc: `
Supply of assets
Total supply of one asset or of all.

Returns the supply of one asset, or of all: the native coin's is derived from the chain, others are reported by their
issuers, numbers of holders mostly undisclosed.
`,
}, func(ctx context.Context, b kb.Base, in assetIn) (kb.List[Supply], error) {
	if in.Asset == "" {
		q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindAsset}, Order: catalog.ByKey}
		return kb.Rows(ctx, b, q, arg.Paging{}, supply)
	}
	r, err := b.Titled(ctx, catalog.KindAsset, "asset", in.Asset)
	if err != nil {
		return kb.List[Supply]{}, err
	}
	one, err := supply(b, r)
	return kb.List[Supply]{Items: []Supply{one}, Total: 1}, err
})

// Pool is a pool of a trading venue.
type Pool struct {
	kb.Named
	Venue    string            `json:"venue"`
	Pair     string            `json:"pair"`
	TVL      *float64          `json:"tvl" doc:"USD"`
	FeeRate  *float64          `json:"fee_rate" doc:"fraction: 0.003 is 0.3 %"`
	APY      *float64          `json:"apy" doc:"fraction"`
	Reserves []catalog.Reserve `json:"reserves"`
	AsOf     string            `json:"as_of"`
}

var pools = kb.New(op.Spec{
	ID: "get_defi_pools", Tool: "get_defi_pools", Kinds: []catalog.Kind{catalog.KindPool},
	Doc: `
Pools of trading venues
Pools with pair, value locked, fee, yield and reserves.

Lists the pools of the followed trading venues: pair, value locked, fee rate, yield and reserves; filter by venue.
`,
}, func(ctx context.Context, b kb.Base, in poolsIn) (kb.List[Pool], error) {
	q := catalog.ListQuery{
		Kinds: []catalog.Kind{catalog.KindPool}, Order: catalog.ByKey, Containers: arg.Only(in.Venue, ""),
	}
	return kb.Rows(ctx, b, q, arg.Paging{}, pool)
})

type poolsIn struct {
	Venue string `json:"venue" maxLength:"100" doc:"only this venue; all if left out"`
}

func pool(b kb.Base, r catalog.Record) (Pool, error) {
	d, err := kb.Decode[catalog.Pool](r)
	return Pool{b.Named(r), r.Container, r.Title, d.TVL, d.FeeRate, d.APY, d.Reserves, d.AsOf}, err
}
