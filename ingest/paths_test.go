package ingest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
)

func TestRootedPathsAreThoseOfTheOptions(t *testing.T) {
	type part struct {
		File string `yaml:"file" path:"true"`
		Name string `yaml:"name"`
	}
	r := ingest.Registry{
		"harbour": func(src network.Source, _ ingest.Environment) (ingest.Connector, error) {
			o := struct {
				Dir   string   `yaml:"dir" path:"true"`
				Other string   `yaml:"other" path:"true"`
				Lists []string `yaml:"lists" path:"true"`
				Place part     `yaml:"place"`
				Parts []part   `yaml:"parts"`
				part  `yaml:",inline"`
			}{Dir: "usual"}
			return nil, ingest.DecodeOptions(src, &o)
		},
		"plain": func(network.Source, ingest.Environment) (ingest.Connector, error) { return nil, nil },
	}
	elsewhere := []any{
		map[string]any{"file": "https://forge.example/x"}, map[string]any{"file": "${corpus}/x"},
		map[string]any{"file": ""},
	}
	given := map[string]any{
		"other": "../eips", "name": "a/b", "file": "x/{group}*.mbox", "lists": []any{"a", "/b"},
		"place": map[string]any{"file": "./p", "name": "p"}, "parts": elsewhere,
	}
	n := network.Network{Sources: []network.Source{
		{Name: "a", Kind: "harbour", Options: given}, {Name: "b", Kind: "harbour"},
		{Name: "c", Kind: "plain", Options: map[string]any{"dir": "x"}},
		{Name: "d", Kind: "unknown", Options: map[string]any{"dir": "x"}},
	}}
	got := r.Rooted(n, "/srv/net")
	want := []network.Source{
		{Name: "a", Kind: "harbour", Options: map[string]any{
			"dir": "/srv/net/usual", "other": "/srv/eips", "name": "a/b", "file": "/srv/net/x/{group}*.mbox",
			"lists": []any{"/srv/net/a", "/b"}, "place": map[string]any{"file": "/srv/net/p", "name": "p"},
			"parts": elsewhere,
		}},
		{Name: "b", Kind: "harbour", Options: map[string]any{"dir": "/srv/net/usual"}},
		{Name: "c", Kind: "plain", Options: map[string]any{"dir": "x"}},
		{Name: "d", Kind: "unknown", Options: map[string]any{"dir": "x"}},
	}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if given["other"] != "../eips" || given["place"].(map[string]any)["file"] != "./p" {
		t.Errorf("the given options changed: %v", given)
	}
}
