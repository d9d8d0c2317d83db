package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"almanac/api/op"
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
