package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
)

// fleetQuestions are those on the fleet, the calendar's past, grants and the
// pace of governance in the invented network, which has little of them: see
// TestMarina for contents.
func fleetQuestions(t *testing.T, l *library) []question {
	putStats(t, l.store, now.Truncate(24*time.Hour), 8)
	return []question{
		{name: "nothing was deployed", tool: "get_recent_deployments",
			want: fields{"total": 0, "limit": 10,
				"hint": "no deploy, release or upgrade of the calendar is over: get_upcoming_operations has what is " +
					"to come"}},
		{name: "too many deployments", tool: "get_recent_deployments", args: `{"limit":101}`, status: 400,
			message: "limit must be between 1 and 100"},
		{name: "a validator by name", tool: "get_validator", args: `{"name":"buoy KEEPERS"}`,
			want: fields{"items.*.id": "buoy::1", "items.0.match": "exact", "items.0.version_stale": true,
				"items.0.missed_coupons": nil, "total": 1, "limit": 5}},
		{name: "nobody has a name", tool: "get_validator", args: `{"name":"Bouy"}`,
			want: fields{"total": 0, "hint": "no validator has this name or party id: names look like Buoy keepers"}},
		{name: "too many validators", tool: "get_validator", args: `{"name":"x","limit":51}`, status: 400,
			message: "limit must be between 1 and 50"},
		{name: "a fleet without approvals", tool: "get_validator_fleet", args: `{"version":"1.2.3"}`,
			want: fields{"validators": 1, "approvals_known": false, "versions.#": 0, "as_of": nil,
				"position.newer_than": 0, "position.minimum": "unknown"}},
		{name: "no version", tool: "get_validator_fleet", args: `{"version":"latest"}`, status: 400,
			message: "version must be a version, such as 1.2.3"},
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
		{name: "too short a window", tool: "compare_governance_outcomes", args: `{"window_days":6}`, status: 400,
			message: "window_days must be between 7 and 365"},
		{name: "a window without a length", tool: "compare_governance_outcomes", status: 400,
			message: "window_days is required"},

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
		{name: "a number in words", tool: "get_proposal_milestones", args: `{"pr_number":"x"}`, status: 400,
			message: "pr_number must be an integer"},
		{name: "who telemeters tugs", tool: "detect_builder_overlap", args: `{"idea":"telemetry of tugs"}`,
			want: fields{"evidence.0.title": "Tug telemetry", "evidence.0.state": "open",
				"evidence.0.why": "shares telemetry, tug"}},
		{name: "an idea without words", tool: "detect_builder_overlap", args: `{"idea":"..."}`, status: 400,
			message: "idea cannot be searched for"},
		{name: "a draft", tool: "proposal_success_predictor",
			args: `{"draft_text":"# Pilot wallet\n\nA wallet for pilots."}`,
			want: fields{"score": 0, "checks.*.name": "milestones,code,sources,scope,budget",
				"checks.0.passed": false, "evidence.*.title": "Pilot wallet"}},
		{name: "too long a draft", tool: "proposal_success_predictor", args: `{"draft_text":"` +
			strings.Repeat("x", 50_001) + `"}`, status: 400,
			message: "draft_text must be at most 50000 characters long"},

		{name: "code, the latest first", target: "/api/v1/code",
			want: fields{"items.*.key": "tide/pilot#5,tide/pilot#6", "items.*.kind": "issue,pull", "items.0.number": 5,
				"total": 2, "limit": 20}},
		{name: "issues", target: "/api/v1/code?type=issue", want: fields{"items.*.number": "5"}},
		{name: "code by its words", target: "/api/v1/code?q=gauge+twice&limit=1",
			want: fields{"items.0.number": 6, "items.#": 1}},
		{name: "code of no repository", target: "/api/v1/code?repo=tide/none", want: fields{"total": 0}},
		{name: "no such type", target: "/api/v1/code?type=commit", status: 400,
			message: "type must be one of issue, pull, all"},
		{name: "no such state", target: "/api/v1/code?state=shut", status: 400,
			message: "state must be one of open, closed, merged, all"},
		{name: "comments", target: "/api/v1/code/" + l.id(t, catalog.KindIssue, "tide/pilot#5") + "/comments",
			want: fields{"items.#": 0, "total": 0, "truncated": false}},
	}
}

