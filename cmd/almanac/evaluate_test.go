package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/sqlite"
	"almanac/cmd/config"
	"almanac/retrieval/profile"
	"almanac/retrieval/workbench"
	"almanac/testing/race"
)

// inProcess runs the program in this process.
func inProcess(t *testing.T, environ []string, args ...string) (out, errOut string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = runMain(t.Context(), args, append([]string{"HOME=" + t.TempDir()}, environ...), &o, &e)
	return o.String(), e.String(), code
}

// succeed is inProcess for what must not fail.
func succeed(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	out, errOut, code := inProcess(t, environ, args...)
	if code != 0 {
		t.Fatalf("almanac %s: exit code %d: %s", strings.Join(args, " "), code, errOut)
	}
	return out
}

// writeJudged writes an invented collection: queries take three words of the
// document they seek, which other documents have too.
func writeJudged(t *testing.T, dir string, documents, queries int, seed uint64) string {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 4))
	var corpus, asked, qrels strings.Builder
	enc := json.NewEncoder(&corpus)
	for d := range documents {
		body := make([]string, 30)
		for i := range body {
			body[i] = words[r.IntN(len(words))]
		}
		if err := enc.Encode(map[string]string{"_id": fmt.Sprintf("d%02d", d), "title": body[0] + " " + body[1],
			"text": strings.Join(body, " ")}); err != nil {
			t.Fatal(err)
		}
		if d >= queries {
			continue
		}
		text, kind := strings.Join([]string{body[0], body[1], body[7]}, " "), "short"
		if d%2 == 0 {
			text, kind = "where is the "+body[0]+" with the "+body[7]+" and the "+body[12]+" of the "+body[20]+"?",
				"long"
		}
		fmt.Fprintf(&asked, `{"_id":"q%02d","text":%q,"kind":%q}`+"\n", d, text, kind)
		fmt.Fprintf(&qrels, "q%02d\td%02d\t2\nq%02d\td%02d\t0\n", d, d, d, (d+1)%documents)
	}
	for name, text := range map[string]string{"corpus.jsonl": corpus.String(), "queries.jsonl": asked.String(),
		"qrels.tsv": qrels.String()} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

type reportKeys map[string]any

func (r reportKeys) ndcg() float64 { return r["ndcg10"].(float64) }

func TestEvalPrintsTheContract(t *testing.T) {
	race.Skip(t)
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 40, 12, 1)
	var one reportKeys
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--stack", "embedded")),
		&one); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"collection", "profile", "queries", "ndcg10", "recall100", "mrr", "judged10", "p50_ms",
		"p99_ms", "kinds"} {
		if _, ok := one[key]; !ok {
			t.Errorf("one profile: no %s in %v", key, slices.Sorted(maps.Keys(one)))
		}
	}
	if one["collection"] != "harbour" || one["profile"] != "default" || one["queries"] != 12. ||
		one["comparison"] != nil || one["answers"] != nil {
		t.Errorf("report %v", one)
	}
	if kinds := one["kinds"].(map[string]any); len(kinds) != 2 || kinds["long"].(map[string]any)["queries"] != 6. {
		t.Errorf("kinds %v", kinds)
	}
	if one.ndcg() < 0.5 || one["ndcg10_low"].(float64) > one.ndcg() || one["ndcg10_high"].(float64) < one.ndcg() {
		t.Errorf("nDCG@10 %v from %v to %v", one.ndcg(), one["ndcg10_low"], one["ndcg10_high"])
	}
	var several []reportKeys
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--profile", "default,dense",
		"--answers")), &several); err != nil {
		t.Fatal(err)
	}
	if len(several) != 2 || several[0]["comparison"] != nil || several[0]["answers"] == nil ||
		several[0].ndcg() != one.ndcg() {
		t.Fatalf("two profiles: %v", several)
	}
	c, ok := several[1]["comparison"].(map[string]any)
	if !ok || c["against"] != "default" || c["p"].(float64) <= 0 || c["p"].(float64) > 1 {
		t.Errorf("comparison %v", c)
	}
	if d := several[1].ndcg() - several[0].ndcg(); d-c["ndcg10_difference"].(float64) > 1e-9 {
		t.Errorf("difference %v, want %v", c["ndcg10_difference"], d)
	}
}

// TestEvalEmbedsOnce evaluates the same documents twice with a transformer: what it made
// of them the first time is kept, and gives the same figures.
func TestEvalEmbedsOnce(t *testing.T) {
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 40, 2, 1)
	model := newModelServer(t, nil)
	data := t.TempDir()
	var asked []int64
	var figures []float64
	for range 2 {
		before := model.texts.Load()
		var r reportKeys
		if err := json.Unmarshal([]byte(succeed(t, model.settings(), "eval", "--judged", dir, "--json", "--data", data)),
			&r); err != nil {
			t.Fatal(err)
		}
		asked, figures = append(asked, model.texts.Load()-before), append(figures, r.ndcg())
	}
	if asked[0] < 40 || asked[1] > 10 || figures[0] != figures[1] {
		t.Errorf("texts embedded %v, nDCG@10 %v", asked, figures)
	}
}

