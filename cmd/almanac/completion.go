package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/line"
	"almanac/catalog"
	"almanac/cmd/config"
	"almanac/cmd/manual"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

type completionCmd struct {
	Shell string `arg:"" enum:"${shells}" help:"${shells}."`
}

func (c completionCmd) Run(a *app, k *kong.Context) error {
	return manual.Complete(a.out, k.Model, c.Shell)
}

// completeCmd prints what a shell offers, one on a line.
type completeCmd struct {
	What   string   `arg:"" enum:"ids,kinds,networks,source-kinds,sources,tools" help:"${enum}."`
	Prefix string   `arg:"" optional:"" help:"What is typed already."`
	Line   []string `arg:"" optional:"" passthrough:"" help:"The command line, whose network and data directory count."`
}

func (c *completeCmd) Run(ctx context.Context, a *app) (err error) {
	given := map[string]string{}
	for i, word := range c.Line {
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if rest := slices.DeleteFunc(slices.Clone(c.Line[i+1:]), func(s string) bool { return s == "=" }); !joined &&
			len(rest) > 0 {
			value = rest[0] // bash cuts at =
		}
		if word != name {
			given[name] = value
		}
	}
	flags := map[string]string{}
	for name, key := range map[string]string{"network": "network.name", "data": "data.dir"} {
		if given[name] != "" {
			flags[key] = given[name]
		}
	}
	if a.config, a.origins, err = config.Load(given["config"], a.environ, flags); err != nil {
		return err
	}
	known, err := c.known(ctx, a)
	for _, word := range known {
		if strings.HasPrefix(word, c.Prefix) {
			fmt.Fprintln(a.out, word)
		}
	}
	return err
}

// known returns all that there is.
func (c *completeCmd) known(ctx context.Context, a *app) (words []string, err error) {
	switch c.What {
	case "kinds":
		for _, k := range catalog.Kinds {
			words = append(words, string(k.Kind))
		}
		return words, nil
	case "networks":
		return networks.Names(), nil
	case "source-kinds":
		for _, k := range connectors.Kinds() {
			words = append(words, k.Name)
		}
		return words, nil
	}
	n, err := networks.Load(a.config.Network.Name)
	switch c.What {
	case "sources":
		for _, src := range n.Sources {
			words = append(words, src.Name)
		}
	case "tools":
		words = line.Names(api.Operations(kb.Base{Network: n}))
	case "ids":
		if err != nil || !a.catalog(a.dataDir(n)).Exists() {
			return nil, err // nothing is made for a key that is pressed
		}
		err = a.withCatalog(ctx, func(store catalog.Store) error {
			proposals, _, err := store.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}})
			for _, r := range proposals {
				words = append(words, r.Key)
			}
			return err
		})
	}
	return words, err
}

type manCmd struct{}

func (manCmd) Run(a *app, k *kong.Context) error {
	var env strings.Builder
	env.WriteString("Every setting has a variable; `almanac config` prints them with values and origins.\n")
	for _, name := range config.Variables() {
		fmt.Fprintf(&env, "  %s\n", name)
	}
	return manual.Page(a.out, k.Model, version(), [][2]string{
		{"EXIT STATUS", "0 on success, 1 after a failure, 2 for an invalid command line or configuration."},
		{"ENVIRONMENT", env.String()},
		{"FILES", "  $XDG_DATA_HOME/almanac/NETWORK   data directory, one for each network"},
	})
}
