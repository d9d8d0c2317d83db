package ingest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
)

type options struct {
	Dir   string            `yaml:"dir"`
	Every time.Duration     `yaml:"every"`
	Bulk  []int             `yaml:"bulk_pulls"`
	URL   map[string]string `yaml:"url"`
	Deep  []struct {
		Name string `yaml:"name"`
	} `yaml:"deep"`
}

func TestDecodeOptionsReadsEveryForm(t *testing.T) {
	src := network.Source{Name: "s", Options: map[string]any{
		"dir": "x", "every": "15m", "bulk_pulls": []any{385, 461}, "url": map[string]any{"a/b": "https://x.example"},
		"deep": []any{map[string]any{"name": "n"}},
	}}
	var got options
	if err := ingest.DecodeOptions(src, &got); err != nil {
		t.Fatal(err)
	}
	want := options{Dir: "x", Every: 15 * time.Minute, Bulk: []int{385, 461},
		URL: map[string]string{"a/b": "https://x.example"}}
	want.Deep = append(want.Deep, struct {
		Name string `yaml:"name"`
	}{"n"})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	if err := ingest.DecodeOptions(network.Source{Name: "s"}, &got); err != nil {
		t.Errorf("no options: %v", err)
	}
}

func TestDecodeOptionsErrorsNameTheOption(t *testing.T) {
	tests := map[string]struct {
		options map[string]any
		want    string
	}{
		"unknown, with the nearest": {map[string]any{"bulk_pull": 1},
			`options: unknown option "bulk_pull"; did you mean "bulk_pulls"?`},
		"unknown inside another": {map[string]any{"deep": []any{map[string]any{"nam": 1}}},
			`options: unknown option "nam"; did you mean "name"?`},
		"unknown, nothing near": {map[string]any{"zzzzzzz": 1},
			`unknown option "zzzzzzz"; known are dir, every, bulk_pulls, url, deep, name`},
		"wrong type": {map[string]any{"bulk_pulls": "many"},
			"options: cannot unmarshal !!str `many` into []int (in \"bulk_pulls: many\")"},
		"no duration": {map[string]any{"every": "soon"}, "into time.Duration (in \"every: soon\")"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := ingest.DecodeOptions(network.Source{Name: "s", Options: tt.options}, new(options))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

func TestRegistry(t *testing.T) {
	var got map[string]any
	r := ingest.Registry{
		"snapshot": func(src network.Source, _ ingest.Environment) (ingest.Connector, error) {
			got = src.Options
			return listing(), nil
		},
		"forum": nil,
	}
	src := network.Source{Name: "s", Kind: "snapshot", Options: map[string]any{
		"dir": "${corpus}/x", "n": 1, "list": []any{"${corpus}"}, "map": map[string]any{"k": "${corpus}"},
	}}
	t.Run("the corpus directory is put into options at any depth", func(t *testing.T) {
		if _, err := r.Connector(src, ingest.Environment{CorpusDir: "/data/c"}); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"dir": "/data/c/x", "n": 1, "list": []any{"/data/c"},
			"map": map[string]any{"k": "/data/c"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("options (-want +got):\n%s", diff)
		}
		if src.Options["dir"] != "${corpus}/x" {
			t.Error("the network's own options were changed")
		}
	})
	t.Run("the error of a missing corpus directory says how to set it", func(t *testing.T) {
		if _, err := r.Connector(src, ingest.Environment{}); err == nil ||
			!strings.Contains(err.Error(), "set ALMANAC_CORPUS or network.corpus_dir") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("an unknown connector names the nearest or all", func(t *testing.T) {
		for kind, want := range map[string]string{"snapshots": `did you mean "snapshot"?`,
			"zzzzzzz": "known are forum, snapshot"} {
			if _, err := r.Connector(network.Source{Kind: kind}, ingest.Environment{}); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
		}
	})
}