func TestEvalHoldsAFloor(t *testing.T) {
	race.Skip(t)
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 40, 12, 1)
	var r reportKeys
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--floor", "ndcg10=.5,mrr=0.5")),
		&r); err != nil {
		t.Fatal(err)
	}
	// One document is relevant to each query, and it is found.
	out, errOut, code := inProcess(t, nil, "eval", "--judged", dir, "--json", "--floor", "p10=.12", "--floor", "mrr=.1")
	want := "almanac: harbour, default: P@10 is 0.1000, 0.0200 under its floor of 0.1200\n"
	if err := json.Unmarshal([]byte(out), &r); code != 1 || !strings.HasSuffix(errOut, want) || err != nil {
		t.Errorf("exit code %d: %s, want %s; %v of %s", code, errOut, want, err, out)
	}
}

func TestEvalMeasuresFilesOfOneNameApart(t *testing.T) {
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 40, 12, 1)
	a, b := filepath.Join(t.TempDir(), "a.yaml"), filepath.Join(t.TempDir(), "b.yaml")
	list := "name: default\nlists: [{retriever: %s, weight: 1, depth: 100}]\nrank_k: 60\norder: fusion\n"
	writeFile(t, a, fmt.Sprintf(list, "documents"))
	writeFile(t, b, fmt.Sprintf(list+"floor: -1\n", "dense"))
	var reports []reportKeys
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--profile", a, "--profile", b,
		"--profile", "keyword")), &reports); err != nil {
		t.Fatal(err)
	}
	if reports[0].ndcg() == reports[1].ndcg() || reports[0].ndcg() != reports[2].ndcg() || reports[0]["profile"] != a {
		t.Errorf("a %v, b %v, like a %v", reports[0].ndcg(), reports[1].ndcg(), reports[2].ndcg())
	}
}

func TestEvalExchangesRuns(t *testing.T) {
	race.Skip(t)
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 40, 12, 1)
	out := t.TempDir()
	var searched, imported []reportKeys
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--profile", "default,dense",
		"--run", filepath.Join(out, "run.txt"))), &searched); err != nil {
		t.Fatal(err)
	}
	runs := []string{filepath.Join(out, "run-default.txt"), filepath.Join(out, "run-dense.txt")}
	first, err := os.ReadFile(runs[0])
	if err != nil {
		t.Fatal(err)
	}
	if fields := strings.Fields(string(first)); len(fields) < 6 || fields[0] != "q00" || fields[1] != "Q0" ||
		fields[3] != "1" || fields[5] != "almanac-default" {
		t.Errorf("the run begins with %.60q", first)
	}
	if err := json.Unmarshal([]byte(succeed(t, nil, "eval", "--judged", dir, "--json", "--import-run", runs[0],
		"--import-run", runs[1])), &imported); err != nil {
		t.Fatal(err)
	}
	for i := range searched {
		for _, key := range []string{"ndcg10", "recall100", "mrr", "judged10"} {
			if searched[i][key] != imported[i][key] {
				t.Errorf("%s of run %d: %v searched, %v imported", key, i, searched[i][key], imported[i][key])
			}
		}
	}
	t.Run("of one report to the name given", func(t *testing.T) {
		path := filepath.Join(out, "one.txt")
		succeed(t, nil, "eval", "--judged", dir, "--run", path)
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, first) {
			t.Errorf("differs from the other run of this profile (%v)", err)
		}
	})
	t.Run("with other judgments", func(t *testing.T) {
		qrels := filepath.Join(out, "trec.txt")
		writeFile(t, qrels, "q01 0 d01 1\nq02 0 nowhere 1\n")
		out, errOut, code := inProcess(t, nil, "eval", "--judged", dir, "--qrels", qrels)
		if code != 0 || !strings.Contains(out, "harbour") ||
			!strings.Contains(errOut, "1 of 2 relevant documents are not indexed") {
			t.Errorf("exit code %d: %s%s", code, out, errOut)
		}
	})
	t.Run("of other queries is refused", func(t *testing.T) {
		path := filepath.Join(out, "other.txt")
		writeFile(t, path, "q99 Q0 d01 1 1 t\n")
		if _, errOut, code := inProcess(t, nil, "eval", "--judged", dir, "--import-run", path); code != 1 ||
			!strings.Contains(errOut, "ranks nothing") {
			t.Errorf("exit code %d: %s", code, errOut)
		}
	})
}

