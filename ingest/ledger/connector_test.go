package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/ledger"
	"almanac/testing/connectortest"
	"almanac/text/options"
)

func ptr[T any](v T) *T { return &v }

func snapshot(t *testing.T, s *connectortest.Source) catalog.NetworkState {
	t.Helper()
	all, err := s.Store.Snapshots(t.Context(), catalog.SeriesNetwork, 10)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d snapshots, %v", len(all), err)
	}
	r := catalog.Record{Data: all[0].Data}
	state, err := catalog.Decode[catalog.NetworkState](r)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestState(t *testing.T) {
	scan := newScan(t, causeway())
	scan.state.next = object{"time": at(240), "migrationId": "5"}
	other := newScan(t, causeway())
	other.state.version, other.absent["/v0/migrations/last"] = "0.5.4", true
	c := config(scan)
	c.Options["environments"] = map[string]any{"testnet": []string{other.URL + "/"}}
	s := connectortest.NewSource(t, c)
	r := s.Sync()
	if r.Warned+r.Skipped != 0 {
		t.Errorf("problems %v", r.Problems)
	}
	want := catalog.NetworkState{
		Validators: []string{"Anchor", "Beacon", "Capstan", "Dory", "harbour-1"}, ValidatorCount: ptr(5),
		SuperValidators: ptr(4), VotingThreshold: ptr(3), SequencerCount: ptr(4),
		LatestRound: ptr(int64(4242)), FeaturedApps: ptr(1), AppRewards: ptr(1234567890123456789.0123456789),
		ValidatorRewards: ptr(987654321.5),
		AppRewardsExact:  "1234567890123456789.0123456789", ValidatorRewardsExact: "987654321.5000000000",
		RewardsRound: ptr(int64(4200)), Source: scan.URL,
		Deployments: []catalog.Deployment{
			{Environment: "mainnet", Version: "0.5.3", MigrationID: ptr(4),
				MinimumOf: map[string]string{"amulet": "0.1.14", "wallet": "0.1.15"},
				Upgrade:   &catalog.Upgrade{At: "2031-06-11T12:00:00Z", MigrationID: ptr(5)}},
			{Environment: "testnet", Version: "0.5.4", MigrationID: ptr(4),
				MinimumOf: map[string]string{"amulet": "0.1.14", "wallet": "0.1.15"}},
		},
	}
	if diff := cmp.Diff(want, snapshot(t, s)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	s.Clock = s.Clock.Add(15 * time.Minute)
	connectortest.Unchanged(t, s, r)
	if all, _ := s.Store.Snapshots(t.Context(), catalog.SeriesNetwork, 10); len(all) != 1 {
		t.Errorf("%d snapshots of one state", len(all))
	}
	scan.change(func(s *fakeState) { s.round = "4243" })
	s.Clock = s.Clock.Add(15 * time.Minute)
	connectortest.Unchanged(t, s, r)
	if all, _ := s.Store.Snapshots(t.Context(), catalog.SeriesNetwork, 10); len(all) != 2 ||
		!all[0].CapturedAt.Equal(s.Clock) {
		t.Errorf("%d snapshots of two states", len(all))
	}
}

func TestOpenVoteRequest(t *testing.T) {
	s := connectortest.NewSource(t, config(newScan(t, causeway())))
	r := s.Sync()
	rec := r.Get(t, catalog.KindVoteRequest, "00cc01")
	for what, got := range map[string][2]string{
		"title":    {rec.Title, "Grant featured app rights to Foghorn Labs"},
		"category": {rec.Category, "SRARC_GrantFeaturedAppRight"}, "state": {rec.State, "open"},
		"author": {rec.Author, "Anchor"}, "url": {rec.URL, "https://explorer.example.org/governance/00cc01"},
		"ends":     {rec.EndsAt.Format(time.RFC3339), "2031-06-04T12:00:00Z"},
		"created":  {rec.CreatedAt.Format(time.RFC3339), "2031-05-31T12:00:00Z"},
		"activity": {rec.LastActivityAt.Format(time.RFC3339), "2031-06-01T09:00:00Z"},
		"body": {rec.Body, "Anchor asks to vote on: Grant featured app rights to Foghorn Labs.\n\nGrants what " +
			"CWP-0012 and CWPs 7 and 9 ask for.\n\n" +
			"Reference: <https://lists.example.org/g/tokenomics/topic/12>\n\nProposals: CWP-0012, CWP-0007, " +
			"CWP-0009\n\n" +
			"## Details\n\n- provider: " + party("foghorn") +
			"\n\n## Votes\n\n- Anchor in favour: I accept, as I requested the vote."},
	} {
		if got[0] != got[1] {
			t.Errorf("%s %q, want %q", what, got[0], got[1])
		}
	}
	want := catalog.VoteRequest{
		Details:   map[string]string{"provider": party("foghorn")},
		ReasonURL: "https://lists.example.org/g/tokenomics/topic/12",
		Proposals: []string{"CWP-0012", "CWP-0007", "CWP-0009"}, Required: ptr(3),
		Abstained: []string{"Capstan", "Dory"},
		Votes: []catalog.Ballot{
			{Voter: "Anchor", Party: party("Anchor"), Choice: "in_favour",
				Reason: "I accept, as I requested the vote."},
			{Voter: "Beacon", Party: party("Beacon"), Choice: "against", CastAt: "2031-06-01T09:00:00Z"},
		},
	}
	if diff := cmp.Diff(want, connectortest.Data[catalog.VoteRequest](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	votes, err := s.Store.VotesOn(t.Context(), rec.ID)
	if err != nil || len(votes) != 2 || votes[1].Choice != "against" || votes[1].Voter != "Beacon" {
		t.Errorf("votes %v, %v", votes, err)
	}
	links, err := s.Store.LinksFrom(t.Context(), rec.ID)
	if err != nil || len(links) != 3 || links[0].Relation != catalog.Cites || links[0].Snippet == "" {
		t.Errorf("links %v, %v", links, err)
	}
}

func TestClosedVoteRequests(t *testing.T) {
	scan := newScan(t, causeway())
	scan.state.closed[1]["offboardedVoters"] = []string{"Beacon"}
	scan.state.closed = append(scan.state.closed,
		closing(request("Dory", dsoAction("SRARC_UpdateSvRewardWeight",
			object{"svParty": party("Dory"), "newRewardWeight": "20000"}), "", "See CWP 44.", "00ee04",
			ballot("Dory", true, "", nil)), -90,
			object{"tag": "VRO_AcceptedButActionFailed", "value": object{"description": "Not a member."}}),
		closing(request("Dory", object{"tag": "ARC_AmuletRules",
			"value": object{"amuletRulesAction": object{"tag": "CRARC_FutureThing_Do", "value": object{"x": true}}}},
			"", "", "00ee05",
			ballot("Dory", true, "", nil)), -91, without("VRO_Postponed")))
	s := connectortest.NewSource(t, config(scan))
	r := s.Sync()
	rec := r.Get(t, catalog.KindVoteRequest, "00ee01")
	want := catalog.VoteRequest{
		Outcome: "accepted", DecidedAt: "2031-05-31T08:00:00Z", Required: ptr(3), Abstained: []string{"Dory"},
		Proposals: []string{"CWP-0031"},
		ReasonURL: "https://github.example.org/causeway/cwps/blob/main/cwp-0031/cwp-0031.md",
		Details: map[string]string{
			"newConfig.transferConfig.createFee.fee":    "0.0000000001",
			"baseConfig.transferConfig.createFee.fee":   "0.0300000000",
			"newConfig.featuredAppActivityMarkerAmount": "12345678901234567890.0123456789",
		},
		Votes: []catalog.Ballot{
			{Voter: "Anchor", Party: party("Anchor"), Choice: "in_favour", Reason: "Good.",
				CastAt: "2031-05-31T06:00:00Z"},
			{Voter: "Beacon", Party: party("Beacon"), Choice: "in_favour", CastAt: "2031-05-31T05:00:00Z"},
			{Voter: "Capstan", Party: party("Capstan"), Choice: "in_favour", Reason: "As in https://example.org/x",
				CastAt: "2031-05-31T07:00:00Z"},
		},
	}
	if diff := cmp.Diff(want, connectortest.Data[catalog.VoteRequest](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	if rec.State != "closed" || rec.Title != "Change the configuration of the coin" ||
		rec.StartsAt.Format(time.RFC3339) != "2031-05-31T08:00:00Z" ||
		!strings.Contains(rec.Body, "- transferConfig.createFee.fee: 0.0300000000 → 0.0000000001") ||
		strings.Contains(rec.Body, "maxNumInputs") {
		t.Errorf("%s %s %s\n%s", rec.State, rec.Title, rec.StartsAt, rec.Body)
	}
	for key, want := range map[string]string{
		"00ee02": "rejected Grant featured app rights to Foghorn Labs 2",
		"00ee03": "expired Grant featured app rights to Foghorn Labs 3",
		"00ee04": "accepted Change the reward weight of Dory to 20000 1", "00ee05": " Future thing do 1",
	} {
		rec := r.Get(t, catalog.KindVoteRequest, key)
		v := connectortest.Data[catalog.VoteRequest](t, rec)
		if want := catalog.Tags(catalog.TagOutcome, v.Outcome); !slices.Equal(rec.Tags, want) {
			t.Errorf("tags %q, want %q", rec.Tags, want)
		}
		if got := fmt.Sprintf("%s %s %d", v.Outcome, rec.Title, *v.Required); got != want || rec.State != "closed" {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
	if v := connectortest.Data[catalog.VoteRequest](t, r.Get(t, catalog.KindVoteRequest, "00ee02")); !v.Votes[1].Void ||
		v.Votes[0].Void {
		t.Errorf("void votes: %v", v.Votes)
	}
	if v := connectortest.Data[catalog.VoteRequest](t,
		r.Get(t, catalog.KindVoteRequest, "00ee04")); v.Failure != "Not a member." || v.Proposals[0] != "CWP-0044" {
		t.Errorf("%+v", v)
	}
	if r.Warned != 1 {
		t.Errorf("an outcome that is not known: %v", r.Problems)
	}
}

// TestDeadlineAndEffect: voting ends before the action takes effect, which is
// valid.
func TestDeadlineAndEffect(t *testing.T) {
	scan := newScan(t, causeway())
	scan.state.open[0]["payload"].(object)["targetEffectiveAt"] = at(96)
	sink := &sink{}
	if _, _, err := connector(t, config(scan)).Sync(t.Context(), nil, sink); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sink.entries, func(e catalog.Entry) bool { return e.Record.Key == "00cc01" })
	if rec := sink.entries[i].Record; rec.EndsAt.Format(time.RFC3339) != "2031-06-04T12:00:00Z" ||
		rec.StartsAt.Format(time.RFC3339) != "2031-06-05T12:00:00Z" {
		t.Errorf("ends %s, takes effect %s", rec.EndsAt, rec.StartsAt)
	}
}

// sink keeps what a connector puts.
type sink struct {
	ingest.Sink
	entries []catalog.Entry
}

func (s *sink) Put(_ context.Context, e catalog.Entry) error {
	s.entries = append(s.entries, e)
	return nil
}
func (*sink) Snapshot(catalog.Snapshot) {}
func (*sink) Keep(catalog.Ref)          {}
func (*sink) Skip(string, error)        {}
func (*sink) Warn(string, string)       {}
func (*sink) Progress(int, int)         {}

// TestLifeOfARequest: open, voted on (a new contract), closed, no longer listed.
func TestLifeOfARequest(t *testing.T) {
	scan := newScan(t, causeway())
	s := connectortest.NewSource(t, config(scan))
	first := s.Sync()
	if rec := first.Get(t, catalog.KindVoteRequest, "00dd01"); rec.State != "open" ||
		rec.Title != "Offboard the super validator Eddy" {
		t.Errorf("%+v", rec)
	}
	// Closed without any other vote: its result has no tracking id.
	var lonely object
	scan.change(func(s *fakeState) {
		lonely = s.open[1]["payload"].(object)
		result := closing(lonely, 80, without("VRO_Expired"), "Anchor", "Beacon", "Capstan")
		result["request"] = lonely
		s.open, s.closed = s.open[:1], append([]object{result}, s.closed...)
	})
	r := s.Sync()
	rec := r.Get(t, catalog.KindVoteRequest, "00dd01")
	if v := connectortest.Data[catalog.VoteRequest](t, rec); v.Outcome != "expired" || rec.State != "closed" ||
		r.Created != 0 || r.Updated != 1 {
		t.Errorf("%s, %d created, %d updated", v.Outcome, r.Created, r.Updated)
	}
	if before := first.Get(t, catalog.KindVoteRequest, "00dd01"); !rec.CreatedAt.Equal(before.CreatedAt) {
		t.Errorf("created %s, before %s", rec.CreatedAt, before.CreatedAt)
	}
	connectortest.Unchanged(t, s, r)
	// A vote replaces the contract of the other request.
	scan.change(func(s *fakeState) {
		p := s.open[0]["payload"].(object)
		p["votes"] = append(p["votes"].([]any), ballot("Capstan", true, "Fine.", at(0)))
		s.open[0]["contract_id"], s.open[0]["created_at"] = "00cc78", at(0)
	})
	r = s.Sync()
	if rec := r.Get(t, catalog.KindVoteRequest, "00cc01"); r.Created != 0 || r.Updated != 1 || rec.Votes != 3 ||
		!rec.CreatedAt.Equal(connectortest.Now.Add(-24*time.Hour)) {
		t.Errorf("%d created, %d updated, %d votes, created %s", r.Created, r.Updated, rec.Votes, rec.CreatedAt)
	}
	// The API no longer lists any of them.
	scan.change(func(s *fakeState) { s.open, s.closed = []object{}, []object{} })
	r = s.Sync()
	if len(r.Records) != len(first.Records) || r.Changes != 0 || r.Warned != 1 {
		t.Errorf("forgotten: %v, %v", r.Keys(), r.Problems)
	}
	if r = s.Sync(); r.Warned != 0 {
		t.Errorf("it is reported again: %v", r.Problems)
	}
	connectortest.Unchanged(t, s, r)
	// One without a tracking id is new to a source that never saw it open.
	fresh := newScan(t, causeway())
	fresh.state.closed = []object{closing(lonely, -10, without("VRO_Expired"))}
	r = connectortest.NewSource(t, config(fresh)).Sync()
	if !slices.ContainsFunc(r.Keys(), func(k string) bool { return strings.HasPrefix(k, "vote_request vote-") }) {
		t.Errorf("%v", r.Keys())
	}
}

func TestValidators(t *testing.T) {
	scan := newScan(t, causeway())
	bare := licence("quay-2", "Beacon", 0)
	bare["payload"] = object{"dso": party("DSO"), "validator": party("quay-2"), "sponsor": party("Beacon"),
		"faucetState": nil, "metadata": nil, "lastActiveAt": nil}
	odd := licence("mole-3", "Anchor", 4000)
	odd["payload"].(object)["faucetState"].(object)["numCouponsMissed"] = "99999999999999999999"
	odd["payload"].(object)["metadata"].(object)["contactPoint"] = " @mole "
	passive := licence("wallet-4", "Anchor", 4000)
	passive["payload"].(object)["kind"] = "NonOperatorLicense"
	alien := contract("00alien", "Alien:Thing", object{"validator": "x"})
	twice := licence("harbour-1", "Anchor", 4100)
	twice["contract_id"] = "00twice"
	scan.state.licences = append(scan.state.licences, bare, odd, passive, alien, twice)
	s := connectortest.NewSource(t, config(scan))
	r := s.Sync()
	rec := r.Get(t, catalog.KindValidator, party("harbour-1"))
	want := catalog.Validator{
		Sponsor: "Anchor", Version: "0.5.3", VersionReportedAt: "2031-05-30T12:00:00Z", FirstRound: ptr(int64(100)),
		LastRound:        ptr(int64(4240)),
		CollectedCoupons: ptr(int64(4134)), MissedCoupons: ptr(int64(7)),
	}
	if diff := cmp.Diff(want, connectortest.Data[catalog.Validator](t, rec)); diff != "" {
		t.Errorf("data (-want +got)\n%s", diff)
	}
	if rec.Title != "harbour-1" || rec.State != "approved" ||
		rec.Body != "harbour-1 is a validator of Causeway Network, sponsored by Anchor." ||
		!rec.LastActivityAt.Equal(connectortest.Now.Add(-time.Hour)) {
		t.Errorf("%+v", rec)
	}
	for name, want := range map[string]string{
		"Anchor": "approved, super true, weight 10000", "Beacon": "approved, super true, weight 5000",
		"Eddy":   "offboarded, super false, weight none",
		"quay-2": "approved, super false, weight none", "mole-3": "approved, super false, weight none",
	} {
		rec := r.Get(t, catalog.KindValidator, party(name))
		v := connectortest.Data[catalog.Validator](t, rec)
		weight := "none"
		if v.Weight != nil {
			weight = fmt.Sprint(*v.Weight)
		}
		if got := fmt.Sprintf("%s, super %t, weight %s", rec.State, v.Super, weight); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if slices.Contains(rec.Tags, catalog.TagSuper) != v.Super {
			t.Errorf("%s: tags %q", name, rec.Tags)
		}
	}
	if v := connectortest.Data[catalog.Validator](t,
		r.Get(t, catalog.KindValidator, party("mole-3"))); v.MissedCoupons != nil || v.CollectedCoupons != nil ||
		v.Contact != "@mole" {
		t.Errorf("%+v", v)
	}
	if r.Skipped != 1 || r.Warned != 1 || slices.Contains(r.Keys(), "validator "+party("wallet-4")) {
		t.Errorf("%v, problems %v", r.Keys(), r.Problems)
	}
}

// TestLivenessIsNotWrittenAtEverySync: it is not lost either.
func TestLivenessIsNotWrittenAtEverySync(t *testing.T) {
	scan := newScan(t, causeway())
	s := connectortest.NewSource(t, config(scan))
	s.Sync()
	step := func(hour int, round string) connectortest.Result {
		scan.change(func(s *fakeState) {
			p := s.licences[0]["payload"].(object)
			p["lastActiveAt"] = at(hour)
			p["faucetState"].(object)["lastReceivedFor"] = object{"number": round}
		})
		return s.Sync()
	}
	if r := step(2, "4250"); r.Changes != 0 {
		t.Errorf("%d changes by three hours of activity", r.Changes)
	}
	r := step(6, "4270")
	v := connectortest.Data[catalog.Validator](t, r.Get(t, catalog.KindValidator, party("harbour-1")))
	if r.Changes != 1 || *v.LastRound != 4270 {
		t.Errorf("%d changes, round %d", r.Changes, *v.LastRound)
	}
	scan.change(func(s *fakeState) {
		s.licences[0]["payload"].(object)["metadata"] = object{"version": "0.5.4", "lastUpdatedAt": at(7),
			"contactPoint": ""}
	})
	if r = step(7, "4271"); r.Changes != 1 {
		t.Errorf("%d changes by another version", r.Changes)
	}
	if r = step(5, "4200"); r.Changes != 0 { // a Scan that lags behind
		t.Errorf("%d changes back in time", r.Changes)
	}
}

func TestWhatVanishes(t *testing.T) {
	scan := newScan(t, causeway())
	s := connectortest.NewSource(t, config(scan))
	s.AcceptShrink = true
	s.Sync()
	scan.change(func(s *fakeState) {
		s.licences, s.apps = s.licences[1:], []object{app("00aa02", "foghorn")}
		s.svs, s.offboard = s.svs[:3], append(s.offboard,
			[]any{party("Dory"), object{"name": "Dory", "participantId": "PAR"}})
	})
	r := s.Sync()
	if keys := r.Keys(); slices.Contains(keys, "validator "+party("harbour-1")) ||
		slices.Contains(keys, "app 00aa01") || !slices.Contains(keys, "app 00aa02") || r.Deleted != 2 {
		t.Errorf("%v, %d deleted", keys, r.Deleted)
	}
	if rec := r.Get(t, catalog.KindValidator, party("Dory")); rec.State != "offboarded" {
		t.Errorf("state %q", rec.State)
	}
	connectortest.Unchanged(t, s, r)
}

func TestApps(t *testing.T) {
	scan := newScan(t, causeway())
	s := connectortest.NewSource(t, config(scan))
	r := s.Sync()
	rec := r.Get(t, catalog.KindApp, "00aa01")
	want := catalog.App{Provider: party("foghorn"), Rewards: ptr(4503599627370497.5), MetricsAt: "2031-06-01T10:00:00Z"}
	if diff := cmp.Diff(want, connectortest.Data[catalog.App](t, rec)); diff != "" || rec.Title != "Foghorn Labs" ||
		rec.StartsAt.Format(time.RFC3339) != "2031-05-31T12:00:00Z" {
		t.Errorf("%s (-want +got)\n%s", rec.Title, diff)
	}
	if want := []string{catalog.Tag(catalog.TagProvider, party("foghorn"))}; !slices.Equal(rec.Tags, want) {
		t.Errorf("tags %q, want %q", rec.Tags, want)
	}
	// The record stays unchanged if the API no longer has rewards.
	scan.absent["/v0/round-of-latest-data"] = true
	if r = s.Sync(); r.Changes != 0 || r.Warned != 1 {
		t.Errorf("%d changes, %v", r.Changes, r.Problems)
	}
}

func TestAppsAreDescribedByTheNetworksFolder(t *testing.T) {
	c := config(newScan(t, causeway()))
	files := fstest.MapFS{"curated/apps.yaml": {Data: []byte("- provider: " + party("foghorn") + `
  name: Foghorn Alerts
  category: developer tools
  description: Tells people when a contract changes.
  url: https://example.org/foghorn
  project: foghorn-alerts
`)}}
	c.Files = files
	s := connectortest.NewSource(t, c)
	r := s.Sync()
	rec := r.Get(t, catalog.KindApp, "00aa01")
	if rec.Title != "Foghorn Alerts" || rec.Category != "developer tools" || rec.URL != "https://example.org/foghorn" ||
		!strings.HasSuffix(rec.Body, ". Tells people when a contract changes.") ||
		connectortest.Data[catalog.App](t, rec).Project != "foghorn-alerts" {
		t.Errorf("%+v", rec)
	}
	// If a file cannot be read, everything stays unchanged.
	files["curated/apps.yaml"].Data = []byte("- [")
	if r = s.Sync(); r.Changes != 0 || r.Warned == 0 {
		t.Errorf("%d changes, %v", r.Changes, r.Problems)
	}
	delete(files, "curated/apps.yaml")
	if rec = s.Sync().Get(t, catalog.KindApp, "00aa01"); rec.Title != "Foghorn Labs" || rec.Category != "" {
		t.Errorf("without description: %+v", rec)
	}
}

func TestSuite(t *testing.T) {
	connectortest.Run(t, func(t *testing.T) connectortest.Upstream {
		scan := newScan(t, causeway())
		return connectortest.Upstream{Config: config(scan), Server: scan.Server,
			Change: func() { scan.change(func(s *fakeState) { s.svs[3] = sv("Dory", "2000") }) },
			Drop: func(s *connectortest.Source) {
				s.Options["liveness"] = "12h"
				scan.change(func(s *fakeState) { s.apps = []object{} })
			},
		}
	})
}

func TestScansDisagree(t *testing.T) {
	honest, odd, third := newScan(t, causeway()), newScan(t, causeway()), newScan(t, causeway())
	odd.state.threshold, odd.state.round, odd.state.version = 1, "9999", "6.6.6"
	odd.state.svs = odd.state.svs[:1]
	odd.state.apps = []object{app("00bad", "smuggler")}
	odd.state.closed[0]["outcome"] = without("VRO_Rejected")
	odd.state.open[0]["payload"].(object)["votes"] = []any{ballot("Dory", false, "Forged.", nil)}
	s := connectortest.NewSource(t, config(odd, honest, third))
	r := s.Sync()
	problems := fmt.Sprint(r.Problems)
	for _, field := range []string{"voting_threshold", "super validators", "version", "featured apps",
		"closed vote requests", "open vote requests"} {
		if !strings.Contains(problems, "mainnet "+field) {
			t.Errorf("no warning of %s in %s", field, problems)
		}
	}
	state := snapshot(t, s)
	if *state.VotingThreshold != 3 || *state.LatestRound != 4242 || *state.SuperValidators != 4 ||
		state.Deployments[0].Version != "0.5.3" || *state.FeaturedApps != 1 {
		t.Errorf("%+v", state)
	}
	if v := connectortest.Data[catalog.VoteRequest](t,
		r.Get(t, catalog.KindVoteRequest, "00ee01")); v.Outcome != "accepted" {
		t.Errorf("outcome %s", v.Outcome)
	}
	if v := connectortest.Data[catalog.VoteRequest](t, r.Get(t, catalog.KindVoteRequest, "00cc01")); len(v.Votes) != 2 {
		t.Errorf("votes %v", v.Votes)
	}
	r.Get(t, catalog.KindApp, "00aa01")
	// One against one: the first is used, and nothing is removed.
	two := connectortest.NewSource(t, config(honest, odd))
	odd.change(func(s *fakeState) { s.apps = []object{} })
	two.Sync()
	honest.change(func(s *fakeState) { s.apps = []object{} })
	odd.change(func(s *fakeState) { s.apps = []object{app("00aa01", "foghorn")} })
	if r := two.Sync(); !slices.Contains(r.Keys(), "app 00aa01") {
		t.Errorf("vanished by one of two: %v", r.Problems)
	}
	odd.change(func(s *fakeState) { s.apps = []object{} })
	two.AcceptShrink = true
	if r := two.Sync(); slices.Contains(r.Keys(), "app 00aa01") {
		t.Error("did not vanish although both say so")
	}
}

func TestManyResults(t *testing.T) {
	for name, tokens := range map[string]bool{"page tokens": true, "dates": false} {
		t.Run(name, func(t *testing.T) {
			scan := newScan(t, causeway())
			scan.state.closed = nil
			add := func(i int) object {
				return closing(request("Anchor",
					dsoAction("SRARC_GrantFeaturedAppRight", object{"provider": party("p" + fmt.Sprint(i))}), "", "",
					fmt.Sprintf("00f%04d", i),
					ballot("Anchor", true, "", nil)), -i-1, takingEffect(-i-1))
			}
			for i := 1; i <= 250; i++ {
				scan.state.closed = append(scan.state.closed, add(i))
			}
			if !tokens {
				scan.edit = func(_ string, answer object) { delete(answer, "next_page_token") }
				scan.state.licences = nil
			}
			sync := func(l ingest.Connector[[]byte], before []byte) (keys map[string]bool, pages int, after []byte) {
				scan.Paths()
				out := &sink{}
				after, _, err := l.Sync(t.Context(), before, out)
				if err != nil {
					t.Fatal(err)
				}
				keys = map[string]bool{}
				for _, e := range out.entries {
					if strings.HasPrefix(e.Record.Key, "00f") {
						keys[e.Record.Key] = true
					}
				}
				for _, p := range scan.Paths() {
					if strings.Contains(p, "voteresults") {
						pages++
					}
				}
				return keys, pages, after
			}
			l := connector(t, config(scan))
			keys, pages, cursor := sync(l, nil)
			if len(keys) != 250 || pages < 3 || pages > 4 {
				t.Fatalf("%d results on %d pages", len(keys), pages)
			}
			scan.change(func(s *fakeState) { s.closed = append([]object{add(0)}, s.closed...) })
			if keys, pages, cursor = sync(l, cursor); !keys["00f0000"] || pages != 2 {
				t.Errorf("%d results on %d pages: one page that is known ends the reading", len(keys), pages)
			}
			if _, pages, again := sync(l, cursor); pages != 1 || !bytes.Equal(again, cursor) {
				t.Errorf("%d pages of what was known, cursor %s, before %s", pages, again, cursor)
			}
			// The next run reads an interrupted history to its end.
			l = connector(t, config(scan))
			asked := 0
			scan.Fault("/v0/admin/sv/voteresults", -1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if asked++; asked > 2 {
					connectortest.Status(500)(w, r, next)
					return
				}
				next.ServeHTTP(w, r)
			})
			if keys, _, cursor = sync(l, nil); len(keys) < 100 || len(keys) > 200 {
				t.Errorf("broken: %d results", len(keys))
			}
			scan.Heal()
			if keys, _, _ = sync(l, cursor); len(keys) != 251 {
				t.Errorf("healed: %d results", len(keys))
			}
		})
	}
}

func TestEndlessPages(t *testing.T) {
	scan := newScan(t, causeway())
	s := connectortest.NewSource(t, config(scan))
	before := s.Sync()
	scan.Fault("/v0/admin/validator/licenses", -1, connectortest.Repeating())
	r := s.Sync()
	if r.Changes != 0 || len(r.Records) != len(before.Records) || r.Warned == 0 {
		t.Errorf("%d changes, %v", r.Changes, r.Problems)
	}
	if state := snapshot(t, s); state.ValidatorCount != nil {
		t.Error("validators are counted though their list has no end")
	}
}

func TestFleet(t *testing.T) {
	scan := newScan(t, causeway())
	reports := `[{"party":"` + party("harbour-1") + `","version":"0.5.9","reported_at":"` + at(-2) + `","last_seen":"` +
		at(3) + `"},{"name":"beacon","version":"0.5.8"}]`
	status := connectortest.NewServer(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(reports))
	}))
	c := config(scan)
	c.Options["fleet"] = map[string]any{"urls": []string{status.URL + "/v.json"}}
	s := connectortest.NewSource(t, c)
	r := s.Sync()
	rec := r.Get(t, catalog.KindValidator, party("harbour-1"))
	if v := connectortest.Data[catalog.Validator](t, rec); v.Version != "0.5.9" ||
		v.VersionReportedAt != "2031-06-01T10:00:00Z" || !rec.LastActivityAt.Equal(connectortest.Now.Add(3*time.Hour)) {
		t.Errorf("%+v %s", v, rec.LastActivityAt)
	}
	if v := connectortest.Data[catalog.Validator](t,
		r.Get(t, catalog.KindValidator, party("Beacon"))); v.Version != "0.5.8" {
		t.Errorf("%+v", v)
	}
	status.Fault("/", -1, connectortest.Status(500))
	if r := s.Sync(); r.Changes != 0 || r.Warned != 1 {
		t.Errorf("without reports: %d changes, %v", r.Changes, r.Problems)
	}
	status.Heal()
	scan.change(func(s *fakeState) { // newer than the report
		s.licences[0]["payload"].(object)["metadata"] = object{"version": "0.6.0", "lastUpdatedAt": at(1),
			"contactPoint": ""}
	})
	if v := connectortest.Data[catalog.Validator](t,
		s.Sync().Get(t, catalog.KindValidator, party("harbour-1"))); v.Version != "0.6.0" {
		t.Errorf("%+v", v)
	}
}

func TestOptions(t *testing.T) {
	scans := []string{"https://scan.example.org/api/scan"}
	for problem, o := range map[string]map[string]any{
		"the option environment is missing": {"scans": scans},
		"the option scans is missing":       {"environment": "mainnet"},
		"scans[2]: appears twice":           {"environment": "mainnet", "scans": []string{scans[0], scans[0] + "/"}},
		"environments.testnet[1]: is not a web address": {"environment": "mainnet", "scans": scans,
			"environments": map[string]any{"testnet": []string{"ftp://x"}}},
		"environments: mainnet is already the option environment": {"environment": "mainnet", "scans": scans,
			"environments": map[string]any{"mainnet": scans}},
		"links: want addresses with {id}": {"environment": "mainnet", "scans": scans,
			"links": map[string]any{"app": "https://example.org/"}},
		"fleet: the option urls is missing": {"environment": "mainnet", "scans": scans, "fleet": map[string]any{}},
		"environments.testnet: want the bases": {"environment": "mainnet", "scans": scans,
			"environments": map[string]any{"testnet": []string{}}},
		"links.validator: is not a web address": {"environment": "mainnet", "scans": scans,
			"links": map[string]any{"validator": "{id}"}},
	} {
		if err := connectortest.Open(ledger.Kind, o); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%v: %v, want %q", o, err, problem)
		}
	}
	c := config(newScan(t, causeway()))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := connector(t, c).Sync(ctx, nil, &sink{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// connector makes a connector without a catalog.
func connector(t *testing.T, c connectortest.Config) ingest.Connector[[]byte] {
	t.Helper()
	src := network.Source{Kind: "ledger", Options: options.Of(c.Options)}
	l, err := ingest.Kinds(ledger.Kind).Connector(src, ingest.Environment{
		Network: connectortest.Causeway, HTTP: connectortest.Client(t), WorkDir: t.TempDir(),
		Now: func() time.Time { return connectortest.Now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
