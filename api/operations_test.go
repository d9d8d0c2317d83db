package api_test

import (
	"net/url"
	"strings"
	"testing"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
)

// TestOperations calls every operation on every interface it is served on; each
// answer must be what the operation's schema says. A second network, with
// another prefix, padding and status words, answers the same.
func TestOperations(t *testing.T) {
	t.Run("tidewater", func(t *testing.T) { askAll(t, open(t).ready(t)) })
	t.Run("lagoon", func(t *testing.T) { askAll(t, openAs(t, lagoon, inLagoon).ready(t)) })
}

func askAll(t *testing.T, l *library) {
	seen := coverage{}
	for _, g := range []struct {
		name      string
		questions []question
	}{
		{"cips", cipQuestions(l)},
		{"backlinks", backlinkQuestions()},
		{"dependencies", dependencyQuestions()},
		{"batches", batchQuestions()},
		{"search", searchQuestions(t, l)},
		{"context", contextQuestions(t, l)},
		{"docs", docQuestions(t, l)},
		{"community", communityQuestions(t, l)},
		{"counts", countQuestions(l)},
		{"network", networkQuestions()},
		{"fleet", fleetQuestions(t, l)},
		{"ecosystem", ecosystemQuestions()},
		{"releases", releasesQuestions(l)},
		{"analytics", analyticsQuestions()},
		{"people", peopleQuestions(t, l)},
	} {
		t.Run(g.name, func(t *testing.T) {
			for _, q := range g.questions {
				t.Run(q.name, func(t *testing.T) { l.ask(t, q, seen) })
			}
		})
	}
	for _, o := range l.ops {
		if o.Path != "" && o.Path != "/calendar" && o.ID != "get_reference" && !seen["rest "+o.ID] {
			t.Errorf("no question to %s %s has an answer", o.Method, o.Path)
		}
		if o.Tool != "" && !seen["tool "+o.ID] {
			t.Errorf("no question to the tool %s has an answer", o.Tool)
		}
	}
}

// TestTheCalendarCanBeSubscribed reads it as a calendar program would.
func TestTheCalendarCanBeSubscribed(t *testing.T) {
	l := open(t).ready(t)
	w := do(l.public, "GET", "/calendar", "")
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/calendar; charset=utf-8" {
		t.Fatalf("%d %s", w.Code, w.Header().Get("Content-Type"))
	}
	if again := do(l.public, "GET", "/calendar", "").Body.String(); again != w.Body.String() {
		t.Error("the same operations are another calendar")
	}
	cal, err := ics.ParseCalendar(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range cal.Events() {
		got[e.Id()] = e.GetProperty(ics.ComponentPropertySummary).Value + " " +
			e.GetProperty(ics.ComponentPropertyDtStart).Value
	}
	want := map[string]string{
		"op-1@tidewater.almanac": "Upgrade of the gauges 20300518T120000Z",
		"op-2@tidewater.almanac": "Harbour party 20300516",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	one := do(l.public, "GET", "/calendar?environment=mainnet", "").Body.String()
	if strings.Count(one, "BEGIN:VEVENT") != 1 || !strings.Contains(one, "gauges") {
		t.Errorf("one environment: %s", one)
	}
}

// TestEveryKindCanBeRead holds that the fixture has every kind of content, and
// that each record's page and get_doc answer.
func TestEveryKindCanBeRead(t *testing.T) {
	l := open(t).ready(t)
	for _, info := range catalog.Kinds {
		records, _, err := l.store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{info.Kind}})
		if err != nil || len(records) == 0 {
			t.Errorf("there is no %s: %v", info.Kind, err)
		}
		for _, r := range records {
			id := l.id(t, r.Kind, r.Key)
			l.ask(t, question{target: "/api/v1/docs/" + id, tool: "get_doc", args: `{"id":` + id + `}`,
				want: fields{"id": int(r.ID), "kind": string(info.Kind), "type": info.SearchType,
					"title": r.Title}}, coverage{})
		}
	}
}

