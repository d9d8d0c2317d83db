package ranking_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/retrieval/ranking"
)

func TestBuiltInProfilesLoad(t *testing.T) {
	for _, name := range ranking.Names() {
		p, err := ranking.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.Version < 1 || p.Description == "" {
			t.Errorf("%s: name %q, version %d, description %q", name, p.Name, p.Version, p.Description)
		}
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Weights) == 0 || !strings.Contains(p.Provenance, "almanac tune") {
		t.Errorf("the default profile must say how its weights were made: %q", p.Provenance)
	}
}

const valid = "name: mine\nversion: 1\nlists: [{retriever: dense, weight: 1, depth: 10}]\nrank_k: 60\norder: fusion\n"

func TestLoadReadsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(path, []byte(valid), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, err := ranking.Load(path); err != nil || p.Name != "mine" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := ranking.Load("nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("the error must name the built-in profiles: %v", err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, want string }{
		"an unknown key":           {"order: fusion", "ordre: fusion", "ordre"},
		"an unknown order":         {"order: fusion", "order: best", "rerank or fusion"},
		"no lists":                 {"[{retriever: dense, weight: 1, depth: 10}]", "[]", "at least one"},
		"no name":                  {"name: mine", "name: ''", "name"},
		"a list without depth":     {"depth: 10", "depth: 0", "depth"},
		"a list without weight":    {"weight: 1", "weight: 0", "weight"},
		"a rank constant of zero":  {"rank_k: 60", "rank_k: 0", "rank_k"},
		"a rule above one":         {"order: fusion", "order: fusion\nrules: {alias_weight: 2}", "alias_weight"},
		"a rule that is no number": {"order: fusion", "order: fusion\nrules: {diverse_share: .nan}", "diverse_share"},
		"a depth of one": {"order: fusion", "order: fusion\nrules: {cross_encoder: {depth: 1}}",
			"cross_encoder.depth"},
		"a similarity above one": {"order: fusion", "order: fusion\ncollapse: 1.5", "collapse"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ranking.Parse([]byte(strings.Replace(valid, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one about %q", err, tt.want)
			}
		})
	}
}

// TestFaultsAreSentences holds that whoever wrote a profile reads what is wrong, and
// in which line, without a word of the library.
func TestFaultsAreSentences(t *testing.T) {
	const lists = "lists:\n  - retriever: dense\n    weight: 1\n    depth: 10\n"
	const text = "name: mine\norder: fusion\nrank_k: 60\n" + lists // 7 lines
	for want, text := range map[string]string{
		"line 9: dense must be a number":                                        text + "weights:\n  dense: abc\n",
		"line 2: b must be a number":                                            "weights:\n  {a: 1, b: abc, c: 2}\n",
		"line 8: version must be a whole number":                                text + "version: many\n",
		"line 8: correct must be true or false":                                 text + "correct: maybe\n",
		"line 1: lists must be a list":                                          "lists: 7\n",
		"line 2: name must be a text":                                           "order: fusion\nname: [a]\n",
		"line 8: weights must be fields with values, such as rank_k: 60":        text + "weights: 7\n",
		"line 1: this must be fields with values, such as rank_k: 60":           "abc",
		`line 8: there is no field "ordre"`:                                     text + "ordre: fusion\n",
		"line 8: order is there twice, first in line 2":                         text + "order: fusion\n",
		"line 1: this is not YAML: did not find expected ',' or ']'":            "name: [x",
		"there is no text":                                                      "",
		"name is missing":                                                       "order: fusion\n",
		"line 2: order is \"best\": must be rerank or fusion":                   strings.Replace(text, "fusion", "best", 1),
		"line 5: list dense: depth must be 1 to 1000 and weight greater than 0": strings.Replace(text, "10", "0", 1),
		"line 10: cross_encoder.depth must be 2 to 100": text +
			"rules:\n  cross_encoder:\n    depth: 1\n",
		"line 3: rank_k must be greater than 0": strings.Replace(text, "60", ".nan", 1),
	} {
		_, err := ranking.Parse([]byte(text))
		f, ok := errors.AsType[ranking.Fault](err)
		if !ok || f.Error() != want {
			t.Errorf("%q: %q, want %q (%v)", text, f.Error(), want, err)
		}
	}
	f := ranking.Fault{Field: "weights.luck", Problem: "there is no luck"}
	if got := f.In([]byte("name: x\nweights: {a: 1,\n luck: 2}\n")).Error(); got != "line 3: there is no luck" {
		t.Error(got)
	}
	if got := f.In([]byte("weights: [luck]")).Error(); got != "there is no luck" {
		t.Error(got)
	}
}

func TestRulesLeftOutAreTheDefaultOnes(t *testing.T) {
	standard, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if r := standard.Rules; r.CorrectionWeight == 0 || r.AliasWeight == 0 || r.UndatedRecency == 0 ||
		r.NamedInTitle == 0 ||
		r.SecondaryPenalty == 0 || r.DiverseShare == 0 || r.CrossEncoder.Weight == 0 || r.CrossEncoder.Depth == 0 {
		t.Errorf("the default profile lacks a rule: %+v", r)
	}
	p, err := ranking.Parse([]byte(valid + "rules:\n  alias_weight: 0\n  cross_encoder: {weight: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := standard.Rules
	want.AliasWeight, want.CrossEncoder.Weight = 0, 1
	if p.Rules != want {
		t.Errorf("rules %+v, want %+v", p.Rules, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("name: [x"))
	f.Add([]byte("lists: [{depth: .inf}]"))
	f.Add([]byte("weights:\n  dense: abc\n"))
	f.Add([]byte("a: &a [*a]\nweights: *a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ranking.Parse(data)
		if err == nil && (p.Name == "" || len(p.Lists) == 0) {
			t.Errorf("accepted %+v", p)
		}
		if f, ok := errors.AsType[ranking.Fault](err); err != nil && (!ok || f.Problem == "") {
			t.Errorf("refused without a fault: %v", err)
		}
	})
}
