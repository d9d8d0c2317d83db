package api_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"almanac/api/releases"
	"almanac/catalog"
	"almanac/catalog/network"
)

// releasesQuestions are those that the records of every test answer.
func releasesQuestions(l *library) []question {
	return []question{
		{name: "the latest release and a newer prerelease", tool: "get_latest_release", args: `{"package":"Pilot"}`,
			want: fields{
				"name": "tide/pilot", "version": "1.2.0", "newer_prerelease.version": "1.3.0-rc.1",
				"newer_prerelease.prerelease": true,
				"also.*.name":                 "pilot", "also.*.registry": "npm", "also.0.version": "1.2.0"}},
		{name: "the latest release by the whole name", tool: "get_latest_release", args: `{"package":"tide/pilot"}`,
			want: fields{"name": "tide/pilot", "also.#": 0}},
		{name: "a package that is not there", tool: "get_latest_release", args: `{"package":"pilott"}`, status: 404,
			message: `no record has the package "pilott": did you mean "pilot"?`},
		{name: "a part of a package's name", tool: "get_latest_release", args: `{"package":"ilo"}`, status: 404,
			message: `there are tide/pilot, pilot`},
		{name: "release notes", tool: "get_sdk_changelog", args: `{"version":"v1.2"}`, want: fields{
			"name": "tide/pilot", "version": "1.2.0", "content": "## Fixes\n\nThe rudder no longer jams in a gale. It closes a vulnerability of the lock.",
			"truncated":      false,
			"alternatives.#": 0, "url": "https://forge.example/tide/pilot@1.2.0"}},
		{name: "notes of a version that is not there", tool: "get_sdk_changelog", args: `{"version":"1.2.1"}`,
			status: 404, message: `did you mean "1.2.0"?`},
		{name: "notes of a repository that is not there", tool: "get_sdk_changelog",
			args: `{"version":"1.2.0","repo":"tide/pylot"}`, status: 404, message: `did you mean "tide/pilot"?`},
		{name: "notes of no version", tool: "get_sdk_changelog", args: `{"version":"newest"}`, status: 400,
			message: "version must be a version, such as 1.2.3"},
		{name: "versions without a toolchain", target: "/api/v1/versions", tool: "get_current_versions", want: fields{
			"toolchain.#": 0, "latest.*.name": "tide/pilot,pilot", "total": 2, "deployments.*.environment": "mainnet",
			"deployments.0.version": "",
			"deployments_as_of":     "2030-05-15T11:00:00Z", "as_of": "2030-05-15T12:00:00Z", "windows.#": 0}},
		{name: "an environment of which little is known", tool: "get_upgrade_status", args: `{"environment":"MainNet"}`,
			want: fields{
				"environment": "mainnet", "below_minimum": nil, "latest": nil, "releases_behind": nil, "breaking.#": 0,
				"evidence.#": 0,
				"hint": "not known is the minimum in force: neither ledger nor calendar has one; the releases of the " +
					"ledger software: " +
					"the network's file names none, or none is indexed"}},
		{name: "an environment that is not there", tool: "get_upgrade_status", args: `{"environment":"mainnut"}`,
			status: 404, message: `did you mean "mainnet"?`},
		{name: "what replaces it", target: "/api/v1/migrate?q=SEXTANT",
			want: fields{"items.*.title": "sextant", "items.0.replacement": "gauge", "total": 1}},
		{name: "one replacement", tool: "migrate_lookup", args: `{"query":" Sextant "}`,
			want: fields{"item.replacement": "gauge", "others.#": 0}},
		{name: "no replacement", tool: "migrate_lookup", args: `{"query":"sextent"}`, want: fields{"item": nil}},
		{name: "all that is deprecated", target: "/api/v1/migrate", want: fields{"total": 1}},
		{name: "nothing of a category is deprecated", target: "/api/v1/migrate?category=OTHER", want: fields{
			"total": 0, "hint": "nothing deprecated matches: leave q or category out"}},
		{name: "no such category", target: "/api/v1/migrate?category=colour", status: 400,
			message: "category must be one of cli, package, tool, api, workflow, other"},
		{name: "a concept", tool: "compare_to_evm", args: `{"concept":"GAS"}`,
			want: fields{"mapping.title": "Gas", "mapping.content": "Traffic.", "matched": "name"}},
		{name: "guidance that is not outdated", tool: "outdated_guidance_detector", args: `{"query":"book a berth"}`,
			want: fields{"items.#": 0, "total": 0, "evidence.#": 0}},
		{name: "an error", tool: "diagnose_error",
			args: `{"error_text":"2030-05-01T00:00:00Z ERROR MOORING_TAKEN\n\tat Berth.book(Berth.java:7)"}`,
			want: fields{
				"searched": "MOORING_TAKEN", "identifiers.0": "MOORING_TAKEN", "evidence.0.title": "Book a berth",
				"evidence.0.why": "documentation that names MOORING_TAKEN", "evidence.0.weight": 1}},
	}
}

