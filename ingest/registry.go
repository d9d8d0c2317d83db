package ingest

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog/network"
	"almanac/text/nearest"
	"almanac/text/options"
)

// Registry holds the kinds of sources by name, as in network files.
type Registry map[string]AnyKind

// Kinds makes a registry.
func Kinds(all ...AnyKind) Registry {
	r := Registry{}
	for _, k := range all {
		d, _ := k.describe()
		r[d.Name] = k
	}
	return r
}

// CorpusVariable in an option is replaced by Environment.CorpusDir.
const CorpusVariable = "${corpus}"

// errNoCorpus: a source uses the corpus directory, but none is configured.
var errNoCorpus = errors.New("its options use ${corpus}, but no corpus directory is configured: " +
	"set ALMANAC_CORPUS or network.corpus_dir")

// Connector makes the connector of a source, with ${corpus} replaced in its
// options. Its errors do not name the source; the caller does.
func (r Registry) Connector(src network.Source, env Environment) (Connector[[]byte], error) {
	kind, ok := r[src.Kind]
	if !ok {
		known := slices.Sorted(maps.Keys(r))
		return nil, src.Options.Errorf("%s", nearest.Unknown("connector", src.Kind, known))
	}
	missing := false
	expanded, err := src.Options.Map(nil, func(_ options.Field, text string) (string, error) {
		missing = missing || env.CorpusDir == "" && strings.Contains(text, CorpusVariable)
		return strings.ReplaceAll(text, CorpusVariable, env.CorpusDir), nil
	})
	if missing {
		err = src.Options.Errorf("%w", errNoCorpus)
	}
	if err != nil {
		return nil, err
	}
	src.Options = expanded
	return kind.open(src, env)
}

// options returns the defaults of a kind's options; false if it has no fixed ones.
func (r Registry) options(kind string) (defaults reflect.Value, ok bool) {
	if k, known := r[kind]; known {
		_, defaults = k.describe()
	}
	return defaults, defaults.IsValid()
}

// Walk calls visit with every text in the options of a source, and its field.
func (r Registry) Walk(src network.Source, visit func(at options.Field, text string)) {
	var t reflect.Type
	if defaults, ok := r.options(src.Kind); ok {
		t = defaults.Type()
	}
	src.Options.Walk(t, visit)
}

// Rooted returns a network whose options do not depend on the place of its
// file: paths relative to dir, the file's directory, become absolute.
func (r Registry) Rooted(n network.Network, dir string) network.Network {
	n.Sources = slices.Clone(n.Sources)
	for i, src := range n.Sources {
		defaults, ok := r.options(src.Kind)
		if !ok {
			continue
		}
		rooted, _ := src.Options.Map(defaults.Type(), func(at options.Field, text string) (string, error) {
			if at.IsPath() {
				text = absolute(text, dir)
			}
			return text, nil
		})
		for _, f := range options.Fields(defaults.Type()) {
			v := f.In(defaults)
			if f.IsPath() && v.Kind() == reflect.String && !v.IsZero() && rooted.Text(f.Name) == "" {
				rooted = rooted.With(f.Name, absolute(v.String(), dir))
			}
		}
		n.Sources[i].Options = rooted
	}
	return n
}

// absolute resolves a path against a directory. Addresses and paths below the corpus
// directory stay unchanged.
func absolute(path, dir string) string {
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, "://") || strings.Contains(path, CorpusVariable) {
		return path
	}
	return filepath.Join(dir, path)
}

// Schemas returns the JSON Schemas of the options of kinds, for those with fixed
// options, described by their examples.
func (r Registry) Schemas() (map[string]*jsonschema.Schema, error) {
	schemas := map[string]*jsonschema.Schema{}
	for name, kind := range r {
		d, defaults := kind.describe()
		if !defaults.IsValid() {
			continue
		}
		s := options.Schema(defaults.Type(), true)
		s.Description = d.Summary
		if err := options.Describe(s, d.Example); err != nil {
			return nil, fmt.Errorf("kind %s: %w", name, err)
		}
		schemas[name] = s
	}
	return schemas, nil
}

// Description describes a kind of source to people.
type Description struct {
	Name    string
	Summary string // one sentence
	Example string // an entry of a network file with a comment on each option
}

// Descriptions describes the kinds that have a name, in its order.
func (r Registry) Descriptions() (all []Description) {
	for _, kind := range slices.Sorted(maps.Keys(r)) {
		if d, _ := r[kind].describe(); d.Name != "" {
			all = append(all, d)
		}
	}
	return all
}
