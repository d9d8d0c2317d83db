package api_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/kb/read"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// TestPassagesSayWhatTheyCite searches for a passage that names records, links to one by
// its address and names some that do not exist, and reads each cited record by its id.
func TestPassagesSayWhatTheyCite(t *testing.T) {
	const title = "Lock keeping"
	n := network.Network{Name: "harbour", Title: "Harbour", Proposals: tidewater}
	l := serve(t, n, func() time.Time { return now }, func(store *sqlstore.Store) {
		entry := func(kind catalog.Kind, key, title, body string, data any) catalog.Entry {
			encoded, err := catalog.Encode(data)
			if err != nil {
				t.Fatal(err)
			}
			return catalog.Entry{Record: catalog.Record{Kind: kind, Key: key, Title: title, Body: body, Data: encoded,
				Container: "harbour/quay"}}
		}
		berths := entry(catalog.KindCIP, "CIP-0007", "Berth tokens", "A berth is a token.", catalog.CIP{})
		berths.Aliases = []string{"PR-12"}
		page := entry(catalog.KindDoc, "locks.md", title, "The lock keeper opens the sluice after CIP-0007, which was "+
			"PR-12, and after harbour/quay#7, but not after CIP-0099, harbour/quay#98 or CIP-0007 again. See the rule on "+
			"[toll of the sluice](https://harbour.example.org/toll) and what the lock keeper does in #8.\n\n"+
			strings.Repeat("Ropes are coiled before the tide turns, and lamps are lit at dusk by whoever comes last. ", 40)+
			"\n\nAfter all see [signals at night](https://harbour.example.org/signals), too.", catalog.Doc{})
		page.Links = []catalog.Link{
			{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0020"},
				Snippet: "See the rule on [toll of the sluice](https://harbour.example.org/toll) and what the lock"},
			{Relation: catalog.Mentions, To: catalog.Ref{Kind: catalog.KindCIP, Key: "CIP-0021"},
				Snippet: "After all see [signals at night](https://harbour.example.org/signals), too."},
			{Relation: catalog.References, To: catalog.Ref{Kind: catalog.KindDoc, Key: "locks.md"},
				Snippet: "The lock keeper opens the sluice after"},
		}
		crowded := entry(catalog.KindDoc, "crowd.md", "Crowded quay", "The crowded quay follows ", catalog.Doc{})
		batch := catalog.Batch{Source: "docs", Entries: []catalog.Entry{berths, page,
			entry(catalog.KindCIP, "CIP-0020", "Sluice toll", "Tolls are paid.", catalog.CIP{}),
			entry(catalog.KindCIP, "CIP-0021", "Night signals", "Lamps are swung.", catalog.CIP{}),
			entry(catalog.KindIssue, "harbour/quay#7", "The bell is silent", "It rusts.", catalog.Issue{}),
			entry(catalog.KindPull, "harbour/quay#8", "Oil the bell", "With tallow.", catalog.Pull{})}}
		for i := range 12 {
			key := fmt.Sprintf("CIP-00%d", 40+i)
			crowded.Record.Body += key + ", "
			batch.Entries = append(batch.Entries, entry(catalog.KindCIP, key, "Moorings "+key, "Rope.", catalog.CIP{}))
		}
		batch.Entries = append(batch.Entries, crowded)
		if _, err := store.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
	}).ready(t)
	issue, pull := l.id(t, catalog.KindIssue, "harbour/quay#7"), l.id(t, catalog.KindPull, "harbour/quay#8")
	want := []read.Cite{{ID: "0007", Key: "CIP-0007", Title: "Berth tokens"},
		{ID: issue, Key: "harbour/quay#7", Title: "The bell is silent", ThirdParty: true},
		{ID: pull, Key: "harbour/quay#8", Title: "Oil the bell", ThirdParty: true},
		{ID: "0020", Key: "CIP-0020", Title: "Sluice toll"}}
	type item struct {
		Title, Passage string
		Cites          []read.Cite
	}
	cites := func(tool, args, of string) []read.Cite {
		t.Helper()
		text, failed := call(t, l.public, tool, args)
		type list struct{ Items []item }
		var answer struct {
			list
			Sources []list
		}
		if err := json.Unmarshal([]byte(text), &answer); failed || err != nil {
			t.Fatalf("%s %s: %s", tool, args, text)
		}
		for _, of := range answer.Sources {
			answer.Items = append(answer.Items, of.Items...)
		}
		for _, x := range answer.Items {
			if x.Passage == "" && x.Cites != nil {
				t.Errorf("%s: what is only listed cites %v", tool, x.Cites)
			}
		}
		at := slices.IndexFunc(answer.Items, func(x item) bool { return x.Title == of })
		if at < 0 {
			t.Fatalf("%s %s finds no %q: %s", tool, args, of, text)
		}
		return answer.Items[at].Cites
	}
	for _, tool := range []string{`search {"query":%q}`, `semantic_search {"query":%q}`, `full_context {"topic":%q}`} {
		name, args, _ := strings.Cut(tool, " ")
		if got := cites(name, fmt.Sprintf(args, "lock keeper sluice"), title); !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
		if got := cites(name, fmt.Sprintf(args, "crowded quay"), "Crowded quay"); len(got) != 8 {
			t.Errorf("%s: a passage cites %d records, want the first eight", name, len(got))
		}
	}
	for _, c := range want {
		text, failed := call(t, l.public, "get_doc", fmt.Sprintf(`{"id":%q}`, c.ID))
		var read struct{ Title string }
		if err := json.Unmarshal([]byte(text), &read); failed || err != nil || read.Title != c.Title {
			t.Errorf("%+v is read as %s", c, text)
		}
	}
	text, _ := call(t, l.public, "get_doc", fmt.Sprintf(`{"id":%s}`, l.id(t, catalog.KindDoc, "locks.md")))
	var whole item
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	all := append(want[:4:4], read.Cite{ID: "0021", Key: "CIP-0021", Title: "Night signals"})
	if !slices.Equal(whole.Cites, all) {
		t.Errorf("the whole text cites %+v, want %+v", whole.Cites, all)
	}
}
