package proposal_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/ingest/proposal"
)

// step is an event in short: day, raw and mapped words, where from.
type step struct {
	Day              int
	RawFrom, RawTo   string
	From, To         string
	Via, Key, Commit string
}

func TestEvents(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2031, 1, d, 0, 0, 0, 0, time.UTC) }
	ref := catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0001"}
	header := func(d int, to string) catalog.Event {
		return catalog.Event{Ref: ref, At: day(d), RawTo: to, Commit: "h", Via: proposal.ViaHeader}
	}
	index := func(d int, to string) catalog.Event {
		return catalog.Event{Ref: ref, At: day(d), RawTo: to, Commit: "i", Via: proposal.ViaIndex}
	}
	for name, c := range map[string]struct {
		changes []catalog.Event
		want    []step
	}{
		"moves backwards are kept": {
			[]catalog.Event{header(1, "Draft"), header(2, "Approved"),
				header(3, "Proposed"), header(4, "Draft")},
			[]step{{1, "", "Draft", "", "Draft", "header", "", "h"}, {2, "Draft", "Approved", "Draft", "Review",
				"header", "", "h"},
				{3, "Approved", "Proposed", "Review", "Review", "header", "", "h"},
				{4, "Proposed", "Draft", "Review", "Draft", "header", "", "h"}},
		},
		"a renamed file repeats nothing": {
			[]catalog.Event{header(1, "Proposed"), header(2, "proposed"), header(3, "Final")},
			[]step{{1, "", "Proposed", "", "Review", "header", "", "h"}, {3, "Proposed", "Final", "Review", "Final",
				"header", "", "h"}},
		},
		"the index has the history before the file": {
			[]catalog.Event{index(1, "Active"), index(2, "Withdrawn"), header(5, "Final"),
				index(6, "Draft")},
			[]step{{1, "", "Active", "", "Final", "index", "", "i"}, {2, "Active", "Withdrawn", "Final", "Withdrawn",
				"index", "", "i"},
				{5, "Withdrawn", "Final", "Withdrawn", "Final", "header", "", "h"}},
		},
		"the header's word wins over the same of the index": {
			[]catalog.Event{index(1, "Active"), index(2, "Final"), header(5, "Final")},
			[]step{{1, "", "Active", "", "Final", "index", "", "i"}, {5, "Active", "Final", "Final", "Final", "header",
				"", "h"}},
		},
		"in one commit the header comes first": {
			[]catalog.Event{index(1, "Draft"), header(1, "Proposed")},
			[]step{{1, "", "Proposed", "", "Review", "header", "", "h"}},
		},
		"a blank header says nothing": {
			[]catalog.Event{index(1, "Active"), header(2, ""), index(3, "Final")},
			[]step{{1, "", "Active", "", "Final", "index", "", "i"}, {3, "Active", "Final", "Final", "Final", "index",
				"", "i"}},
		},
		"without a file the index is all": {
			[]catalog.Event{index(1, "Draft"), index(2, "Withdrawn")},
			[]step{{1, "", "Draft", "", "Draft", "index", "", "i"}, {2, "Draft", "Withdrawn", "Draft", "Withdrawn",
				"index", "", "i"}},
		},
		"any order of the changes will do": {
			[]catalog.Event{header(4, "Final"), index(1, "Rejected"), header(2, "Draft")},
			[]step{{1, "", "Rejected", "", "Rejected", "index", "", "i"}, {2, "Rejected", "Draft", "Rejected", "Draft",
				"header", "", "h"},
				{4, "Draft", "Final", "Draft", "Final", "header", "", "h"}},
		},
		"nothing": {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []step
			for _, e := range slices.Concat((proposal.Reader{Network: testNetwork()}).Events(c.changes)...) {
				if e.Ref.Key != "CIP-0001" || e.Field != "status" {
					t.Errorf("event of %s %s", e.Ref, e.Field)
				}
				got = append(got, step{e.At.Day(), e.RawFrom, e.RawTo, e.From, e.To, e.Via, "", e.Commit})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGrantEvents(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2031, 1, d, 0, 0, 0, 0, time.UTC) }
	pull := func(state string, first, last, merged int) catalog.PullRequest {
		p := catalog.PullRequest{Number: 7, State: state, MergeCommit: "m"}
		for d, at := range map[int]*string{first: &p.FirstCommit, last: &p.LastCommit, merged: &p.MergedAt} {
			if d > 0 {
				*at = day(d).Format(time.RFC3339)
			}
		}
		return p
	}
	type change struct {
		Day           int
		From, To, Via string
	}
	for name, c := range map[string]struct {
		pull          catalog.PullRequest
		opened, ended time.Time
		want          []change
	}{
		"open": {pull("open", 2, 5, 0), time.Time{}, time.Time{},
			[]change{{2, "", "open", "pull"}}},
		"merged": {pull("merged", 2, 5, 6), time.Time{}, time.Time{},
			[]change{{2, "", "open", "pull"}, {6, "open", "merged", "pull"}}},
		"merged with a forge's dates": {pull("merged", 2, 5, 6), day(3), day(7),
			[]change{{3, "", "open", "pull"}, {7, "open", "merged", "pull"}}},
		"closed, as far as git says": {pull("closed", 2, 5, 0), time.Time{}, time.Time{},
			[]change{{2, "", "open", "pull"}, {5, "open", "closed", "last_commit"}}},
		"closed with a forge's date": {pull("closed", 2, 5, 0), day(1), day(9),
			[]change{{1, "", "open", "pull"}, {9, "open", "closed", "pull"}}},
		"commits after the merge": {pull("merged", 8, 9, 6), time.Time{}, time.Time{},
			[]change{{6, "", "merged", "pull"}}},
		"without any date": {pull("merged", 0, 0, 0), time.Time{}, time.Time{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []change
			for _, e := range proposal.GrantEvents(c.pull, c.opened, c.ended, "https://forge.example/7") {
				if e.Ref.String() != "proposal 7" || e.Field != "state" || e.URL != "https://forge.example/7" {
					t.Errorf("event %+v", e)
				}
				got = append(got, change{e.At.Day(), e.From, e.To, e.Via})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
