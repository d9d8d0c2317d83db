package api_test

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
		{name: "nothing of a category is deprecated", target: "/api/v1/migrate?category=OTHER", want: fields{
			"total": 0, "hint": "nothing deprecated matches: leave q or category out"}},
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
