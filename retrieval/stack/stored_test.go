package stack

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"almanac/catalog"
	"almanac/catalog/postgres"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/testing/meilitest"
	"almanac/testing/postgrestest"
	"almanac/testing/qdranttest"
	"almanac/testing/race"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.M{M: m}.Run()) }

// TestDocumentsFromTheCatalogAnswerAlike searches the sample, with its words and vectors on
// servers, in a process that has the documents in memory and in one that reads them from
// the catalog: first that reads, then that writes.
func TestDocumentsFromTheCatalogAnswerAlike(t *testing.T) {
	race.Skip(t)
	t.Run("file", func(t *testing.T) {
		store := openStore(t, t.TempDir())
		answerAlike(t, func() *sqlstore.Store { return store })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		database := postgrestest.Database(t)
		answerAlike(t, func() *sqlstore.Store {
			s, err := postgres.Open(t.Context(), postgres.Config{URL: database})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return s
		})
	})
}

func answerAlike(t *testing.T, catalogOf func() *sqlstore.Store) {
	store := catalogOf()
	n, err := networks.Load("sample")
	if err != nil {
		t.Fatal(err)
	}
	pipeline := ingest.New(ingest.Config{Store: store, Network: n, Now: time.Now, WorkDir: t.TempDir(),
		Connectors: connectors.All(time.Date(2031, 6, 17, 0, 0, 0, 0, time.UTC))})
	if _, err := pipeline.Sync(t.Context(), []string{"cips", "docs", "forum"}); err != nil {
		t.Fatal(err)
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Relevance: retrieval.Relevance{Profiles: []ranking.Profile{p}, Aliases: n.Aliases},
		Authority: n.Authority, Embed: Embed{Model: embed.Table}, Deadline: time.Minute,
		Keyword: Keyword{URL: meilitest.Start(t).URL, Index: "almanac"},
		Vector:  Vector{URL: "http://" + qdranttest.Start(t).Addr, Collection: "almanac"}}
	records, _, err := store.List(t.Context(), catalog.ListQuery{})
	if err != nil {
		t.Fatal(err)
	}
	// with returns another process's stack, which is complete.
	with := func(store *sqlstore.Store, reader, stored bool) *Stack {
		c, open := cfg, Open
		c.Store, c.Stored = store, stored
		if reader {
			c.Dir, open = t.TempDir(), OpenReader
		}
		s, err := open(t.Context(), c)
		if err == nil {
			err = s.CatchUp(t.Context(), true)
		}
		if err != nil {
			t.Fatal(err)
		}
		pins := []retrieval.Pin{{Query: "wallet fees", Places: []retrieval.Place{{ID: records[0].ID, Position: 1},
			{ID: records[1].ID, Position: 2}, {ID: 1 << 40, Position: 3}}}}
		err = s.Searcher.Publish(retrieval.Relevance{Profiles: cfg.Profiles, Aliases: cfg.Aliases, Pins: pins})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	writer := with(store, false, false)
	reader := with(catalogOf(), true, true)
	alike(t, "a reader", reader, writer, records)
	put(t, store, 0, 20)
	gone := catalog.Batch{Source: records[7].Source, Delete: []int64{records[7].ID}}
	if _, err := store.Apply(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Stack{writer, reader} {
		if err := s.CatchUp(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	res, err := reader.Searcher.Search(t.Context(), retrieval.Request{Query: "number12"})
	if err != nil || res.Total == 0 || res.Results[0].Title != "Page 12" {
		t.Errorf("a new document is not the first of %d, %v", res.Total, err)
	}
	alike(t, "a reader after changes", reader, writer, records)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	writer = with(store, false, true)
	put(t, store, 10, 30)
	if err := writer.CatchUp(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	memory := with(catalogOf(), true, false)
	alike(t, "a writer", writer, memory, records)
	for _, s := range []*Stack{reader, writer, memory} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// alike compares the answers of two stacks.
func alike(t *testing.T, what string, got, want *Stack, records []catalog.Record) {
	t.Helper()
	found := 0
	for _, r := range requests(records) {
		a, err := got.Searcher.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := want.Searcher.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		found += len(b.Results)
		d := cmp.Diff(b, a, cmpopts.IgnoreFields(retrieval.Response{}, "Took", "Timings"))
		if d != "" || len(a.Degraded) > 0 {
			t.Fatalf("%s: %+v, without %v (-documents in memory +in the catalog):\n%s", what, r, a.Degraded, d)
		}
	}
	if found < 200 {
		t.Errorf("%s: only %d results were compared", what, found)
	}
	for _, record := range []int64{records[3].ID, records[len(records)/2].ID, records[7].ID, 1 << 40} {
		for _, q := range []string{"traffic balance", `validator -traffic "port"`} {
			a, err := got.Searcher.Absent(t.Context(), retrieval.Request{Query: q}, record)
			if err != nil {
				t.Fatal(err)
			}
			b, err := want.Searcher.Absent(t.Context(), retrieval.Request{Query: q}, record)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(b, a); d != "" {
				t.Fatalf("%s: record %d for %s:\n%s", what, record, q, d)
			}
		}
	}
}

// requests ask for all that is read of documents.
func requests(records []catalog.Record) (all []retrieval.Request) {
	for _, q := range []string{"trafic balanse", "how to run a validator", "wallet fees", "CIP-0056", "SEQUENCE_GAP", "cway -restored", `"traffic balance"`,
		`validator "not in any text"`, `-"traffic balance" traffic -fees`, "kind:cip token standard"} {
		all = append(all,
			retrieval.Request{Query: q, Explain: true, Diversify: true, Distinct: true, Whole: 2, Joined: true,
				Facets: []string{"kind", "source", "container", "state"}},
			retrieval.Request{Query: q, Limit: 5, Offset: 5},
			retrieval.Request{Query: q, Plain: true, Typing: true})
		if !strings.Contains(q, "kind:") {
			all = append(all, retrieval.Request{Query: q, Filter: passage.Filter{Kinds: []string{"cip", "doc", "topic"},
				Since: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}})
		}
	}
	for i := 0; i < len(records); i += 1 + len(records)/12 {
		if title := records[i].Title; title != "" {
			all = append(all, retrieval.Request{Query: title, Plain: true, Explain: true, Distinct: true})
		}
	}
	return all
}

// TestNothingStandsInForServersWithoutDocuments: documents that stay in the catalog are not
// searched one by one while both servers are away, as those in memory are.
func TestNothingStandsInForServersWithoutDocuments(t *testing.T) {
	for _, stored := range []bool{false, true} {
		cfg := newConfig(t, 5)
		words, nearest := meilitest.Start(t), qdranttest.Start(t)
		cfg.Keyword, cfg.Embed = Keyword{URL: words.URL, Index: "almanac"}, Embed{Model: embed.Table}
		cfg.Vector, cfg.Stored = Vector{URL: "http://" + nearest.Addr, Collection: "almanac"}, stored
		s, err := Open(t.Context(), cfg)
		if err == nil {
			err = s.CatchUp(t.Context(), true)
		}
		if err != nil {
			t.Fatal(err)
		}
		if n := found(t, s.Searcher); n != 5 {
			t.Errorf("%d are found", n)
		}
		words.RequireKey("another")
		nearest.RequireKey("another")
		res, err := s.Searcher.Search(t.Context(), retrieval.Request{Query: "harbour beacon"})
		if stored && !errors.Is(err, retrieval.ErrUnavailable) || !stored && (err != nil || res.Total != 5) {
			t.Errorf("without servers, in the catalog %v: %d results, %v", stored, res.Total, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
