package eval_test

import (
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/embed"
	"almanac/embed/static"
	"almanac/embed/transformer"
	"almanac/embed/wordpiece"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
	"almanac/retrieval"
	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/eval"
	"almanac/retrieval/index"
	keyword "almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	vector "almanac/retrieval/vector/embedded"
	"almanac/retrieval/workbench"
	"almanac/testing/race"
)

var update = flag.Bool("update", false, "write the answers of docs/sample.md as they are now")

// anchor is the day that the fictional network's dates hang on.
var anchor = time.Date(2031, 6, 17, 0, 0, 0, 0, time.UTC)

// TestRankings holds what the rankings of two networks promise; testing/contract has the rankings themselves.
func TestRankings(t *testing.T) {
	race.Skip(t)
	table, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	sampled := openRanker(t, "sample", "", table)
	t.Run("judged", func(t *testing.T) {
		holdJudged(t, sampled)
	})
	t.Run("page", func(t *testing.T) {
		holdPage(t, sampled)
	})
	t.Run("codes", func(t *testing.T) {
		holdCodes(t, sampled, "")
	})
	t.Run("tuning", func(t *testing.T) {
		if testing.Short() {
			t.Skip("indexes a whole snapshot; not with -short")
		}
		dir := filepath.Join(shared(t), "corpus")
		if _, err := os.Stat(filepath.Join(dir, "manifest.jsonl")); err != nil {
			t.Skipf("there is no snapshot: %v", err)
		}
		holdTuning(t, openRanker(t, "corpus", dir, table))
	})
}

// holdJudged holds that words alone do not answer the sample's judged queries, and that nearly all results are judged.
func holdJudged(t *testing.T, r *ranker) {
	c, err := eval.LoadFS(sample.Judged(), "sample")
	if err != nil {
		t.Fatal(err)
	}
	names, err := workbench.Names(t.Context(), r.store, c)
	if err != nil {
		t.Fatal(err)
	}
	if missing := eval.Missing(c, names, 0); missing != "" {
		t.Error(missing)
	}
	measured := func(profile string) eval.Report {
		t.Helper()
		report, err := eval.Run(t.Context(), r.Engine, c, eval.Options{Profile: profile, Names: names})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	words, whole := measured("keyword"), measured(ranking.DefaultName)
	if words.NDCG10 >= .75 || whole.NDCG10 < words.NDCG10+.05 {
		t.Errorf("nDCG@10 is %.3f by words alone and %.3f by the default profile", words.NDCG10, whole.NDCG10)
	}
	if whole.Judged10 < .9 {
		t.Errorf("%.2f of the first ten results are judged: judge the rest", whole.Judged10)
	}
}

// tried are the questions of the sample's page.
var tried = []string{
	"can an issuer spend my tokens with a preapproval?",
	"CIP17",
	`STORAGE_COLLATION: database "node" has collation C.UTF-8, want C`,
	"delegatd confirmaton hosted partys",
	"why were 1,912 offers stuck for 71 hours",
	"who voted against paying apps by traffic",
	"erc20 approve and transferFrom",
	"how do I leave the JSON gateway",
	"when will operators be paid for availability",
	"prove that I paid without a screenshot",
}

// samplePage tells the sample's story and shows what comes first.
const samplePage = "../../docs/sample.md"

// holdPage compares the answers that the page shows with those of the search.
func holdPage(t *testing.T, r *ranker) {
	before, rest, begun := strings.Cut(read(t, samplePage), "-update -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end")
	if !begun || !ended {
		t.Fatal("the page has no place for answers")
	}
	text := &strings.Builder{}
	for i, question := range tried {
		res, err := r.Engine.Search(t.Context(), retrieval.Request{Query: question, Limit: 1, Diversify: true})
		if err != nil || len(res.Results) == 0 {
			t.Fatalf("%s: %v, %v", question, res.Results, err)
		}
		first := res.Results[0]
		name := r.names[first.Record]
		fmt.Fprintf(text, "%d. **%s**\n   - %s\n   - `%s`\n   - %s\n", i+1, question, first.Title, name,
			line(first.Snippet))
	}
	page := before + "-update -->\n" + text.String() + "<!-- end" + after
	if *update {
		if err := os.WriteFile(samplePage, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page != read(t, samplePage) {
		t.Errorf("%s shows other answers than\n%s", samplePage, text)
	}
}

// TestErrorCodesByTheTransformer is the subtest codes of TestRankings over the
// vectors of the transformer.
func TestErrorCodesByTheTransformer(t *testing.T) {
	race.Skip(t)
	if !transformer.Fast() {
		t.Skip("this processor takes seconds for a passage")
	}
	known, err := embed.ReadVectors(sample.Vectors)
	if err != nil {
		t.Fatal(err)
	}
	model, err := transformer.New()
	if err != nil {
		t.Fatal(err)
	}
	cache := embed.NewCache(model, embed.CacheConfig{Known: known})
	defer cache.Close()
	holdCodes(t, openRanker(t, "sample", "", cache), ranking.TransformerName)
}

// holdCodes types each error code that the sample explains: what explains it is first, and
// opens at its heading.
func holdCodes(t *testing.T, r *ranker, profile string) {
	const path = "docs/node/reference/error-codes.md"
	records, _, err := r.store.List(t.Context(), catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindDoc}, WithBody: true})
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(records, func(x catalog.Record) bool { return x.Path == path })
	if at < 0 {
		t.Fatal("there is no page of codes")
	}
	n := 0
	for _, h := range passage.NewOutline(records[at].Title, records[at].Body).Headings() {
		if analysis.CoinedTerm(h.Text) == "" {
			continue
		}
		n++
		for _, query := range []string{h.Text, strings.ToLower(h.Text)} {
			if !strings.Contains(query, "_") && query != h.Text {
				continue // a word like others
			}
			res, err := r.Engine.Search(t.Context(), retrieval.Request{Query: query, Profile: profile, Diversify: true})
			if err != nil || len(res.Results) == 0 {
				t.Fatalf("%s: %v, %v", query, res.Results, err)
			}
			first := res.Results[0]
			if r.names[first.Record] != path || first.Anchor != h.Name || !strings.HasSuffix(first.Heading, " › "+h.Text) {
				t.Errorf("%s opens %s#%s, %s", query, r.names[first.Record], first.Anchor, first.Heading)
			}
		}
	}
	if n < 25 {
		t.Errorf("the page explains %d codes", n)
	}
}

// line is the beginning of a snippet in one line of Markdown.
func line(snippet string) string {
	words := strings.Fields(strings.NewReplacer("<", "&lt;", "|", " ", "*", "").Replace(snippet))
	short := ""
	for _, w := range words {
		if len(short)+len(w) > 100 {
			return strings.TrimSpace(short) + " …"
		}
		short += w + " "
	}
	return strings.TrimSpace(short)
}

// TestSampleIsJudgedEvenly counts what the sample's judged queries are made of.
func TestSampleIsJudgedEvenly(t *testing.T) {
	c, err := eval.LoadFS(sample.Judged(), "sample")
	if err != nil {
		t.Fatal(err)
	}
	kinds, judgments, zeros := map[string]int{}, 0, 0
	for _, q := range c.Queries {
		kinds[q.Kind]++
		answers := 0
		for id, grade := range c.Judgments[q.ID] {
			judgments++
			switch {
			case grade < 0 || grade > 3:
				t.Errorf("%s: %s has the grade %d", q.ID, id, grade)
			case grade == 0:
				zeros++
			case grade == 3:
				answers++
			}
		}
		if answers == 0 {
			t.Errorf("%s: nothing answers %q", q.ID, q.Text)
		}
	}
	if len(c.Queries) != 80 || len(kinds) != 8 || judgments < 4*80 || zeros < 80 {
		t.Errorf("%d queries, %d judgments with %d zeros", len(c.Queries), judgments, zeros)
	}
	for kind, n := range kinds {
		if n != 10 {
			t.Errorf("%d queries of kind %s", n, kind)
		}
	}
}

// shared is the directory with collections and snapshots beside the
// repository.
func shared(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("ALMANAC_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(filepath.Dir(dir), "shared")
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test")
		}
		dir = parent
	}
}

