package ranking_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlite"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
)

// source is a catalog with one record, over the built-in profile.
func source(t *testing.T) (ranking.Source, int64) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	ref := catalog.Ref{Kind: catalog.KindDoc, Key: "a"}
	_, err = store.Apply(t.Context(), catalog.Batch{Source: "docs", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: ref.Kind, Key: ref.Key, Title: "A"}}}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := store.Get(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	return ranking.Source{Store: store, Base: retrieval.Relevance{Profiles: []ranking.Profile{p},
		Aliases: map[string][]string{"sv": {"super validator"}}}}, r.ID
}

func TestPublishedStandsBeforeConfigured(t *testing.T) {
	s, id := source(t)
	p := s.Base.Profiles[0]
	p.RankK = 7
	data, err := yaml.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for kind, data := range map[catalog.RevisionKind]string{
		catalog.ProfileRevision:  string(data),
		catalog.SynonymsRevision: "hsm: [security module]\n",
		catalog.PinsRevision: "- query: a\n  until: 2030-01-31\n  places:\n  - {record: \"doc:a\", position: 1}\n" +
			"  - {record: \"doc:gone\", position: 2}\n",
	} {
		r, err := s.Store.SaveRevision(t.Context(), catalog.Revision{Kind: kind, Data: data})
		if err != nil {
			t.Fatal(err)
		}
		if kind == catalog.PinsRevision { // tried below
			continue
		}
		if _, err := s.Store.Publish(t.Context(), catalog.Publication{Kind: kind, Number: r.Number}, 0); err != nil {
			t.Fatal(err)
		}
	}
	s.Base.Transformer = &ranking.Profile{} // what is published stands before it too
	got, err := s.Relevance(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Transformer != nil {
		t.Error("an index with vectors of a transformer is not searched with what is published")
	}
	if got.Profiles[0].RankK != 7 || got.Profiles[0].Name != ranking.DefaultName || len(got.Pins) != 0 {
		t.Errorf("rank_k %g, %d pins", got.Profiles[0].RankK, len(got.Pins))
	}
	want := map[string][]string{"sv": {"super validator"}, "hsm": {"security module"}}
	if d := cmp.Diff(want, got.Aliases); d != "" || len(s.Base.Aliases) != 1 {
		t.Errorf("aliases (-want +got):\n%s", d)
	}
	pins, err := s.Store.Revision(t.Context(), catalog.PinsRevision, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err = s.Relevance(t.Context(), pins)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Pins) != 1 || len(got.Pins[0].Places) != 1 || got.Pins[0].Places[0].ID != id ||
		got.Pins[0].Until.Day() != 31 {
		t.Errorf("pins are %+v", got.Pins)
	}
	if _, err := s.Store.Publish(t.Context(), catalog.Publication{Kind: catalog.ProfileRevision}, 0); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Relevance(t.Context()); err != nil || got.Profiles[0].RankK == 7 {
		t.Errorf("without a published profile: rank_k %g, %v", got.Profiles[0].RankK, err)
	}
}

// FuzzRules reads any text as synonyms and pins, and what it writes of them again.
func FuzzRules(f *testing.F) {
	f.Add([]byte("hsm: [security module]\n"))
	f.Add([]byte("- query: a\n  from: 2030-01-01\n  places: [{record: \"doc:a\", position: 0}]\n"))
	f.Add([]byte("- query: \"\\0\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = ranking.ParseSynonyms(data)
		rules, err := ranking.ParsePins(data)
		if err != nil {
			return
		}
		written, err := yaml.Marshal(rules)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ranking.ParsePins(written)
		if err != nil || len(again) != len(rules) {
			t.Errorf("%q became %q: %v", data, written, err)
		}
	})
}
