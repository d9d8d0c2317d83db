package operations

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/testing/recordtest"
)

// node is a validator that reported its version so many hours ago; a negative
// number is no report.
func node(id int64, name, state, version string, hours int) catalog.Record {
	d := catalog.Validator{Version: version}
	if hours >= 0 {
		d.VersionReportedAt = recordtest.Ago(hours).Format(time.RFC3339)
	}
	return recordtest.With(catalog.Record{
		ID: id, Kind: catalog.KindValidator, Key: strings.ToLower(strings.ReplaceAll(name, " ", "-")) + "::1220ab" +
			name[:1],
		Title: name, State: state, LastActivityAt: recordtest.Ago(max(1, hours-1)),
	}, d)
}

var nodes = []catalog.Record{
	node(1, "Buoy keepers", "approved", "1.10.0", 2), node(2, "reef-1", "approved", "v1.9.2", 24*7),
	node(3, "reef-2", "approved", "1.9.2", 24*7+1), node(4, "Reef holding", "approved", "1.10.0-rc.1", 0),
	node(5, "quiet", "approved", "", -1), node(6, "odd", "approved", "main", 3),
	node(7, "gone", "offboarded", "1.10.0", 2),
	{ID: 8, Kind: catalog.KindValidator, Key: "bad", State: "approved", Data: []byte("{")},
}

func TestFleet(t *testing.T) {
	got := distributionOf(nodes, recordtest.Noon)
	asOf := recordtest.Ago(0)
	want := Distribution{
		Validators: 6, Approvals: true, Reporting: 5, Fresh: 4, Stale: 1, AsOf: &asOf,
		Versions: []VersionCount{
			{Version: "1.10.0", Count: 1, Share: 0.2, Fresh: 1},
			{Version: "1.10.0-rc.1", Count: 1, Share: 0.2, Fresh: 1},
			{Version: "1.9.2", Count: 2, Share: 0.4, Fresh: 1}, {Version: "main", Count: 1, Share: 0.2, Fresh: 1},
		},
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(VersionCount{})); d != "" {
		t.Error(d)
	}
	unknown := []catalog.Record{node(1, "a", "", "1.0.0", 1), node(2, "b", "offboarded", "1.0.0", 1)}
	if got := distributionOf(unknown, recordtest.Noon); got.Approvals || got.Validators != 1 || got.Reporting != 1 {
		t.Errorf("without approvals: %+v", got)
	}
	if none := distributionOf(nil, recordtest.Noon); none.AsOf != nil || none.Validators != 0 {
		t.Errorf("no fleet: %+v", none)
	}
}

func TestPositionInTheFleet(t *testing.T) {
	f := distributionOf(nodes, recordtest.Noon)
	for _, c := range []struct {
		version, minimum string
		want             FleetPosition
	}{
		{"1.10.0", "1.9.2", FleetPosition{Newer: 0.6, Same: 0.2, Minimum: "above"}},
		{"v1.9.2", "1.9.2", FleetPosition{Same: 0.4, Behind: 0.4, Minimum: "at"}},
		{"1.9.3-rc.1", "1.9.3", FleetPosition{Newer: 0.4, Behind: 0.4, Minimum: "below"}},
		{"1.9", "", FleetPosition{Behind: 0.8, Minimum: "unknown"}},
	} {
		c.want.Version = c.version
		if got, ok := f.Position(c.version, c.minimum); !ok || got != c.want {
			t.Errorf("%s: %+v, want %+v", c.version, got, c.want)
		}
	}
	if _, ok := f.Position("latest", ""); ok {
		t.Error("a word is a version")
	}
}

func TestFindValidators(t *testing.T) {
	for name, want := range map[string]string{
		"Buoy keepers": "exact Buoy keepers", " buoy  KEEPERS ": "exact Buoy keepers", "reef-1": "exact reef-1",
		"reef-1::1220abr": "exact reef-1", "reef-1::1220": "party reef-1",
		"reef": "party Reef holding, party reef-1, party reef-2",
		"keep": "name Buoy keepers", "keepers buoy": "name Buoy keepers",
		"eef":          "part Reef holding, part reef-1, part reef-2",
		"reef holding": "exact Reef holding", "1220abb": "party Buoy keepers", "1220ab": "", "": "", "...": "",
		"tug": "",
	} {
		var got []string
		for _, f := range findValidators(nodes, name) {
			got = append(got, f.Match+" "+f.Record.Title)
		}
		if s := strings.Join(got, ", "); s != want {
			t.Errorf("%q finds %q, want %q", name, s, want)
		}
	}
	for name, want := range map[string]string{"reff": "Reef holding, reef-1, reef-2", "bouy": "Buoy keepers",
		"zzzzzzzzzzzz": ", Buoy keepers, Reef holding, gone, odd"} {
		if got := strings.Join(nearestValidators(nodes, name), ", "); got != want {
			t.Errorf("nearest to %q: %q, want %q", name, got, want)
		}
	}
}