func TestEvalStages(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	a := writeJudged(t, filepath.Join(dir, "harbour"), 40, 12, 1)
	b := writeJudged(t, filepath.Join(dir, "canal"), 30, 10, 2)
	lines := strings.Split(succeed(t, nil, "eval", "--stages", "--markdown", "--judged", a, "--judged", b), "\n")
	want := []string{"| stage, nDCG@10 | harbour | canal | mean |", "|---|---|---|---|", "| keyword (", "| passages (",
		"| dense (", "| rrf (", "| rerank (", "| default | ", "", "| stage, recall@100 |"}
	for i, prefix := range want {
		if !strings.HasPrefix(lines[i], prefix) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], prefix)
		}
	}
	if strings.Count(lines[7], "–") != 2 {
		t.Errorf("%q lacks intervals", lines[7])
	}
}

func TestEvalOverTheDataDirectory(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	f := writeFixture(t, filepath.Join(dir, "fixture"), 40)
	env := []string{"ALMANAC_CORPUS=" + f.corpus}
	network := []string{"--network", f.network, "--data", filepath.Join(dir, "data")}
	judged := filepath.Join(dir, "judged")
	writeFile(t, filepath.Join(judged, "queries.jsonl"),
		fmt.Sprintf(`{"_id":"a","text":%q}`+"\n"+`{"_id":"b","text":%q}`, only(29), only(30)))
	writeFile(t, filepath.Join(judged, "qrels.tsv"), "a\tmanual/page-029.md\t3\nb\tmanual/page-030.md\t3\n")
	if _, errOut, code := inProcess(t, env, append(network, "eval", "--queries", judged)...); code != 1 ||
		!strings.Contains(errOut, "almanac sync") {
		t.Errorf("before a sync: exit code %d: %s", code, errOut)
	}
	succeed(t, env, append(network, "sync")...)
	var r reportKeys
	if err := json.Unmarshal([]byte(succeed(t, env, append(network, "eval", "--queries", judged, "--json")...)),
		&r); err != nil || r.ndcg() != 1 {
		t.Errorf("nDCG@10 %v (%v), want 1", r, err)
	}
	// Runs are kept with the case of the collection's name.
	save := append(network, "eval", "--queries", judged, "--profile", "default,keyword", "--save")
	if _, errOut, code := inProcess(t, env, save...); code != 1 || !strings.Contains(errOut, `case "judged"`) {
		t.Errorf("without a case: exit code %d: %s", code, errOut)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Config{Path: datadir.File(filepath.Join(dir, "data"))})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	c, err := store.PutCase(t.Context(), catalog.Case{Name: "judged"}, "ada")
	if err != nil {
		t.Fatal(err)
	}
	succeed(t, append(env, "USER=ci"), save...)
	runs, err := workbench.ListRuns(t.Context(), store, c.ID, 0)
	if err != nil || len(runs) != 2 || runs[1].Profile != "default" || runs[1].Report.NDCG10 != 1 || runs[0].By != "ci" ||
		runs[0].Generation == 0 || runs[0].Model == "" || runs[0].Version == "" {
		t.Errorf("kept %+v (%v)", runs, err)
	}
	// Outside the pool nothing is ranked.
	writeFile(t, filepath.Join(judged, "pool.txt"), "manual/page-029.md\nmanual/page-031.md\n")
	if err := json.Unmarshal([]byte(succeed(t, env, append(network, "eval", "--queries", judged, "--json")...)),
		&r); err != nil || r.ndcg() != .5 {
		t.Errorf("with a pool: nDCG@10 %v (%v), want 0.5", r, err)
	}
}

