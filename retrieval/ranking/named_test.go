package ranking_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/retrieval/ranking"
)

// published saves a profile with a change and publishes it.
func published(t *testing.T, s ranking.Source, change func(*ranking.Profile)) {
	t.Helper()
	r, err := ranking.SaveProfile(t.Context(), s.Store, catalog.Revision{Data: written(t, s, change)})
	if err == nil {
		_, err = s.Store.Publish(t.Context(),
			catalog.Publication{Kind: catalog.ProfileRevision, Name: r.Name, Number: r.Number}, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestNamesAreText: NAME@NUMBER, which reads like no path.
func TestNamesAreText(t *testing.T) {
	for text, want := range map[string]ranking.Name{"harbour@14": {Profile: "harbour", Number: 14},
		"a.b-c@1": {Profile: "a.b-c", Number: 1}, "default": {}, "default@0": {}, "./default@3": {}, "default@": {}, "@3": {},
		"a@b@3": {}} {
		n, ok := ranking.ParseName(text)
		if n != want || ok != (want != ranking.Name{}) {
			t.Errorf("%s is %+v, %v", text, n, ok)
		}
		var read ranking.Name
		if err := read.UnmarshalText([]byte(text)); read != want || (err == nil) != ok {
			t.Errorf("%s is read as %+v, %v", text, read, err)
		}
		if written, err := n.MarshalText(); err != nil || ok && string(written) != text || !ok && len(written) > 0 {
			t.Errorf("%s is written as %s, %v", text, written, err)
		}
	}
	if none := (ranking.Name{Profile: "a", Number: 1}); none.UnmarshalText(nil) != nil || none != (ranking.Name{}) {
		t.Errorf("no name is read as %+v", none)
	}
}

// TestEachNameHasItsProfile: what is live has the published profile, what is configured has
// not, and all that can be tried is searched with as the default profile.
func TestEachNameHasItsProfile(t *testing.T) {
	s, _ := source(t)
	published(t, s, func(p *ranking.Profile) { p.RankK = 7 })
	publish(t, s.Store, catalog.SynonymsRevision, "hsm: [security module]\n")
	vectors := []string{"dense", "sparse"}
	keywords := []string{"keyword", "documents", "passages"}
	for _, tt := range []struct {
		name      string
		published bool // its rank constant is that of the published profile
		revision  int
		lists     []string // retrievers of which it may have lists; nil: any
		synonyms  bool
	}{
		{ranking.Live, true, 1, nil, true},
		{"default@1", true, 1, nil, true},
		{ranking.Configured, false, 0, nil, false},
		{ranking.KeywordOnly, true, 0, keywords, true},
		{ranking.VectorOnly, true, 0, vectors, true},
		{"dense", false, 0, vectors, true},
	} {
		n, err := s.Named(t.Context(), tt.name)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if n.Name != tt.name || n.Revision != tt.revision || (n.Profile.RankK == 7) != tt.published {
			t.Errorf("%s is %s, revision %d, rank_k %g", tt.name, n.Name, n.Revision, n.Profile.RankK)
		}
		if len(n.Profile.Lists) == 0 || slices.ContainsFunc(n.Profile.Lists, func(l ranking.List) bool {
			return tt.lists != nil && !slices.Contains(tt.lists, l.Retriever)
		}) {
			t.Errorf("%s has lists %+v", tt.name, n.Profile.Lists)
		}
		if _, ok := n.Relevance.Aliases["hsm"]; ok != tt.synonyms {
			t.Errorf("%s has spellings %v", tt.name, n.Relevance.Aliases)
		}
		if p := n.Relevance.Profiles; len(p) != 1 || p[0].Name != ranking.DefaultName || p[0].RankK != n.Profile.RankK {
			t.Errorf("%s searches with %+v", tt.name, p)
		}
	}
}

// TestAllNamesCanBeTried: what is offered is found, a saved profile among it, and nothing else.
func TestAllNamesCanBeTried(t *testing.T) {
	s, _ := source(t)
	published(t, s, func(p *ranking.Profile) { p.Name = "harbour" })
	names, err := s.Names(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range append(ranking.Names(), "harbour@1", ranking.Live, ranking.VectorOnly) {
		if !slices.Contains(names, want) {
			t.Errorf("%q lacks %s", names, want)
		}
	}
	for _, name := range names {
		if n, err := s.Named(t.Context(), name); err != nil || n.Name != name {
			t.Errorf("%s is %s (%v)", name, n.Name, err)
		}
	}
	for _, name := range []string{"harbour@2", "harbour@", "other@1", "other"} {
		if _, err := s.Named(t.Context(), name); !errors.Is(err, catalog.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAnEditedProfileIsTriedBeforeItIsSaved stands in place of the published one.
func TestAnEditedProfileIsTriedBeforeItIsSaved(t *testing.T) {
	s, _ := source(t)
	published(t, s, func(p *ranking.Profile) { p.RankK = 7 })
	n, err := s.Edited(t.Context(), written(t, s, func(p *ranking.Profile) { p.Name, p.RankK = "mine", 9 }))
	if err != nil || n.Profile.RankK != 9 || n.Revision != 0 || n.Relevance.Profiles[0].Name != ranking.DefaultName {
		t.Errorf("%+v, %v", n, err)
	}
	s.Base.Profiles = nil // nothing to search with
	if _, err := s.Named(t.Context(), ranking.Configured); err == nil || !strings.Contains(err.Error(), "no profile") {
		t.Errorf("without a default profile: %v", err)
	}
}

// TestRulesThatSayNothingAreRefused: each with a reason that names what is wrong.
func TestRulesThatSayNothingAreRefused(t *testing.T) {
	s, _ := source(t)
	for _, tt := range []struct {
		kind       catalog.RevisionKind
		data, want string
	}{
		{catalog.SynonymsRevision, "hsm: [\"\"]\n", `the group of "hsm" has an empty spelling`},
		{catalog.SynonymsRevision, "\" \": [module]\n", "an empty spelling"},
		{catalog.SynonymsRevision, "[hsm]\n", "synonyms"},
		{catalog.PinsRevision, "- query: tide\n", "a rule needs a query and places"},
		{catalog.PinsRevision, "- query: \" \"\n  places: [{record: \"doc:a\"}]\n", "a rule needs a query and places"},
		{catalog.PinsRevision, "- query: tide\n  places: [{record: gauge}]\n", `record "gauge" is not kind:key`},
		{catalog.PinsRevision, "- query: tide\n  places: [{record: \"doc:a\", position: -1}]\n", "position -1 is not"},
		{catalog.PinsRevision, "- query: tide\n  until: soon\n", `line 2: "soon" is not a date`},
		{catalog.ProfileRevision, "{", "not YAML"},
		{"luck", "", `no revisions of kind "luck"`},
	} {
		_, err := s.Relevance(t.Context(), catalog.Revision{Kind: tt.kind, Data: tt.data})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.data, err, tt.want)
		}
	}
	for _, open := range []string{"until:", "until: \"\"", "until: null"} { // for ever
		rules, err := ranking.ParsePins([]byte("- query: tide\n  " + open + "\n  places: [{record: \"doc:a\"}]\n"))
		if err != nil || len(rules) != 1 || !rules[0].Until.IsZero() {
			t.Errorf("%s: %+v, %v", open, rules, err)
		}
	}
}
