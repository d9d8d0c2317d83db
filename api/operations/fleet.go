package operations

import (
	"context"
	"fmt"
	"time"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
)

// Fleet is the distribution of versions over the approved validators.
type Fleet struct {
	Distribution
	Environment string         `json:"environment,omitempty" doc:"of the network, that the minimum is for"`
	Minimum     *kb.Minimum    `json:"minimum" doc:"in force; null: none is known"`
	NextMinimum *kb.Minimum    `json:"next_minimum" doc:"scheduled; null: none is"`
	Position    *FleetPosition `json:"position" doc:"of the version that was asked for; null without one"`
	Method      string         `json:"method" doc:"how it was computed, in one sentence"`
	Hint        string         `json:"hint,omitempty" doc:"if there are no validators: why"`
}

type fleetIn struct {
	Version string `json:"version" maxLength:"100" doc:"your own version, to be placed in the fleet"`
}

// fleetAge is how long the distribution is cached: reports age.
const fleetAge = 15 * time.Minute

var fleet = kb.New(op.Spec{
	ID: "get_validator_fleet", Tool: "get_validator_fleet", Kinds: []catalog.Kind{catalog.KindValidator},
	Doc: `
Versions of the fleet
Distribution of versions over the approved validators.

Counts the versions that approved validators report and how many reports are fresh; your own version gets a position.
For one validator use get_validator.
`,
}, func(ctx context.Context, b kb.Base, in fleetIn) (Fleet, error) {
	read := func(ctx context.Context) (Fleet, error) { return readFleet(ctx, b) }
	f, _, err := kb.Derived(ctx, b, "get_validator_fleet", fleetAge, read)
	if err != nil || in.Version == "" {
		return f, err
	}
	minimum := ""
	if f.Minimum != nil {
		minimum = f.Minimum.Version
	}
	p, ok := f.Distribution.Position(in.Version, minimum)
	if !ok {
		return Fleet{}, op.InvalidField("version", "must be a version, such as 1.2.3 or v0.10.1-rc.1")
	}
	f.Position = &p
	return f, nil
})

// readFleet reads the fleet and its minimum: the environment is that of the
// ledger whose validators are listed, the first in the network's state.
func readFleet(ctx context.Context, b kb.Base) (Fleet, error) {
	records, _, err := b.Catalog.List(ctx, allValidators)
	if err != nil {
		return Fleet{}, err
	}
	f := Fleet{Distribution: distributionOf(records, b.Now())}
	f.Method = fmt.Sprintf("Versions are self-reported; a report is fresh for %d days; shares are of the %d that report.",
		int(freshReport.Hours()/24), f.Reporting)
	if f.Validators == 0 {
		f.Hint = "no validators are indexed: /api/v1/sources lists what is"
	}
	state, _, err := kb.Newest[catalog.NetworkState](ctx, b, catalog.SeriesNetwork)
	if err != nil || state == nil || len(state.Deployments) == 0 {
		return f, err
	}
	f.Environment = state.Deployments[0].Environment
	entries, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindOperation}})
	s := versions.Upgrade(versions.UpgradeInput{Environment: f.Environment, Network: state, Operations: entries}, b.Now())
	f.Minimum, f.NextMinimum = s.Minimum.Row(b), s.NextMinimum.Row(b)
	return f, err
}
