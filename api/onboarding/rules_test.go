package onboarding

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/testing/recordtest"
)

const lantern = "saltpan/lantern"

var live = liveValues{
	Network: &catalog.NetworkState{
		ValidatorCount: new(400), SuperValidators: new(13),
		Deployments: []catalog.Deployment{{Environment: "Main Net", Version: "0.7.2", MinimumVersion: "0.7.0",
			MigrationID: new(4),
			Components:  map[string]string{"lantern-sdk": "3.5.1"}, MinimumOf: map[string]string{"wick": "1.2.0"}}},
	},
	Market: &catalog.MarketState{PriceUSD: new(0.5), TVLUSD: new(1.2e6),
		Protocols: []catalog.ProtocolTVL{{Protocol: "Harbour Swap", TVLUSD: new(100.0)}}},
	Stats: &catalog.Stats{CIPs: 100, RecordsByKind: map[catalog.Kind]int{catalog.KindTopic: 1000}},
	Records: []catalog.Record{
		{Kind: catalog.KindCIP, Key: "CIP-0007", State: "Final"},
		recordtest.With(catalog.Record{Kind: catalog.KindCIP, Key: "CIP-0008", State: "Review"},
			catalog.CIP{RawStatus: "Approved"}),
		recordtest.With(catalog.Record{Kind: catalog.KindAsset, Key: "TLY"}, catalog.Asset{Supply: new(2e9), Holders: nil}),
		{Kind: catalog.KindOperation, Key: "uid-1", Title: "Spring upgrade",
			StartsAt: time.Date(2031, 4, 2, 14, 0, 0, 0, time.UTC)},
		recordtest.With(catalog.Record{Kind: catalog.KindRelease, Key: "a", Title: "Lantern 1.9.0", Container: lantern},
			catalog.Release{Version: "1.9.0"}),
		recordtest.With(catalog.Record{Kind: catalog.KindRelease, Key: "b", Title: "Lantern 1.10.0", Container: lantern},
			catalog.Release{Version: "1.10.0"}),
		recordtest.With(catalog.Record{Kind: catalog.KindRelease, Key: "c", Title: "Lantern 2.0.0", Container: lantern},
			catalog.Release{Version: "2.0.0-rc1", Prerelease: true}),
		recordtest.With(catalog.Record{Kind: catalog.KindPackageVersion, Key: "npm:@saltpan/wick@1.2.0"},
			catalog.PackageVersion{Name: "@saltpan/wick", Version: "1.2.0"}),
		recordtest.With(catalog.Record{Kind: catalog.KindPackageVersion, Key: "npm:@saltpan/wick@1.3.0"},
			catalog.PackageVersion{Name: "@saltpan/wick", Version: "1.3.0", Deprecated: "broken"}),
	},
}

// stating is a page of the foundation that states one fact.
func stating(category, key, value, asOf string) catalog.Record {
	return recordtest.With(catalog.Record{Kind: catalog.KindFoundation, Key: "about", UpdatedAt: recordtest.Ago(240)},
		catalog.Foundation{Facts: []catalog.Fact{{Category: category, Key: key, Value: value, AsOf: asOf}}})
}

func keyed(r catalog.Record) kb.Item { return kb.Item{Key: r.Key} }