func cipQuestions(l *library) []question {
	var all []question
	for _, form := range []string{"56", "056", "0056", "CIP-56", "CIP-0056", "cip-56", "cip-0056"} {
		all = append(all, question{name: "the form " + form, target: "/api/v1/cips/" + form, tool: "get_cip",
			args: `{"id":"` + form + `"}`,
			want: fields{"id": "0056", "label": "CIP-0056", "status": "Review", "status_raw": "Approved"}})
	}
	for _, form := range []string{`"CIP#56"`, `" 56 "`, `56`, `"cip 0056"`, `"Cip56"`} {
		all = append(all, question{name: "a tool takes " + form, tool: "get_cip", args: `{"id":` + form + `}`,
			want: fields{"id": "0056"}})
	}
	malformed := []string{"0000056", "CIP-0000056"}
	if l.base.Network.Proposals.Prefix == "CIP" { // others may count further
		malformed = []string{"00056", "CIP-00056", "20000"}
	}
	for _, form := range append(malformed, "x", "CIP-", "Cip-56", "CIP%2356", "PR-", "pr-203", "56x", "-1", "%20") {
		for _, below := range []string{"", "/history", "/attachments", "/tldr", "/mentions", "/citations"} {
			all = append(all, question{name: "no id " + form + below, target: "/api/v1/cips/" + form + below,
				status: 400, message: "id "})
		}
	}
	for _, form := range []string{"9999", "CIP-0099", "PR-1", "PR-99999999999999999999999"} {
		for _, below := range []string{"", "/attachments", "/tldr", "/mentions", "/citations"} {
			all = append(all, question{name: "unknown " + form + below, target: "/api/v1/cips/" + form + below,
				status: 404, message: "there is no "})
		}
	}
	return append(all, []question{
		{name: "a tool names a malformed id", tool: "get_cip", args: `{"id":"abc"}`, status: 400,
			message: "id is malformed"},
		{name: "a tool names the missing proposal", tool: "get_cip", args: `{"id":"77"}`, status: 404,
			message: "there is no CIP-0077"},
		{name: "an unknown history is 404", target: "/api/v1/cips/9999/history", tool: "get_cip_history",
			args: `{"id":9999}`, status: 404, message: "there is no CIP-9999"},
		{name: "a draft", target: "/api/v1/cips/PR-203", tool: "get_cip", args: `{"id":"pr 203"}`,
			want: fields{"id": "PR-203", "draft": true, "status": "Draft", "requires.0": "0056"}},
		{name: "a merged draft answers as the proposal it became", target: "/api/v1/cips/PR-12", tool: "get_cip",
			args: `{"id":"PR-12"}`,
			want: fields{"id": "0007", "label": "CIP-0007", "draft": false, "requires.0": "0001",
				"header.Requires": "1", "content": "CIP-0007: Berth tokens\n\n## Abstract\n\nBerth tokens for the " +
					"harbour.", "truncated": false}},
		{name: "a record without an address at its source has our page for both", target: "/api/v1/cips/60",
			tool: "get_cip", args: `{"id":"60"}`,
			want: fields{"url": publicURL + "/cips/0060", "tldr": nil, "content": "", "authors.#": 0,
				"requires.#": 0}},

		{name: "the list has numbered ones by number, then drafts", target: "/api/v1/cips", tool: "list_cips",
			want: fields{"items.*.id": "0001,0007,0056,0057,0058,0060,PR-203,PR-204", "total": 8, "limit": 20,
				"offset": 0}},
		{name: "a page past the end is empty", target: "/api/v1/cips?offset=100", tool: "list_cips",
			args: `{"offset":100}`, want: fields{"items.#": 0, "total": 8,
				"hint": "there are 8 in all: the offset is past the end"}},
		{name: "a status in any case", target: "/api/v1/cips?status=final", tool: "list_cips",
			args: `{"status":"FINAL"}`, want: fields{"items.*.id": "0001,0007", "total": 2}},
		{name: "a type in any case", target: "/api/v1/cips?type=standards%20track&status=Review", tool: "list_cips",
			args: `{"type":"Standards track","status":"Review"}`, want: fields{"items.*.id": "0056"}},
		{name: "a type that nothing has", target: "/api/v1/cips?type=none", tool: "list_cips", args: `{"type":"none"}`,
			want: fields{"items.#": 0, "total": 0,
				"hint": `no record has the type "none": there are governance, standards track, process`}},
		{name: "a word of the network's own", target: "/api/v1/cips?status=approved", tool: "list_cips",
			args: `{"status":"Approved"}`, want: fields{"items.*.id": "0056"}},
		{name: "a parameter given twice", target: "/api/v1/cips?limit=1&limit=2", status: 400,
			message: "limit must be given once"},
		{name: "an unknown parameter is ignored", target: "/api/v1/cips?colour=red", want: fields{"total": 8}},
		{name: "a tool names the argument that is nearest", tool: "list_cips", args: `{"stauts":"Final"}`, status: 400,
			message: `did you mean "status"?`},

		{name: "history is newest first", target: "/api/v1/cips/7/history", tool: "get_cip_history", args: `{"id":7}`,
			want: fields{"id": "0007", "status": "Final", "total": 3, "items.*.to": "Final,Review,Draft",
				"items.*.from": "Review,Draft,null", "items.0.at": "2030-05-08T12:00:00Z", "items.0.via": "header"}},
		{name: "history has the network's word", target: "/api/v1/cips/56/history", tool: "get_cip_history",
			args: `{"id":56}`, want: fields{"status": "Review", "status_raw": "Approved"}},
		{name: "a merged draft has the history of what it became", target: "/api/v1/cips/PR-12/history",
			tool: "get_cip_history", args: `{"id":"PR-12"}`, want: fields{"id": "0007", "total": 3}},
		{name: "a proposal without a file keeps its history", target: "/api/v1/cips/99/history",
			tool: "get_cip_history", args: `{"id":"99"}`,
			want: fields{"id": "0099", "label": "CIP-0099", "title": "", "status": "Withdrawn",
				"items.*.to": "Withdrawn,Draft", "items.0.via": "index",
				"url": "https://forge.example/commit/CIP-0099"}},
		{name: "a proposal without changes has an empty history", target: "/api/v1/cips/60/history",
			tool: "get_cip_history", args: `{"id":60}`, want: fields{"items.#": 0, "total": 0, "status": "Withdrawn"}},

		{name: "attachments", target: "/api/v1/cips/7/attachments", tool: "get_cip_attachments", args: `{"id":"PR-12"}`,
			want: fields{"id": "0007", "total": 2, "items.*.filename": "berths.txt,vote.pdf",
				"items.1.role": "vote_record", "items.1.bytes": 2048, "items.1.pages": 2}},

		{name: "a summary of unknown age", target: "/api/v1/cips/56/tldr",
			want: fields{"tldr": "About tide oracle.", "cached": true, "generated_at": nil, "status": "Review",
				"status_raw": "Approved"}},
		{name: "nothing to summarise", target: "/api/v1/cips/60/tldr",
			want: fields{"tldr": nil, "cached": false, "generated_at": nil}},
	}...)
}

