package main

import (
	"cmp"
	"context"
	"fmt"

	"almanac/cmd/config"
	"almanac/cmd/profiles"
	"almanac/cmd/terminal"
	"almanac/ingest/networks"
	"almanac/retrieval/ranking"
)

type configCmd struct {
	Markdown bool `help:"Print the reference of all settings as Markdown."`
}

func (configCmd) Help() string { return config.Help() }

func (c configCmd) Run(ctx context.Context, a *app) error {
	if c.Markdown {
		return config.Markdown(a.out)
	}
	a.config.Server.PublicURL = a.config.PublicURL(a.config.Server.Listen)
	if n, err := networks.Load(a.config.Network.Name); err == nil {
		a.config.Data.Dir = a.dataDir(n)
	}
	rows := [][]string{{"KEY", "VALUE", "ORIGIN"}}
	for _, v := range config.Values(a.config, a.origins) {
		rows = append(rows, []string{v.Key, cmp.Or(v.Value, "-"), v.Origin})
	}
	if err := terminal.Rows(a.out, rows); err != nil {
		return err
	}
	fmt.Fprintln(a.out, "\nThe variable of server.listen is ALMANAC_SERVER_LISTEN, and so of the others.")
	if !a.catalog(a.config.Data.Dir).Exists() {
		return nil // nothing was published yet
	}
	fmt.Fprintln(a.out)
	return a.withRevisions(ctx, func(s ranking.Source) error { return profiles.InForce(ctx, s.Store, a.out) })
}
