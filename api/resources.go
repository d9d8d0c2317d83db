package api

import (
	"context"
	"slices"
	"time"

	"almanac/api/community"
	"almanac/api/ecosystem"
	"almanac/api/kb"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/releases"
	"almanac/api/versions"
	"almanac/catalog"
	"almanac/catalog/network"
)

// resource is a row of the list below.
type resource struct {
	name, title, description string
	changed                  func(context.Context, kb.Base) (time.Time, error) // nil: when the process started
	read                     func(context.Context, kb.Base) (any, error)
}

// resources are the read-only snapshots for tool clients; the name is the URI
// without kb://.
var resources = []resource{
	{"status", "Status", "Sync health, record counts by kind and the time of the last sync.",
		lastRun, meta.StatusResource},
	{"docs-index", "Documentation index", "The indexed documentation by repository, with its pages' titles and ids.",
		recordsOf(catalog.KindDoc), meta.DocsIndexResource},
	{"versions", "Versions", "The current versions of the network's SDK, language and ledger software.",
		recordsOf(versions.PublishedKinds...), releases.VersionsResource},
	{"deprecations", "Deprecations", "Deprecated items of the toolchain and what replaces them.",
		recordsOf(catalog.KindDeprecation), releases.DeprecationsResource},
	{"community", "Community", "Forum, mailing lists and chat: addresses, and how much of them is indexed.",
		recordsOf(catalog.KindsOf(catalog.RoleThread)...), community.CommunityResource},
}

// ResourcesOf returns the resources over a knowledge base with these operations.
func ResourcesOf(b kb.Base, all []op.Operation) []op.Resource {
	b = b.Prepared()
	rows := append([]resource{{"tools", "Tools", "The tool catalogue as data.", nil,
		func(context.Context, kb.Base) (any, error) { return meta.ToolsResource(all), nil }}}, resources...)
	if b.Network.Partner != "" {
		rows = append(rows, resource{b.Network.Partner, "Partner", "Reference data of a partner's product.",
			recordsOf(catalog.KindPartner), ecosystem.PartnerResource})
	}
	start := b.Now()
	out := make([]op.Resource, len(rows))
	for i, r := range rows {
		out[i] = op.Resource{
			URI: "kb://" + r.name, Name: r.name, Title: r.title, Description: r.description,
			Read: func(ctx context.Context) (any, error) { return r.read(ctx, b) },
			State: func(ctx context.Context) (op.ResourceState, error) {
				state, _, err := kb.Derived(ctx, b, "resource "+r.name, time.Minute,
					func(ctx context.Context) (op.ResourceState, error) { return r.state(ctx, b, start) })
				return state, err
			},
		}
	}
	return out
}

// state measures the content.
func (r resource) state(ctx context.Context, b kb.Base, start time.Time) (state op.ResourceState, err error) {
	content, err := r.read(ctx, b)
	if err != nil {
		return state, err
	}
	raw, err := op.EncodeTool(content)
	if err != nil {
		return state, err
	}
	state = op.ResourceState{Size: int64(len(raw)), Modified: start}
	if r.changed != nil {
		state.Modified, err = r.changed(ctx, b)
	}
	return state, err
}

// lastRun is when a source was last synced.
func lastRun(ctx context.Context, b kb.Base) (newest time.Time, err error) {
	states, err := b.Catalog.Sources(ctx)
	for _, s := range states {
		newest = latest(newest, s.LastRun)
	}
	return newest, err
}

// recordsOf is when the newest record of some kinds was changed at its source,
// or appeared here.
func recordsOf(kinds ...catalog.Kind) func(context.Context, kb.Base) (time.Time, error) {
	return func(ctx context.Context, b kb.Base) (newest time.Time, err error) {
		for _, order := range []catalog.Order{catalog.ByUpdated, catalog.ByFirstSeen} {
			records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: kinds, Order: order, Limit: 1})
			if err != nil {
				return newest, err
			}
			for _, r := range records {
				newest = latest(newest, latest(r.UpdatedAt, r.FirstSeenAt))
			}
		}
		return newest, nil
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Kinds tells the kinds of which the catalog has records, in the order of the table of
// kinds. It tells none before each source has run once, and if it cannot be known.
func Kinds(b kb.Base) func(context.Context) []catalog.Kind {
	b = b.Prepared()
	return func(ctx context.Context) (kinds []catalog.Kind) {
		states, err := b.Catalog.Sources(ctx)
		if err != nil || slices.ContainsFunc(b.Network.Sources, func(s network.Source) bool {
			return !slices.ContainsFunc(states, func(st catalog.SourceState) bool {
				return st.Name == s.Name && !st.LastRun.IsZero()
			})
		}) {
			return nil
		}
		counts, err := b.Counts(ctx)
		if err != nil {
			return nil
		}
		for _, info := range catalog.Kinds {
			if slices.ContainsFunc(counts, func(c catalog.Count) bool { return c.Kind == info.Kind && c.N > 0 }) {
				kinds = append(kinds, info.Kind)
			}
		}
		return kinds
	}
}
