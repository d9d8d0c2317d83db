package ingest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/text/options"
)

func TestRegistry(t *testing.T) {
	var got map[string]any
	r := ingest.Registry{
		"snapshot": ingest.Constructor(func(src network.Source, _ ingest.Environment) (ingest.Connector[[]byte], error) {
			got = src.Options.Values()
			return listing(), nil
		}),
		"forum": nil,
	}
	src := network.Source{Name: "s", Kind: "snapshot", Options: options.Of(map[string]any{
		"dir": "${corpus}/x", "n": 1, "list": []any{"${corpus}"}, "map": map[string]any{"k": "${corpus}"},
	})}
	t.Run("the corpus directory is put into options at any depth", func(t *testing.T) {
		if _, err := r.Connector(src, ingest.Environment{CorpusDir: "/data/c"}); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{"dir": "/data/c/x", "n": 1, "list": []any{"/data/c"},
			"map": map[string]any{"k": "/data/c"}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("options (-want +got):\n%s", diff)
		}
		if src.Options.Text("dir") != "${corpus}/x" {
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

// beacon are the options of a kind that tells what they are by its example.
type beacon struct {
	Address string `yaml:"address" required:"true"`
	Depth   int    `yaml:"depth"`
}

// described is a registry with one kind that describes itself, and one that decorates
// others and so has neither a name nor options of its own.
func described(example string) ingest.Registry {
	return ingest.Registry{
		"beacon": ingest.Kind[beacon, struct{}]{Name: "beacon", Summary: "Reads beacons.", Example: example},
		"relay":  ingest.Constructor(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) { return nil, nil }),
	}
}

const beaconExample = `sources:
  - name: beacons
    kind: beacon
    options:
      address: https://www.example.org/  # where they are listed
      depth: 3                           # how many pages are followed
`

// TestSchemasSayWhatOptionsMean: an editor shows them beside a network file.
func TestSchemasSayWhatOptionsMean(t *testing.T) {
	schemas, err := described(beaconExample).Schemas()
	if err != nil || len(schemas) != 1 || schemas["beacon"] == nil {
		t.Fatalf("%v, %v; want the kind with fixed options alone", schemas, err)
	}
	s := schemas["beacon"]
	said := map[string]string{"": s.Description}
	for name, p := range s.Properties {
		said[name] = p.Description
	}
	want := map[string]string{"": "Reads beacons.", "address": "where they are listed",
		"depth": "how many pages are followed"}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("descriptions (-want +got):\n%s", diff)
	}
	_, err = described("options: [").Schemas()
	if err == nil || !strings.Contains(err.Error(), "kind beacon: example: ") {
		t.Errorf("the error of an example that is no YAML is %v", err)
	}
}

// TestKindsWithANameAreDescribedInItsOrder: lists for people do not change from one call
// to the next.
func TestKindsWithANameAreDescribedInItsOrder(t *testing.T) {
	r := described(beaconExample)
	for _, name := range []string{"tide", "anchor"} {
		r[name] = ingest.Kind[beacon, struct{}]{Name: name, Summary: "Reads " + name + "s."}
	}
	want := []ingest.Description{{Name: "anchor", Summary: "Reads anchors."},
		{Name: "beacon", Summary: "Reads beacons.", Example: beaconExample}, {Name: "tide", Summary: "Reads tides."}}
	if diff := cmp.Diff(want, r.Descriptions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRootedPathsAreThoseOfTheOptions(t *testing.T) {
	type part struct {
		File string `yaml:"file" format:"file"`
		Name string `yaml:"name"`
	}
	type places struct {
		Dir   string   `yaml:"dir" format:"path"`
		Other string   `yaml:"other" format:"path"`
		Lists []string `yaml:"lists" format:"path"`
		Place part     `yaml:"place"`
		Parts []part   `yaml:"parts"`
		part  `yaml:",inline"`
	}
	r := ingest.Registry{
		"harbour": ingest.Kind[places, struct{}]{Name: "harbour", Defaults: places{Dir: "usual"}},
		"plain": ingest.Constructor(func(network.Source, ingest.Environment) (ingest.Connector[[]byte], error) {
			return nil, nil
		}),
	}
	elsewhere := []any{
		map[string]any{"file": "https://forge.example/x"}, map[string]any{"file": "${corpus}/x"},
		map[string]any{"file": ""},
	}
	plain := options.Of(map[string]any{"dir": "x"})
	given := options.Of(map[string]any{
		"other": "../eips", "name": "a/b", "file": "x/{group}*.mbox", "lists": []any{"a", "/b"},
		"place": map[string]any{"file": "./p", "name": "p"}, "parts": elsewhere,
	})
	before := given.Values()
	got := r.Rooted(network.Network{Sources: []network.Source{
		{Name: "a", Kind: "harbour", Options: given}, {Name: "b", Kind: "harbour"},
		{Name: "c", Kind: "plain", Options: plain}, {Name: "d", Kind: "unknown", Options: plain},
	}}, "/srv/net")
	want := []network.Source{
		{Name: "a", Kind: "harbour", Options: options.Of(map[string]any{
			"dir": "/srv/net/usual", "other": "/srv/eips", "name": "a/b", "file": "/srv/net/x/{group}*.mbox",
			"lists": []any{"/srv/net/a", "/b"}, "place": map[string]any{"file": "/srv/net/p", "name": "p"},
			"parts": elsewhere,
		})},
		{Name: "b", Kind: "harbour", Options: options.Of(map[string]any{"dir": "/srv/net/usual"})},
		{Name: "c", Kind: "plain", Options: plain}, {Name: "d", Kind: "unknown", Options: plain},
	}
	if diff := cmp.Diff(want, got.Sources); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, given.Values()); diff != "" {
		t.Errorf("the given options changed: %s", diff)
	}
}
