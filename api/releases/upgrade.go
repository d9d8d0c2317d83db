package releases

import (
	"context"
	"slices"
	"strings"
	"time"

	"almanac/api/kb"
	"almanac/api/kb/arg"
	"almanac/api/kb/evidence"
	"almanac/api/op"
	"almanac/api/versions"
	"almanac/catalog"
	"almanac/catalog/derive"
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

// Current are the versions that are current.
type Current struct {
	Toolchain       []Program    `json:"toolchain" doc:"the network's main programs"`
	Deployments     []Deployment `json:"deployments" doc:"what runs in each environment"`
	DeploymentsAsOf *time.Time   `json:"deployments_as_of" doc:"null: no snapshot of the ledger"`
	Windows         []Window     `json:"windows" doc:"freezes and synchronizer upgrades to come, soonest first"`
	Latest          []Latest     `json:"latest" doc:"of every repository and package"`
	Total           int          `json:"total" doc:"number of repositories and packages"`
	AsOf            time.Time    `json:"as_of"`
	Hint            string       `json:"hint,omitempty" doc:"what is not known, and why"`
}

// Head says how many there are in all.
func (c Current) Head() (total int, hint string) { return c.Total, "" }

// Program is the latest version of one of the network's main programs.
type Program struct {
	Role string `json:"role" doc:"sdk, ledger (what nodes run), language or package_manager"`
	Latest
}

// Deployment is what runs in an environment.
type Deployment struct {
	Environment    string            `json:"environment"`
	Version        string            `json:"version" doc:"of the ledger software; empty: not known"`
	ReleasesBehind *int              `json:"releases_behind" doc:"stable releases after that version; null: not known"`
	Minimum        *kb.Minimum       `json:"minimum" doc:"in force; null: not known"`
	NextMinimum    *kb.Minimum       `json:"next_minimum" doc:"null: none is planned"`
	MigrationID    *int              `json:"migration_id"`
	Components     map[string]string `json:"components,omitempty" doc:"component and its version"`
}

// Window is a planned freeze of topology or upgrade of the synchronizer.
type Window struct {
	Environment    string     `json:"environment"`
	Type           string     `json:"type" doc:"freeze or synchronizer_upgrade"`
	Starts         *time.Time `json:"starts" doc:"UTC"`
	Ends           *time.Time `json:"ends"`
	MinimumVersion string     `json:"minimum_version,omitempty" doc:"that it needs"`
	MigrationID    *int       `json:"migration_id,omitempty"`
	Tentative      bool       `json:"tentative,omitempty"`
	AnnouncedBy    []string   `json:"announced_by" doc:"calendar, ledger or both"`
	ID             string     `json:"id,omitempty" doc:"of the calendar's entry"`
	Title          string     `json:"title,omitempty"`
	URL            string     `json:"url,omitempty"`
}

func window(b kb.Base, w *versions.Window) *Window {
	if w == nil {
		return nil
	}
	out := &Window{
		Environment: w.Environment, Type: w.Type, Starts: kb.Time(w.Starts), Ends: kb.Time(w.Ends),
		MinimumVersion: w.MinimumVersion, MigrationID: w.MigrationID, Tentative: w.Tentative,
		AnnouncedBy: w.AnnouncedBy(),
	}
	if r := w.Operation; r != nil {
		out.ID, out.Title, out.URL = b.ID(*r), r.Title, b.URL(*r)
	}
	return out
}

var current = kb.New(op.Spec{
	ID: "get_current_versions", Path: "/api/v1/versions", Tool: "get_current_versions", Kinds: runningKinds,
	Doc: `
Current versions
The latest versions of SDK, ledger, language and package manager, what each environment runs, and upgrades to come.

Returns the latest versions of the toolchain and of every package, what each environment runs, and freezes and
upgrades to come. To judge one running version use get_upgrade_status.
`,
}, func(ctx context.Context, b kb.Base, _ struct{}) (Current, error) {
	l, err := readLive(ctx, b)
	if err != nil {
		return Current{}, err
	}
	out := Current{Total: len(l.products), AsOf: b.Now().UTC(), DeploymentsAsOf: kb.Time(l.at)}
	var missing []string
	out.Toolchain, missing = toolchain(b, l.products)
	if len(missing) > 0 {
		out.Hint = "nothing is indexed of " + strings.Join(missing, ", ")
	}
	for _, p := range l.products {
		out.Latest = append(out.Latest, latest(b, p))
	}
	for _, environment := range versions.Environments(l.Network, l.Operations) {
		out.Deployments = append(out.Deployments, l.deployment(b, environment))
	}
	for _, w := range versions.Windows(l.Operations, l.Network, b.Now()) {
		out.Windows = append(out.Windows, *window(b, &w))
	}
	return out, nil
})

// toolchain returns the network's main programs, and the names of those that
// nothing is published of.
func toolchain(b kb.Base, all []versions.Product) (programs []Program, missing []string) {
	for _, p := range b.Network.Toolchain.Programs() {
		if named := versions.Named(all, p.Name); len(named) > 0 {
			programs = append(programs, Program{p.Role, latest(b, named[0])})
		} else {
			missing = append(missing, p.Name)
		}
	}
	return programs, missing
}

// live is what is known of the environments now.
type live struct {
	versions.UpgradeInput // of no environment yet
	products              []versions.Product
	at                    time.Time // of the ledger's snapshot
}

// runningKinds are the kinds of records that tell what runs, and what will.
var runningKinds = append(slices.Clone(versions.PublishedKinds), catalog.KindOperation)

func readLive(ctx context.Context, b kb.Base) (l live, err error) {
	if l.products, err = products(ctx, b); err != nil {
		return l, err
	}
	if named := versions.Named(l.products, b.Network.Toolchain.Ledger); len(named) > 0 {
		l.Ledger = named[0]
	}
	if l.Network, l.at, err = kb.Newest[catalog.NetworkState](ctx, b, catalog.SeriesNetwork); err != nil {
		return l, err
	}
	l.Operations, _, err = b.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindOperation}})
	return l, err
}

// deployment is what runs in an environment, with the releases after it.
func (l live) deployment(b kb.Base, environment string) Deployment {
	out := Deployment{Environment: environment}
	if d := versions.DeploymentOf(l.Network, environment); d != nil {
		out.Version, out.MigrationID, out.Components = d.Version, d.MigrationID, d.Components
	}
	if v, ok := derive.ParseVersion(out.Version); ok {
		l.Running = &v
	}
	l.Environment = environment
	s := versions.Upgrade(l.UpgradeInput, b.Now())
	out.ReleasesBehind, out.Minimum, out.NextMinimum = s.Behind, s.Minimum.Row(b), s.NextMinimum.Row(b)
	return out
}

// VersionsResource is the content of kb://versions: the latest versions of the
// network's main programs.
func VersionsResource(ctx context.Context, b kb.Base) (any, error) {
	all, err := products(ctx, b.Prepared())
	programs, _ := toolchain(b, all)
	return struct {
		Toolchain []Program `json:"toolchain"`
		AsOf      time.Time `json:"as_of"`
	}{programs, b.Now().UTC()}, err
}
