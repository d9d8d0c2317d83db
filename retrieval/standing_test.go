package retrieval_test

import (
	"slices"
	"testing"

	"almanac/catalog"
	"almanac/embed"
	"almanac/embed/transformer"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/ranking"
	vectorembedded "almanac/retrieval/vector/embedded"
)

// openSaltmarsh indexes a network that gives no authority to any source or kind, of
// proposals with what was answered to them, and of projects of which some are over:
// with the model of a profile.
func openSaltmarsh(t *testing.T, profileName string, more ...catalog.Record) *fixture {
	t.Helper()
	f := open(t, t.TempDir(), func(f *fixture) {
		f.authority = nil
		if profileName != "transformer" {
			return
		}
		model, err := transformer.New()
		if err != nil {
			t.Fatal(err)
		}
		f.engines.Embedder = embed.NewCache(model, embed.CacheConfig{}) // as every stack has it
		f.engines.Vector, err = vectorembedded.Open(vectorembedded.Config{Dimensions: model.Dimensions(),
			Model: model.Model()})
		if err != nil {
			t.Fatal(err)
		}
	})
	err := eval.ReadDocuments("eval/testdata/short", func(d eval.Document) error {
		more = append(more, catalog.Record{Kind: catalog.Kind(d.Kind), Key: d.ID, Path: d.ID, Title: d.Title,
			Body: d.Text, State: d.State})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	f.put(t, more...)
	return f
}

// keysOf are the keys of the results.
func (f *fixture) keysOf(t *testing.T, r retrieval.Request) (keys []string) {
	t.Helper()
	for _, x := range f.search(t, r).Results {
		record, err := f.store.ByID(t.Context(), x.Record)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, record.Key)
	}
	return keys
}

// TestWhatSaysLittleStandsBehind: a reply of a few words behind the proposal that it
// answers, a project that is over behind one that is not, by the profiles of both
// models.
func TestWhatSaysLittleStandsBehind(t *testing.T) {
	judged, err := eval.Load("eval/testdata/short")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ranking.DefaultName, "transformer"} {
		f := openSaltmarsh(t, name)
		for _, q := range judged.Queries {
			keys := f.keysOf(t, retrieval.Request{Query: q.Text, Profile: name, Limit: 50})
			best := slices.IndexFunc(keys, func(key string) bool { return judged.Judgments[q.ID][key] == 3 })
			for i, key := range keys {
				if grade, ok := judged.Judgments[q.ID][key]; ok && grade == 0 && (best < 0 || i < best) {
					t.Errorf("%s: %q finds %v: %s before what it is about", name, q.Text, keys[:i+1], key)
				}
			}
		}
		// Who names it looks for it.
		if keys := f.keysOf(t, retrieval.Request{Query: "periwinkle purse", Profile: name}); keys[0] != "purse-app-retired" {
			t.Errorf("%s: the purse that is over is not found by its name: %v", name, keys)
		}
	}
}

// TestWithoutWordsNothingIsMeant: what is nothing but a name is found by it, and not
// by meaning.
func TestWithoutWordsNothingIsMeant(t *testing.T) {
	for _, name := range []string{ranking.DefaultName, "transformer"} {
		f := openSaltmarsh(t, name, catalog.Record{Kind: catalog.KindAttachment, Key: "plan", Title: "mooring-plan.png",
			Path: "smp-0014/mooring-plan.png"})
		silent := []string{"plan"}
		if err := eval.ReadDocuments("eval/testdata/short", func(d eval.Document) error {
			if d.Text == "+1" {
				silent = append(silent, d.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, query := range []string{"a plan of the moorings", "key rotation of gauges"} {
			for _, key := range f.keysOf(t, retrieval.Request{Query: query, Profile: "dense", Limit: 50}) {
				if slices.Contains(silent, key) {
					t.Errorf("%s: %q finds %s by meaning", name, query, key)
				}
			}
		}
		if keys := f.keysOf(t, retrieval.Request{Query: "mooring-plan.png", Profile: name}); keys[0] != "plan" {
			t.Errorf("%s: its name finds %v", name, keys)
		}
	}
}
