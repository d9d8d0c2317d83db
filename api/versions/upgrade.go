package versions

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"almanac/api/kb"
	"almanac/api/kb/evidence"
	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/dates"
)

// UpgradeInput is what the standing of a node is computed from. Records may lack
// their bodies.
type UpgradeInput struct {
	Environment string   // one of Environments
	Others      []string // the other environments
	Running     *derive.Version
	Ledger      Product // what nodes run; zero: unknown
	Network     *catalog.NetworkState
	Operations  []catalog.Record
	Radar       []catalog.Record
}

// UpgradeStatus is how a running version stands in an environment.
type UpgradeStatus struct {
	Deployment  *catalog.Deployment // what runs there; nil: no snapshot has it
	Minimum     *Minimum            // in force; nil: unknown
	NextMinimum *Minimum            // soonest that raises it
	Below       *bool               // the minimum in force; nil: unknown
	BelowNext   *bool               // the next one
	Behind      *int                // number of Newer; nil: unknown
	Newer       []Edition           // stable versions after the running one, highest first
	Freeze      *Window             // the next ones
	Upgrade     *Window
	Changes     []Change         // on the way to the latest version, the most urgent first
	Reasons     []evidence.Proof // what the above rests on
	Unknown     []string         // what is not known, and why
}

// Minimum is a version that nodes of an environment must have.
type Minimum struct {
	Version   string
	From      time.Time       // zero: unknown
	Operation *catalog.Record // that sets it; nil: the ledger says so
	least     derive.Version
}

// Row makes the answer's form of a minimum version; nil for none.
func (m *Minimum) Row(b kb.Base) *kb.Minimum {
	if m == nil {
		return nil
	}
	out := &kb.Minimum{Version: m.Version, From: kb.Time(m.From)}
	if m.Operation != nil {
		out.ID = b.ID(*m.Operation)
	}
	return out
}

// excludes reports whether a version is below the minimum; nil: unknown.
func (m *Minimum) excludes(v derive.Version) *bool {
	if m == nil {
		return nil
	}
	return new(m.least.Compare(v) > 0)
}

// Change is a radar item that concerns a node of some version.
type Change struct {
	Record  catalog.Record
	Action  string // what to do
	Version string // that it names
	Running bool   // that is the running one; otherwise a later one
}

// Why says why a change concerns who runs the version.
func (c Change) Why() string {
	if c.Running {
		return "names " + c.Version + ", which runs"
	}
	return "names " + c.Version + ", which comes later"
}

// Environments returns the environments that a network's state and its calendar
// know.
func Environments(network *catalog.NetworkState, operations []catalog.Record) []string {
	var out []string
	add := func(e string) {
		if e != "" && !slices.ContainsFunc(out, func(known string) bool { return catalog.SameName(known, e) }) {
			out = append(out, e)
		}
	}
	if network != nil {
		for _, d := range network.Deployments {
			add(d.Environment)
		}
	}
	for _, r := range operations {
		d, _ := catalog.Decode[catalog.Operation](r) // without data: no environment
		for _, e := range d.Environments {
			add(e)
		}
	}
	return out
}

// DeploymentOf returns what runs in an environment, nil if it is not known.
func DeploymentOf(network *catalog.NetworkState, environment string) *catalog.Deployment {
	if network != nil {
		for i, d := range network.Deployments {
			if catalog.SameName(d.Environment, environment) {
				return &network.Deployments[i]
			}
		}
	}
	return nil
}

// Upgrade returns how a running version stands in an environment at a time. The
// minimum in force is that of the ledger's snapshot; if it has none, the highest that
// the calendar has set. Changes are critical and important radar items: those that
// name a later release of the ledger software, and curated ones that name the running
// version, because an item that was made of release notes is about what already runs.
// An item whose title names only other environments is left out.
func Upgrade(in UpgradeInput, now time.Time) UpgradeStatus {
	s := UpgradeStatus{Deployment: DeploymentOf(in.Network, in.Environment)}
	s.minimums(in, now)
	windows := Windows(in.Operations, in.Network, now)
	for i, w := range windows {
		switch {
		case !catalog.SameName(w.Environment, in.Environment):
		case w.Type == catalog.OperationFreeze && s.Freeze == nil:
			s.Freeze = &windows[i]
		case w.Type == catalog.OperationSynchronizerUpgrade && s.Upgrade == nil:
			s.Upgrade = &windows[i]
		}
	}
	if in.Running != nil {
		s.Below, s.BelowNext = s.Minimum.excludes(*in.Running), s.NextMinimum.excludes(*in.Running)
		if s.Newer = in.Ledger.After(*in.Running); in.Ledger.Name != "" {
			s.Behind = new(len(s.Newer))
		}
		s.Changes = changes(in)
	}
	s.explain(in)
	return s
}

