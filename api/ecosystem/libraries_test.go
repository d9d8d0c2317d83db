package ecosystem

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
)

func TestStanding(t *testing.T) {
	pkg := func(name, version, deprecated string, prerelease bool) catalog.Record {
		return of(t, 1, catalog.Record{Kind: catalog.KindPackageVersion, Key: name + "@" + version},
			catalog.PackageVersion{Name: name, Version: version, Deprecated: deprecated, Prerelease: prerelease})
	}
	release := func(repo, version string) catalog.Record {
		return of(t, 1, catalog.Record{Kind: catalog.KindRelease, Key: repo + "@" + version, Container: repo},
			catalog.Release{Version: version})
	}
	p := indexLibraries([]catalog.Record{
		pkg("@tide/client", "2.4.0", "", false), pkg("@tide/client", "2.5.0", "", false),
		pkg("@tide/client", "2.6.0", "it leaks: use 2.6.1", false),
		pkg("@tide/client", "2.6.1", "", false), pkg("@tide/client", "2.7.0-rc.1", "", true),
		pkg("@tide/client", "3.0.0", "published by mistake", false),
		pkg("@tide/old", "1.0.0", "gone", false), pkg("@tide/old", "1.1.0", "gone", false),
		release("tide/gauge", "1.0.0"), release("tide/gauge", "1.0.2"), release("tide/berth-standard", "1.1.0"),
		release("tide/node", "9.0.0"),
		of(t, 2, catalog.Record{Kind: catalog.KindProject, Key: "compiler"},
			catalog.Project{Packages: []string{"kelp-compiler"}, Repos: []string{"tide/gauge"}}),
	})
	for name, tt := range map[string]struct {
		library, version string
		want             Standing
		record           string
	}{
		"the latest": {"@tide/client", "2.6.1",
			Standing{Latest: "2.6.1", Behind: "current", Newer: 1}, "@tide/client@2.6.1"},
		"a patch behind, and withdrawn": {"@tide/client", "2.6.0",
			Standing{Latest: "2.6.1", Behind: "patch", Newer: 2, Deprecated: "it leaks: use 2.6.1"},
			"@tide/client@2.6.1"},
		"a minor version behind": {"@tide/client", "2.4.0",
			Standing{Latest: "2.6.1", Behind: "minor", Newer: 4}, "@tide/client@2.6.1"},
		"a major version behind": {"@Tide/Client", "1.9",
			Standing{Latest: "2.6.1", Behind: "major", Newer: 5}, "@tide/client@2.6.1"},
		"a range": {"@tide/client", "^2.5.0",
			Standing{Latest: "2.6.1", Behind: "minor", Newer: 3}, "@tide/client@2.6.1"},
		"no version": {"@tide/client", "", Standing{Latest: "2.6.1", Behind: "unknown"},
			"@tide/client@2.6.1"},
		"not a version": {"@tide/client", "main", Standing{Latest: "2.6.1", Behind: "unknown"},
			"@tide/client@2.6.1"},
		"newer than what is listed": {"@tide/client", "4.0.0",
			Standing{Latest: "2.6.1", Behind: "current"}, "@tide/client@2.6.1"},
		"all are deprecated": {"@tide/old", "1.0.0",
			Standing{Latest: "1.1.0", Behind: "minor", Newer: 1, Deprecated: "gone"}, "@tide/old@1.1.0"},
		"a repository": {"tide/gauge", "1.0.0",
			Standing{Latest: "1.0.2", Behind: "patch", Newer: 1}, "tide/gauge@1.0.2"},
		"a package of a project": {"kelp-compiler", "1.0.2",
			Standing{Latest: "1.0.2", Behind: "current"}, "tide/gauge@1.0.2"},
		"a repository's words at its end": {"kelp-berth-standard", "1.0.0",
			Standing{Latest: "1.1.0", Behind: "minor", Newer: 1}, "tide/berth-standard@1.1.0"},
		"one word is not enough": {"kelp-node", "1.0.0", Standing{Behind: "unknown"}, ""},
		"unknown":                {"elsewhere", "1.0.0", Standing{Behind: "unknown"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := p.Standing(tt.library, tt.version)
			if diff := cmp.Diff(tt.want, got,
				cmpopts.IgnoreFields(Standing{}, "Record", "Version")); diff != "" {
				t.Error(diff)
			}
			if key := ""; got.Record != nil {
				if key = got.Record.Key; key != tt.record {
					t.Errorf("published by %s", key)
				}
			} else if tt.record != "" {
				t.Error("no record")
			}
		})
	}
}
