package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"almanac/api/kb"
	"almanac/api/library"
	"almanac/api/look"
	"almanac/catalog"
)

// row is a page: its address, the operations it asks and its template.
type row struct {
	path     string // as server.Route has it
	template string
	part     string // of the template that is served alone, as HTML; "" = the whole page
	title    string
	lede     string
	ask      []ask                           // the first is what the page is about
	asks     []question                      // the same, compiled
	prepare  func(h *Handler, v *view) error // fills Data beyond the answers; nil: nothing
	quiet    bool                            // its searches are not counted: they are asked as one types
	noIndex  bool
	kind     kb.PageKind // of the records it shows; zero: none in particular
	record   bool        // it shows one record
	early    bool        // it works before the first index is ready
	head     func(*view, *look.Page)
}

// compile compiles what a page asks, and checks that it has a template. The first
// answer of a record's page names what the others are asked for.
func (h *Handler) compile(rw row) (row, error) {
	var known []string
	if strings.Contains(rw.path, "{id") {
		known = []string{"id"}
	}
	for i, a := range rw.ask {
		q, err := h.question(a, known...)
		if err == nil && i == 0 && rw.record {
			known = slices.Sorted(maps.Keys(namesOf(library.Record{})))
			err = answers[library.Record](q)
		}
		if err != nil {
			return rw, fmt.Errorf("the page %s: %w", rw.path, err)
		}
		rw.asks = append(rw.asks, q)
	}
	if !h.pages.Has(rw.template) {
		return rw, fmt.Errorf("the page %s has no template %s", rw.path, rw.template)
	}
	return rw, nil
}

// namesOf are what asks may name of a record.
func namesOf(r library.Record) map[string]string {
	return map[string]string{"id": r.ID, "key": r.Key, "title": r.Title, "record_id": strconv.FormatInt(r.RecordID, 10)}
}

// listOf are the lists that have an operation of their own; a list of any other
// kind is asked of list_records.
var listOf = map[catalog.Kind]row{
	"cip": {template: "cips", ask: []ask{{op: "list_cips", args: "status? type? offset? limit=100"}},
		lede: "How the network is changed: every improvement proposal with its status, and the drafts under discussion."},
	"doc": {template: "docs", ask: []ask{{op: "list_docs", args: "source? offset? limit=100"}}},
	"topic": {
		template: "discussions",
		ask:      []ask{{op: "list_discussions", args: "source? category? q? offset? limit=50"}},
		lede:     "What is asked and argued, latest first: in the forum, in mailing lists, on the forge."},
	"mail_thread": {
		template: "threads",
		ask:      []ask{{op: "list_mailing_threads", args: "group? cip_id? offset? limit=50"}},
	},
	"proposal": {template: "grants", ask: []ask{
		{op: "get_proposals", args: "state=all state? offset? limit=50"},
	}, lede: "Proposals for grants of the development fund, with their milestones and where they stand."},
	"repo": {template: "repos", ask: []ask{{op: "list_repos"}}},
	"issue": {
		template: "work",
		ask:      []ask{{op: "list_code", args: "type=issue repo? state? q? offset? limit=50"}},
	},
	"pull": {
		template: "work",
		ask:      []ask{{op: "list_code", args: "type=pull repo? state? q? offset? limit=50"}},
	},
	"discussion": {template: "list", ask: []ask{
		{op: "list_records", args: "kind=discussion order=activity container? offset? limit=50"},
	}},
	"video":      {template: "talks", ask: []ask{{op: "list_videos", args: "channel? offset? limit=50"}}},
	"whitepaper": {template: "whitepapers", ask: []ask{{op: "list_whitepapers"}}},
	"project": {
		template: "projects",
		ask:      []ask{{op: "list_ecosystem_projects", args: "category? q? offset? limit=50"}},
		lede:     "Who builds what on the network: the curated catalogue of projects."},
	"app": {template: "apps", ask: []ask{{op: "list_featured_apps", args: "category? sort? limit=100"}},
		lede: "Applications that the network rewards, by their last activity."},
	"validator": {template: "validators", ask: []ask{
		{op: "list_records", args: "kind=validator order=title offset? limit=100"},
		{op: "get_validator_fleet", optional: true},
	}, lede: "Who runs the network, and which versions they run."},
	"vote_request": {template: "votes", ask: []ask{
		{op: "list_governance_votes", args: "status? outcome? action? offset? limit=50"},
		{op: "list_votes_by_sv", optional: true},
	}, lede: "Vote requests on the ledger: who may do what, and what is changed."},
	"operation": {
		template: "operations",
		ask:      []ask{{op: "get_sv_schedule", args: "environment? upcoming_only? limit=100"}},
	},
	"radar": {template: "radar", ask: []ask{{op: "get_radar", args: "level? offset? limit=100"}}, prepare: prepareRadar,
		lede: "Breaking changes and deadlines, newest first."},
	"asset": {template: "assets", ask: []ask{{op: "get_asset_supply"}}},
	"pool":  {template: "poolsof", ask: []ask{{op: "get_defi_pools", args: "venue?"}}},
	"package_version": {template: "packages", ask: []ask{
		{op: "list_sdk_versions", args: "registry? name? limit=100"},
	}},
	"endpoint": {
		template: "endpoints",
		ask:      []ask{{op: "list_endpoints", args: "q? method? path? api? offset? limit=100"}},
		lede:     "What can be asked of the network's APIs, as their descriptions have it.",
	},
	"tool_server": {template: "toolservers", ask: []ask{{op: "list_network_mcps"}}},
}

