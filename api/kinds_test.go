package api_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
)

// A kind that is added is told apart everywhere: it has a page, and what people
// say is marked as theirs.
func TestEveryKindIsToldApart(t *testing.T) {
	pages := map[catalog.Kind]int{}
	for _, k := range kb.PageKinds {
		pages[k.Kind]++
	}
	for _, info := range catalog.Kinds {
		if pages[info.Kind] != 1 {
			t.Errorf("%s has %d rows of pages", info.Kind, pages[info.Kind])
		}
		conversation := slices.Contains(
			[]catalog.Role{catalog.RoleThread, catalog.RoleWork, catalog.RoleMessage}, info.Role)
		if conversation && !kb.ThirdParty(catalog.Record{Kind: info.Kind}) {
			t.Errorf("%s would be quoted as the network's own", info.Kind)
		}
	}
}

// maxSmallList is what the tools of a network with proposals and documents alone may
// take of a model's context, in bytes of JSON.
const maxSmallList = 20_000

// TestToolsAreThoseOfWhatThereIs fills the catalog of a network source by source: all
// tools are listed until each has run, then those that have records to answer from.
func TestToolsAreThoseOfWhatThereIs(t *testing.T) {
	var store *sqlstore.Store
	n := network.Network{Name: "causeway", Title: "Causeway", Proposals: tidewater,
		Sources: []network.Source{{Name: "cips", Kind: "proposals"}, {Name: "docs", Kind: "docs"}}}
	l := serve(t, n, func() time.Time { return now }, func(s *sqlstore.Store) { store = s }).ready(t)
	list := func(query string) (names []string, size int) {
		t.Helper()
		w := do(l.public, "POST", "/mcp"+query, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		var a struct {
			Result struct{ Tools []struct{ Name string } }
		}
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		for _, tool := range a.Result.Tools {
			names = append(names, tool.Name)
		}
		return names, w.Body.Len()
	}
	ran := func(source string, kinds ...catalog.Kind) {
		t.Helper()
		b := catalog.Batch{Source: source}
		for _, k := range kinds {
			key := source + "/" + string(k)
			b.Entries = append(b.Entries, catalog.Entry{Record: catalog.Record{Kind: k, Key: key, Title: key, Path: key}})
		}
		if _, err := store.Apply(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		if err := store.SetSource(t.Context(), catalog.SourceState{Name: source, LastRun: now}); err != nil {
			t.Fatal(err)
		}
	}
	if names, _ := list(""); len(names) != 86 {
		t.Errorf("%d tools before anything is read", len(names))
	}
	ran("cips", catalog.KindCIP, catalog.KindAttachment)
	if names, _ := list(""); len(names) != 86 {
		t.Errorf("%d tools before everything is read", len(names))
	}
	ran("docs", catalog.KindDoc)
	names, size := list("")
	if size > maxSmallList {
		t.Errorf("the %d tools of proposals and documents have %d bytes, more than %d", len(names), size, maxSmallList)
	}
	t.Logf("%d tools in %d bytes: %s", len(names), size, strings.Join(names, " "))
	for tool, want := range map[string]bool{"search": true, "get_doc": true, "get_cip": true, "get_cip_attachments": true,
		"get_cip_votes": false, "get_defi_pools": false, "get_network_state": false} {
		if slices.Contains(names, tool) != want {
			t.Errorf("%s is listed: %t", tool, !want)
		}
	}
	if all, _ := list("?toolsets=all"); len(all) != 87 {
		t.Errorf("%d tools in all", len(all))
	}
	ran("docs", catalog.KindDoc, catalog.KindMailThread)
	if names, _ = list(""); !slices.Contains(names, "get_cip_votes") {
		t.Error("the list does not follow the catalog")
	}
}

// TestToolsSayWhatTheyAnswerFrom names those that answer from everything.
func TestToolsSayWhatTheyAnswerFrom(t *testing.T) {
	everything := []string{"diagnose_error", "full_context", "get_doc", "get_network_stats", "search", "semantic_search"}
	var got []string
	for _, o := range operations() {
		if o.Tool != "" && len(o.Kinds) == 0 {
			got = append(got, o.Tool)
		}
	}
	if slices.Sort(got); !slices.Equal(got, everything) {
		t.Errorf("tools of no kind: %v, want %v", got, everything)
	}
}
