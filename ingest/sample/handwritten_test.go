package sample_test

import (
	"testing"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/calendar"
	"almanac/ingest/curated"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
	"almanac/testing/connectortest"
)

// handwritten reads the files below curated/ and calendar/.
func handwritten(t *testing.T, kind ingest.AnyKind, options map[string]any) (*connectortest.Source,
	connectortest.Result) {
	t.Helper()
	fsys, err := sample.FS(anchor)
	if err != nil {
		t.Fatal(err)
	}
	n, err := networks.Load("sample")
	if err != nil {
		t.Fatal(err)
	}
	s := connectortest.NewSource(t, connectortest.Config{Kind: kind, Files: fsys, Network: n, Options: options})
	s.Clock = anchor
	r := s.Sync()
	for _, p := range r.Problems {
		t.Errorf("%s: %s", p.Locator, p.Message)
	}
	return s, r
}

func counts(records []catalog.Record) map[catalog.Kind]int {
	n := map[catalog.Kind]int{}
	for _, r := range records {
		n[r.Kind]++
	}
	return n
}

func TestCuratedFiles(t *testing.T) {
	s, r := handwritten(t, curated.Kind, nil)
	want := map[catalog.Kind]int{
		catalog.KindProject: 14, catalog.KindRadar: 8, catalog.KindDeprecation: 12, catalog.KindFAQ: 12,
		catalog.KindEVMMapping:   10,
		catalog.KindAPIReference: 7, catalog.KindToolServer: 5, catalog.KindOnboarding: 6, catalog.KindPartner: 2,
		catalog.KindFoundation: 6,
	}
	got := counts(r.Records)
	for kind, least := range want { // the world may grow
		if got[kind] < least {
			t.Errorf("%d records are a %s, want at least %d", got[kind], kind, least)
		}
	}
	connectortest.Unchanged(t, s, r)

	// What they refer to among what the sample has from its snapshot is there.
	rest := synced(t)
	snapshot := map[catalog.Kind]bool{catalog.KindCIP: true, catalog.KindDoc: true, catalog.KindGrant: true}
	met := 0
	for _, rec := range r.Records {
		links, err := s.Store.LinksFrom(t.Context(), rec.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if !snapshot[l.To.Kind] {
				continue
			}
			met++
			if _, ok := rest.byRef[l.To]; !ok {
				t.Errorf("%s leads to %s, which is not there", rec.Ref(), l.To)
			}
		}
	}
	if met < 40 {
		t.Errorf("%d references", met)
	}
}

func TestFeaturedApps(t *testing.T) {
	fsys, err := sample.FS(anchor)
	if err != nil {
		t.Fatal(err)
	}
	apps, err := curated.Apps(fsys, curated.DefaultDir)
	if err != nil || len(apps) < 6 {
		t.Errorf("%d applications, %v", len(apps), err)
	}
}

func TestOperationsCalendar(t *testing.T) {
	s, r := handwritten(t, calendar.Kind, map[string]any{
		"file": "calendar/operations.yaml", "page": "https://example.org/causeway/operations",
		"environments": map[string]any{"mainnet": []any{"main network"}, "baynet": []any{"testnet"},
			"shoalnet": []any{"devnet"},
			"reefnet":  []any{"rehearsal network"}},
		"components": map[string]any{
			"node":   map[string]any{"words": []any{"causeway node"}, "release": "release-notes/node/{version}.md"},
			"wallet": map[string]any{"words": []any{"causeway wallet"}, "release": "release-notes/wallet/{version}.md"},
		},
	})
	connectortest.Unchanged(t, s, r)
	single, calls, releases := 0, 0, 0
	rest := synced(t)
	for _, rec := range r.Records {
		data := connectortest.Data[catalog.Operation](t, rec)
		if data.Series == "operators-call" {
			calls++
			continue
		}
		single++
		links, err := s.Store.LinksFrom(t.Context(), rec.ID, catalog.References)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range links {
			if _, ok := rest.byRef[l.To]; !ok && rec.StartsAt.Before(anchor) {
				t.Errorf("%s leads to %s, which is not there", rec.Ref(), l.To)
			}
			releases++
		}
	}
	if single < 14 || calls < 60 || releases < 6 {
		t.Errorf("%d single events, %d calls, %d links with releases", single, calls, releases)
	}
	upgrade := r.Get(t, catalog.KindOperation, "protocol-5-mainnet")
	data := connectortest.Data[catalog.Operation](t, upgrade)
	if upgrade.Category != catalog.OperationSynchronizerUpgrade || upgrade.Container != "mainnet" ||
		data.MinimumVersion != "2.6.1" || !data.Validators {
		t.Errorf("%+v, %+v", upgrade, data)
	}
}
