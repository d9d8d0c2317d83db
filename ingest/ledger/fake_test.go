package ledger_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"almanac/ingest/ledger"
	"almanac/ingest/outbound"
	"almanac/testing/connectortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type object = map[string]any

// party makes a party id from a name and a fingerprint.
func party(name string) string { return name + "::1220" + fmt.Sprintf("%064x", len(name)) }

func at(hour int) string {
	return connectortest.Now.Add(time.Duration(hour) * time.Hour).Format("2006-01-02T15:04:05.000000Z")
}

// fakeState is the data of a Scan, in the form of the API.
type fakeState struct {
	threshold int
	round     string
	svs       []any // pairs of party and information
	offboard  []any
	packages  object
	licences  []object
	apps      []object
	open      []object
	closed    []object // newest first
	version   string
	migration int
	next      any // nextScheduledSynchronizerUpgrade
	totals    object
	providers []object
	pageSize  int // the most that the API returns at once
}

// contract wraps a payload.
func contract(id, template string, payload object) object {
	return object{
		"template_id": "3f9c52a1:Splice." + template, "contract_id": id, "payload": payload,
		"created_event_blob": "CgMyLjE=", "created_at": at(-24),
	}
}

func sv(name string, weight string) []any {
	return []any{party(name), object{"name": name, "svRewardWeight": weight, "joinedAsOfRound": object{"number": "0"},
		"participantId": "PAR::" + party(name)}}
}

func licence(name, sponsor string, last int) object {
	return contract("00lic"+name, "ValidatorLicense:ValidatorLicense", object{
		"dso": party("DSO"), "validator": party(name), "sponsor": party(sponsor), "lastActiveAt": at(-1), "weight": nil,
		"kind": nil,
		"faucetState": object{"firstReceivedFor": object{"number": "100"},
			"lastReceivedFor": object{"number": strconv.Itoa(last)}, "numCouponsMissed": "7"},
		"metadata": object{"lastUpdatedAt": at(-48), "version": "0.5.3", "contactPoint": "keeper@harbour.example.org"},
	})
}

func app(id, provider string) object {
	return contract(id, "Amulet:FeaturedAppRight", object{"dso": party("DSO"), "provider": party(provider)})
}

func dsoAction(tag string, value object) object {
	return object{"tag": "ARC_DsoRules", "value": object{"dsoAction": object{"tag": tag, "value": value}}}
}

func ballot(name string, accept bool, reason string, cast any) []any {
	return []any{name, object{"sv": party(name), "accept": accept, "reason": object{"url": "", "body": reason},
		"optCastAt": cast}}
}

// request is the payload of a vote request.
func request(requester string, action object, url, body string, tracking any, votes ...[]any) object {
	all := []any{}
	for _, v := range votes {
		all = append(all, v)
	}
	return object{
		"dso": party("DSO"), "requester": requester, "action": action, "reason": object{"url": url, "body": body},
		"voteBefore": at(72),
		"votes":      all, "trackingCid": tracking, "targetEffectiveAt": nil,
	}
}

func closing(r object, hour int, outcome object, abstaining ...string) object {
	if abstaining == nil {
		abstaining = []string{}
	}
	r = maps.Clone(r)
	r["voteBefore"] = at(hour + 1)
	return object{"request": r, "completedAt": at(hour), "offboardedVoters": []string{}, "abstainingSvs": abstaining,
		"outcome": outcome}
}

func takingEffect(hour int) object {
	return object{"tag": "VRO_Accepted", "value": object{"effectiveAt": at(hour)}}
}

func without(tag string) object { return object{"tag": tag, "value": object{}} }