// order is that of a list of a kind; where there is none, by activity.
var order = map[catalog.Kind]string{
	"blog": "created", "post": "created", "mail_message": "created", "release": "created",
	"foundation": "title", "faq": "title", "evm_mapping": "title", "api_reference": "title", "deprecation": "title",
	"partner": "title", "onboarding": "title", "attachment": "key",
}

// recordOf are the records that ask more than their text.
var recordOf = map[catalog.Kind]row{
	"cip": {template: "cip-text", ask: []ask{
		{op: "get_cip", args: "id={id} cursor?"}, {op: "get_cip_history", args: "id={id}"},
		{op: "detect_cip_dependency_chain", args: "cip_id={id}", optional: true},
	}, prepare: prepareText},
	"topic": {
		template: "thread",
		ask:      []ask{{op: "get_discussion", args: "id={key} cursor?"}},
		prepare:  prepareThread,
	},
	"discussion": {
		template: "thread",
		ask:      []ask{{op: "get_forge_discussion", args: "id={key} cursor?"}},
		prepare:  prepareThread,
	},
	"mail_thread": {
		template: "thread",
		ask:      []ask{{op: "get_mailing_thread", args: "id={key} cursor?"}},
		prepare:  prepareThread,
	},
	"doc": {
		template: "doc",
		ask:      []ask{{op: "get_doc", args: "id={record_id} cursor?"}},
		prepare:  prepareText,
	},
	"video": {template: "talk", ask: []ask{{op: "get_video", args: "id={key}"}}, prepare: prepareTalk},
	"whitepaper": {
		template: "paper",
		ask:      []ask{{op: "get_whitepaper", args: "slug={key} cursor?"}},
		prepare:  preparePaper,
	},
	"attachment": {
		template: "paper",
		ask:      []ask{{op: "get_doc", args: "id={record_id} cursor?"}},
		prepare:  preparePaper,
	},
	"vote_request": {
		template: "vote",
		ask:      []ask{{op: "get_governance_vote", args: "tracking_cid={key}"}},
		prepare:  prepareText,
	},
	"onboarding": {template: "guide", ask: []ask{
		{op: "get_doc", args: "id={record_id}"}, {op: "get_started_guide", args: "background={title}", optional: true},
	}, prepare: prepareGuide},
	"app": {template: "app", ask: []ask{
		{op: "get_doc", args: "id={record_id}"}, {op: "get_app_metrics", args: "app_id={key}"},
	}, prepare: prepareText},
	"repo": {template: "repo", ask: []ask{
		{op: "get_doc", args: "id={record_id} cursor?"},
		{op: "list_code", args: "repo={key} state=open limit=20", optional: true},
		{op: "list_records", args: "kind=release container={key} order=created limit=8", optional: true},
	}, prepare: prepareText},
	"issue": {template: "issue", ask: commented, prepare: prepareIssue},
	"pull":  {template: "issue", ask: commented, prepare: prepareIssue},
	"proposal": {template: "grant", ask: []ask{
		{op: "get_doc", args: "id={record_id} cursor?"},
		{op: "get_proposal_milestones", args: "pr_number={key}", optional: true},
	}, prepare: prepareText},
}

