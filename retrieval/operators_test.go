package retrieval_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword/meili"
	"almanac/retrieval/passage"
	"almanac/retrieval/vector/qdrant"
	"almanac/testing/meilitest"
	"almanac/testing/qdranttest"
)

// noKeyword names the stack whose keyword engine hangs.
const noKeyword = "without the keyword engine"

// run runs a test over a stack, in a bubble if it would wait.
func run(t *testing.T, name string, test func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		if name == noKeyword {
			synctest.Test(t, test)
			return
		}
		test(t)
	})
}

// stacks are the kinds of engines that a search must answer alike on.
var stacks = map[string]func(*testing.T) option{
	"engines in the program": func(*testing.T) option { return func(*fixture) {} },
	"engines on servers": func(t *testing.T) option {
		words, vectors := meilitest.Start(t), qdranttest.Start(t)
		return func(f *fixture) {
			var err error
			f.engines.KeywordServer, f.engines.VectorServer = true, true
			f.engines.Keyword, err = meili.Open(t.Context(),
				meili.Config{URL: words.URL, Index: "x", Generation: 1, Owner: "test"})
			if err != nil {
				t.Fatal(err)
			}
			f.engines.Vector, err = qdrant.Open(t.Context(), qdrant.Config{Addr: vectors.Addr, Collection: "x",
				Generation: 1, Owner: "test", Dimensions: f.engines.Embedder.Dimensions(),
				Model: f.engines.Embedder.Model()})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := f.engines.Keyword.Close(); err != nil {
					t.Error(err)
				}
				if err := f.engines.Vector.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	},
	"a sparse list": func(*testing.T) option {
		return func(f *fixture) {
			f.engines.Vector = sparseVector{f.engines.Vector, map[analysis.TermID][]passage.ID{}}
		}
	},
	noKeyword: func(*testing.T) option {
		return func(f *fixture) {
			f.engines.Keyword = hangingKeyword{f.engines.Keyword, make(chan struct{}, 100)}
		}
	},
	"without the vector engine": func(*testing.T) option {
		return func(f *fixture) { f.engines.Vector = refusingVector{f.engines.Vector} }
	},
}

// manual is a library in which every document is near every query in meaning.
func manual() []catalog.Record {
	return append(library(),
		catalog.Record{Key: "k2", Title: "Key backup",
			Body: "Operators rotate their keys and store a backup in two places."},
		catalog.Record{Key: "k3", Title: "Rotating keys", Body: "Operators rotate their keys every\nquarter."},
		catalog.Record{Key: "k4", Title: "Keys of operators", Body: "How operators of a node rotate the keys: " +
			"by the every-quarter plan."},
		catalog.Record{Key: "k5", Title: "Old keys",
			Body: "Rotate the keys of operators at the quarter of every year."},
		catalog.Record{Key: "k6", Title: "A backup plan", Body: "# Keys\n\nOperators rotate keys.\n\n# Backup\n\n" +
			strings.Repeat("Another section that is long enough to be a passage of its own. ", 30)})
}

// TestOperatorsHoldForEveryResult: an excluded word is in no result and a phrase
// is in each, whoever found it.
func TestOperatorsHoldForEveryResult(t *testing.T) {
	for name, stack := range stacks {
		run(t, name, func(t *testing.T) {
			f := open(t, t.TempDir(), stack(t))
			f.put(t, manual()...)
			if f.engines.KeywordServer {
				f.index(t)
			}
			for _, c := range []struct {
				query string
				want  []string // titles, sorted
			}{
				{"rotate keys -backup", []string{"Keys of operators", "Old keys", "Rotating keys"}},
				{"rotate keys -Backups -year", []string{"Keys of operators", "Rotating keys"}},
				{"keys -operators", nil},
				{`rotate keys -"a node"`, []string{"A backup plan", "Key backup", "Key rotation", "Old keys",
					"Rotating keys"}},
				{`rotate "every quarter"`, []string{"Key rotation", "Keys of operators", "Rotating keys"}},
				{`"every quarter" -mirror -plan`, []string{"Key rotation", "Rotating keys"}},
				{`"rotate their keys" "two places"`, []string{"Key backup", "Key rotation"}},
				{`"quarter every"`, nil},
				{`"operators of a node"`, []string{"Keys of operators"}},
				{`"keys of operators" rotate`, []string{"Keys of operators", "Old keys"}},
			} {
				res := f.search(t, retrieval.Request{Query: c.query, Limit: 50})
				got := titles(res)
				slices.Sort(got)
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: %q, want %q", c.query, got, c.want)
				}
				if res.Total != len(got) {
					t.Errorf("%s: total %d of %d", c.query, res.Total, len(got))
				}
			}
		})
	}
}

// TestAnExclusionSparesWhatWritesIt: -word leaves out what has the word, and not what writes
// -word, as what explains a command does.
func TestAnExclusionSparesWhatWritesIt(t *testing.T) {
	for name, stack := range stacks {
		run(t, name, func(t *testing.T) {
			f := open(t, t.TempDir(), stack(t))
			f.put(t, catalog.Record{Key: "a", Title: "Unpacking",
				Body: "Unpack the snapshot with `tar -xvf`.\n\n-group\nis set."},
				catalog.Record{Key: "b", Title: "Pictures", Body: "An xvf is a picture of a snapshot, not a group."},
				catalog.Record{Key: "c", Title: "Votes", Body: "A snapshot of all votes by sub-group --xvf."},
				catalog.Record{Key: "d", Title: "Plain", Body: "A snapshot."})
			if f.engines.KeywordServer {
				f.index(t)
			}
			for query, want := range map[string][]string{
				"snapshot -xvf":                {"Plain", "Unpacking"},
				"find a snapshot: -group":      {"Plain", "Unpacking"},
				"the snapshot -xvf of a group": {"Plain", "Unpacking"},
				`snapshot -"xvf"`:              {"Plain"},
				`snapshot --fast -"xvf"`:       {"Plain"},
				"snapshot --fast -xvf":         {"Pictures", "Plain", "Unpacking", "Votes"},
				"snapshot ./pack.sh -xvf":      {"Pictures", "Plain", "Unpacking", "Votes"},
				"snapshot\n-xvf":               {"Pictures", "Plain", "Unpacking", "Votes"},
			} {
				res := f.search(t, retrieval.Request{Query: query})
				got := titles(res)
				slices.Sort(got)
				if kept := len(want) > 2; !slices.Equal(got, want) || kept != slices.Equal(res.Kept, []string{"xvf"}) {
					t.Errorf("%q: %q, want %q, kept as text %q", query, got, want, res.Kept)
				}
			}
		})
	}
}