// causeway is a network of four super validators.
func causeway() *fakeState {
	grant := dsoAction("SRARC_GrantFeaturedAppRight", object{"provider": party("foghorn")})
	return &fakeState{
		threshold: 3, round: "4242", version: "0.5.3", migration: 4, pageSize: 1000,
		svs:      []any{sv("Anchor", "10000"), sv("Beacon", "5000"), sv("Capstan", "5000"), sv("Dory", "1000")},
		offboard: []any{[]any{party("Eddy"), object{"name": "Eddy", "participantId": "PAR::" + party("Eddy")}}},
		packages: object{"amulet": "0.1.14", "wallet": "0.1.15"},
		licences: []object{licence("harbour-1", "Anchor", 4240), licence("Anchor", "Anchor", 4241)},
		apps:     []object{app("00aa01", "foghorn")},
		open: []object{
			contract("00cc77", "DsoRules:VoteRequest",
				request("Anchor", grant, "https://lists.example.org/g/tokenomics/topic/12",
					"Grants what CWP-0012 and CWPs 7 and 9 ask for.", "00cc01",
					ballot("Anchor", true, "I accept, as I requested the vote.", nil),
					ballot("Beacon", false, "", at(-3)))),
			contract("00dd01", "DsoRules:VoteRequest",
				request("Dory", dsoAction("SRARC_OffboardSv", object{"sv": party("Eddy")}), "", "It left.", nil,
					ballot("Dory", true, "Mine.", nil))),
		},
		closed: []object{
			closing(request("Beacon", object{"tag": "ARC_AmuletRules",
				"value": object{"amuletRulesAction": object{"tag": "CRARC_SetConfig", "value": object{
					"newConfig": object{"transferConfig": object{"createFee": object{"fee": "0.0000000001"},
						"maxNumInputs": "100"}, "featuredAppActivityMarkerAmount": "12345678901234567890.0123456789"},
					"baseConfig": object{"transferConfig": object{"createFee": object{"fee": "0.0300000000"},
						"maxNumInputs": "100"}},
				}}}}, "https://github.example.org/causeway/cwps/blob/main/cwp-0031/cwp-0031.md", "See the proposal.",
				"00ee01",
				ballot("Anchor", true, "Good.", at(-30)), ballot("Beacon", true, "", at(-31)),
				ballot("Capstan", true, "As in https://example.org/x", at(-29))), -28, takingEffect(-28), "Dory"),
			closing(request("Anchor", grant, "", "", "00ee02", ballot("Anchor", false, "No.", at(-50)),
				ballot("Beacon", false, "No.", at(-50)), ballot("Capstan", false, "No.", at(-49))), -49,
				without("VRO_Rejected"), "Dory"),
			closing(request("Capstan", grant, "", "Nobody came.", "00ee03", ballot("Capstan", true, "", nil)), -70,
				without("VRO_Expired"), "Anchor", "Beacon", "Dory"),
		},
		totals: object{
			"closed_round": 4200, "closed_round_effective_at": at(-2), "app_rewards": "10.0",
			"validator_rewards": "5.5", "change_to_initial_amount_as_of_round_zero": "0.0",
			"change_to_holding_fees_rate": "0.0", "cumulative_app_rewards": "1234567890123456789.0123456789",
			"cumulative_validator_rewards":                         "987654321.5000000000",
			"cumulative_change_to_initial_amount_as_of_round_zero": "0.0",
			"cumulative_change_to_holding_fees_rate":               "0.0", "total_amulet_balance": "1.0",
		},
		providers: []object{{"provider": party("foghorn"), "rewards": "4503599627370497.5"}},
	}
}

