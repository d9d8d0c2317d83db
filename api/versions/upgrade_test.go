package versions

import (
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/testing/recordtest"
)

// planned is an operation so many hours before recordtest.Noon, two hours long.
func planned(key, category string, hours int, o catalog.Operation) catalog.Record {
	return catalog.Record{
		Kind: catalog.KindOperation, Key: key, Title: key, Category: category, State: catalog.OperationScheduled,
		StartsAt: recordtest.Ago(hours), EndsAt: recordtest.Ago(hours - 2), Data: recordtest.Data(o),
	}
}

func on(environments ...string) catalog.Operation {
	return catalog.Operation{Environments: environments}
}

func least(version string) catalog.Operation {
	return catalog.Operation{Environments: []string{"bay"}, MinimumVersion: version}
}

func TestWindows(t *testing.T) {
	freeze, upgrade := catalog.OperationFreeze, catalog.OperationSynchronizerUpgrade
	cancelled := planned("cancelled", freeze, -5, on("bay"))
	cancelled.State = catalog.OperationCancelled
	operations := []catalog.Record{
		planned("later", upgrade, -9, on("main", "bay")), planned("now", freeze, 1, on("bay")),
		planned("over", freeze, 3, on("bay")),
		planned("nowhere", freeze, -5, on()), planned("release", catalog.OperationRelease, -5, on("bay")), cancelled,
	}
	at := func(hours int) string { return recordtest.Ago(hours).Format(time.RFC3339) }
	network := &catalog.NetworkState{Deployments: []catalog.Deployment{
		{Environment: "Main", Upgrade: &catalog.Upgrade{At: at(-9), FreezeAt: at(-8), MigrationID: new(7)}},
		{Environment: "reef", Upgrade: &catalog.Upgrade{At: at(2)}},
		{Environment: "shoal", Upgrade: &catalog.Upgrade{At: "soon"}},
	}}
	var got []string
	for _, w := range Windows(operations, network, recordtest.Noon) {
		by := "ledger"
		if w.Operation != nil {
			if by = w.Operation.Key; w.OnLedger {
				by += "+ledger"
			}
		}
		got = append(got, w.Type+" "+w.Environment+" "+by)
	}
	want := []string{
		"freeze bay now", "freeze Main ledger", "synchronizer_upgrade bay later",
		"synchronizer_upgrade main later+ledger",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := Windows(nil, nil, recordtest.Noon); len(got) != 0 {
		t.Errorf("without anything: %v", got)
	}
}

func TestMinimums(t *testing.T) {
	minimum := catalog.OperationMinimumVersion
	cancelled := planned("cancelled", minimum, -1, least("3.0.0"))
	cancelled.State = catalog.OperationCancelled
	for name, c := range map[string]struct {
		ledger     string
		operations []catalog.Record
		now, next  string
	}{
		"nothing is known":   {"", nil, "", ""},
		"the ledger says so": {"2.0.0", nil, "2.0.0", ""},
		"the ledger before the calendar": {"2.0.0", []catalog.Record{planned("a", minimum, 9, least("2.1.0"))},
			"2.0.0", ""},
		"what the calendar has set": {"", []catalog.Record{planned("a", minimum, 9, least("2.1.0"))}, "2.1.0",
			""},
		"the highest that is set": {"",
			[]catalog.Record{planned("b", minimum, 3, least("2.0.0")), planned("a", minimum, 9, least("2.1.0"))},
			"2.1.0", ""},
		"the soonest that is planned": {"2.0.0",
			[]catalog.Record{planned("b", minimum, -9, least("2.2.0")), planned("a", minimum, -3, least("2.1.0"))},
			"2.0.0", "2.1.0"},
		"what is planned but no raise": {"2.1.0", []catalog.Record{planned("a", minimum, -3, least("2.1"))},
			"2.1.0", ""},
		"a switch needs a version": {"",
			[]catalog.Record{planned("a", catalog.OperationSynchronizerUpgrade, -3, least("2.1.0"))}, "", "2.1.0"},
		"what is cancelled": {"", []catalog.Record{cancelled}, "", ""},
		"of another environment": {"",
			[]catalog.Record{planned("a", minimum, 9,
				catalog.Operation{Environments: []string{"main"}, MinimumVersion: "2.1.0"})}, "", ""},
		"what does not say when it begins": {"",
			[]catalog.Record{{Kind: catalog.KindOperation, Data: recordtest.Data(least("2.1.0"))}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := UpgradeInput{Environment: "BAY", Operations: c.operations, Network: &catalog.NetworkState{
				Deployments: []catalog.Deployment{{Environment: "bay", MinimumVersion: c.ledger}},
			}}
			s := Upgrade(in, recordtest.Noon)
			version := func(m *Minimum) string {
				if m == nil {
					return ""
				}
				return m.Version
			}
			if got := [2]string{version(s.Minimum), version(s.NextMinimum)}; got != [2]string{c.now, c.next} {
				t.Errorf("in force and next %q, want %q and %q", got, c.now, c.next)
			}
			if unknown := len(s.Unknown) > 0 &&
				strings.HasPrefix(s.Unknown[0], "the minimum"); unknown != (c.now == "") {
				t.Errorf("unknown %q with the minimum %q", s.Unknown, c.now)
			}
		})
	}
	in := UpgradeInput{Environment: "bay",
		Operations: []catalog.Record{planned("a", minimum, 9, least("2.1.0"))}}
	for version, below := range map[string]bool{"2.0.9": true, "2.1.0-rc.1": true, "2.1.0": false, "3": false} {
		v, _ := derive.ParseVersion(version)
		in.Running = &v
		if s := Upgrade(in, recordtest.Noon); s.Below == nil || *s.Below != below || s.BelowNext != nil || s.Behind != nil {
			t.Errorf("%s is below 2.1.0: %v, want %v", version, s.Below, below)
		}
	}
}

func TestChanges(t *testing.T) {
	keel := Products([]catalog.Record{
		published(1, "o/keel", "v2.0.0", "2.0.0", 9), published(2, "o/keel", "v2.1.0", "2.1.0", 5),
		published(3, "o/keel", "v2.2.0", "2.2.0", 2),
	})[0]
	radar := func(title, level, container string, versions ...string) catalog.Record {
		r := catalog.Record{Kind: catalog.KindRadar, Title: title, Category: level, Container: container,
			Data: recordtest.Data(catalog.Radar{Versions: versions})}
		if container != "" {
			r.Source = catalog.DerivedSource
		}
		return r
	}
	in := UpgradeInput{Environment: "bay", Others: []string{"bay", "main"}, Ledger: keel,
		Radar: []catalog.Record{
			radar("curated", "important", "", "2.1.0", "2.2.0"), radar("from notes", "critical", "o/keel", "2.1.0"),
			radar("of the running one", "critical", "", "2.0.0", "2.1.0"),
			radar("from notes of the running one", "critical", "o/keel", "2.0.0"),
			radar("from other notes", "critical", "o/rope", "2.1.0"),
			radar("of another program", "critical", "", "5.0.0"),
			radar("no news", "ecosystem", "", "2.1.0"), radar("of what is older", "critical", "", "1.0.0"),
			radar("of no version", "critical", ""),
			radar("Switch on main", "critical", "", "2.1.0"),
			radar("Switch on bay, before main", "critical", "", "2.2.0"),
		}}
	running, _ := derive.ParseVersion("2.0.0")
	in.Running = &running
	s := Upgrade(in, recordtest.Noon)
	var got []string
	for _, c := range s.Changes {
		got = append(got, c.Record.Title+": "+c.Why())
	}
	want := []string{
		"from notes: names 2.1.0, which comes later", "of the running one: names 2.0.0, which runs",
		"Switch on bay, before main: names 2.2.0, which comes later", "curated: names 2.2.0, which comes later",
	}
	if !slices.Equal(got, want) {
		t.Errorf("changes\n%q, want\n%q", got, want)
	}
	if len(s.Newer) != 2 || *s.Behind != 2 || s.Newer[0].Version != "2.2.0" {
		t.Errorf("newer: %v", s.Newer)
	}
	var why []string
	for _, r := range s.Reasons {
		why = append(why, r.Record.Title+" "+r.Why)
	}
	if want := []string{"o/keel 2.2.0 is the latest release",
		"o/keel 2.0.0 is the release that runs"}; !slices.Equal(why, want) {
		t.Errorf("reasons %q, want %q", why, want)
	}
}

func TestUpgradeHint(t *testing.T) {
	if got := (UpgradeStatus{}).Hint(); got != "" {
		t.Errorf("all is known: %q", got)
	}
	s := UpgradeStatus{Unknown: []string{"the minimum", "the version"}}
	if got := s.Hint(); got != "not known is the minimum; the version" {
		t.Errorf("%q", got)
	}
}

func TestAnnouncedBy(t *testing.T) {
	both := Window{Operation: &catalog.Record{}, OnLedger: true}
	if got := both.AnnouncedBy(); !slices.Equal(got, []string{"calendar", "ledger"}) {
		t.Errorf("%v", got)
	}
	if got := (Window{OnLedger: true}).AnnouncedBy(); !slices.Equal(got, []string{"ledger"}) {
		t.Errorf("%v", got)
	}
}
