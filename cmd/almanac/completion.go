package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"almanac/api"
	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/manual"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
)

type completionCmd struct {
	Shell string `arg:"" enum:"${shells}" help:"${shells}."`
}

func (c completionCmd) Run(a *app, k *kong.Context) error {
	_, err := io.WriteString(a.out, manual.Completions(k.Model.Name, c.Shell))
	return err
}

// completeCmd prints what may take the place of the last word of a command line, one on a line, with a tab before its
// description.
type completeCmd struct {
	Line []string `arg:"" optional:"" passthrough:"" help:"The command line, up to the word that is typed."`
}

func (c *completeCmd) Run(ctx context.Context, a *app, k *kong.Context) error {
	line := slices.DeleteFunc(slices.Clone(c.Line), func(s string) bool { return s == "--" })
	if len(line) < 2 {
		return nil
	}
	before, typed := line[1:len(line)-1], line[len(line)-1]
	isEquals := func(s string) bool { return s == "=" } // bash cuts at it
	if isEquals(typed) {
		typed = ""
	}
	words, err := following(ctx, a, k.Model, slices.DeleteFunc(before, isEquals))
	for _, word := range words {
		if word != "" && strings.HasPrefix(word, typed) {
			fmt.Fprintln(a.out, word)
		}
	}
	return err
}

// configure loads the configuration that a command line names.
func configure(a *app, line []string) (err error) {
	given := map[string]string{}
	for i, word := range line {
		name, value, joined := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if !joined && i+1 < len(line) {
			value = line[i+1]
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
	a.config, a.origins, err = config.Load(given["config"], a.environ, flags)
	return err
}

// following returns what may follow the words of a command line: values of a flag, or else commands, flags and arguments.
func following(ctx context.Context, a *app, program *kong.Application, before []string) ([]string, error) {
	command, _ := commandOf(program, before)
	if len(before) > 0 {
		if f := flagOf(command, before[len(before)-1]); f != nil && !f.IsBool() {
			asked, err := known(ctx, a, before, f.Tag.Get("complete"))
			return append(f.EnumSlice(), asked...), err
		}
	}
	var words []string
	for _, child := range command.Children {
		if !child.Hidden {
			words = append(words, child.Name+"\t"+child.Help)
		}
	}
	for _, f := range slices.Concat(command.AllFlags(true)...) {
		words = append(words, "--"+f.Name+"\t"+f.Help)
	}
	for _, p := range command.Positional {
		asked, err := known(ctx, a, before, p.Tag.Get("complete"))
		if err != nil {
			return words, err
		}
		words = append(append(words, p.EnumSlice()...), asked...)
	}
	return words, nil
}

// known returns all that there is of what a flag or an argument asks for, as a command line is configured; "" for none.
func known(ctx context.Context, a *app, before []string, what string) (words []string, err error) {
	switch what {
	case "":
		return nil, nil
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
	if err := configure(a, before); err != nil {
		return nil, err
	}
	n, err := networks.Load(a.config.Network.Name)
	switch what {
	case "sources":
		for _, src := range n.Sources {
			words = append(words, src.Name)
		}
	case "tools":
		words = op.Commands(api.Operations(kb.Base{Network: n}))
	case "ids":
		if err != nil || !a.catalog(a.dataDir(n)).Exists() {
			return nil, err // nothing is made for a key that is pressed
		}
		err = a.withCatalog(ctx, func(store *sqlstore.Store) error {
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