// answer returns the API's response to a request; nil if the endpoint does not
// exist.
func (s *fakeState) answer(r *http.Request, body object) any {
	number := func(v any, otherwise int) int {
		switch v := v.(type) {
		case float64:
			return int(v)
		case string:
			if n, err := strconv.Atoi(v); err == nil {
				return n
			}
		}
		return otherwise
	}
	state := func(c object) object { return object{"contract": c, "domain_id": "global-domain::1220"} }
	switch r.Method + " " + r.URL.Path {
	case "GET /version":
		return object{"version": s.version, "commit_ts": at(-1000)}
	case "GET /v0/dso":
		return object{
			"sv_user": "sv", "sv_party_id": party("Anchor"), "dso_party_id": party("DSO"),
			"voting_threshold": s.threshold,
			"latest_mining_round": state(contract("00round", "Round:OpenMiningRound",
				object{"round": object{"number": s.round}, "opensAt": at(0)})),
			"amulet_rules": state(contract("00amulet", "AmuletRules:AmuletRules", object{"configSchedule": object{
				"initialValue": object{"packageConfig": object{"amulet": "0.1.0"}},
				"futureValues": []any{object{"_1": at(-100), "_2": object{"packageConfig": s.packages}},
					object{"_1": at(100), "_2": object{"packageConfig": object{"amulet": "9.9.9"}}}},
			}})),
			"dso_rules": state(contract("00rules", "DsoRules:DsoRules", object{
				"svs": s.svs, "offboardedSvs": s.offboard, "epoch": "0",
				"config": object{"nextScheduledSynchronizerUpgrade": s.next},
			})),
			"sv_node_states": []any{},
		}
	case "GET /v0/dso-sequencers":
		list := []any{}
		for _, e := range s.svs {
			name := e.([]any)[1].(object)["name"].(string)
			for id := s.migration - 1; id <= s.migration; id++ {
				list = append(list, object{"migrationId": id, "id": "SEQ::" + party(name),
					"url": "https://sequencer.example.org", "svName": name, "availableAfter": at(-500)})
			}
		}
		return object{"domainSequencers": []any{object{"domainId": "global-domain::1220", "sequencers": list}}}
	case "GET /v0/migrations/last":
		return object{"migration_id": s.migration}
	case "GET /v0/lsu":
		return object{}
	case "POST /v0/open-and-issuing-mining-rounds":
		return object{"time_to_live_in_microseconds": 600000000, "issuing_mining_rounds": object{},
			"open_mining_rounds": object{
				"00r1": state(contract("00r1", "Round:OpenMiningRound", object{"round": object{"number": "4239"}})),
				"00r2": state(contract("00r2", "Round:OpenMiningRound", object{"round": object{"number": "4240"}})),
			}}
	case "GET /v0/admin/validator/licenses":
		from := number(r.URL.Query().Get("after"), 0)
		to := min(len(s.licences), from+min(s.pageSize, number(r.URL.Query().Get("limit"), 1000)))
		p := object{"validator_licenses": slices.Clone(s.licences[from:to])}
		if to > from {
			p["next_page_token"] = to
		} else {
			p["validator_licenses"], p["next_page_token"] = []any{}, nil
		}
		return p
	case "GET /v0/featured-apps":
		return object{"featured_apps": s.apps}
	case "GET /v0/admin/sv/voterequests":
		return object{"dso_rules_vote_requests": s.open}
	case "POST /v0/admin/sv/voteresults":
		all := s.closed
		if until, ok := body["effectiveTo"].(string); ok {
			all = slices.DeleteFunc(slices.Clone(all), func(c object) bool {
				return c["completedAt"].(string) > connectorTime(until)
			})
		}
		from := number(body["pageToken"], 0)
		to := min(len(all), from+number(body["limit"], 10))
		p := object{"dso_rules_vote_results": slices.Clone(all[from:to])}
		if to < len(all) {
			p["next_page_token"] = to
		}
		return p
	case "GET /v0/round-of-latest-data":
		return object{"round": 4200, "effectiveAt": at(-2)}
	case "POST /v0/round-totals":
		return object{"entries": []any{s.totals}}
	case "GET /v0/top-providers-by-app-rewards":
		return object{"providersAndRewards": s.providers}
	}
	return nil
}

func connectorTime(s string) string {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t.Format("2006-01-02T15:04:05.000000Z")
}

// fakeScan serves a state.
type fakeScan struct {
	mu     sync.Mutex
	state  *fakeState
	absent map[string]bool // paths that this version does not have
	edit   func(path string, answer object)
	client *outbound.Client
	*connectortest.Server
}

func newScan(t testing.TB, s *fakeState) *fakeScan {
	f := &fakeScan{state: s, absent: map[string]bool{}, client: connectortest.Client(t)}
	f.Server = connectortest.NewServer(t, http.HandlerFunc(f.serve))
	return f
}

func (f *fakeScan) change(edit func(s *fakeState)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	edit(f.state)
}

func (f *fakeScan) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var body object
	_ = json.NewDecoder(r.Body).Decode(&body)
	answer := f.state.answer(r, body)
	w.Header().Set("Content-Type", "application/json")
	if answer == nil || f.absent[r.URL.Path] {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"error":"The requested resource could not be found."}`))
		return
	}
	if f.edit != nil {
		f.edit(r.URL.Path, answer.(object))
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// config configures a source with some Scans.
func config(scans ...*fakeScan) connectortest.Config {
	bases := []string{}
	for _, s := range scans {
		bases = append(bases, s.URL)
	}
	return connectortest.Config{Kind: ledger.Kind, HTTP: scans[0].client, Options: map[string]any{
		"environment": "mainnet", "scans": bases, "names": map[string]any{party("foghorn"): "Foghorn Labs"},
		"links": map[string]any{"vote_request": "https://explorer.example.org/governance/{id}"},
	}}
}