// ranker searches a network that was synced and indexed for the tests.
type ranker struct {
	*retrieval.Engine
	network    network.Network
	store      *sqlstore.Store
	generation int64
	follower   *index.Follower
	names      map[int64]string // of records: the path or, where that is not theirs alone, kind:key
}

// Indexed is for what works on an index.
func (r *ranker) Indexed() (int64, *corpus.Corpus, error) {
	return r.generation, r.follower.Corpus(), nil
}

// openRanker brings a network's sources into a catalog and indexes it in
// memory, with the parts that the program is made of.
func openRanker(t *testing.T, name, snapshot string, model embed.Embedder) *ranker {
	t.Helper()
	ctx, log := t.Context(), slog.New(slog.DiscardHandler)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now := func() time.Time { return anchor }
	n, err := networks.Load(name)
	must(err)
	store, err := sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(t.TempDir(), "catalog.db"), Now: now})
	must(err)
	t.Cleanup(func() { store.Close() })
	pipeline := ingest.New(ingest.Config{Store: store, Network: n, Now: now, CorpusDir: snapshot, WorkDir: t.TempDir(),
		Connectors: connectors.All(anchor)})
	_, err = pipeline.Sync(ctx, nil)
	must(err)
	if snapshot == "" { // the snapshot's goldens are of what its files say
		must(pipeline.Derive(ctx))
	}
	k, err := keyword.Open(keyword.Config{Log: log})
	must(err)
	v, err := vector.Open(vector.Config{Dimensions: model.Dimensions(), Model: model.Model(), Log: log})
	must(err)
	generation, err := store.OpenGeneration(ctx, index.Fingerprint(model.Model()))
	must(err)
	follower := index.New(index.Config{Store: store, Generation: generation,
		Engines: index.Engines{Keyword: k, Vector: v, Embedder: model}, Now: now, Log: log})
	must(follower.Load(ctx))
	_, err = follower.CatchUp(ctx)
	must(err)
	follower.MarkReady()
	p, err := ranking.Load(ranking.DefaultName)
	must(err)
	words, err := ranking.Load("keyword")
	must(err)
	fitted, err := ranking.Load(ranking.TransformerName)
	must(err)
	r := &ranker{network: n, store: store, generation: generation.ID, follower: follower,
		names: map[int64]string{}}
	r.Engine, err = retrieval.New(retrieval.Config{Follower: follower, Relevance: retrieval.Relevance{
		Profiles: []ranking.Profile{p, words, fitted}},
		Authority: n.Authority, IsWord: wordpiece.IsWord, Deadline: time.Minute, Log: log})
	must(err)
	records, _, err := store.List(ctx, catalog.ListQuery{})
	must(err)
	of := map[string]int{}
	for _, rec := range records {
		of[rec.Path]++
	}
	for _, rec := range records {
		r.names[rec.ID] = rec.Path
		if of[rec.Path] > 1 || rec.Path == "" {
			r.names[rec.ID] = string(rec.Kind) + ":" + rec.Key
		}
	}
	return r
}