// Hint says what is not known, and why; "" if all is.
func (s UpgradeStatus) Hint() string {
	if len(s.Unknown) == 0 {
		return ""
	}
	return "not known is " + strings.Join(s.Unknown, "; ")
}

// Numbers are the versions of editions.
func Numbers(editions []Edition) (versions []string) {
	for _, e := range editions {
		versions = append(versions, e.Version)
	}
	return versions
}

// explain adds the reasons, and what is not known.
func (s *UpgradeStatus) explain(in UpgradeInput) {
	say := func(r *catalog.Record, why string) {
		if r != nil {
			s.Reasons = append(s.Reasons, evidence.Proof{Record: *r, Why: why, Weight: 1})
		}
	}
	if s.Minimum != nil {
		say(s.Minimum.Operation, "sets the minimum version "+s.Minimum.Version)
	} else {
		s.Unknown = append(s.Unknown, "the minimum in force: neither ledger nor calendar has one")
	}
	if s.NextMinimum != nil {
		say(s.NextMinimum.Operation, "raises the minimum version to "+s.NextMinimum.Version)
	}
	if s.Freeze != nil {
		say(s.Freeze.Operation, "plans the next topology freeze")
	}
	if s.Upgrade != nil {
		say(s.Upgrade.Operation, "plans the next synchronizer upgrade")
	}
	switch ledger := in.Ledger; {
	case ledger.Name == "":
		s.Unknown = append(s.Unknown,
			"the releases of the ledger software: the network's file names none, or none is indexed")
	case in.Running == nil:
		s.Unknown = append(s.Unknown, "how far behind: no version is given")
		say(&ledger.Latest.Record, "is the latest release")
	default:
		say(&ledger.Latest.Record, "is the latest release")
		if e := ledger.Edition(*in.Running); e == nil {
			s.Unknown = append(s.Unknown, "the version: no release has it")
		} else if e.Parsed.Compare(ledger.Latest.Parsed) != 0 {
			say(&e.Record, "is the release that runs")
		}
	}
}

// minimums finds the minimum in force and the next one.
func (s *UpgradeStatus) minimums(in UpgradeInput, now time.Time) {
	operations := slices.Clone(in.Operations)
	slices.SortStableFunc(operations, func(a, b catalog.Record) int { return a.StartsAt.Compare(b.StartsAt) })
	if s.Deployment != nil {
		if v, ok := derive.ParseVersion(s.Deployment.MinimumVersion); ok {
			s.Minimum = &Minimum{Version: s.Deployment.MinimumVersion, least: v}
		}
	}
	ledger := s.Minimum != nil
	for i, r := range operations {
		d, _ := catalog.Decode[catalog.Operation](r)
		v, ok := derive.ParseVersion(d.MinimumVersion)
		here := slices.ContainsFunc(d.Environments, func(e string) bool { return catalog.SameName(e, in.Environment) })
		if !ok || !here || r.StartsAt.IsZero() || r.State == catalog.OperationCancelled {
			continue
		}
		m := &Minimum{d.MinimumVersion, r.StartsAt, &operations[i], v}
		switch {
		case s.Minimum != nil && v.Compare(s.Minimum.least) <= 0:
		case r.StartsAt.After(now) && s.NextMinimum == nil:
			s.NextMinimum = m
		case !r.StartsAt.After(now) && !ledger:
			s.Minimum = m
		}
	}
}

// elsewhere reports whether a title names other environments and not this one.
func (in UpgradeInput) elsewhere(title string) bool {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	names := func(e string) bool { return slices.Contains(words, strings.ToLower(e)) }
	return !names(in.Environment) && slices.ContainsFunc(in.Others, names)
}