// TestEmptyResultsSayWhichOperatorEmptiedThem holds what there is without each.
func TestEmptyResultsSayWhichOperatorEmptiedThem(t *testing.T) {
	f := open(t, t.TempDir())
	f.put(t, manual()...)
	for query, want := range map[string]string{
		`"quarter every" keys`:                 `"quarter every"`,
		"traffic fees -traffic":                "-traffic",
		"fees kind:release":                    "kind:release",
		`"vote every" "vote keys"`:             `"vote every" "vote keys"`,
		`fees kind:release -traffic`:           "kind:release -traffic",
		"xylophone zebra -wallet":              "",
		"keys -backup":                         "", // finds something
		`traffic fees -"traffic"`:              `-"traffic"`,
		`"seven days" kind:cip source:nowhere`: "source:nowhere",
	} {
		res := f.search(t, retrieval.Request{Query: query})
		if want == "" {
			if len(res.Relaxed) > 0 {
				t.Errorf("%s: %+v", query, res.Relaxed)
			}
			continue
		}
		if len(res.Results) > 0 || len(res.Relaxed) != 1 || res.Relaxed[0].Without != want {
			t.Errorf("%s: %q, relaxed %+v, want without %s", query, titles(res), res.Relaxed, want)
			continue
		}
		without := query
		for operator := range strings.SplitSeq(want, " ") {
			if strings.HasPrefix(want, `"`) {
				without = strings.ReplaceAll(without, `"`, "")
			} else {
				without = strings.Replace(without, operator, "", 1)
			}
		}
		if total := f.search(t, retrieval.Request{Query: without}).Total; res.Relaxed[0].Total != total || total == 0 {
			t.Errorf("%s: %d without %s, and %s finds %d", query, res.Relaxed[0].Total, want, without, total)
		}
	}
}

// TestExclusionsLeaveEnough: what an exclusion leaves out of the lists is made
// up for by what is further down in them.
func TestExclusionsLeaveEnough(t *testing.T) {
	f := open(t, t.TempDir())
	var records []catalog.Record
	for i := range 500 {
		body := "The harbour opens in the morning and the cranes of the harbour lift barrels."
		if i%5 > 0 {
			body += " Lanterns are lit."
		}
		records = append(records, catalog.Record{Key: fmt.Sprint(i), Title: fmt.Sprintf("Harbour %d", i),
			Body: fmt.Sprintf("%s Page number%d.", body, i)})
	}
	f.put(t, records...)
	if n := f.search(t, retrieval.Request{Query: "harbour cranes -lantern", Profile: "dense"}).Total; n < 100 {
		t.Errorf("%d of 100 pages without lanterns are found", n)
	}
}

// TestAPhraseIsFoundBehindItsWords: records that have the words of a phrase
// apart take no place in a list, however many they are and however often they
// have them.
func TestAPhraseIsFoundBehindItsWords(t *testing.T) {
	f := open(t, t.TempDir())
	var records []catalog.Record
	for i := range 1300 {
		records = append(records, catalog.Record{Key: fmt.Sprint(i), Title: fmt.Sprintf("Harbour %d", i),
			Body: fmt.Sprintf("A lamp or a signal. A lamp and a signal. The lamp is no signal. Page number%d.", i)})
	}
	records = append(records, catalog.Record{Key: "lamp", Title: "Lighthouse",
		Body: strings.Repeat("The keeper climbs the stairs every evening. ", 12) + "She lights the signal lamp."})
	f.put(t, records...)
	for _, query := range []string{`"signal lamp"`, `lamp signal "signal lamp"`} {
		if got := titles(f.search(t, retrieval.Request{Query: query})); !slices.Equal(got, []string{"Lighthouse"}) {
			t.Errorf("%s finds %q", query, got)
		}
	}
}

// TestFacetsCountWhatCanBePagedThrough: the counts of every attribute add up to
// the total, whatever was collapsed or left out.
func TestFacetsCountWhatCanBePagedThrough(t *testing.T) {
	for name, stack := range stacks {
		run(t, name, func(t *testing.T) {
			f := open(t, t.TempDir(), stack(t))
			f.put(t, manual()...)
			if f.engines.KeywordServer {
				f.index(t)
			}
			for _, q := range []string{"rotate keys", "rotate keys -backup", "vote", "xylophone"} {
				res := f.search(t, retrieval.Request{Query: q, Limit: 1, Facets: []string{"kind", "source"}})
				for attribute, counts := range res.Facets {
					sum := 0
					for _, n := range counts {
						sum += n
					}
					if sum != res.Total {
						t.Errorf("%s: %s counts add up to %d of %d", q, attribute, sum, res.Total)
					}
				}
				if len(res.Facets) != 2 {
					t.Errorf("%s: facets %v", q, res.Facets)
				}
			}
		})
	}
}
