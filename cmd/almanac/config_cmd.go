package main

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"strings"
	"text/tabwriter"

	"almanac/ingest/networks"
)

type configCmd struct{}

// Help lists the settings.
func (configCmd) Help() string {
	var b strings.Builder
	b.WriteString("A setting comes from its flag, else its environment variable, else the\n" +
		"configuration file (section: {key: value}), else its default:\n\n")
	for _, s := range settings {
		fmt.Fprintf(&b, "%s\n  %s", s.key, s.doc)
		if s.def != "" {
			fmt.Fprintf(&b, " [%s]", s.def)
		}
		fmt.Fprintf(&b, "\n  %s", envName(s.key))
		for short, key := range shortEnv {
			if key == s.key {
				fmt.Fprintf(&b, ", %s", short)
			}
		}
		b.WriteString("\n\n")
	}
	return strings.TrimSpace(b.String())
}

func (configCmd) Run(a *app) error {
	a.config.Server.PublicURL = a.config.publicURL(a.config.Server.Listen)
	if n, err := networks.Load(a.config.Network.Name); err == nil {
		a.config.Data.Dir = a.dataDir(n)
	}
	return printConfig(a.out, a.config, a.origins)
}

// masked is shown in place of a secret.
const masked = "(set)"

// withoutQuery masks the values in the query of an address: a key may be among
// them.
func withoutQuery(value string) string {
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

// printConfig writes every key with its value and origin; secrets are masked.
func printConfig(w io.Writer, c Config, origins Origins) error {
	tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "KEY\tVALUE\tORIGIN\tENVIRONMENT")
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
		value = withoutQuery(value)
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", s.key, cmp.Or(value, "-"), origins[s.key], envName(s.key))
	}
	return tw.Flush()
}