// tabs are the further pages of a proposal.
var tabs = []row{
	{template: "cip-history", ask: []ask{{op: "get_cip_history", args: "id={id}"}}},
	{template: "cip-votes", ask: []ask{
		{op: "get_cip_votes", args: "cip_id={id}"}, {op: "get_cip_vote_outcome", args: "cip_id={id}"},
	}},
	{template: "cip-mentions", ask: []ask{{op: "get_cip_mentions", args: "id={id}"}}},
	{template: "cip-implementation", ask: []ask{{op: "get_cip_implementation_status", args: "cip_number={id}"}}},
	{template: "cip-attachments", ask: []ask{{op: "get_cip_attachments", args: "id={id}"}}},
}

// counts ask for what the tabs of a proposal count.
var counts = []ask{
	{op: "get_cip_history", args: "id={id}"}, {op: "get_cip_votes", args: "cip_id={id}"},
	{op: "get_cip_vote_outcome", args: "cip_id={id}"}, {op: "get_cip_implementation_status", args: "cip_number={id}"},
	{op: "get_cip_attachments", args: "id={id}"},
}

// counting adds what the tabs of a proposal count to a page of it.
func counting(r row) row {
	own := r.ask
	for _, c := range counts {
		if !slices.ContainsFunc(own, func(a ask) bool { return a.op == c.op }) {
			c.optional, c.counted = true, true
			r.ask = append(slices.Clip(r.ask), c)
		}
	}
	return r
}

// commented asks for a text and what is said on it.
var commented = []ask{
	{op: "get_doc", args: "id={record_id} cursor?"}, {op: "list_comments", args: "id={record_id} cursor=comments?"},
}

// popular asks for the queries that pages propose.
var popular = ask{op: "list_popular_searches", args: "window=30 limit=100", optional: true}

// anyRecord leads to the page of a record whose kind is not known.
const anyRecord = "/r/{id...}"

