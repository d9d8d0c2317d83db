package config

import (
	_ "embed" // intro.md
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
)

// Help lists the settings.
func Help() string {
	var b strings.Builder
	b.WriteString("A setting comes from its flag, else its environment variable, else the\n" +
		"configuration file (section: {key: value}), else its default:\n\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "%s\n  %s", s.key, s.doc)
		if s.def != "" {
			fmt.Fprintf(&b, " [%s]", s.def)
		}
		fmt.Fprintf(&b, "\n  %s\n\n", s.variables())
	}
	return strings.TrimSpace(b.String())
}

//go:embed intro.md
var intro string

// Markdown lists the settings as docs/reference/configuration.md has them.
func Markdown(w io.Writer) error {
	if _, err := io.WriteString(w, intro); err != nil {
		return err
	}
	section := ""
	for _, s := range settings {
		if of, _, _ := strings.Cut(s.key, "."); of != section {
			section = of
			fmt.Fprintf(w, "\n## %s\n\n| key | variable | default | what it is |\n|---|---|---|---|\n", section)
		}
		def := "–"
		if s.def != "" {
			def = "`" + s.def + "`"
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s | %s |\n", s.key, s.variables(), def, s.doc); err != nil {
			return err
		}
	}
	return nil
}

// Variables are the environment variables of all settings.
func Variables() []string {
	var out []string
	for _, s := range settings {
		out = append(out, EnvName(s.key))
	}
	return out
}

// masked is shown in place of a secret.
const masked = "(set)"

// WithoutQuery masks the values in the query of an address: a key may be among
// them.
func WithoutQuery(value string) string {
	u, err := url.Parse(value)
	if err != nil || u.Host == "" || u.RawQuery == "" {
		return value
	}
	var names []string
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		name, _, _ := strings.Cut(pair, "=")
		names = append(names, name+"="+masked)
	}
	u.RawQuery = strings.Join(names, "&")
	return u.String()
}

// Value is a setting as it is in effect.
type Value struct{ Key, Value, Origin, Variable string }

// Values returns every key with its value and origin; secrets are masked.
func Values(c Config, origins Origins) []Value {
	var out []Value
	v := reflect.ValueOf(c)
	for _, s := range settings {
		if s.index == nil {
			continue // a secret's file is shown as its origin
		}
		value := fmt.Sprint(v.FieldByIndex(s.index).Interface())
		if list, ok := v.FieldByIndex(s.index).Interface().([]string); ok {
			value = strings.Join(list, ",")
		}
		if s.secret && value != "" {
			value = masked
		}
		out = append(out, Value{s.key, WithoutQuery(value), origins[s.key], EnvName(s.key)})
	}
	return out
}