func backlinkQuestions() []question {
	return []question{
		{name: "mentions count every record once", target: "/api/v1/cips/56/mentions", tool: "get_cip_mentions",
			args: `{"id":"CIP-56"}`, want: fields{
				"id": "0056", "counts.forum": 2, "counts.mailing_list": 2, "counts.blog": 1, "counts.proposals": 1,
				"counts.cips": 2, "counts.other": 4, "counts.total": 12,
				"forum.#": 2, "forum.*.kind": "post,topic", "blog.0.title": "Spring tide", "cips.*.id": "PR-203,0058",
				"proposals.0.title": "Tug telemetry", "other.#": 4}},
		{name: "of two relations the stronger shows", target: "/api/v1/cips/56/mentions", tool: "get_cip_mentions",
			args: `{"id":56}`,
			want: fields{"other.*.relation": "mentions,implements,mentions,mentions",
				"cips.*.relation": "requires,requires"}},
		{name: "a mention of a draft is one of what it became, and own files are none",
			target: "/api/v1/cips/7/mentions", tool: "get_cip_mentions", args: `{"id":"PR-12"}`,
			want: fields{"id": "0007", "counts.cips": 2, "counts.other": 1, "counts.total": 3,
				"cips.*.id": "PR-203,0056", "other.0.title": "Book a berth"}},
		{name: "citations by source", target: "/api/v1/cips/0056/citations", tool: "get_cip_citations",
			args: `{"cip_id":"56"}`, want: fields{
				"id": "0056", "total": 12, "sources.*.source": "cips,forum,mail,forge,blog,videos,proposals,docs",
				"sources.*.count":             "2,2,2,2,1,1,1,1",
				"sources.0.samples.0.snippet": "as CIP-0056 says", "cites.#": 2, "cites.0": "0007", "cites.1": "0100"}},
		{name: "citations of an unpadded id", target: "/api/v1/cips/cip-7/citations", tool: "get_cip_citations",
			args: `{"cip_id":7}`, want: fields{"id": "0007", "total": 3, "cites.0": "0001"}},
	}
}

