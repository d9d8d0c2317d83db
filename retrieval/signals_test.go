package retrieval_test

import (
	"errors"
	"strings"
	"testing"

	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// TestSignalsAreWhatASearchOrders: best first as the search has it, and with copies that the
// search shows as one, of which the preferred one is the one it shows.
func TestSignalsAreWhatASearchOrders(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	request := retrieval.Request{Query: "rotate keys backup", Explain: true}
	signals, err := f.engine.Signals(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	res := f.search(t, request)
	if len(signals) < 2 || len(signals) < res.Total {
		t.Fatalf("%d candidates of %d results", len(signals), res.Total)
	}
	first, second := signals[0], signals[1]
	if len(first.Copies) != 1 || first.Copies[0] != 1 || len(second.Copies) != 1 || second.Copies[0] != 0 {
		t.Errorf("copies are %v and %v, want each other", first.Copies, second.Copies)
	}
	shown, other := first, second
	if res.Results[0].Record == second.Record {
		shown, other = second, first
	}
	if shown.Record != res.Results[0].Record || len(res.Results[0].AlsoAt) != 1 ||
		res.Results[0].AlsoAt[0] != other.Record || shown.Preference <= other.Preference {
		t.Errorf("preference %d of what is shown and %d of its copy", shown.Preference, other.Preference)
	}
	place := map[int64]int{}
	for i, s := range signals {
		if i > 1 && len(s.Copies) > 0 {
			t.Errorf("record %d is a copy of %v", s.Record, s.Copies)
		}
		place[s.Record] = i
	}
	for i := 2; i < len(res.Results); i++ {
		if a, b := res.Results[i-1].Record, res.Results[i].Record; place[a] > place[b] {
			t.Errorf("the search has record %d before %d, the signals after it", a, b)
		}
	}
	// Normalised over the candidates of the query, the nearest text is above their mean.
	if first.Raw[ranking.Dense] <= 0 || first.Raw[ranking.Dense] > 1.001 || first.Z[ranking.Dense] <= 0 {
		t.Errorf("the cosine %g is normalised to %g", first.Raw[ranking.Dense], first.Z[ranking.Dense])
	}
}

// TestSignalsOfAProfileThatShowsEveryRecord has no copies.
func TestSignalsOfAProfileThatShowsEveryRecord(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	every, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	every.Collapse = 0
	signals, err := f.engine.Signals(t.Context(), retrieval.Request{Query: "rotate keys backup",
		Relevance: &retrieval.Relevance{Profiles: []ranking.Profile{every}}})
	if err != nil || len(signals) < 2 {
		t.Fatalf("%d candidates, %v", len(signals), err)
	}
	for _, s := range signals {
		if len(s.Copies) > 0 {
			t.Errorf("record %d has copies %v", s.Record, s.Copies)
		}
	}
}

// TestSignalsAreWholeOrNone: weights that are learnt without an engine would be those of
// the failure.
func TestSignalsAreWholeOrNone(t *testing.T) {
	f := open(t, t.TempDir(), func(f *fixture) { f.engines.Vector = refusingVector{f.engines.Vector} })
	_, err := f.engine.Signals(t.Context(), retrieval.Request{Query: "traffic fees"})
	if !errors.Is(err, retrieval.ErrNotReady) {
		t.Errorf("before the first index: %v", err)
	}
	f.put(t, library()...)
	if len(f.search(t, retrieval.Request{Query: "traffic fees"}).Results) == 0 {
		t.Error("a search does not go on without the engine")
	}
	signals, err := f.engine.Signals(t.Context(), retrieval.Request{Query: "traffic fees"})
	if err == nil || !strings.Contains(err.Error(), "incomplete without [vector]") || len(signals) > 0 {
		t.Errorf("%d signals, %v", len(signals), err)
	}
	if _, err := f.engine.Signals(t.Context(), retrieval.Request{Query: "?"}); !errors.Is(err, retrieval.ErrBadQuery) {
		t.Errorf("nothing to search for: %v", err)
	}
}