func putStats(t testing.TB, store catalog.Store, day time.Time, cips int) {
	t.Helper()
	data, err := catalog.Encode(catalog.Stats{CIPs: cips})
	if err == nil {
		err = store.PutSnapshot(t.Context(), catalog.Snapshot{Series: catalog.SeriesStats, CapturedAt: day, Data: data})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// marina writes a network with a fleet, a calendar, grants, governance and code.
func marina(t testing.TB, store catalog.Store) {
	t.Helper()
	label := func(labels ...string) []string { return catalog.Tags(catalog.TagLabel, labels...) }
	apply := func(source string, events []catalog.Event, items ...item) {
		t.Helper()
		b := catalog.Batch{Source: source, Events: events}
		for _, i := range items {
			var err error
			if i.Data, err = catalog.Encode(i.data); err != nil {
				t.Fatal(err)
			}
			i.Source = source
			b.Entries = append(b.Entries, catalog.Entry{Record: i.Record, Parent: i.parent, Links: i.links})
		}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	operation := func(key, title, category, state string, start int, d catalog.Operation, releases ...string) item {
		i := item{data: d, Record: catalog.Record{Kind: catalog.KindOperation, Key: key, Title: title,
			Category: category, State: state, StartsAt: ago(start), EndsAt: ago(start).Add(time.Hour)}}
		for _, r := range releases {
			i.links = append(i.links, catalog.Link{Relation: catalog.References, To: ref(catalog.KindRelease, r)})
		}
		return i
	}
	release := item{data: catalog.Release{Version: "1.9.0"},
		Record: catalog.Record{Kind: catalog.KindRelease, Key: "tide/pilot@1.9.0", Title: "Pilot 1.9.0",
			CreatedAt: ago(9)}}
	apply("calendar", nil, release,
		operation("a", "Deploy of Pilot 1.9.0", "deploy", "scheduled", 5,
			catalog.Operation{Environments: []string{"bay"}, Version: "1.9.0"}, "tide/pilot@1.9.0", "tide/pilot@1.9.0",
			"tide/pilot@0.1.0"),
		operation("b", "Release of Pilot 1.9.0", "release", "completed", 9, catalog.Operation{}, "tide/pilot@1.9.0"),
		operation("c", "Upgrade of the quay", "upgrade", "scheduled", 30, catalog.Operation{}),
		operation("d", "Cancelled upgrade", "upgrade", "cancelled", 6, catalog.Operation{}),
		operation("e", "Deploy to come", "deploy", "scheduled", -2, catalog.Operation{}),
		operation("f", "Harbour party", "other", "scheduled", 3, catalog.Operation{}),
		operation("g", "Minimum 1.8.0", "minimum_version", "scheduled", 20,
			catalog.Operation{Environments: []string{"open sea"}, MinimumVersion: "1.8.0"}),
		operation("h", "Minimum 1.9.0", "minimum_version", "scheduled", -9,
			catalog.Operation{Environments: []string{"open sea"}, MinimumVersion: "1.9.0"}),
	)
	validator := func(key, name, state, version string, days int, missed int64) item {
		return item{Record: catalog.Record{Kind: catalog.KindValidator, Key: key, Title: name, State: state,
			LastActivityAt: ago(days)}, data: catalog.Validator{
			Sponsor: "Quay trust", Version: version, VersionReportedAt: ago(days).Format(time.RFC3339),
			FirstRound: new(int64(3)), LastRound: new(int64(90)), CollectedCoupons: new(int64(75)),
			MissedCoupons: &missed}}
	}
	apply("ledger", nil, validator("reef-1::12ab", "reef-1", "approved", "1.9.0", 1, 25),
		validator("reef-2::12cd", "reef-2", "approved", "1.8.0", 8, 0),
		validator("quay::12ef", "Quay trust", "approved", "v1.9.0", 2, 0),
		validator("shoal::1299", "Shoal", "approved", "1.7.0", 40, 0),
		validator("wreck::1200", "Wreck", "offboarded", "1.0.0", 300, 75),
		item{Record: catalog.Record{Kind: catalog.KindVoteRequest, Key: "v1", Title: "Raise the light", State: "closed",
			EndsAt: ago(4), CreatedAt: ago(9)}, data: catalog.VoteRequest{Outcome: "accepted"}},
		item{Record: catalog.Record{Kind: catalog.KindVoteRequest, Key: "v2", Title: "Dim the light", State: "closed",
			EndsAt: ago(14), CreatedAt: ago(19)}, data: catalog.VoteRequest{Outcome: "expired"}},
	)
	state, err := catalog.Encode(catalog.NetworkState{Deployments: []catalog.Deployment{{Environment: "open sea",
		Version: "1.9.0"}, {Environment: "bay", MinimumVersion: "9"}}})
	if err == nil {
		err = store.PutSnapshot(t.Context(),
			catalog.Snapshot{Series: catalog.SeriesNetwork, CapturedAt: ago(0), Data: state})
	}
	if err != nil {
		t.Fatal(err)
	}
	grant := func(number int, title, state, funding string, body string, d catalog.Grant,
		links ...catalog.Link) item {
		d.Number, d.Funding = number, funding
		return item{data: d, links: links,
			Record: catalog.Record{Kind: catalog.KindGrant, Key: fmt.Sprint(number), Title: title, State: state,
				CreatedAt: ago(100 - number), Body: "# " + title + "\n\n" + body, Tags: label(d.Labels...)}}
	}
	change := func(kind catalog.Kind, key, field, from, to string, days int) catalog.Event {
		return catalog.Event{Ref: ref(kind, key), Field: field, From: from, To: to, RawFrom: from, RawTo: to,
			At: ago(days)}
	}
	plan := "It watches the tide. See reefworks/tide#3 and CIP-0001.\n\n### Milestone 1: Gauge\nA brass gauge at the " +
		"pier, read every hour.\n\n### Milestone 2: Chart\nA chart of all readings that anybody may copy.\n\nTotal " +
		"funding request: "
	annex := grant(40, "Tide watch: annex", "closed", "", "Gauges.", catalog.Grant{Merged: true},
		catalog.Link{Relation: catalog.References, To: ref(catalog.KindIssue, "reefworks/tide#7"),
			Snippet: "see the rust"})
	annex.Key, annex.parent = "40/annex", ref(catalog.KindGrant, "40")
	apply("grants", []catalog.Event{
		change(catalog.KindGrant, "40", "state", "", "open", 50),
		change(catalog.KindGrant, "40", "state", "open", "merged", 3),
		change(catalog.KindGrant, "41", "state", "", "open", 13),
		change(catalog.KindGrant, "41", "state", "open", "closed", 12),
		change(catalog.KindGrant, "42", "state", "", "open", 2),
	},
		grant(40, "Tide watch", "closed", "4,000 HC", plan+"4,000 HC",
			catalog.Grant{Merged: true, Labels: []string{"tides"},
				Milestones: []catalog.Milestone{{Number: "1", Title: "Gauge"}, {Number: "2", Title: "Chart"}}},
			catalog.Link{Relation: catalog.References, To: ref(catalog.KindIssue, "reefworks/tide#3"),
				Snippet: "See reefworks/tide#3"},
			catalog.Link{Relation: catalog.References, To: ref(catalog.KindPull, "reefworks/tide#3")}),
		annex, grant(41, "A statue of the founder", "closed", "$9,000",
			"Made of bronze, with a gauge of the tide at the pier.", catalog.Grant{Labels: []string{"art"}}),
		grant(42, "Tide app", "open", "up to 7,000 HC", "Shows the tide on a phone.",
			catalog.Grant{Labels: []string{"tides", "wallet"}}),
	)
	issue := func(number int, kind catalog.Kind, title, state string, opened, active int, data any,
		links ...catalog.Link) item {
		return item{data: data, links: links,
			Record: catalog.Record{Kind: kind, Key: fmt.Sprintf("reefworks/tide#%d", number), Title: title,
				Container: "reefworks/tide", State: state, CreatedAt: ago(opened), LastActivityAt: ago(active),
				Body: title + "."}}
	}
	names := catalog.Link{Relation: catalog.References, To: ref(catalog.KindGrant, "40"), Snippet: "for grant 40"}
	apply("forge", nil,
		issue(3, catalog.KindIssue, "Gauge at the pier", "closed", 40, 20,
			catalog.Issue{Number: 3, ClosedAt: "2030-04-25T00:00:00Z", Labels: []string{"grant"}}),
		issue(4, catalog.KindIssue, "Chart of readings", "open", 30, 2, catalog.Issue{Number: 4}, names),
		issue(5, catalog.KindPull, "Read the gauge hourly", "merged", 25, 22, catalog.Pull{Number: 5}),
		issue(6, catalog.KindPull, "Guess the tide", "closed", 24, 23, catalog.Pull{Number: 6}, names),
		issue(7, catalog.KindIssue, "Rust", "open", 1, 1, catalog.Issue{Number: 7}),
		item{data: catalog.Project{}, Record: catalog.Record{Kind: catalog.KindProject, Key: "tide-clock",
			Title: "Tide clock", Summary: "A clock that shows when the tide turns."}},
	)
	message := func(number, days int, group string) item {
		return item{data: catalog.MailMessage{Number: number}, parent: ref(catalog.KindMailThread, group+"-1"),
			Record: catalog.Record{Kind: catalog.KindMailMessage, Key: fmt.Sprintf("%s-1/%d", group, number),
				Title: "Re", Container: group, CreatedAt: ago(days)}}
	}
	thread := func(group string) item {
		return item{data: catalog.MailThread{},
			Record: catalog.Record{Kind: catalog.KindMailThread, Key: group + "-1", Title: "Re", Container: group}}
	}
	apply("mail", nil, thread("cip-vote"), thread("cip-discuss"), thread("general"), message(1, 2, "cip-vote"),
		message(2, 3, "cip-vote"), message(1, 12, "cip-discuss"), message(1, 1, "general"))
	apply("cips", []catalog.Event{change(catalog.KindCIP, "CIP-0001", "status", "", "Draft", 45),
		change(catalog.KindCIP, "CIP-0001", "status", "Draft", "Final", 5)},
		item{data: catalog.CIP{Number: "0001"},
			Record: catalog.Record{Kind: catalog.KindCIP, Key: "CIP-0001", Title: "Tides", State: "Final"}})
	for day := range 95 {
		putStats(t, store, ago(day).Truncate(24*time.Hour), 200-day)
	}
}

// TestMarina holds what the operations on fleet, calendar, grants, governance
// and code say of a network that has some of each.
func TestMarina(t *testing.T) {
	n := network.Network{Name: "harbour", Title: "Harbour", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store catalog.Store) { marina(t, store) }).ready(t)
	draft, err := json.Marshal(
		"# Tide watch two\n\nIt watches the tide with a brass gauge at the pier, read every hour, and draws a chart " +
			"of all readings.\n\nTotal funding request: 5,000 HC")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []question{
		{name: "deployments", tool: "get_recent_deployments",
			want: fields{"items.*.title": "Deploy of Pilot 1.9.0,Release of Pilot 1.9.0,Upgrade of the quay",
				"total": 3, "items.*.operation_type": "deploy,release,upgrade",
				"items.*.state":            "completed,completed,completed",
				"items.0.releases.*.title": "Pilot 1.9.0", "items.0.version": "1.9.0",
				"items.0.ends": "2030-05-10T13:00:00Z", "items.0.environments.0": "bay", "items.2.releases.#": 0}},
		{name: "the second deployment", tool: "get_recent_deployments", args: `{"limit":1,"offset":1}`,
			want: fields{"items.*.title": "Release of Pilot 1.9.0", "total": 3, "offset": 1}},
		{name: "deployments past the end", tool: "get_recent_deployments", args: `{"offset":3}`,
			want: fields{"items.#": 0, "hint": "there are 3 in all: the offset is past the end"}},

		{name: "validators by a part", tool: "get_validator", args: `{"name":"reef"}`,
			want: fields{"items.*.title": "reef-1,reef-2", "items.0.match": "party", "items.0.sponsor": "Quay trust",
				"items.0.version": "1.9.0", "items.0.version_age_days": 1, "items.0.version_stale": false,
				"items.0.missed_coupons": 25, "items.0.missed_share": 0.25, "items.0.first_round": 3,
				"items.0.last_round": 90, "items.0.last_activity": "2030-05-14T12:00:00Z",
				"items.1.version_stale": true, "items.1.version_age_days": 8}},
		{name: "one of two validators", tool: "get_validator", args: `{"name":"reef","limit":1}`,
			want: fields{"items.#": 1, "total": 2}},
		{name: "a validator by the beginning of its party id", tool: "get_validator", args: `{"name":"reef-2::12"}`,
			want: fields{"items.*.id": "reef-2::12cd", "items.0.match": "party"}},
		{name: "an offboarded validator", tool: "get_validator", args: `{"name":"wreck"}`,
			want: fields{"items.0.state": "offboarded", "items.0.missed_share": 0.5}},
		{name: "the fleet", tool: "get_validator_fleet",
			want: fields{"validators": 4, "approvals_known": true, "reporting": 4, "fresh_reports": 2,
				"stale_reports": 2, "versions.*.version": "1.9.0,1.8.0,1.7.0", "versions.*.count": "2,1,1",
				"versions.*.fresh": "2,0,0", "versions.0.share": 0.5,
				"as_of": "2030-05-14T12:00:00Z", "environment": "open sea", "minimum.version": "1.8.0",
				"minimum.from": "2030-04-25T12:00:00Z", "next_minimum.version": "1.9.0", "position": nil}},
		{name: "a place in the fleet", tool: "get_validator_fleet", args: `{"version":"v1.8.0"}`,
			want: fields{"position.newer_than": 0.25, "position.same": 0.25, "position.behind": 0.5,
				"position.minimum": "at"}},
		{name: "a place below the minimum", tool: "get_validator_fleet", args: `{"version":"1.8.0-rc.1"}`,
			want: fields{"position.newer_than": 0.25, "position.behind": 0.75, "position.minimum": "below"}},

		{name: "ninety days of statistics", target: "/api/v1/stats",
			want: fields{"latest.cips": 200, "history.#": 90, "history.89.cips": 111, "total": 90,
				"as_of": "2030-05-15T00:00:00Z"}},

		{name: "governance of ten days", tool: "compare_governance_outcomes", args: `{"window_days":10}`,
			want: fields{"measures.*.now": "1,0,1,0,0,1,1,0,0,2,1,0,0,1,0",
				"measures.*.before": "0,0,0,0,0,1,0,0,1,0,0,1,1,0,1",
				"measures.5.change": 0, "measures.11.change": -1, "draft_to_final.proposals": 1,
				"draft_to_final.median_days": 40, "draft_to_final.median_days_before": nil,
				"evidence.*.title": "Tide watch,Raise the light,Tides",
				"evidence.*.why":   "open → merged,vote request accepted,Draft → Final", "evidence.0.weight": 0.3333}},

		{name: "the landscape", tool: "get_funding_landscape",
			want: fields{"total": 3, "open": 1, "merged": 1, "closed": 1, "labels.*.label": "tides,art,wallet",
				"labels.0.merged": 1, "funding.*.unit": "HC,USD", "funding.0.requested": 4000,
				"funding.0.granted": 4000, "funding.1.granted": 0,
				"funding_unparsed": 1, "funding_unstated": 0, "recent.*.number": "42,40,41,41,40",
				"recent.*.to": "open,merged,closed,open,open"}},
		{name: "the landscape of a label", tool: "get_funding_landscape", args: `{"category":"TIDES"}`,
			want: fields{"total": 2, "open": 1, "merged": 1, "recent.*.number": "42,40,40", "funding_unparsed": 1}},
		{name: "the landscape of a mistyped label", tool: "get_funding_landscape", args: `{"category":"tide"}`,
			want: fields{"total": 0, "labels.#": 0, "hint": `no record has the label "tide": did you mean "tides"?`}},
		{name: "milestones with their issues", tool: "get_proposal_milestones", args: `{"pr_number":40}`,
			want: fields{"state": "merged", "funding": "4,000 HC", "milestones.*.title": "Gauge,Chart",
				"issues.*.key":    "reefworks/tide#3,reefworks/tide#4,reefworks/tide#7",
				"issues.*.state":  "closed,open,open",
				"issues.0.closed": "2030-04-25T00:00:00Z", "issues.0.snippet": "See reefworks/tide#3",
				"issues.1.snippet": "for grant 40", "issues.2.snippet": "see the rust", "open_issues": 2, "total": 3}},
		{name: "who overlaps", tool: "detect_builder_overlap",
			args: `{"idea":"a clock that shows the tide on a phone"}`,
			want: fields{"projects": 1, "grants": 3, "evidence.0.title": "Tide app", "evidence.0.state": "open",
				"evidence.0.why": "shares phone, shows, tide", "evidence.1.title": "Tide clock"},
			check: func(t *testing.T, answer any) {
				sum := 0.0
				evidence, _ := at(answer, "evidence")
				for _, e := range evidence.([]any) {
					sum += e.(map[string]any)["weight"].(float64)
				}
				if sum < 0.999 || sum > 1.001 {
					t.Errorf("the weights add up to %v", sum)
				}
			}},
		{name: "a draft like funded work", tool: "proposal_success_predictor", args: `{"draft_text":` + string(draft) +
			`}`, want: fields{"evidence.*.title": "Tide watch", "evidence.0.state": "merged",
			"checks.4.name": "budget", "checks.4.passed": true}},

		{name: "code", target: "/api/v1/code", want: fields{"items.*.number": "7,4,3,5,6", "total": 5}},
		{name: "merged code", target: "/api/v1/code?state=merged",
			want: fields{"items.*.number": "5", "items.0.kind": "pull"}},
		{name: "closed code is not merged", target: "/api/v1/code?state=closed&repo=Reefworks/Tide",
			want: fields{"items.*.number": "3,6"}},
		{name: "a page of issues", target: "/api/v1/code?type=issue&limit=1&offset=1",
			want: fields{"items.*.number": "4", "total": 3, "limit": 1, "offset": 1}},
		{name: "pull requests by words", target: "/api/v1/code?type=pull&q=hourly+gauge",
			want: fields{"items.0.number": 5, "items.0.match.snippet": "Read the gauge hourly."}},
		{name: "code in no repository", target: "/api/v1/code?repo=reefworks/tied",
			want: fields{
				"items.#": 0, "hint": `no record has the container "reefworks/tied": did you mean "reefworks/tide"?`}},
	} {
		t.Run(q.name, func(t *testing.T) { l.ask(t, q, coverage{}) })
	}
}

// TestStatisticsBeforeTheFirst: there is no answer yet, and there will be.
func TestStatisticsBeforeTheFirst(t *testing.T) {
	l := serve(t, network.Network{Name: "new", Title: "New", Proposals: tidewater}, func() time.Time { return now },
		func(catalog.Store) {}).ready(t)
	l.ask(t, question{target: "/api/v1/stats", status: 503, message: "there is no snapshot of the statistics yet"},
		coverage{})
	if w := do(l.public, "GET", "/api/v1/stats", ""); w.Header().Get("Retry-After") != "30" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
}
