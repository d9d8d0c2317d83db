package profile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"almanac/retrieval/profile"
)

func TestBuiltInProfilesLoad(t *testing.T) {
	for _, name := range profile.Names() {
		p, err := profile.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.Version < 1 || p.Description == "" {
			t.Errorf("%s: name %q, version %d, description %q", name, p.Name, p.Version, p.Description)
		}
	}
	p, err := profile.Load(profile.DefaultName)
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
	if p, err := profile.Load(path); err != nil || p.Name != "mine" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := profile.Load("nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "default") {
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
			_, err := profile.Parse([]byte(strings.Replace(valid, tt.old, tt.new, 1)))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one about %q", err, tt.want)
			}
		})
	}
}

func TestRulesLeftOutAreTheDefaultOnes(t *testing.T) {
	standard, err := profile.Load(profile.DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if r := standard.Rules; r.CorrectionWeight == 0 || r.AliasWeight == 0 || r.UndatedRecency == 0 ||
		r.NamedInTitle == 0 ||
		r.SecondaryPenalty == 0 || r.DiverseShare == 0 || r.CrossEncoder.Weight == 0 || r.CrossEncoder.Depth == 0 {
		t.Errorf("the default profile lacks a rule: %+v", r)
	}
	p, err := profile.Parse([]byte(valid + "rules:\n  alias_weight: 0\n  cross_encoder: {weight: 1}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := standard.Rules
	want.AliasWeight, want.CrossEncoder.Weight = 0, 1
	if p.Rules != want {
		t.Errorf("rules %+v, want %+v", p.Rules, want)
	}
}

func TestClassesReplaceWeights(t *testing.T) {
	p := profile.Profile{Weights: map[string]float64{"dense": 1},
		Classes: map[string]map[string]float64{"code": {"dense": 0.5}}}
	if p.WeightsFor("code")["dense"] != 0.5 || p.WeightsFor("question")["dense"] != 1 {
		t.Error("a class has its own weights, every other the common ones")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(valid))
	f.Add([]byte("name: [x"))
	f.Add([]byte("lists: [{depth: .inf}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if p, err := profile.Parse(data); err == nil && (p.Name == "" || len(p.Lists) == 0) {
			t.Errorf("accepted %+v", p)
		}
	})
}
