package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// TestToolsTakeTheWordsOfOthers calls tools with what others call their argument.
func TestToolsTakeTheWordsOfOthers(t *testing.T) {
	ops := operations()
	for call, refused := range map[string]string{
		`get_cip {"cip_id":56}`:                                 "",
		`get_cip {"cip_number":"CIP-56"}`:                       "",
		`get_cip_votes {"id":"56"}`:                             "",
		`get_cip_implementation_status {"cip_id":"PR-203"}`:     "",
		`get_proposal_milestones {"id":"12"}`:                   "",
		`get_governance_vote {"id":"00abc"}`:                    "",
		`get_whitepaper {"id":"tides"}`:                         "",
		`search {"q":"fees","limit":"5","type":""}`:             "",
		`full_context {"query":"fees","limit":2}`:               "",
		`get_faq {"query":"fees"}`:                              "",
		`check_deprecation {"query":"fees"}`:                    "",
		`get_latest_release {"name":"pilot"}`:                   "",
		`get_sdk_changelog {"version":1.2,"repository":null}`:   "",
		`semantic_search {"question":"x","source_types":"doc"}`: "",
		`list_cips {"topic":"fees"}`:                            `unknown argument "topic"`,
		`get_recent_changes {"since":"2030-01-01"}`:             `unknown argument "since"`,
	} {
		tool, args, _ := strings.Cut(call, " ")
		i := slices.IndexFunc(ops, func(o op.Operation) bool { return o.Tool == tool })
		_, err := ops[i].DecodeTool(json.RawMessage(args))
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%s: %v, want %q", call, err, refused)
		}
	}
}

// TestListsGiveWhatIsAskedFor asks for some fields and items of lists that no schema
// says so of.
func TestListsGiveWhatIsAskedFor(t *testing.T) {
	l := open(t).ready(t)
	ask := func(tool, args string) (items []map[string]any, whole map[string]any) {
		t.Helper()
		w := do(l.public, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+
			`","arguments":`+args+`}}`)
		var a struct {
			Result struct{ StructuredContent json.RawMessage }
		}
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		for _, into := range []any{&list, &whole} {
			if err := json.Unmarshal(a.Result.StructuredContent, into); err != nil {
				t.Fatalf("%s %s: %v: %s", tool, args, err, w.Body)
			}
		}
		return list.Items, whole
	}
	names := func(item map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(item)), " ") }
	for call, want := range map[string]string{
		`search {"query":"traffic","limit":2,"fields":["url","title"]}`: "title url",
		`list_cips {"fields":"title,id"}`:                               "id title",
		`list_repos {"fields":["url"]}`:                                 "url",
	} {
		tool, args, _ := strings.Cut(call, " ")
		items, whole := ask(tool, args)
		if len(items) == 0 || whole["total"] == nil {
			t.Errorf("%s: %v", call, whole)
		}
		for _, item := range items {
			if got := names(item); got != want {
				t.Errorf("%s: %s, want %s", call, got, want)
			}
		}
	}
	_, whole := ask("search_community", `{"query":"tide oracle","fields":["title"]}`)
	rows := 0
	for _, source := range whole["sources"].([]any) {
		for _, item := range source.(map[string]any)["items"].([]any) {
			if rows++; names(item.(map[string]any)) != "title" {
				t.Errorf("search_community: %v", item)
			}
		}
	}
	if rows == 0 {
		t.Errorf("search_community found nothing: %v", whole)
	}
	all, _ := ask("get_cip_attachments", `{"id":"7"}`)
	some, whole := ask("get_cip_attachments", `{"id":"7","limit":"1"}`)
	if len(all) < 2 || len(some) != 1 || names(some[0]) != names(all[0]) || whole["total"] != float64(len(all)) {
		t.Errorf("%d of %d attachments: %v", len(some), len(all), whole)
	}
}

// TestAProposalSaysWhetherItIsInForce: what is decided is, until what replaces it is.
func TestAProposalSaysWhetherItIsInForce(t *testing.T) {
	n := network.Network{Name: "causeway", Title: "Causeway", Proposals: tidewater}
	n.Proposals.Decided = []string{"Final", "Approved"}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		b := catalog.Batch{Source: "cips"}
		for _, p := range []struct {
			key, state string
			data       catalog.CIP
		}{
			{"CIP-0001", "Final", catalog.CIP{}},
			{"CIP-0002", "Draft", catalog.CIP{}},
			{"CIP-0003", "Final", catalog.CIP{SupersededBy: []string{"CIP-0002"}}},
			{"CIP-0004", "Final", catalog.CIP{SupersededBy: []string{"CIP-0002", "CIP-0099", "CIP-0001"}}},
			{"CIP-0005", "Review", catalog.CIP{RawStatus: "Approved"}},
			{"CIP-0006", "Final", catalog.CIP{RawStatus: "Final", SupersededBy: []string{"CIP-0005"}}},
			{"CIP-0007", "Final", catalog.CIP{RawStatus: "Active"}},
		} {
			data, err := catalog.Encode(p.data)
			if err != nil {
				t.Fatal(err)
			}
			b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: catalog.KindCIP, Key: p.key,
				Title: p.key, State: p.state, Path: p.key, Data: data}})
		}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	for id, want := range map[string]bool{"1": true, "2": false, "3": true, "4": false, "5": true, "6": false,
		"7": false} {
		var p struct {
			InForce *bool `json:"in_force"`
		}
		w := do(l.public, "GET", "/api/v1/cips/"+id, "")
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.InForce == nil || *p.InForce != want {
			t.Errorf("CIP %s: %v %.200s", id, err, w.Body)
		}
	}
}
