package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/ingest"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

// taskSets are the sets of questions over a network, by what the name of their
// file adds, with what agents get: the least share of questions that the first
// answer solves, that three calls solve, and the most tokens read at the median.
// Of the reworded ones some find no document that answers (docs/reference/measurements.md).
var taskSets = []struct {
	suffix string
	figures
}{
	{"", figures{0.6, 0.9, 1250}},
	{"-seen", figures{0.6, 0.9, 1250}},
	{"-reworded", figures{0.6, 0.7, 1250}},
}

// task is a question with a checkable answer.
type task struct {
	Ask      string
	Answer   string // a regular expression; a space matches any white space
	In       string // a document that holds it: its path, or kind:key
	Reworded bool   // asked in other words than the document's, on purpose
}

func readTasks(t testing.TB, set string) []task {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "tasks", set+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var tasks []task
	if err := yaml.Unmarshal(text, &tasks); err != nil {
		t.Fatal(err)
	}
	return tasks
}

func (q task) pattern() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(q.Answer, " ", `\s+`))
}

// openPreset serves a network of the program, synced and indexed.
func openPreset(t testing.TB, name, corpus string) *library {
	t.Helper()
	n, err := networks.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	anchor := time.Date(2031, 6, 17, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return anchor }
	l := serve(t, n, clock, func(store *sqlstore.Store) {
		p := ingest.New(ingest.Config{Store: store, Network: n, Now: clock, CorpusDir: corpus, WorkDir: t.TempDir(),
			Connectors: connectors.All(anchor)})
		if _, err := p.Sync(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := p.Derive(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	return l.ready(t)
}

// sharedCorpus is a large snapshot beside the repository, if there is one.
func sharedCorpus(t testing.TB) string {
	t.Helper()
	shared := os.Getenv("ALMANAC_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "shared")
	}
	dir, err := filepath.Abs(filepath.Join(shared, "corpus"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.jsonl")); err != nil {
		t.Skipf("no snapshot directory: set ALMANAC_SHARED to a directory with corpus/manifest.jsonl (%v)", err)
	}
	return dir
}

// solution is how an agent solved a task.
type solution struct {
	task
	calls      int // that it took; 0 if four did not do
	characters int // read
}

// solve asks as a plain agent does: semantic_search and, until the answer is
// there, get_doc with what the first, the second and the third result name.
func (l *library) solve(t testing.TB, q task) solution {
	t.Helper()
	s := solution{task: q}
	read := func(tool, args string) (answer any, solved bool) {
		text, failed := call(t, l.public, tool, args)
		if failed {
			t.Fatalf("%s %s: %s", tool, args, text)
		}
		if err := json.Unmarshal([]byte(text), &answer); err != nil {
			t.Fatal(err)
		}
		s.calls++
		s.characters += utf8.RuneCountInString(text)
		return answer, q.pattern().MatchString(words(answer))
	}
	question, err := json.Marshal(map[string]string{"query": q.Ask})
	if err != nil {
		t.Fatal(err)
	}
	found, solved := read("semantic_search", string(question))
	for i := 0; i < 3 && !solved; i++ {
		id, ok := at(found, fmt.Sprintf("items.%d.read", i))
		if !ok {
			break
		}
		_, solved = read("get_doc", fmt.Sprintf(`{"id":%q}`, id))
	}
	if !solved {
		s.calls = 0
	}
	return s
}

// words are the texts of an answer, without the echo of the question.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			all = append(all, words(e))
		}
		return strings.Join(all, "\n")
	case map[string]any:
		var all []string
		for name, e := range v {
			if name != "query" {
				all = append(all, words(e))
			}
		}
		return strings.Join(all, "\n")
	}
	return ""
}

// figures are what the goals are stated in.
type figures struct {
	first, three float64
	tokens       int // at the median, a token being four characters
}

func figuresOf(all []solution) figures {
	var f figures
	var tokens []int
	for _, s := range all {
		if s.calls == 1 {
			f.first++
		}
		if 0 < s.calls && s.calls <= 3 {
			f.three++
		}
		tokens = append(tokens, s.characters/4)
	}
	n := float64(len(all))
	slices.Sort(tokens)
	return figures{f.first / n, f.three / n, tokens[len(tokens)/2]}
}

// TestAgentsFindAnswers holds how much of the sample an agent must read.
func TestAgentsFindAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("walks over the sample")
	}
	l := openPreset(t, "sample", "")
	for _, set := range taskSets {
		t.Run("sample"+set.suffix, func(t *testing.T) {
			tasks := readTasks(t, "sample"+set.suffix)
			all := l.solveAll(t, tasks)
			f := figuresOf(all)
			t.Logf("%.3f by the first answer, %.3f within three calls, %d tokens at the median", f.first, f.three, f.tokens)
			if f.first < set.first || f.three < set.three || f.tokens > set.tokens {
				t.Errorf("want %.3f, %.3f and at most %d", set.first, set.three, set.tokens)
				logSolutions(t, all)
			}
			l.holdsAllLean(t, tasks)
		})
	}
}