func dependencyQuestions() []question {
	return []question{
		{name: "edges run from the dependent to its prerequisite", target: "/api/v1/cips/graph", want: fields{
			"nodes.*.id":   "0001,0007,0056,0057,0058,0060,PR-203,PR-204,0100",
			"edges.*.from": "0007,0056,0056,0057,0058,0058,PR-203,PR-203",
			"edges.*.to":   "0001,0007,0100,0058,0056,0057,0007,0056", "nodes.8.status": "",
			"nodes.2.status": "Review", "nodes.2.status_raw": "Approved",
			"nodes.8.label": "CIP-0100"}},
		{name: "a chain, nearest first, with what is not in the catalog", tool: "detect_cip_dependency_chain",
			args: `{"cip_id":"CIP-56"}`, want: fields{
				"id": "0056", "status": "Review", "status_raw": "Approved", "kind": "cip", "prerequisites.*.id": "0007,0100,0001", "prerequisites.*.depth": "1,1,2",
				"prerequisites.*.final": "true,false,true", "total": 3, "open": 1, "ready": false,
				"prerequisites.2.required_by.0": "0007", "prerequisites.1.missing": true}},
		{name: "a cycle ends", tool: "detect_cip_dependency_chain", args: `{"cip_id":57}`,
			want: fields{"prerequisites.*.id": "0058,0056,0007,0100,0001", "prerequisites.*.depth": "1,2,3,3,4",
				"total": 5}},
		{name: "a draft, through the name of a merged one", tool: "detect_cip_dependency_chain",
			args: `{"cip_id":"PR-203"}`, want: fields{
				"id": "PR-203", "prerequisites.*.id": "0056,0007,0100,0001", "prerequisites.1.depth": 1,
				"prerequisites.1.required_by.#": 2}},
		{name: "a grant where there is no such draft", tool: "detect_cip_dependency_chain", args: `{"cip_id":"PR-31"}`,
			want: fields{
				"id": "PR-31", "kind": "proposal", "title": "Tug telemetry",
				"prerequisites.*.id": "0056,0007,0100,0001", "open": 2}},
		{name: "neither a draft nor a grant", tool: "detect_cip_dependency_chain", args: `{"cip_id":"PR-1"}`,
			status: 404, message: "there is no PR-1, neither a draft nor a grant"},
		{name: "a number is not a grant", tool: "detect_cip_dependency_chain", args: `{"cip_id":"31"}`, status: 404,
			message: "there is no CIP-0031"},
	}
}