// urgency orders the levels of radar items; items of others are no changes.
var urgency = []string{catalog.RadarCritical, catalog.RadarImportant}

// changes finds the radar items on the way to the latest version.
func changes(in UpgradeInput) []Change {
	var out []Change
	for _, r := range in.Radar {
		d, err := catalog.Decode[catalog.Radar](r)
		derived := r.Source == catalog.DerivedSource
		if err != nil || !slices.Contains(urgency, r.Category) || derived && r.Container != in.Ledger.Repository ||
			in.elsewhere(r.Title) {
			continue
		}
		c := Change{Record: r, Action: d.Action}
		for _, written := range d.Versions {
			v, ok := derive.ParseVersion(written)
			if !ok || in.Ledger.Edition(v) == nil && v.Compare(*in.Running) != 0 {
				continue // of another program
			}
			switch {
			case v.Compare(*in.Running) == 0 && !derived:
				c.Version, c.Running = written, true
			case v.Compare(*in.Running) > 0 && !c.Running:
				c.Version = written
			}
		}
		if c.Version != "" {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		if a.Record.Category != b.Record.Category {
			return slices.Index(urgency, a.Record.Category) - slices.Index(urgency, b.Record.Category)
		}
		return b.Record.CreatedAt.Compare(a.Record.CreatedAt)
	})
	return out
}

// Window is a planned freeze of topology or upgrade of the synchronizer in one
// environment.
type Window struct {
	Environment    string
	Type           string // catalog.OperationFreeze, catalog.OperationSynchronizerUpgrade
	Starts, Ends   time.Time
	MinimumVersion string
	MigrationID    *int
	Tentative      bool
	Operation      *catalog.Record // of the calendar; nil: only the ledger announces it
	OnLedger       bool            // the ledger announces it
}

// AnnouncedBy names what announces a window: calendar, ledger or both.
func (w Window) AnnouncedBy() (by []string) {
	if w.Operation != nil {
		by = append(by, "calendar")
	}
	if w.OnLedger {
		by = append(by, "ledger")
	}
	return by
}

// Windows returns the windows that are not over, soonest first: those of the
// operations calendar and those that the ledger announces, each once if both say
// the same time. The network may be nil.
func Windows(operations []catalog.Record, network *catalog.NetworkState, now time.Time) []Window {
	var out []Window
	for i, r := range operations {
		if r.Category != catalog.OperationFreeze && r.Category != catalog.OperationSynchronizerUpgrade ||
			r.StartsAt.IsZero() || !pending(r, now) {
			continue
		}
		d, _ := catalog.Decode[catalog.Operation](r) // without data: no environment
		for _, environment := range d.Environments {
			out = append(out, Window{Environment: environment, Type: r.Category, Starts: r.StartsAt, Ends: r.EndsAt,
				MinimumVersion: d.MinimumVersion, Tentative: d.Tentative, Operation: &operations[i]})
		}
	}
	if network != nil {
		for _, d := range network.Deployments {
			if u := d.Upgrade; u != nil {
				out = announced(out, d.Environment, catalog.OperationFreeze, u.FreezeAt, nil, now)
				out = announced(out, d.Environment, catalog.OperationSynchronizerUpgrade, u.At, u.MigrationID, now)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Window) int {
		return cmp.Or(a.Starts.Compare(b.Starts), cmp.Compare(a.Environment, b.Environment))
	})
	return out
}

// announced adds what the ledger says to the window of the same time, or as one
// of its own.
func announced(windows []Window, environment, kind, at string, migration *int, now time.Time) []Window {
	starts := dates.At(at, dates.Instant)
	if !starts.After(now) {
		return windows
	}
	for i, w := range windows {
		if w.Type == kind && catalog.SameName(w.Environment, environment) && w.Starts.Equal(starts) {
			windows[i].OnLedger, windows[i].MigrationID = true, migration
			return windows
		}
	}
	return append(windows, Window{Environment: environment, Type: kind, Starts: starts, MigrationID: migration,
		OnLedger: true})
}

// pending reports whether an operation is planned or going on.
func pending(r catalog.Record, now time.Time) bool {
	return catalog.OperationState(r, now) == catalog.OperationScheduled
}