// harbourNet is a network with a toolchain.
var harbourNet = network.Network{
	Name: "harbour", Title: "Harbour", Proposals: tidewater,
	Toolchain: network.Toolchain{SDK: "@tide/helm", Ledger: "tide/keel", Language: "tide/knots",
		PackageManager: "tide/gone"},
	Aliases: map[string][]string{"baynet": {"test network"}},
}

// harbour has two programs of four environments, what is planned for them, and
// what people write of it.
func harbour(t *testing.T, store catalog.Store) {
	t.Helper()
	release := func(repository, version string, days int) item {
		return item{
			Record: catalog.Record{
				Kind: catalog.KindRelease, Key: repository + "@" + version, Title: repository + " " + version,
				Container: repository,
				URL:       "https://forge.example/" + repository + "/" + version, Body: "Notes of " + version + ".",
				CreatedAt: ago(days),
			},
			data: catalog.Release{Version: version, Tag: "v" + version},
		}
	}
	long := release("tide/knots", "0.9.0", 90)
	long.Body = longText
	helm := item{Record: catalog.Record{Kind: catalog.KindPackageVersion, Key: "npm:@tide/helm@2.1.0",
		Title: "@tide/helm 2.1.0", Container: "npm", CreatedAt: ago(5)},
		data: catalog.PackageVersion{Name: "@tide/helm", Version: "2.1.0"}}
	plan := func(key, category, environment, minimum string, days int) item {
		return item{Record: catalog.Record{Kind: catalog.KindOperation, Key: key, Title: key, Category: category,
			State: catalog.OperationScheduled, StartsAt: ago(days)},
			data: catalog.Operation{Environments: []string{environment}, MinimumVersion: minimum}}
	}
	radar := func(key, level string, days int, versions ...string) item {
		return item{Record: catalog.Record{Kind: catalog.KindRadar, Key: key, Title: key, Category: level,
			CreatedAt: ago(days)},
			data: catalog.Radar{Versions: versions, Action: "Mind " + key + "."}}
	}
	deprecation := func(key, replacement string, patterns ...string) item {
		return item{Record: catalog.Record{Kind: catalog.KindDeprecation, Key: key, Title: key,
			State: catalog.ItemDeprecated, Category: "cli", Body: "`" + key + "` is deprecated."},
			data: catalog.Deprecation{Replacement: replacement, Since: "2.0.0", Patterns: patterns}}
	}
	doc := func(key, body string, days int) item {
		return item{Record: catalog.Record{Kind: catalog.KindDoc, Key: key, Title: "Mooring: " + key, Body: body,
			UpdatedAt: ago(days)}, data: catalog.Doc{}}
	}
	gas := item{Record: catalog.Record{Kind: catalog.KindEVMMapping, Key: "gas", Title: "Gas",
		Body: "Traffic is paid for bytes of a transaction."}, data: catalog.EVMMapping{Equivalent: "Traffic"}}
	nonce := item{Record: catalog.Record{Kind: catalog.KindEVMMapping, Key: "nonce", Title: "Nonce",
		Body: "Commands are named, so that a retry is safe."}, data: catalog.EVMMapping{Equivalent: "Command id"}}
	gas.aliases = []string{"gwei"}
	current := deprecation("helmsman", "")
	current.State = catalog.ItemCurrent
	b := catalog.Batch{Source: "all"}
	for _, i := range []item{
		release("tide/keel", "2.0.0", 60), release("tide/keel", "2.1.0", 30), release("tide/keel", "2.1.1", 10),
		release("tide/keel", "2.2.0-rc.1", 2),
		release("tide/knots", "2.1.0", 29), long, helm,
		plan("freeze-bay", catalog.OperationFreeze, "baynet", "", -9),
		plan("switch-bay", catalog.OperationSynchronizerUpgrade, "baynet", "2.1.1", -10),
		plan("least-bay", catalog.OperationMinimumVersion, "baynet", "2.1.0", 20),
		plan("over-bay", catalog.OperationFreeze, "baynet", "", 20),
		plan("least-main", catalog.OperationMinimumVersion, "mainnet", "2.1.1", -15),
		radar("ropes", "important", 11, "2.1.1"), radar("anchor", "critical", 31, "2.1.0"),
		radar("paint", "ecosystem", 11, "2.1.1"), radar("old-hull", "critical", 5, "2.0.0"),
		radar("other-program", "critical", 11, "7.0.0"),
		deprecation("tillerctl", "helm", "tillerctl"), deprecation("tillerctl moor", "helm berth", "tillerctl moor"),
		current,
		doc("old", "To moor a ship run tillerctl moor --fast. Then tillerctl status.", 300),
		doc("undated", "Mooring with tillerctl works.", 0),
		doc("moved", "Mooring a ship: tillerctl was replaced by helm.", 3),
		doc("both", "Moor ships with tillerctl, or with helm.", 4),
		gas, nonce,
	} {
		data, err := catalog.Encode(i.data)
		if err != nil {
			t.Fatal(err)
		}
		i.Data, i.URL = data, cmp.Or(i.URL, "https://harbour.example/"+i.Key)
		if i.Key == "undated" {
			i.UpdatedAt = time.Time{}
		}
		b.Entries = append(b.Entries, catalog.Entry{Record: i.Record, Aliases: i.aliases})
	}
	if _, err := store.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	state, err := catalog.Encode(catalog.NetworkState{Deployments: []catalog.Deployment{
		{Environment: "mainnet", Version: "2.1.0", MinimumVersion: "2.0.0",
			MinimumOf: map[string]string{"ropes": "1.4"}},
		{Environment: "baynet", Version: "2.1.1",
			Upgrade: &catalog.Upgrade{At: ago(-10).Format(time.RFC3339), MigrationID: new(5)}},
	}})
	if err == nil {
		err = store.PutSnapshot(t.Context(),
			catalog.Snapshot{Series: catalog.SeriesNetwork, CapturedAt: now.Add(-time.Hour), Data: state})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestReleases asks what a network with a toolchain answers.
func TestReleases(t *testing.T) {
	l := serve(t, harbourNet, func() time.Time { return now }, func(store catalog.Store) { harbour(t, store) }).ready(t)
	for _, q := range []question{
		{name: "current versions", target: "/api/v1/versions", tool: "get_current_versions", want: fields{
			"toolchain.*.role": "sdk,ledger,language", "toolchain.*.name": "@tide/helm,tide/keel,tide/knots",
			"toolchain.*.version":                  "2.1.0,2.1.1,2.1.0",
			"toolchain.1.newer_prerelease.version": "2.2.0-rc.1", "hint": "nothing is indexed of tide/gone",
			"deployments.*.environment": "mainnet,baynet", "deployments.*.version": "2.1.0,2.1.1",
			"deployments.*.releases_behind": "1,0",
			"deployments.0.minimum.version": "2.0.0", "deployments.0.next_minimum.version": "2.1.1",
			"deployments.1.minimum.version": "2.1.0",
			"windows.*.type":                "freeze,synchronizer_upgrade", "windows.1.announced_by.#": 2,
			"windows.0.announced_by.0": "calendar", "windows.1.migration_id": 5, "total": 3}},
		{name: "notes of two repositories: the toolchain's first", tool: "get_sdk_changelog",
			args: `{"version":"2.1.0"}`, want: fields{
				"name": "tide/keel", "content": "Notes of 2.1.0.", "alternatives.*.name": "tide/knots"}},
		{name: "notes of one of them", tool: "get_sdk_changelog", args: `{"version":"2.1.0","repo":"knots"}`,
			want: fields{"name": "tide/knots", "alternatives.#": 0}},
		{name: "long notes", tool: "get_sdk_changelog", args: `{"version":"0.9.0"}`, want: fields{"truncated": true},
			check: func(t *testing.T, answer any) {
				content, _ := at(answer, "content")
				id, _ := at(answer, "id")
				hint, _ := at(answer, "hint")
				n := len(content.(string))
				if want := fmt.Sprintf("the notes go on: get_doc with id %s and cursor %d", id, n); hint != want ||
					!strings.HasPrefix(longText, content.(string)) {
					t.Errorf("hint %q after %d bytes, want %q", hint, n, want)
				}
			}},
		{name: "an old node", tool: "get_upgrade_status", args: `{"environment":"MAINNET","version":"2.0.0"}`,
			want: fields{
				"environment": "mainnet", "deployed_version": "2.1.0", "below_minimum": false,
				"minimum.version": "2.0.0", "minimum.from": nil,
				"below_next_minimum": true, "next_minimum.version": "2.1.1",
				"next_minimum.from": "2030-05-30T12:00:00Z", "latest.version": "2.1.1",
				"releases_behind": 2, "newer.0": "2.1.1", "newer.#": 2, "next_freeze": nil, "next_upgrade": nil,
				"minimum_packages.ropes": "1.4",
				"breaking.*.title":       "old-hull,anchor,ropes", "breaking.0.why": "names 2.0.0, which runs",
				"breaking.1.why":    "names 2.1.0, which comes later",
				"breaking.1.action": "Mind anchor.", "breaking_total": 3,
				"evidence.*.title": "least-main,tide/keel 2.1.1,tide/keel 2.0.0",
				"evidence.0.why":   "raises the minimum version to 2.1.1"}},
		{name: "by an alias of the environment", tool: "get_upgrade_status",
			args: `{"environment":"test network","version":"2.0"}`, want: fields{
				"environment": "baynet", "below_minimum": true, "minimum.version": "2.1.0",
				"minimum.from": "2030-04-25T12:00:00Z", "next_freeze.title": "freeze-bay",
				"next_upgrade.starts": "2030-05-25T12:00:00Z", "next_upgrade.minimum_version": "2.1.1",
				"evidence.*.why": "sets the minimum version 2.1.0,raises the minimum version to 2.1.1,plans the next " +
					"topology freeze,plans the next synchronizer upgrade,is the latest release,is the release that runs"}},
		{name: "the latest node", tool: "get_upgrade_status", args: `{"environment":"mainnet","version":"2.1.1"}`,
			want: fields{
				"releases_behind": 0, "below_next_minimum": false, "breaking.*.title": "ropes",
				"breaking.0.why": "names 2.1.1, which runs"}},
		{name: "a version that nobody released", tool: "get_upgrade_status",
			args: `{"environment":"mainnet","version":"9.9"}`, want: fields{
				"releases_behind": 0, "hint": "not known is the version: no release has it"}},
		{name: "no version", tool: "get_upgrade_status", args: `{"environment":"mainnet"}`, want: fields{
			"releases_behind": nil, "below_minimum": nil, "hint": "not known is how far behind: no version is given"}},
		{name: "of two spellings the longer", tool: "migrate_lookup",
			args: `{"query":"what of tillerctl moor --fast, and tillerctl"}`, want: fields{
				"item.title": "tillerctl moor", "item.replacement": "helm berth", "others.*.name": "tillerctl"}},
		{name: "what is current", tool: "migrate_lookup", args: `{"query":"Helmsman"}`,
			want: fields{"item": nil, "hint": "it is current and needs no replacement"}},
		{name: "what is nearest", tool: "migrate_lookup", args: `{"query":"tilerctl"}`,
			want: fields{"item": nil, "hint": `no record has the name "tilerctl": did you mean "tillerctl"?`}},
		{name: "replacements by category", target: "/api/v1/migrate?category=cli",
			want: fields{"items.*.title": "tillerctl,tillerctl moor", "toolchain.#": 3}},
		{name: "a concept by an alias", tool: "compare_to_evm", args: `{"concept":"Gwei"}`,
			want: fields{"mapping.title": "Gas", "mapping.equivalent": "Traffic", "matched": "name"}},
		{name: "a concept by other words", tool: "compare_to_evm", args: `{"concept":"retry a command safely"}`,
			want: fields{"mapping.title": "Nonce", "matched": "search"}},
		{name: "a concept that is not there", tool: "compare_to_evm", args: `{"concept":"zzyzx"}`,
			want: fields{"mapping": nil, "others.0": "Gas", "others.#": 2}},
		{name: "outdated guidance, newest first", tool: "outdated_guidance_detector",
			args: `{"query":"mooring a ship"}`, want: fields{
				"items.*.title": "Mooring: both,Mooring: old,Mooring: undated", "total": 3,
				"items.0.written":                  "2030-05-11T12:00:00Z",
				"items.0.uses.0.names_replacement": true, "items.1.uses.*.deprecated": "tillerctl,tillerctl moor",
				"items.1.uses.*.names_replacement": "false,false",
				"items.1.uses.1.snippet":           "To moor a ship run tillerctl moor --fast.", "items.2.written": nil,
				"evidence.*.title": "tillerctl,tillerctl moor",
				"evidence.0.why":   "deprecated; mentions: 3, in texts: 3", "evidence.0.weight": 0.75}},
	} {
		t.Run(q.name, func(t *testing.T) { l.ask(t, q, coverage{}) })
	}
}

// TestVersionResources reads the contents of kb://versions and
// kb://deprecations.
func TestVersionResources(t *testing.T) {
	l := serve(t, harbourNet, func() time.Time { return now }, func(store catalog.Store) { harbour(t, store) })
	versions, err := releases.VersionsResource(t.Context(), l.base)
	if err != nil {
		t.Fatal(err)
	}
	deprecations, err := releases.DeprecationsResource(t.Context(), l.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		content    any
		path, want string
	}{
		{versions, "toolchain.*.version", "2.1.0,2.1.1,2.1.0"}, {versions, "as_of", "2030-05-15T12:00:00Z"},
		{deprecations, "items.*.replacement", "helm,helm berth"},
	} {
		var answer any
		raw, err := json.Marshal(c.content)
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		if got, _ := at(answer, c.path); err != nil || got != c.want {
			t.Errorf("%s is %v, want %v (%v)", c.path, got, c.want, err)
		}
	}
}
