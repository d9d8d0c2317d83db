package retrieval_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/index"
	"almanac/retrieval/ranking"
)

// plain returns an engine over the index of a fixture, which has not taken what came since,
// with what its configuration must have and nothing else.
func (f *fixture) plain(t *testing.T, profiles ...ranking.Profile) (*retrieval.Engine, error) {
	t.Helper()
	generation, err := f.store.OpenGeneration(t.Context(), index.Fingerprint(f.engines.Embedder.Model()))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	follower := index.New(index.Config{Store: f.store, Generation: generation, Engines: f.engines, Log: log})
	if err := follower.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	follower.MarkReady()
	return retrieval.New(retrieval.Config{Follower: follower, Relevance: retrieval.Relevance{Profiles: profiles}, Log: log})
}

// builtIn is the default profile.
func builtIn(t *testing.T) ranking.Profile {
	t.Helper()
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAnEngineNeedsNoMoreThanProfiles: without a clock it has the machine's, and without
// words known to be right any may be read as one of the corpus.
func TestAnEngineNeedsNoMoreThanProfiles(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	engine, err := f.plain(t, builtIn(t))
	if err != nil {
		t.Fatal(err)
	}
	request := retrieval.Request{Query: "clones"} // near "closes", and a word
	if res := f.search(t, request); len(res.Corrected) > 0 {
		t.Errorf("a known word is read as %v", res.Corrected)
	}
	res, err := engine.Search(t.Context(), request)
	if err != nil || len(res.Corrected) == 0 || len(res.Degraded) > 0 {
		t.Errorf("read as %v without %v, %v", res.Corrected, res.Degraded, err)
	}
	fees := f.search(t, retrieval.Request{Query: "traffic fees"}).Results[0].Record
	year := time.Now().Year()
	pin := retrieval.Pin{Query: "wallet", Places: []retrieval.Place{{ID: fees, Position: 1}},
		From:  ranking.Day{Time: time.Date(year-1, 1, 1, 0, 0, 0, 0, time.UTC)},
		Until: ranking.Day{Time: time.Date(year+2, 1, 1, 0, 0, 0, 0, time.UTC)}}
	err = engine.Publish(retrieval.Relevance{Profiles: []ranking.Profile{builtIn(t)}, Pins: []retrieval.Pin{pin}})
	if err != nil {
		t.Fatal(err)
	}
	res, err = engine.Search(t.Context(), retrieval.Request{Query: "wallet"})
	if err != nil || len(res.Results) == 0 || res.Results[0].Record != fees {
		t.Errorf("the pin of today is not in force: %q, %v", titles(res), err)
	}
}

// TestProfilesThatCannotBeUsedAreRefused: of the configuration when the engine begins, of a
// request as what its sender can mend.
func TestProfilesThatCannotBeUsedAreRefused(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, library()...)
	luck, other, empty := builtIn(t), builtIn(t), builtIn(t)
	luck.Fixed = map[string]float64{"luck": 1}
	other.Name = "other"
	empty.Lists = nil
	for _, tt := range []struct {
		name, want string
		profiles   []ranking.Profile
	}{
		{"a feature that there is not", "luck", []ranking.Profile{luck}},
		{"none that searches use", "no profile named", []ranking.Profile{other}},
		{"no list", "none of its retrievers", []ranking.Profile{empty}},
	} {
		if _, err := f.plain(t, tt.profiles...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
		r := retrieval.Request{Query: "traffic fees", Relevance: &retrieval.Relevance{Profiles: tt.profiles}}
		if _, err := f.engine.Search(t.Context(), r); !errors.Is(err, retrieval.ErrBadQuery) ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s, in a request: %v", tt.name, err)
		}
		if _, err := f.engine.Absent(t.Context(), r, 1); !errors.Is(err, retrieval.ErrBadQuery) {
			t.Errorf("%s, of a record: %v", tt.name, err)
		}
	}
	r := retrieval.Request{Query: "traffic fees", Facets: []string{"kind", "luck"}}
	if res, err := f.engine.Search(t.Context(), r); !errors.Is(err, retrieval.ErrBadQuery) || len(res.Results) > 0 {
		t.Errorf("counted by what there is not: %q, %v", titles(res), err)
	}
}

// TestAnAbsenceSaysWhatIsMissing: what the index has still to take and engines that took no
// part may be why a record is not found.
func TestAnAbsenceSaysWhatIsMissing(t *testing.T) {
	f := open(t, t.TempDir(), func(f *fixture) { f.engines.Vector = refusingVector{f.engines.Vector} })
	f.put(t, library()...)
	fees := f.search(t, retrieval.Request{Query: "traffic fees"}).Results[0].Record
	_, err := f.store.Apply(t.Context(), catalog.Batch{Source: "site", Entries: []catalog.Entry{
		{Record: catalog.Record{Kind: catalog.KindDoc, Key: "buoys", Title: "Buoys", Body: "Fees of buoys."}}}})
	if err != nil {
		t.Fatal(err)
	}
	buoys, err := f.store.Get(t.Context(), catalog.Ref{Kind: catalog.KindDoc, Key: "buoys"})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := f.plain(t, builtIn(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		record int64
		cause  retrieval.Cause
		want   []string
	}{
		{fees, retrieval.Present, []string{"Traffic fees: it is result", "still to take 1 changes", "without vector"}},
		{buoys.ID, retrieval.NotIndexed, []string{"no such record yet: it is 1 changes behind", "still to take 1 changes"}},
	} {
		a, err := engine.Absent(t.Context(), retrieval.Request{Query: "traffic fees"}, tt.record)
		if err != nil || a.Cause != tt.cause || a.Behind != 1 {
			t.Errorf("record %d: %+v, %v", tt.record, a, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(a.Text(), want) {
				t.Errorf("record %d lacks %q:\n%s", tt.record, want, a.Text())
			}
		}
	}
}

func TestTheShareThatIsFilled(t *testing.T) {
	for _, tt := range []struct {
		vectors, passages int
		want              float64
	}{{0, 0, 0}, {0, 8, 0}, {2, 8, 0.25}, {8, 8, 1}} { // of nothing, nothing is done
		if got := (retrieval.Filling{Vectors: tt.vectors, Passages: tt.passages}).Share(); got != tt.want {
			t.Errorf("%d of %d are %g, want %g", tt.vectors, tt.passages, got, tt.want)
		}
	}
}
