package releases

import (
	"context"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/evidence"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
)

// UpgradeStatus is how a running version stands in an environment.
type UpgradeStatus struct {
	Environment      string            `json:"environment"`
	Version          string            `json:"version" doc:"that runs, as given; empty: not given"`
	DeployedVersion  string            `json:"deployed_version" doc:"of the environment, by the ledger; empty: not known"`
	DeployedAsOf     *time.Time        `json:"deployed_as_of"`
	BelowMinimum     *bool             `json:"below_minimum" doc:"null: no minimum is known, or no version was given"`
	Minimum          *kb.Minimum       `json:"minimum" doc:"in force; null: not known"`
	BelowNextMinimum *bool             `json:"below_next_minimum"`
	NextMinimum      *kb.Minimum       `json:"next_minimum" doc:"null: none is planned"`
	Latest           *Latest           `json:"latest" doc:"of the ledger software"`
	ReleasesBehind   *int              `json:"releases_behind" doc:"stable releases after the version"`
	Newer            []string          `json:"newer" doc:"those releases, highest first"`
	NextFreeze       *Window           `json:"next_freeze" doc:"of topology; null: none is planned"`
	NextUpgrade      *Window           `json:"next_upgrade" doc:"of the synchronizer; null: none is planned"`
	MinimumPackages  map[string]string `json:"minimum_packages,omitempty" doc:"package and its minimum version"`
	Breaking         []Breaking        `json:"breaking" doc:"what changes up to the latest version, most urgent first"`
	BreakingTotal    int               `json:"breaking_total"`
	Hint             string            `json:"hint,omitempty" doc:"what is not known, and why"`
	evidence.Grounds
}

// Breaking is a change or a flaw that concerns a node that is upgraded.
type Breaking struct {
	kb.Brief
	Level  string `json:"level" doc:"critical or important"`
	Action string `json:"action,omitempty" doc:"what to do"`
	Why    string `json:"why"`
}

// breakingShown is the maximum of changes in an answer.
const breakingShown = 10

type upgradeIn struct {
	Environment arg.Environment `json:"environment" required:"true" doc:"network, such as mainnet"`
	Version     Number          `json:"version"`
}

var upgradeStatus = kb.New(op.Spec{
	ID: "get_upgrade_status", Tool: "get_upgrade_status", MayFail: notFound, Kinds: runningKinds,
	Doc: `
Must I upgrade
Whether a running version is below the minimum of a network, how far behind, and what is next.

Says of a running version whether it is below the network's minimum, how many releases behind, when the next freeze
and synchronizer upgrade are (UTC), and what breaks on the way to the latest.
`,
}, func(ctx context.Context, b kb.Base, in upgradeIn) (out UpgradeStatus, err error) {
	l, err := readLive(ctx, b)
	if err != nil {
		return out, err
	}
	ask := l.UpgradeInput
	known := versions.Environments(l.Network, l.Operations)
	if ask.Environment = b.Network.Spelling(string(in.Environment), known); ask.Environment == "" {
		return out, op.NotFound("%s", kb.NoSuch("environment", string(in.Environment), known))
	}
	ask.Others = known
	if in.Version != "" {
		v, err := in.Version.parse()
		if err != nil {
			return out, err
		}
		ask.Running = &v
	}
	q := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindRadar}}
	if ask.Radar, _, err = b.Catalog.List(ctx, q); err != nil {
		return out, err
	}
	s := versions.Upgrade(ask, b.Now())
	out = UpgradeStatus{
		Environment: ask.Environment, Version: string(in.Version),
		BelowMinimum: s.Below, Minimum: s.Minimum.Row(b),
		BelowNextMinimum: s.BelowNext, NextMinimum: s.NextMinimum.Row(b),
		ReleasesBehind: s.Behind, BreakingTotal: len(s.Changes),
		NextFreeze: window(b, s.Freeze), NextUpgrade: window(b, s.Upgrade), Newer: versions.Numbers(s.Newer),
		Hint: s.Hint(),
	}
	out.Method = "Versions are compared by Semantic Versioning; minimum and windows are those of the ledger's snapshot " +
		"and of the operations calendar, breaking changes the critical and important radar items."
	if d := s.Deployment; d != nil {
		out.DeployedVersion, out.MinimumPackages, out.DeployedAsOf = d.Version, d.MinimumOf, kb.Time(l.at)
	}
	if ask.Ledger.Name != "" {
		out.Latest = new(latest(b, ask.Ledger))
	}
	for _, c := range s.Changes[:min(breakingShown, len(s.Changes))] {
		item := kb.Brief{Item: b.Item(c.Record)}
		out.Breaking = append(out.Breaking, Breaking{item, c.Record.Category, c.Action, c.Why()})
	}
	out.Evidence = evidence.Of(b, s.Reasons)
	return out, nil
})
