package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/catalog/network"
)

// Constructor makes the connector of a source. It reads the source's options
// with DecodeOptions and accesses nothing else before Sync.
type Constructor func(src network.Source, env Environment) (Connector, error)

// Registry holds the constructors by connector kind, as named in network files.
type Registry map[string]Constructor

// corpusVariable in an option is replaced by Environment.CorpusDir.
const corpusVariable = "${corpus}"

// Connector makes the connector of a source, with ${corpus} replaced in its
// options. Its errors do not name the source; the caller does.
func (r Registry) Connector(src network.Source, env Environment) (Connector, error) {
	construct, ok := r[src.Kind]
	if !ok {
		known := slices.Sorted(maps.Keys(r))
		if near := network.Nearest(src.Kind, known); near != "" {
			return nil, fmt.Errorf("unknown connector %q; did you mean %q?", src.Kind, near)
		}
		return nil, fmt.Errorf("unknown connector %q; known are %s", src.Kind, strings.Join(known, ", "))
	}
	options, err := expand(src.Options, env.CorpusDir)
	if err != nil {
		return nil, err
	}
	src.Options, _ = options.(map[string]any)
	return construct(src, env)
}

// errNoCorpus: a source uses the corpus directory, but none is configured.
var errNoCorpus = errors.New("its options use ${corpus}, but no corpus directory is configured: " +
	"set ALMANAC_CORPUS or network.corpus_dir")

// expand returns a copy of an option's value with ${corpus} replaced in its
// strings.
func expand(value any, corpus string) (any, error) {
	switch v := value.(type) {
	case string:
		if !strings.Contains(v, corpusVariable) {
			return v, nil
		}
		if corpus == "" {
			return nil, errNoCorpus
		}
		return strings.ReplaceAll(v, corpusVariable, corpus), nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			e, err := expand(item, corpus)
			if err != nil {
				return nil, err
			}
			out[i] = e
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			e, err := expand(item, corpus)
			if err != nil {
				return nil, err
			}
			out[key] = e
		}
		return out, nil
	}
	return value, nil
}

// DecodeOptions reads a source's options into a struct with yaml tags. An
// unknown option or a value of the wrong type is an error that names the
// option and, for a misspelling, the nearest known one; it does not name the
// source.
func DecodeOptions(src network.Source, into any) error {
	if len(src.Options) == 0 {
		return nil
	}
	if _, probe := src.Options[optionsProbe]; probe {
		return &probed{reflect.ValueOf(into).Elem()}
	}
	raw, err := yaml.Marshal(src.Options)
	if err != nil {
		return fmt.Errorf("options: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	err = dec.Decode(into)
	typeError, ok := errors.AsType[*yaml.TypeError](err)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return nil
	case !ok:
		return fmt.Errorf("options: %w", err)
	}
	lines := strings.Split(string(raw), "\n")
	errs := make([]error, len(typeError.Errors))
	for i, message := range typeError.Errors {
		errs[i] = fmt.Errorf("options: %s", optionProblem(message, lines, into))
	}
	return errors.Join(errs...)
}

var (
	unknownField = regexp.MustCompile(`^line \d+: field (\S+) not found in type `)
	atLine       = regexp.MustCompile(`^line (\d+): `)
)

// optionProblem rewrites a message of the YAML library in terms of options:
// line numbers of the re-encoded options are meaningless to the operator.
func optionProblem(message string, lines []string, into any) string {
	if m := unknownField.FindStringSubmatch(message); m != nil {
		known := optionNames(reflect.TypeOf(into), nil)
		if near := network.Nearest(m[1], known); near != "" {
			return fmt.Sprintf("unknown option %q; did you mean %q?", m[1], near)
		}
		return fmt.Sprintf("unknown option %q; known are %s", m[1], strings.Join(known, ", "))
	}
	m := atLine.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	var n int
	if _, err := fmt.Sscan(m[1], &n); err != nil || n < 1 || n > len(lines) {
		return message
	}
	return fmt.Sprintf("%s (in %q)", message[len(m[0]):], strings.TrimSpace(lines[n-1]))
}

// optionNames lists the yaml names of a struct's fields and of the structs
// inside it.
func optionNames(t reflect.Type, names []string) []string {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return optionNames(t.Elem(), names)
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if name != "" && name != "-" && !slices.Contains(names, name) {
				names = append(names, name)
				names = optionNames(field.Type, names)
			}
		}
	}
	return names
}
