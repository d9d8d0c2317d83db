package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Load joins the layers: flag > environment > file > default. Empty values are
// ignored, because orchestrators pass unset variables as empty ones.
func Load(file string, environ []string, flags map[string]string) (Config, Origins, error) {
	l := &layers{values: map[string]any{}, origins: Origins{}}
	defaults := map[string]any{}
	for _, s := range settings {
		defaults[s.key] = s.def
	}
	l.add(Default, defaults)
	if file = cmp.Or(file, Getenv(environ, envFile)); file != "" {
		values, err := readFile(file)
		if err != nil {
			return Config{}, nil, err
		}
		l.add("file "+file, values)
	}
	l.addEnvironment(environ)
	given := map[string]any{}
	for key, value := range flags {
		given[key] = value
	}
	l.add(Flag, given)
	if len(l.unknown) > 0 { // all of them, as after an upgrade
		return Config{}, nil, fmt.Errorf("%w: %s", ErrUsage, strings.Join(l.unknown, "\n  "))
	}
	if err := l.readSecrets(); err != nil {
		return Config{}, nil, err
	}
	c, err := l.decode()
	if err != nil {
		return Config{}, nil, err
	}
	return c, l.origins, c.check()
}

// layers holds the values by key and their origins.
type layers struct {
	values  map[string]any
	origins Origins
	unknown []string // what is wrong with keys that are no settings
}

// add overrides values.
func (l *layers) add(origin string, values map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		s, ok := settingOf(key)
		if !ok {
			l.unknown = append(l.unknown, fmt.Sprintf("%s: unknown setting %q%s", origin, key, suggest(key)))
			continue
		}
		if v := values[key]; origin != Default && !s.empty && (v == nil || v == "") {
			continue
		}
		l.values[key], l.origins[key] = values[key], origin
	}
}

func (l *layers) addEnvironment(environ []string) {
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, value, _ := strings.Cut(pair, "=")
		foreign := slices.ContainsFunc(foreignEnv, func(p string) bool { return strings.HasPrefix(name, p) })
		if !strings.HasPrefix(name, EnvPrefix) || name == envFile || foreign {
			continue
		}
		key := strings.ToLower(strings.TrimPrefix(name, EnvPrefix))
		key = cmp.Or(shortEnv[name], strings.Replace(key, "_", ".", 1))
		if _, ok := settingOf(key); !ok {
			l.unknown = append(l.unknown, fmt.Sprintf("environment variable %s is not a setting%s", name, suggestEnv(name)))
			continue
		}
		l.add("environment "+name, map[string]any{key: value})
	}
}

// readSecrets sets secrets to the content of their files. A secret that is set
// both ways is an error.
func (l *layers) readSecrets() error {
	for _, s := range settings {
		path := fmt.Sprint(l.values[s.key+fileSuffix])
		switch {
		case !s.secret || path == "":
			continue
		case l.values[s.key] != "":
			return fmt.Errorf("%w: %s is set (%s) and so is %s%s (%s): keep one", ErrUsage,
				s.key, l.origins[s.key], s.key, fileSuffix, l.origins[s.key+fileSuffix])
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("%w: %s%s: %s cannot be read: %w", ErrUsage, s.key, fileSuffix, path, errors.Unwrap(err))
		}
		value := strings.TrimSpace(string(data))
		if value == "" {
			return fmt.Errorf("%w: %s%s: %s is empty", ErrUsage, s.key, fileSuffix, path)
		}
		l.values[s.key], l.origins[s.key] = value, "file "+path
	}
	return nil
}

// decode makes the configuration from the values.
func (l *layers) decode() (c Config, err error) {
	target := reflect.ValueOf(&c).Elem()
	for _, s := range settings {
		if s.index == nil {
			continue
		}
		if err := assign(target.FieldByIndex(s.index), l.values[s.key]); err != nil {
			return c, fmt.Errorf("%w: %s: %s: %w", ErrUsage, l.origins[s.key], s.key, err)
		}
	}
	return c, nil
}

// assign sets a field to the value of a layer: a string, or a value from YAML.
func assign(field reflect.Value, value any) error {
	if list, ok := value.([]any); ok && field.Kind() == reflect.Slice {
		for _, v := range list {
			field.Set(reflect.Append(field, reflect.ValueOf(fmt.Sprint(v))))
		}
		return nil
	}
	switch value.(type) {
	case []any, map[string]any, map[any]any:
		return errors.New("one value is expected here")
	}
	text := fmt.Sprint(value)
	switch x := field.Addr().Interface().(type) {
	case *string:
		*x = text
	case *[]string:
		for part := range strings.SplitSeq(text, ",") {
			if part = strings.TrimSpace(part); part != "" {
				*x = append(*x, part)
			}
		}
	case *bool:
		on, known := switches[strings.ToLower(text)]
		if !known {
			return fmt.Errorf("%q is neither on nor off", text)
		}
		*x = on
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		*x = n
	case *time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil || d < 0 {
			return fmt.Errorf("%q is not a duration such as 500ms or 2s", text)
		}
		*x = d
	default:
		panic(fmt.Sprintf("a setting of type %s", field.Type()))
	}
	return nil
}

// switches are the spellings of booleans.
var switches = map[string]bool{
	"on": true, "yes": true, "true": true, "1": true,
	"off": false, "no": false, "false": false, "0": false,
}

// readFile reads a YAML file as values by key.
func readFile(path string) (map[string]any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: configuration file: %w", ErrUsage, err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("%w: configuration file %s: %w", ErrUsage, path, err)
	}
	flat := map[string]any{}
	for _, section := range slices.Sorted(maps.Keys(tree)) {
		m, ok := tree[section].(map[string]any)
		if !ok && tree[section] != nil {
			return nil, fmt.Errorf("%w: configuration file %s: %q must be a section with keys below it%s", ErrUsage,
				path, section, suggest(section))
		}
		if !slices.ContainsFunc(settings, func(s setting) bool { return strings.HasPrefix(s.key, section+".") }) {
			return nil, fmt.Errorf("%w: configuration file %s: unknown section %q%s", ErrUsage,
				path, section, suggest(section))
		}
		for key, v := range m {
			flat[section+"."+key] = v
		}
	}
	return flat, nil
}