func TestDriftOfOneFact(t *testing.T) {
	const today = "2031-03-01"
	for name, c := range map[string]struct {
		category, key, value, asOf string
		want                       string // severity, "" agrees, or how it could not be compared
	}{
		"within the tolerance":                       {"network", "validators", "about 410", today, ""},
		"a little outside":                           {"network", "validators", "430", today, "info"},
		"far outside":                                {"network", "validators", "90", today, "warn"},
		"far outside, said long ago":                 {"network", "validators", "90", "2030-01-01", "stale"},
		"a little outside, said long ago":            {"network", "validators", "430", "2030-01-01", "info"},
		"an exact figure":                            {"Network", "Super-Validators", "13", today, ""},
		"an exact figure that is off":                {"network", "super validator", "12", today, "warn"},
		"no live figure":                             {"network", "sequencers", "5", today, "missing"},
		"no figure at all":                           {"network", "validators", "many", today, "unreadable"},
		"written with words":                         {"market", "tvl_usd", "$1.2 million", today, ""},
		"written with a letter":                      {"supply", "tly", "2B", today, ""},
		"written with separators":                    {"supply", "TLY", "1,000,000,000", today, "warn"},
		"holders not disclosed":                      {"holders", "TLY", "5", today, "missing"},
		"a protocol":                                 {"tvl", "harbour swap", "150", today, "warn"},
		"a price":                                    {"market", "price_usd", "0.52 USD", today, ""},
		"a count":                                    {"counts", "topics", "1,050", today, ""},
		"a count by its own name":                    {"count", "cips", "70", today, "warn"},
		"a status":                                   {"status", "cip-0007", "final", today, ""},
		"a status that moved on":                     {"status", "CIP-0007", "Review", today, "warn"},
		"a status in the network's own word":         {"status", "CIP-0008", "approved", today, ""},
		"a status of an unknown proposal":            {"status", "CIP-0999", "Review", today, "missing"},
		"the version of an environment":              {"version", "main net", "v0.7.2", today, ""},
		"without its last number":                    {"versions", "Main-Net", "0.7", today, ""},
		"a patch behind":                             {"version", "main net", "0.7.1", today, "info"},
		"a minor version behind":                     {"version", "main net", "0.6.14", "2030-01-01", "stale"},
		"of a component":                             {"version", "main net/lantern-sdk", "3.4.11", today, "warn"},
		"of a component that is not reported":        {"version", "main net/oil", "1.0.0", today, "missing"},
		"the newest release that is not a candidate": {"version", "Lantern", "1.10.0", today, ""},
		"of a repository":                            {"version", "saltpan/lantern", "1.9.0", today, "warn"},
		"of a package, without deprecated ones":      {"version", "@saltpan/wick", "1.2.0", today, ""},
		"a version in a sentence":                    {"version", "lantern", "since spring 1.10.0 or later", today, ""},
		"no version":                                 {"version", "lantern", "the newest", today, "unreadable"},
		"a minimum":                                  {"minimum version", "main net", "0.6.0", today, "warn"},
		"a minimum of a package":                     {"minimum_version", "main net/wick", "1.2.0", today, ""},
		"a migration":                                {"migration_id", "main net", "3", today, "warn"},
		"a date":                                     {"date", "uid-1", "April 2, 2031", today, ""},
		"a day off":                                  {"date", "spring upgrade", "2031-04-03T01:00:00Z", today, "info"},
		"a week off":                                 {"dates", "Spring upgrade", "9 April 2031", today, "warn"},
		"no rule":                                    {"weather", "wind", "strong", today, "unruled"},
		"no rule for the key":                        {"network", "mood", "fair", today, "unruled"},
	} {
		t.Run(name, func(t *testing.T) {
			d := driftOf([]catalog.Record{stating(c.category, c.key, c.value, c.asOf)}, live, recordtest.Noon, keyed)
			got := ""
			switch {
			case len(d.Findings) == 1:
				got = d.Findings[0].Severity
			case d.Compared == 0 && len(d.Rules) == 0:
				got = "unruled"
			case len(d.Rules) == 1 && d.Rules[0].Missing == 1:
				got = "missing"
			case len(d.Rules) == 1 && d.Rules[0].Unreadable == 1:
				got = "unreadable"
			}
			if got != c.want || d.Facts != 1 {
				t.Errorf("got %q, want %q: %+v", got, c.want, d)
			}
		})
	}
}

func TestDriftReport(t *testing.T) {
	page := recordtest.With(catalog.Record{ID: 5, Kind: catalog.KindFoundation, UpdatedAt: recordtest.Ago(240)},
		catalog.Foundation{Facts: []catalog.Fact{
			{Category: "network", Key: "validators", Value: "430"},
			{Category: "status", Key: "CIP-0007", Value: "Draft"},
			{Category: "network", Key: "validators", Value: "400"},
			{Category: "x", Key: "y", Value: "z"},
		}})
	partner := recordtest.With(catalog.Record{ID: 6, Kind: catalog.KindPartner},
		catalog.Partner{Facts: []catalog.Fact{{Category: "version", Key: "lantern", Value: "1.0.0",
			AsOf: "2030-03-08"}}})
	want := KBDrift{
		Facts: 5, Compared: 4, Severities: map[string]int{"info": 1, "warn": 1, "stale": 1}, Total: 3,
		Rules: []catalog.DriftRule{{Category: "network", Key: "validators", Facts: 2, Drifted: 1},
			{Category: "version", Key: "*", Facts: 1, Drifted: 1},
			{Category: "status", Key: "*", Facts: 1, Drifted: 1}},
		Findings: []DriftFinding{
			{Category: "status", Key: "CIP-0007", Stated: "Draft", Live: "Final", AgeDays: new(10), Severity: "warn",
				Record: keyed(page)},
			{Category: "version", Key: "lantern", Stated: "1.0.0", Live: "1.10.0", AgeDays: new(365), Severity: "stale",
				Record: keyed(partner)},
			{Category: "network", Key: "validators", Stated: "430", Live: "400", AgeDays: new(10), Severity: "info",
				Record: keyed(page)},
		},
	}
	if d := cmp.Diff(want, driftOf([]catalog.Record{page, partner}, live, recordtest.Noon, keyed)); d != "" {
		t.Error(d)
	}
	if d := driftOf([]catalog.Record{page, partner}, liveValues{}, recordtest.Noon, keyed); len(d.Findings) != 0 {
		t.Errorf("findings without live values: %+v", d.Findings)
	}
}

func FuzzDrift(f *testing.F) {
	f.Add("network", "validators", "~1.2M", "yesterday")
	f.Add("version", "main net/", "v1.2.3-", "2031-02-30")
	f.Add("date", "uid-1", "99 May 2031", "")
	f.Add("supply", "TLY", "1_0'0’0 thousand", "\xff")
	f.Fuzz(func(t *testing.T, category, key, value, asOf string) {
		d := driftOf([]catalog.Record{stating(category, key, value, asOf)}, live, recordtest.Noon, keyed)
		if len(d.Findings) > 1 || d.Facts != 1 {
			t.Errorf("%+v", d)
		}
	})
}
