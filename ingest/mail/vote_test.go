package mail

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStatedVotes(t *testing.T) {
	tests := map[string]struct {
		text string
		want string // voter/choice/reason; "" none
	}{
		"in favour": {"In favour.\n\nBest,\nAda", "/in_favour/Best,\nAda"},
		"american":  {"In favor", "/in_favour/"},
		"plus one":  {"+1 from Foghorn Labs", "/in_favour/from Foghorn Labs"},
		"minus one": {"−1: too early", "/against/too early"},
		"bold":      {"**Against.** The fee is too high.", "/against/The fee is too high"},
		"a reason of two lines": {"Abstain - we share a building\nwith the candidate.",
			"/abstain/we share a building\nwith the candidate"},
		"after a greeting": {"Dear all,\n\nI vote in favour of CWP-12.", "/in_favour/of CWP-12"},
		"we vote yes":      {"We vote yes.", "/in_favour/"},
		"we abstain": {"Hi,\n\nwe abstain because we were not asked.",
			"/abstain/because we were not asked"},
		"in a sentence":     {"Thanks for the calls. We are in favour.", "/in_favour/"},
		"over a line's end": {"Foghorn Labs votes in\nfavour of this.", "Foghorn Labs/in_favour/of this"},
		"an organisation": {"Jetty & Daughters votes against this proposal.",
			"Jetty & Daughters/against/this proposal"},
		"one that abstains":          {"Gannet Systems abstains.", "Gannet Systems/abstain/"},
		"on behalf":                  {"On behalf of Harbour Desk: in favour", "Harbour Desk/in_favour/"},
		"on behalf, spoken":          {"On behalf of Harbour Desk, I vote no.", "Harbour Desk/against/"},
		"for":                        {"For Kelpworks, we vote yes", "Kelpworks/in_favour/"},
		"a name and a choice":        {"Kelpworks: abstain", "Kelpworks/abstain/"},
		"labelled":                   {"Vote: Against\nReason: cost", "/against/Reason: cost"},
		"labelled, on something":     {"My vote on CWP-0012 is in favour", "/in_favour/"},
		"a word alone":               {"Yes\n", "/in_favour/"},
		"changed":                    {"I change my vote from in favour to against.", "/against/"},
		"changing":                   {"Changing our vote to abstain", "/abstain/"},
		"withdrawn":                  {"We withdraw our vote.", "//"},
		"a word in an answer":        {"Hello\nYes.", ""},
		"no as an answer":            {"No, the deadline is Friday.", ""},
		"for now":                    {"For now, no decision is needed.", ""},
		"would":                      {"I would vote against if the fee stays.", ""},
		"if":                         {"If we vote against, nothing happens.", ""},
		"not in favour of haste":     {"I am not in favour of haste, but see the text.", ""},
		"no idea":                    {"I no longer have the link.", ""},
		"for discussing":             {"We are for discussing it first.", ""},
		"a question":                 {"Who votes against?", ""},
		"members in general":         {"All members vote in favour, I guess.", ""},
		"options":                    {"Vote: in favour / against / abstain", ""},
		"options with or":            {"We vote in favour or against by Friday.", ""},
		"totals":                     {"In favour: 10, against: 2", ""},
		"quoted":                     {"> In favour.\n\nThank you for this.", ""},
		"prose about a proposal":     {"Support for CWP-12 grows.", ""},
		"a label that is not a name": {"Outcome: in favour", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, ok := stated(tt.text, false)
			got := ""
			if ok {
				got = s.voter + "/" + s.choice + "/" + s.reason
			}
			if got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestCallsForVotes(t *testing.T) {
	for text, want := range map[string]bool{
		"Please vote on CWP-12 in favour, against or abstain.\n\nIn favour: the text stands.": false,
		"Vote: yes": false,
		"+1":        false,
		"Foghorn Labs votes in favour of such things":                    false,
		"The vote is open until Friday.\n\nWe vote in favour ourselves.": true,
	} {
		if _, got := stated(text, true); got != want {
			t.Errorf("%q: a vote %t, want %t", text, got, want)
		}
	}
}

// TestTally plays a ballot: one entry for each voter, the last.
func TestTally(t *testing.T) {
	day := time.Date(2031, 5, 1, 9, 0, 0, 0, time.UTC)
	ada, bram, unknown := person{"Ada Quay", "ada@foghorn.example"}, person{"Bram Reed", "bram@kelp.example"},
		person{"member-1", "x@gannet.example"}
	var v tally
	for i, m := range []struct {
		from person
		text string
	}{
		{bram, "Please vote on CWP-12: in favour, against or abstain."},
		{ada, "In favour."},
		{ada, "On behalf of Foghorn Labs: against"}, // the organisation's, in place of her own
		{bram, "Kelpworks votes yes."},
		{unknown, "Abstain"},
		{ada, "I change our mind. We vote in favour, because the fee was lowered."},
		{person{"Cy Reed", "cy@kelp.example"}, "kelpworks: abstain"}, // a colleague's revote
		{bram, "Thanks all."},
		{person{"Secretary", "s@lists.example"},
			"For the record:\n\nBellbuoy Registry     in favour\nGannet Systems, Ltd.   no vote\nHarbour " +
				"Desk\tagainst   \"Too soon.\"\n\nIn favour 2, against 1"},
	} {
		v.add(m.from, m.text, day.Add(time.Duration(i)*time.Hour), "", i == 0)
	}
	var got []string
	for _, b := range v.list() {
		got = append(got, strings.Join([]string{b.Voter, b.Choice, b.Reason, b.CastAt.Format("15")}, "|"))
	}
	want := []string{
		"member-1|abstain||13", "Foghorn Labs|in_favour|because the fee was lowered|14", "kelpworks|abstain||15",
		"Bellbuoy Registry|in_favour||17", "Gannet Systems, Ltd|no_vote||17", "Harbour Desk|against|Too soon|17",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	v.add(bram, "We withdraw our vote.", day, "", false)
	if n := len(v.list()); n != len(want)-1 {
		t.Errorf("%d votes after one was withdrawn", n)
	}
}

func TestRecord(t *testing.T) {
	text := "| Voter | Vote |\n|---|---|\n| Aurelian Tidal Trust | in favour |\n| Dogger Bank Mutual | **against** " +
		"|\n| Votes | yes |\n* Isobar – abstain\nLodestar Custody - did not vote\n"
	var got []string
	for _, s := range record(text) {
		got = append(got, s.voter+" "+s.choice)
	}
	if diff := cmp.Diff([]string{"Aurelian Tidal Trust in_favour", "Dogger Bank Mutual against", "Isobar abstain",
		"Lodestar Custody no_vote"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func FuzzVotes(f *testing.F) {
	for _, seed := range []string{"In favour.", "I vote yes: x", "A  in favour\nB  against", "On behalf of x: -1",
		"Vote - \xff", "> +1", "I withdraw my vote", "x votes no. y abstains.", "+1 \"", "|a|0|(("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v tally
		v.add(person{"Ada", ""}, text, time.Time{}, "", false)
		v.add(person{"Ada", ""}, text, time.Time{}, "", false)
		voters := map[string]bool{}
		for _, b := range v.list() {
			if b.Voter == "" || voters[fold(b.Voter)] || b.Choice != inFavour && b.Choice != against &&
				b.Choice != abstain && b.Choice != noVote || len(b.Reason) > maxReason {
				t.Errorf("%q: %+v", text, v.list())
			}
			voters[fold(b.Voter)] = true
		}
	})
}