// allPages lists the pages.
func allPages() []row {
	all := []row{
		{path: "/", template: "search", prepare: prepareSearch, head: headOfSearch, ask: []ask{
			{op: "get_recent_changes", args: "days=14 limit=8", optional: true},
			{op: "get_upcoming_deadlines", args: "days=90", optional: true},
			popular,
			{op: "list_sources", optional: true},
		}},
		{path: "/results", template: "search", part: "main", prepare: prepareSearch, quiet: true, noIndex: true,
			ask: []ask{popular}},
		{path: "/live", template: "search", part: "options", prepare: prepareLive, quiet: true, noIndex: true},
		{path: "/contents", template: "contents", title: "Everything here", ask: []ask{{op: "list_sources"}},
			lede: "Every kind of record, where it is read from, and how many there are."},
		{path: "/changes", template: "changes", title: "Changes", prepare: prepareChanges, ask: []ask{
			{op: "get_recent_changes", args: "days=14 days? since? limit=100 limit?"},
		},
			lede: "What is new: proposals and their status, discussions, releases, posts, alerts."},
		{path: "/trending", template: "trending", title: "Trending", ask: []ask{{op: "get_trending"}},
			lede: "What people read and write about this week."},
		{path: "/deadlines", template: "deadlines", title: "Deadlines", ask: []ask{
			{op: "get_upcoming_deadlines", args: "environment? days=180 days?"},
			{op: "get_upcoming_operations", args: "days=45"},
		}, lede: "What operators have to do, and until when."},
		{path: "/network", template: "network", title: "Network", prepare: prepareCharts, ask: []ask{
			{op: "get_network_state"}, {op: "get_network_history", args: "limit=90"},
			{op: "get_validator_fleet", optional: true}, {op: "get_current_versions", optional: true},
		}, lede: "The network as it runs."},
		{path: "/market", template: "market", title: "Market", prepare: prepareCharts, ask: []ask{
			{op: "get_token_market"}, {op: "get_market_history", args: "limit=96"},
			{op: "get_asset_supply", optional: true}, {op: "get_defi_pools", optional: true},
		}, lede: "The network's coin, what is locked, and in which pools."},
		{path: "/versions", template: "versions", title: "Versions", ask: []ask{{op: "get_current_versions"}},
			lede: "What to install today, what runs where, and when that changes."},
		{path: "/migrate", template: "migrate", title: "Migrate", ask: []ask{
			{op: "list_migrations", args: "q? category?"},
		},
			lede: "What is deprecated, and what replaces it."},
		{path: "/statistics", template: "statistics", title: "Statistics", prepare: prepareCharts,
			ask:  []ask{{op: "get_stats"}},
			lede: "How the knowledge base grows."},
		{path: "/drift", template: "drift", title: "Drift", ask: []ask{{op: "get_kb_drift"}},
			lede: "Where what is written differs from what is measured."},
		{path: "/sources", template: "sources", title: "Sources", ask: []ask{{op: "list_sources"}},
			lede: "What is read, how often, and when it was read last."},
		{path: "/status", template: "status", title: "Status", early: true, ask: []ask{{op: "get_status"}}},
		{path: "/connect", template: "connect", title: "Connect", early: true, prepare: prepareConnect,
			lede: "Ask from your editor, your agent, your program or your own site."},
		{path: recipesPath, template: "recipes", title: "Recipes", prepare: prepareRecipes,
			lede: "How to find out what people and agents ask most, each by a few calls of tools."},
		{path: recipesPath + "/{id}", template: "recipe", prepare: prepareRecipe},
		{path: referencePath, template: "reference", title: "API reference", early: true, prepare: prepareReference,
			lede: "Every address of the REST API, with a form to try it."},
		{path: referencePath + "/{id}", template: "operation", early: true, prepare: prepareOperation, head: headOfOperation},
		{path: anyRecord, template: "record", record: true, ask: []ask{{op: "get_record", args: "id={id}"}}},
		{path: "/cips/graph", template: "graph", title: "Dependencies of proposals",
			lede: "An arrow leads from a proposal to what builds on it.", ask: []ask{{op: "get_cip_graph"}}},
	}
	for _, k := range kb.PageKinds {
		r, ok := recordOf[k.Kind]
		if !ok {
			r = row{template: "record", ask: []ask{{op: "get_doc", args: "id={record_id} cursor?"}}, prepare: prepareText}
		}
		rest := "..."
		if k.Kind == catalog.KindCIP { // other pages are below it
			rest, r = "", counting(r)
			for _, r := range tabs {
				all = append(all, record(k, counting(r), "/{id}/"+tabOf(r.template)))
			}
		}
		all = append(all, list(k), record(k, r, "/{id"+rest+"}"))
	}
	return all
}

// list is the page of a kind's list.
func list(k kb.PageKind) row {
	r, ok := listOf[k.Kind]
	if !ok {
		args := "kind=" + string(k.Kind) + " order=" + cmp.Or(order[k.Kind], "activity") +
			" container? state? source? parent? offset? limit=50"
		r = row{template: "list", ask: []ask{{op: "list_records", args: args}}}
	}
	r.path, r.kind, r.title = "/"+k.Segment, k, k.Many
	if r.prepare == nil {
		r.prepare = prepareList
	}
	return r
}

// record is a page of one record of a kind.
func record(k kb.PageKind, r row, path string) row {
	r.path, r.kind, r.record = "/"+k.Segment+path, k, true
	r.ask = append([]ask{{op: "get_record", args: "kind=" + string(k.Kind) + " id={id}"}}, r.ask...)
	return r
}
