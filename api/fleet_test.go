package api_test

import (
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// fleetQuestions are those on the fleet, the calendar's past, grants and the pace of
// governance in the invented network, which has little of them.
func fleetQuestions(t *testing.T, l *library) []question {
	putStats(t, l.store, now.Truncate(24*time.Hour), 8)
	return []question{
		{name: "nothing was deployed", tool: "get_recent_deployments",
			want: fields{"total": 0, "limit": 10,
				"hint": "no deploy, release or upgrade of the calendar is over: get_upcoming_operations has what is " +
					"to come"}},
		{name: "a validator by name", tool: "get_validator", args: `{"name":"buoy KEEPERS"}`,
			want: fields{"items.*.id": "buoy::1", "items.0.match": "exact", "items.0.version_stale": true,
				"items.0.missed_coupons": nil, "total": 1, "limit": 5}},
		{name: "nobody has a name", tool: "get_validator", args: `{"name":"Bouy"}`,
			want: fields{"total": 0, "hint": "no validator has this name or party id: names look like Buoy keepers"}},
		{name: "a fleet without approvals", tool: "get_validator_fleet", args: `{"version":"1.2.3"}`,
			want: fields{"validators": 1, "approvals_known": false, "versions.#": 0, "as_of": nil,
				"position.newer_than": 0, "position.minimum": "unknown"}},
		{name: "statistics by day", target: "/api/v1/stats",
			want: fields{"as_of": "2030-05-15T00:00:00Z", "latest.cips": 8, "history.#": 1,
				"history.0.captured_at": "2030-05-15T00:00:00Z", "total": 1}},

		{name: "a week of governance", tool: "compare_governance_outcomes", args: `{"window_days":10}`,
			want: fields{"window_days": 10, "since": "2030-05-05T12:00:00Z", "until": "2030-05-15T12:00:00Z",
				"before_since":    "2030-04-25T12:00:00Z",
				"measures.0.name": "status_changes", "measures.0.now": 3, "measures.0.before": 0,
				"measures.0.change": nil, "measures.2.now": 1, "draft_to_final.proposals": 1,
				"draft_to_final.median_days": 293,
				"evidence.*.id":              "0056,0007", "evidence.0.why": "Draft → Review"}},

		{name: "the landscape of grants", tool: "get_funding_landscape",
			want: fields{"total": 3, "open": 2, "merged": 1, "closed": 0, "labels.#": 0, "unlabelled": 3,
				"funding.#": 0, "funding_unparsed": 1, "funding_unstated": 2, "recent.#": 0}},
		{name: "grants have no labels", tool: "get_funding_landscape", args: `{"category":"tooling"}`,
			want: fields{"total": 0, "hint": "no record has a label: leave it out"}},
		{name: "milestones without issues", tool: "get_proposal_milestones", args: `{"pr_number":31}`,
			want: fields{"title": "Tug telemetry", "state": "open", "milestones.*.title": "Sensors", "total": 0,
				"hint": "no indexed issue is linked with it: search_forge_issues finds issues by the proposal's words"}},
		{name: "milestones of no grant", tool: "get_proposal_milestones", args: `{"pr_number":39}`, status: 404,
			message: "there is no grant proposal 39: the nearest numbers are 33, 32, 31"},
		{name: "who telemeters tugs", tool: "detect_builder_overlap", args: `{"idea":"telemetry of tugs"}`,
			want: fields{"evidence.0.title": "Tug telemetry", "evidence.0.state": "open",
				"evidence.0.why": "shares telemetry, tug"}},
		{name: "an idea without words", tool: "detect_builder_overlap", args: `{"idea":"..."}`, status: 400,
			message: "idea cannot be searched for"},
		{name: "a draft", tool: "proposal_success_predictor",
			args: `{"draft_text":"# Pilot wallet\n\nA wallet for pilots."}`,
			want: fields{"score": 0, "checks.*.name": "milestones,code,sources,scope,budget",
				"checks.0.passed": false, "evidence.*.title": "Pilot wallet"}},

		{name: "code, the latest first", target: "/api/v1/code",
			want: fields{"items.*.key": "tide/pilot#5,tide/pilot#6", "items.*.kind": "issue,pull", "items.0.number": 5,
				"total": 2, "limit": 20}},
		{name: "issues", target: "/api/v1/code?type=issue", want: fields{"items.*.number": "5"}},
		{name: "merged code", target: "/api/v1/code?state=merged", want: fields{"total": 0}},
		{name: "code by its words", target: "/api/v1/code?q=gauge+twice&limit=1",
			want: fields{"items.0.number": 6, "items.#": 1}},
		{name: "code by its words in another repository", target: "/api/v1/code?q=gauge&repo=tide/none",
			want: fields{"total": 0}},
		{name: "code of no repository", target: "/api/v1/code?repo=tide/none", want: fields{"total": 0}},
		{name: "comments", target: "/api/v1/code/" + l.id(t, catalog.KindIssue, "tide/pilot#5") + "/comments",
			want: fields{"items.#": 0, "total": 0, "truncated": false}},
	}
}

func putStats(t testing.TB, store *sqlstore.Store, day time.Time, cips int) {
	t.Helper()
	data, err := catalog.Encode(catalog.Stats{CIPs: cips})
	if err == nil {
		err = store.PutSnapshot(t.Context(), catalog.Snapshot{Series: catalog.SeriesStats, CapturedAt: day, Data: data})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestStatisticsBeforeTheFirst: there is no answer yet, and there will be.
func TestStatisticsBeforeTheFirst(t *testing.T) {
	l := serve(t, network.Network{Name: "new", Title: "New", Proposals: tidewater}, func() time.Time { return now },
		func(*sqlstore.Store) {}).ready(t)
	l.ask(t, question{target: "/api/v1/stats", status: 503, message: "there is no snapshot of the statistics yet"},
		coverage{})
	if w := do(l.public, "GET", "/api/v1/stats", ""); w.Header().Get("Retry-After") != "30" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
}