func (l *library) solveAll(t testing.TB, tasks []task) (all []solution) {
	t.Helper()
	for _, q := range tasks {
		l.holds(t, q)
		all = append(all, l.solve(t, q))
	}
	return all
}

// holdsAllLean fails if an item that a tool finds for a question says more than
// it needs to.
func (l *library) holdsAllLean(t testing.TB, tasks []task) {
	t.Helper()
	for _, tool := range []string{`search {"query":%q}`, `semantic_search {"query":%q}`, `full_context {"topic":%q}`} {
		name, args, _ := strings.Cut(tool, " ")
		for _, q := range tasks {
			l.holdsLean(t, name, fmt.Sprintf(args, q.Ask))
		}
	}
}

// besides is the maximum of characters of an item besides title, texts and what they cite.
const besides = 350

// holdsLean fails if an item of an answer says more than it needs to.
func (l *library) holdsLean(t testing.TB, tool, args string) {
	t.Helper()
	text, failed := call(t, l.public, tool, args)
	if failed {
		t.Fatalf("%s: %s", tool, text)
	}
	type items struct{ Items []map[string]json.RawMessage }
	var answer struct {
		items
		Sources []items
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	for _, list := range append(answer.Sources, answer.items) {
		for _, item := range list.Items {
			for _, name := range []string{"title", "passage", "snippet", "heading", "cites"} {
				delete(item, name)
			}
			if rest, err := json.Marshal(item); err != nil || utf8.RuneCount(rest) > besides {
				t.Errorf("%s: %d characters, %v: %s", tool, utf8.RuneCount(rest), err, rest)
			}
		}
	}
}

func logSolutions(t testing.TB, all []solution) {
	for _, s := range all {
		t.Logf("%d %5d  %s", s.calls, s.characters/4, s.Ask)
	}
}

// BenchmarkAgents prints what an agent reads over the sample and a snapshot.
func BenchmarkAgents(b *testing.B) {
	for _, network := range []string{"sample", "corpus"} {
		corpus := ""
		if network == "corpus" {
			corpus = sharedCorpus(b)
		}
		l := openPreset(b, network, corpus)
		for _, set := range taskSets {
			b.Run(network+set.suffix, func(b *testing.B) {
				tasks := readTasks(b, network+set.suffix)
				l.holdsAllLean(b, tasks)
				var all []solution
				for b.Loop() {
					all = l.solveAll(b, tasks)
				}
				f := figuresOf(all)
				b.ReportMetric(100*f.first, "first-%")
				b.ReportMetric(100*f.three, "three-%")
				b.ReportMetric(float64(f.tokens), "tokens-p50")
			})
		}
	}
}

// holds fails unless the document that a task names has its answer.
func (l *library) holds(t testing.TB, q task) {
	t.Helper()
	var records []catalog.Record
	kind, key, named := strings.Cut(q.In, ":")
	if named {
		if r, err := l.store.Get(t.Context(), catalog.Ref{Kind: catalog.Kind(kind), Key: key}); err == nil {
			records = append(records, r)
		}
	} else {
		var err error
		if records, err = l.store.ByPath(t.Context(), q.In); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range records {
		children, _, err := l.store.List(t.Context(), catalog.ListQuery{Parent: r.ID, WithBody: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range append(children, r) {
			if q.pattern().MatchString(x.Body) {
				return
			}
		}
	}
	t.Errorf("%d records named %s, none with %q", len(records), q.In, q.Answer)
}
