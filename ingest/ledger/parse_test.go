package ledger

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/fleet"
)

func TestNumbers(t *testing.T) {
	for raw, want := range map[string]string{
		`"1234567890123456789.0123456789"`: "1234567890123456789.0123456789", `"-0.0000000001"`: "-0.0000000001",
		`12.5`: "12.5", `null`: "", `" 7 "`: "7",
		`"9999999999999999999999999999.9999999999"`: "9999999999999999999999999999.9999999999",
	} {
		var n numeral
		if err := json.Unmarshal([]byte(raw), &n); err != nil {
			t.Fatal(err)
		}
		if _, exact, err := n.decimal(); err != nil || exact != want {
			t.Errorf("%s is %q, %v", raw, exact, err)
		}
	}
	for _, raw := range []string{`"1e400"`, `"NaN"`, `"Infinity"`, `"0x10"`, `"1.00000000001"`,
		`"10000000000000000000000000000"`, `"1,5"`, `"."`, `"--1"`, `1e2`} {
		var n numeral
		if err := json.Unmarshal([]byte(raw), &n); err != nil {
			t.Fatal(err)
		}
		if v, exact, err := n.decimal(); err == nil || v != nil || exact != "" {
			t.Errorf("%s is read as %q", raw, exact)
		}
	}
	for raw, ok := range map[string]bool{`"9223372036854775807"`: true, `"9223372036854775808"`: false, `"1.5"`: false,
		`-1`: true} {
		var n numeral
		if err := json.Unmarshal([]byte(raw), &n); err != nil {
			t.Fatal(err)
		}
		if v, err := n.whole(); (err == nil) != ok || (v != nil) != ok {
			t.Errorf("%s: %v, %v", raw, v, err)
		}
	}
	var n numeral
	if err := json.Unmarshal([]byte(`{"a":1}`), &n); err == nil {
		t.Error("an object is a number")
	}
}

func TestPairs(t *testing.T) {
	for raw, want := range map[string]string{
		`[["b",1],["a",2]]`: "[{b 1} {a 2}]", `{"b":1,"a":2}`: "[{b 1} {a 2}]", `[]`: "[]", `null`: "[]",
		`[["a"]]`: "error", `["a"]`: "error", `[[1,1]]`: "error", `7`: "error",
	} {
		var p pairs[int]
		got := "error"
		if err := json.Unmarshal([]byte(raw), &p); err == nil {
			got = fmt.Sprint(p)
		}
		if got != want {
			t.Errorf("%s is %s, want %s", raw, got, want)
		}
	}
}