func networkQuestions() []question {
	return []question{
		{name: "what tracks a proposal", tool: "get_cip_implementation_status", args: `{"cip_number":"56"}`,
			want: fields{
				"id": "0056", "status": "Review", "status_raw": "Approved", "verdict": "in_progress", "changes.#": 2, "evidence.*.kind": "pull,proposal,issue",
				"evidence.0.weight": 1,
				"evidence.0.why":    "it says that it implements the proposal"}},
		{name: "votes on the ledger", tool: "list_governance_votes",
			args: `{"action":"LIGHT","outcome":"accepted","status":"closed"}`,
			want: fields{"items.*.id": "vote-1", "items.0.for": 1, "items.0.cips.0": "0001"}},
		{name: "votes on the ledger with another outcome", tool: "list_governance_votes", args: `{"outcome":"expired"}`,
			want: fields{"total": 0, "hint": `no record has the outcome "expired": there are accepted`}},
		{name: "a vote on the ledger", tool: "get_governance_vote", args: `{"tracking_cid":"vote-1"}`,
			want: fields{"reason": "It is dark.", "votes.0.voter": "Buoy keepers", "outcome": "accepted"}},
		{name: "an unknown vote", tool: "get_governance_vote", args: `{"tracking_cid":"vote-2"}`, status: 404,
			message: `there is no "vote-2"`},
		{name: "votes on the ledger that cite a proposal", tool: "get_cip_vote_outcome", args: `{"cip_id":"1"}`,
			want: fields{"items.*.id": "vote-1"}},
		{name: "no votes on the ledger cite it", tool: "get_cip_vote_outcome", args: `{"cip_id":"7"}`,
			want: fields{
				"total": 0, "hint": "no vote request on the ledger cites it: get_cip_votes has the formal votes by mail"}},
		{name: "formal votes", tool: "get_cip_votes", args: `{"cip_id":"CIP-56"}`,
			want: fields{"in_favour": 1, "abstained": 1, "against": 0, "votes.*.voter": "Bo Reef,Ida Kelp",
				"votes.0.reason": "too early", "votes.0.thread": "cip-discuss-42"}},
		{name: "no formal votes", tool: "get_cip_votes", args: `{"cip_id":60}`,
			want: fields{"votes.#": 0, "in_favour": 0}},
		{name: "who voted", tool: "list_votes_by_sv",
			want: fields{"items.*.name": "Buoy keepers,Reef", "items.0.for": 1, "items.1.against": 1,
				"items.0.first_vote": "2030-05-12T12:00:00Z"}},
		{name: "how one voted", tool: "list_votes_by_sv", args: `{"sv_name":"reef"}`,
			want: fields{"items.*.name": "Reef", "total": 1}},
		{name: "how nobody voted", tool: "list_votes_by_sv", args: `{"sv_name":"reeef"}`,
			want: fields{"total": 0, "hint": `no record has the super validator "reeef": did you mean "Reef"?`}},
		{name: "repositories", target: "/api/v1/repos", tool: "list_repos",
			want: fields{"items.*.title": "tide/pilot", "items.0.issues": 1}},
		{name: "projects", target: "/api/v1/ecosystem?q=ferry", tool: "list_ecosystem_projects",
			args: `{"query":"FERRY"}`, want: fields{"items.*.id": "ferryline",
				"items.0.description": "Sells tickets for ferries."}},
		{name: "tool servers", tool: "list_network_mcps",
			want: fields{"items.*.id": "moon", "items.0.callable": false}},
		{name: "applications", tool: "list_featured_apps", args: `{"category":"port","sort":"name"}`,
			want: fields{"items.*.id": "app-1", "items.0.provider": "ferry::1"}},
		{name: "figures of an application", tool: "get_app_metrics", args: `{"app_id":"app-1"}`,
			want: fields{"users": 12, "tvl": nil, "project.title": "Ferryline"}},
		{name: "supplies", tool: "get_asset_supply",
			want: fields{"items.*.id": "SHL", "items.0.supply": 7, "items.0.holders": nil,
				"items.0.holders_note": "not_disclosed"}},
		{name: "an unknown asset", tool: "get_asset_supply", args: `{"asset":"gold"}`, status: 404,
			message: `no record has the asset "gold": there are Shell`},
		{name: "pools", tool: "get_defi_pools", want: fields{"items.0.fee_rate": 0.003}},
		{name: "deprecations", tool: "list_deprecations", args: `{"category":"Tool"}`,
			want: fields{"items.*.title": "sextant", "items.0.replacement": "gauge"}},
		{name: "a deprecated item", tool: "check_deprecation", args: `{"name":"Sextant"}`,
			want: fields{"result": "DEPRECATED", "deprecation.replacement": "gauge"}},
		{name: "an unknown item", tool: "check_deprecation", args: `{"name":"sextent"}`,
			want: fields{"result": "NOT_FOUND", "deprecation": nil,
				"hint": `no record has the name "sextent": did you mean "sextant"?`}},
		{name: "the FAQ", tool: "get_faq", args: `{"question":"what is an ebb"}`,
			want: fields{"items.0.answer": "Falling water."}},
		{name: "an API", tool: "get_api_reference", args: `{"api":"Gauge API"}`,
			want: fields{"id": "gauge-api", "ports.0.number": 7575}},
		{name: "an unknown API", tool: "get_api_reference", args: `{"api":"moon"}`, status: 404,
			message: `no record has the API "moon": there are Gauge API`},
		{name: "a guide", tool: "get_started_guide", args: `{"background":"evm"}`,
			want: fields{"title": "EVM", "steps.0.read.title": "Book a berth"}},
		{name: "a guide that is not there", tool: "get_started_guide", args: `{"background":"Web"}`, status: 404,
			message: "there are EVM"},
		{name: "what is scheduled soon", tool: "get_upcoming_operations", args: `{"days":7}`,
			want: fields{"items.*.title": "Harbour party,Upgrade of the gauges",
				"items.1.starts": "2030-05-18T12:00:00Z"}},
		{name: "the schedule of an environment", tool: "get_sv_schedule", args: `{"environment":"MainNet"}`,
			want: fields{"items.*.title": "Upgrade of the gauges"}},
		{name: "the schedule of no environment", tool: "get_sv_schedule", args: `{"environment":"attic"}`,
			want: fields{"total": 0}},
		{name: "deadlines", tool: "get_upcoming_deadlines", args: `{"validator_only":true}`,
			want: fields{"items.*.type": "upgrade", "items.0.validators": true}},
		{name: "alerts", target: "/api/v1/radar?level=Critical", tool: "get_radar", args: `{"level":"critical"}`,
			want: fields{"items.*.title": "Gauge API 1 ends", "items.0.deadline": "2030-06-14T12:00:00Z"}},
		{name: "alerts of another level", target: "/api/v1/radar?level=important", tool: "get_radar",
			args: `{"level":"important"}`, want: fields{
				"total": 0, "hint": `no record has the category "important": there are critical`}},
		{name: "versions", target: "/api/v1/sdk-versions?registry=npm&name=Pilot",
			want: fields{"items.*.version": "1.2.0"}},
		{name: "packages", tool: "get_npm_packages", args: `{"query":"PIL"}`, want: fields{"items.*.name": "pilot"}},
		{name: "the state of the network is the newest", target: "/api/v1/network", tool: "get_network_state",
			want: fields{"captured_at": "2030-05-15T11:00:00Z", "validator_count": 12, "validators.#": 1,
				"latest_round": nil}},
		{name: "states of the network, newest first", target: "/api/v1/network/history?limit=2",
			want: fields{"items.*.validator_count": "12,11", "limit": 2, "as_of": "2030-05-15T11:00:00Z"}},
		{name: "too many states", target: "/api/v1/network/history?limit=1001", status: 400,
			message: "limit must be between 1 and 1000"},
		{name: "the market", target: "/api/v1/market", tool: "get_token_market",
			want: fields{"price_usd": 0.5, "protocols.#": 0}},
		{name: "the market's history", target: "/api/v1/market/history",
			want: fields{"items.#": 1, "total": 1, "limit": 96}},
	}
}

