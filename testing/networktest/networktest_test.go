package networktest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/testing/networktest"
)

// fill brings a network into a catalog.
func fill(t *testing.T, file string) *sqlstore.Store {
	t.Helper()
	t.Chdir(os.TempDir()) // paths of a network file do not depend on it
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	networktest.Fill(t, store, file)
	return store
}

// proposals are the improvement proposals as key, state, raw status, type and
// category, and prerequisites.
func proposals(t *testing.T, store *sqlstore.Store, n network.Network) []string {
	t.Helper()
	records, _, err := store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP},
		WithBody: true})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, r := range records {
		data, err := catalog.Decode[catalog.CIP](r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(network.Statuses, r.State) {
			t.Errorf("%s is %s", r.Key, r.State)
		}
		if key, ok := n.Proposals.ParseID(n.Proposals.ID(r.Key)); !ok || key != r.Key {
			t.Errorf("the id of %s leads to %q", r.Key, key)
		}
		lines = append(lines, strings.TrimRight(strings.Join([]string{
			r.Key, r.State, data.RawStatus, r.Category, data.Category, strings.Join(data.Requires, " "),
		}, "|"), "|"))
	}
	slices.Sort(lines)
	return lines
}

func TestLIP(t *testing.T) {
	n, file := networktest.LIP(t)
	store := fill(t, file)
	want := []string{
		"LIP-002|Superseded|Replaced|Standards Track",
		"LIP-003|Final|Active|Process",
		"LIP-007|Final|Active|Standards Track||LIP-003",
		"LIP-012|Review|Candidate|Economics||LIP-007",
		"LIP-020|Withdrawn|Parked|Standards Track||LIP-012",
		"LIP-021|Rejected|Dropped|Standards Track",
		"LIP-10012|Draft|Idea|Process||LIP-003 LIP-012",
		"PR-11|Withdrawn|closed|Economics",
		"PR-9|Draft|open|Standards Track||LIP-012",
	}
	if diff := cmp.Diff(want, proposals(t, store, n)); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	links, err := store.LinksTo(t.Context(), catalog.Ref{Kind: catalog.KindCIP, Key: "LIP-012"})
	if err != nil || len(links) < 5 {
		t.Errorf("%d links to LIP-012, %v", len(links), err)
	}
	events, err := store.Events(t.Context(),
		catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindCIP, Key: "LIP-007"}})
	if err != nil {
		t.Fatal(err)
	}
	var history []string
	for _, e := range events {
		history = append(history, e.From+">"+e.To+" "+e.RawTo)
	}
	if diff := cmp.Diff([]string{"Review>Final Active", "Draft>Review Candidate", ">Draft Idea"}, history); diff != "" {
		t.Errorf("history of LIP-007 (-want +got):\n%s", diff)
	}
	grants := catalog.EventQuery{Ref: catalog.Ref{Kind: catalog.KindGrant}, Field: "state"}
	ended, err := store.Events(t.Context(), grants)
	if err != nil || len(ended) != 4 {
		t.Errorf("%d changes of grants, %v", len(ended), err)
	}
	kinds := map[catalog.Kind]int{}
	all, _, err := store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		kinds[r.Kind]++
	}
	for _, kind := range []catalog.Kind{
		catalog.KindGrant, catalog.KindDoc, catalog.KindMailThread, catalog.KindOperation, catalog.KindFAQ,
		catalog.KindProject,
	} {
		if kinds[kind] == 0 {
			t.Errorf("there is no %s", kind)
		}
	}
}

func TestEIP(t *testing.T) {
	n, file := networktest.EIP(t)
	store := fill(t, file)
	want := []string{
		"EIP-1559|Final|Final|Standards Track|Core|EIP-1 EIP-20",
		"EIP-1|Final|Living|Meta",
		"EIP-20000|Withdrawn|Stagnant|Standards Track|Interface|EIP-20",
		"EIP-20|Final|Final|Standards Track|ERC|EIP-1",
		"EIP-4844|Review|Last Call|Standards Track|Core|EIP-1559",
		"PR-7|Draft|open|Informational||EIP-1",
	}
	if diff := cmp.Diff(want, proposals(t, store, n)); diff != "" {
		t.Errorf("proposals (-want +got):\n%s", diff)
	}
	for tag, want := range map[string]int{
		"status:living": 1, "status:last call": 1, "type:core": 2, "type:standards track": 4,
	} {
		tagged := catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}, Tags: []string{tag}}
		_, total, err := store.List(t.Context(), tagged)
		if err != nil || total != want {
			t.Errorf("%d proposals have the tag %s, %v; want %d", total, tag, err, want)
		}
	}
}