func TestActions(t *testing.T) {
	for raw, want := range map[string]struct {
		tag, words string
		details    map[string]string
	}{
		`{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_OffboardSv","value":{"sv":"eddy::12"}}}}`: {
			"SRARC_OffboardSv", "Offboard the super validator eddy", map[string]string{"sv": "eddy::12"}},
		`{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_RevokeFeaturedAppRight","value":{"rightCid":"00aabbccddeeff001122334455"}}}}`: {
			"SRARC_RevokeFeaturedAppRight", "Revoke the featured app right 00aabbccddeeff00…",
			map[string]string{"rightCid": "00aabbccddeeff001122334455"}},
		`{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_CreateUnallocatedUnclaimedActivityRecord","value":{"beneficiary":"a::1","amount":"5.0"}}}}`: {
			"SRARC_CreateUnallocatedUnclaimedActivityRecord", "Grant 5.0 of unclaimed rewards to a",
			map[string]string{"beneficiary": "a::1", "amount": "5.0"}},
		`{"tag":"ARC_AmuletRules","value":{"amuletRulesAction":{"tag":"CRARC_MiningRound_StartIssuing","value":{"m":[["k",{"n":[1,2]}]],"none":null,"no":false}}}}`: {
			"CRARC_MiningRound_StartIssuing", "Mining round start issuing",
			map[string]string{"m.k.n.0": "1", "m.k.n.1": "2", "no": "false"}},
		`{"tag":"ARC_New","value":{}}`: {"ARC_New", "New", map[string]string{}},
		`{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_GrantFeaturedAppRight","value":null}}}`: {
			"SRARC_GrantFeaturedAppRight", "Grant featured app rights to an unnamed party", map[string]string{}},
		`{"tag":"·","value":"x"}`: {"·", "Unknown action", map[string]string{"value": "x"}},
	} {
		a, err := readAction(json.RawMessage(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if diff := cmp.Diff(want.details, a.details); diff != "" || a.tag != want.tag ||
			a.describe(fleet.PartyName) != want.words {
			t.Errorf("%s: %s, %q (-want +got)\n%s", raw, a.tag, a.describe(fleet.PartyName), diff)
		}
	}
	for _, raw := range []string{``, `null`, `[]`, `{}`, `"x"`, `{"tag":7}`} {
		if a, err := readAction(json.RawMessage(raw)); err == nil {
			t.Errorf("%q is the action %v", raw, a)
		}
	}
}

// FuzzRequests passes vote requests and results to their readers.
func FuzzRequests(f *testing.F) {
	for _, seed := range []string{
		`{"request":{"requester":"Anchor","action":{"tag":"ARC_DsoRules","value":{"dsoAction":{"tag":"SRARC_SetConfig","value":{"newConfig":{"a":[["k","1"]]},"baseConfig":{"a":[["k","2"]]}}}}},
			"reason":{"url":"https://example.org/cwp-0007","body":"CWP 8\u0000"},"voteBefore":"2031-06-01T00:00:00Z","votes":[["Anchor",{"sv":"a::1","accept":true,"reason":{"url":"","body":""},"optCastAt":null}]],
			"trackingCid":null},"completedAt":"2031-06-02T00:00:00Z","abstainingSvs":[],"offboardedVoters":[],"outcome":{"tag":"VRO_Accepted","value":{"effectiveAt":"-999999999-01-01T00:00:00Z"}}}`,
		`{"requester":"x","action":{"tag":"a","value":{"xAction":{"tag":"b","value":{"yAction":{"tag":"c","value":[[[[]]]]}}}}},"votes":{"a":{"accept":null}}}`,
		`{"request":{"requester":"é\ud800","action":{"tag":"ARC_","value":1e999}}}`, `{"request":null}`, `[]`,
		`{"request":{"votes":[["a",null],["a",null]]}}`, `{"outcome":{"value":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		env := ingest.Environment{Network: network.Network{Proposals: network.Proposals{Prefix: "CWP"}}}
		s := &syncRun{env: env, peers: newPeers(env, discard{}, "fuzz", nil), out: discard{}}
		var r request
		if json.Unmarshal(raw, &r.requestPayload) == nil {
			r.Action = canonical(r.Action)
			check(t, s, r)
		}
		for _, item := range s.readResults([]json.RawMessage{raw}) {
			check(t, s, item.Value)
		}
	})
}

func check(t *testing.T, s *syncRun, r request) {
	t.Helper()
	e, err := s.voteEntry("key", r)
	if err != nil {
		return
	}
	if e.Record.Title == "" || e.Record.State == "" || !json.Valid(e.Record.Data) {
		t.Errorf("%+v", e.Record)
	}
	if _, err := e.Normalize(); err != nil {
		t.Error(err)
	}
	for _, v := range e.Votes {
		if v.Choice != inFavour && v.Choice != against {
			t.Errorf("choice %q", v.Choice)
		}
	}
}

// discard is a sink that ignores reports.
type discard struct{ ingest.Sink }

func (discard) Skip(string, error)  {}
func (discard) Warn(string, string) {}

// FuzzAnswers passes whole responses to their readers.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"voting_threshold":3,"dso_rules":{"contract":{"template_id":"x:Splice.DsoRules:DsoRules","payload":{"svs":[["a::1",{"name":"A","svRewardWeight":"9999999999999999999999"}]],"config":{"nextScheduledSynchronizerUpgrade":{"time":"x","migrationId":"y"}}}}}}`,
		`{"amulet_rules":{"contract":{"template_id":":AmuletRules","payload":{"configSchedule":{"futureValues":[{"_1":"2031-01-01T00:00:00Z","_2":{"packageConfig":{"a":"1"}}}]}}}}}`,
		`{"validator_licenses":[{"template_id":":ValidatorLicense","contract_id":"c","payload":{"validator":"v","faucetState":{"firstReceivedFor":{"number":"-9223372036854775808"},"lastReceivedFor":{"number":"9223372036854775807"},"numCouponsMissed":"1"}}},null,7],"next_page_token":"x"}`,
		`{"validator_licenses":null}`, `{"latest_mining_round":{"contract":{"payload":"\ud800"}}}`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		env := ingest.Environment{Now: time.Now}
		p := newPeers(env, discard{}, "fuzz", nil)
		s := &syncRun{env: env, peers: p, out: discard{}}
		if d, err := p.readRules(raw); err == nil {
			_ = jsonText(d.members)
			s.rules = d
		}
		if l, err := list("validator_licenses")(raw); err == nil {
			for _, item := range contracts(p, l.items, "ValidatorLicense", s.licence) {
				if v := s.licensed(item.Value.Validator, item.Value); v.party == "" ||
					utf8.ValidString(v.party) != utf8.ValidString(item.Value.Validator) {
					t.Errorf("%+v", v)
				}
			}
		}
	})
}