func batchQuestions() []question {
	many := strings.TrimSuffix(strings.Repeat("1,", 51), ",")
	full := strings.TrimSuffix(strings.Repeat("1,", 50), ",")
	ids := func(list string) string { return `{"ids":["` + strings.ReplaceAll(list, ",", `","`) + `"]}` }
	var all []question
	for _, b := range []struct {
		name string
		make func(list string) question
	}{
		{"GET tldrs", func(list string) question {
			return question{target: "/api/v1/cips/tldrs?ids=" +
				url.QueryEscape(list)}
		}},
		{"POST tldrs", func(list string) question { return question{target: "/api/v1/cips/tldrs", body: ids(list)} }},
		{"POST batch", func(list string) question { return question{target: "/api/v1/cips/batch", body: ids(list)} }},
	} {
		for _, q := range []struct {
			name, list string
			q          question
		}{
			{"keeps the order, repeats what is repeated, null for what is not there",
				"PR-203,9999,CIP-56,56,PR-12,PR-1",
				question{want: fields{"items.*.id": "PR-203,null,0056,0056,0007,null", "items.#": 6, "items.1": nil}}},
			{"takes fifty", full, question{want: fields{"items.#": 50}}},
			{"refuses fifty-one", many, question{status: 400, message: "ids must hold at most 50 items"}},
			{"names the malformed id", "56,bogus,1", question{status: 400, message: `ids: "bogus" is malformed`}},
			{"refuses an empty id", "56,,1", question{status: 400, message: "ids must not be empty"}},
		} {
			made := b.make(q.list)
			q.q.name, q.q.target, q.q.body = b.name+" "+q.name, made.target, made.body
			all = append(all, q.q)
		}
	}
	return append(all, []question{
		{name: "GET without ids", target: "/api/v1/cips/tldrs", status: 400, message: "ids is required"},
		{name: "GET with empty ids", target: "/api/v1/cips/tldrs?ids=", status: 400, message: "ids must not be empty"},
		{name: "POST tldrs without ids", target: "/api/v1/cips/tldrs", body: `{}`, status: 400,
			message: "ids is required"},
		{name: "POST batch without ids", target: "/api/v1/cips/batch", body: `{}`, status: 400,
			message: "ids is required"},
		{name: "POST batch of nothing", target: "/api/v1/cips/batch", body: `{"ids":[]}`, status: 400,
			message: "ids must not be empty"},
		{name: "POST batch of no list", target: "/api/v1/cips/batch", body: `{"ids":"56"}`, status: 400,
			message: "ids must be an array"},
		{name: "POST batch of numbers", target: "/api/v1/cips/batch", body: `{"ids":[56,7]}`,
			want: fields{"items.*.label": "CIP-0056,CIP-0007"}},
		{name: "a batch has full texts", target: "/api/v1/cips/batch", body: `{"ids":["56"]}`,
			want: fields{"items.0.content": "CIP-0056: Tide oracle\n\n## Abstract\n\nTide oracle for the harbour."}},
	}...)
}