func TestEvalRefusesWhatItCannotMean(t *testing.T) {
	dir := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 10, 5, 1)
	other := writeJudged(t, filepath.Join(t.TempDir(), "harbour"), 10, 5, 2)
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no collection for another network", []string{"eval", "--network", "canton"}, 2, "--judged or --queries"},
		{"two collections of one name", []string{"eval", "--judged", dir, "--judged", other}, 2, "named harbour"},
		{"an unknown stack", []string{"eval", "--judged", dir, "--stack", "borrowed"}, 2, "--stack"},
		{"relevance from grade 0", []string{"eval", "--judged", dir, "--relevant-from", "0"}, 2, "--relevant-from"},
		{"one profile twice", []string{"eval", "--judged", dir, "--profile", "dense,dense"}, 2, "dense is given twice"},
		{"stages of two profiles", []string{"eval", "--judged", dir, "--stages", "--profile", "default,rrf"}, 2,
			"one profile"},
		{"stages of a stage", []string{"eval", "--judged", dir, "--stages", "--profile", "rrf"}, 2, "rrf is a stage"},
		{"JSON and Markdown", []string{"eval", "--judged", dir, "--json", "--markdown"}, 2, "markdown"},
		{"a floor of nothing", []string{"eval", "--judged", dir, "--floor", "ndcg=.5"}, 2, `no measure "ndcg"`},
		{"keeping what is not in the data directory", []string{"eval", "--judged", dir, "--save"}, 2, "data directory only"},
		{"answers without a search", []string{"eval", "--judged", dir, "--import-run", "x", "--answers"}, 2,
			"--import-run"},
		{"an unknown profile", []string{"eval", "--judged", dir, "--profile", "nope"}, 1, "nope"},
		{"a run that is not there", []string{"eval", "--judged", dir, "--import-run", "nowhere"}, 1, "nowhere"},
		{"one fold", []string{"tune", "--judged", dir, "--folds", "1"}, 2, "two folds"},
		{"no penalty", []string{"tune", "--judged", dir, "--l2", "0"}, 2, "above 0"},
		{"a profile without weights", []string{"tune", "--judged", dir, "--profile", "rrf"}, 2, "no weights"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, errOut, code := inProcess(t, nil, tt.args...)
			if code != tt.code || !strings.Contains(errOut, tt.want) || out != "" {
				t.Errorf("exit code %d, want %d: %s%s", code, tt.code, out, errOut)
			}
		})
	}
}

// TestTuneRepeats holds that a tuned profile is the same to the byte however
// often it is made, and that it can be searched by.
func TestTuneRepeats(t *testing.T) {
	race.Skip(t)
	dir := t.TempDir()
	a := writeJudged(t, filepath.Join(dir, "harbour"), 60, 40, 1)
	b := writeJudged(t, filepath.Join(dir, "canal"), 40, 3, 2)
	var before []byte
	var printed string
	path := filepath.Join(dir, "tuned.yaml")
	args := []string{"tune", "--judged", a, "--judged", b, "--classes", "--l2", "0.01,0.1", "--seed", "7", "--out", path}
	_, errOut, code := inProcess(t, nil, args...)
	if _, err := os.Stat(path); code != 1 || err == nil || !strings.Contains(errOut, "no better on queries that it has not seen") {
		t.Errorf("a fit that does not hold: exit code %d, %v: %s", code, err, errOut)
	}
	for range 2 {
		out, errOut, code := inProcess(t, nil, append(args, "--force")...)
		if code != 0 || !strings.Contains(errOut, "canal: only 3 queries for 5 folds") {
			t.Fatalf("exit code %d: %s", code, errOut)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && (!bytes.Equal(before, data) || printed != out) {
			t.Errorf("the second time:\n%s%s\nthe first:\n%s%s", out, data, printed, before)
		}
		before, printed = data, out
		os.Remove(path)
	}
	for _, want := range []string{"OUT OF FOLD", "COLLECTION LEFT OUT", "CLASS OF QUERY", "OWN WEIGHTS FOR",
		"document_bm25"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the report lacks %q:\n%s", want, printed)
		}
	}
	var learned workbench.Learned
	data := succeed(t, nil, "tune", "--judged", a, "--judged", b, "--classes", "--l2", "0.01,0.1", "--seed", "7", "--json")
	if err := json.Unmarshal([]byte(data), &learned); err != nil || learned.All.Queries != 43 || len(learned.Parts) != 2 ||
		learned.All.Low > learned.All.Difference || learned.Penalty == 0 || len(learned.Weights) == 0 {
		t.Errorf("as JSON: %+v, %v", learned, err)
	}
	p, err := profile.Parse(before)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "tuned" || p.Version < 2 || len(p.Weights) < 5 ||
		!strings.Contains(p.Provenance, "harbour, canal; 5 folds, seed 7") {
		t.Errorf("profile %+v", p)
	}
	writeFile(t, path, string(before))
	if _, errOut, code := inProcess(t, nil, "eval", "--judged", a, "--profile", path+",default"); code != 0 ||
		strings.Count(errOut, "was fitted to harbour") != 1 {
		t.Errorf("eval of what it was fitted to: exit code %d: %s", code, errOut)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".new-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestTheProfileFollowsTheEmbeddingModel(t *testing.T) {
	for _, tt := range []struct {
		environ []string
		want    string
	}{
		{nil, "default"},
		{[]string{"ALMANAC_EMBED_URL=http://127.0.0.1:11434", "ALMANAC_EMBED_MODEL=all-minilm"}, "transformer"},
		{[]string{"ALMANAC_EMBED_URL=http://127.0.0.1:11434", "ALMANAC_EMBED_MODEL=all-minilm",
			"ALMANAC_SEARCH_PROFILE=rrf"}, "rrf"},
	} {
		c, _, err := config.Load("", tt.environ, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ProfileName(); got != tt.want {
			t.Errorf("%v: profile %s, want %s", tt.environ, got, tt.want)
		}
	}
}
