package ingest

import (
	"maps"
	"path/filepath"
	"reflect"
	"strings"

	"almanac/catalog/network"
)

// pathTag marks the option fields that are paths, which may be relative to the
// network file.
const pathTag = "path"

// Rooted returns a network whose options do not depend on the place of its
// file: paths relative to dir, the file's directory, become absolute.
func (r Registry) Rooted(n network.Network, dir string) network.Network {
	sources := make([]network.Source, len(n.Sources))
	for i, src := range n.Sources {
		if known, ok := r.probe(src.Kind); ok && known.Kind() == reflect.Struct {
			src.Options = rooted(src.Options, known, dir)
		}
		sources[i] = src
	}
	n.Sources = sources
	return n
}

// rooted copies options with their paths made absolute, including the defaults
// of absent ones.
func rooted(options map[string]any, known reflect.Value, dir string) map[string]any {
	out := maps.Clone(options)
	for i := range known.NumField() {
		field := known.Type().Field(i)
		name, rest, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		value, given := options[name]
		switch {
		case strings.Contains(rest, "inline"):
			out = rooted(out, known.Field(i), dir)
			continue
		case given:
			out[name] = rootedValue(value, field.Type, field.Tag.Get(pathTag) != "", dir)
		case field.Tag.Get(pathTag) != "" && field.Type.Kind() == reflect.String && !known.Field(i).IsZero():
			if out == nil {
				out = map[string]any{}
			}
			out[name] = absolute(known.Field(i).String(), dir)
		}
	}
	return out
}

func rootedValue(value any, t reflect.Type, isPath bool, dir string) any {
	switch v := value.(type) {
	case string:
		if isPath {
			return absolute(v, dir)
		}
	case map[string]any:
		if t.Kind() == reflect.Struct {
			return rooted(v, reflect.Zero(t), dir)
		}
	case []any:
		if t.Kind() == reflect.Slice {
			out := make([]any, len(v))
			for i, item := range v {
				out[i] = rootedValue(item, t.Elem(), isPath, dir)
			}
			return out
		}
	}
	return value
}

// absolute resolves a path against a directory. URLs and paths below the corpus
// directory stay unchanged.
func absolute(path, dir string) string {
	if path == "" || filepath.IsAbs(path) || strings.Contains(path, "://") || strings.Contains(path, corpusVariable) {
		return path
	}
	return filepath.Join(dir, path)
}

// Paths returns the options of a source that are paths on this machine or
// addresses in place of one. Those with ${corpus} are left out.
func (r Registry) Paths(src network.Source) []string {
	known, ok := r.probe(src.Kind)
	if !ok || known.Kind() != reflect.Struct {
		return nil
	}
	return paths(src.Options, known, nil)
}

func paths(options map[string]any, known reflect.Value, found []string) []string {
	for i := range known.NumField() {
		field := known.Type().Field(i)
		name, rest, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if strings.Contains(rest, "inline") {
			found = paths(options, known.Field(i), found)
			continue
		}
		found = pathsIn(options[name], field.Type, field.Tag.Get(pathTag) != "", found)
	}
	return found
}

func pathsIn(value any, t reflect.Type, isPath bool, found []string) []string {
	switch v := value.(type) {
	case string:
		if isPath && v != "" && !strings.Contains(v, corpusVariable) {
			found = append(found, v)
		}
	case map[string]any:
		if t.Kind() == reflect.Struct {
			found = paths(v, reflect.Zero(t), found)
		}
	case []any:
		for _, item := range v {
			if t.Kind() == reflect.Slice {
				found = pathsIn(item, t.Elem(), isPath, found)
			}
		}
	}
	return found
}
