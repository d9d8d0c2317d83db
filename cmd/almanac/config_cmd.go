package main

import (
	"almanac/cmd/config"
	"almanac/ingest/networks"
)

type configCmd struct {
	Markdown bool `help:"Print the reference of all settings as Markdown."`
}

func (configCmd) Help() string { return config.Help() }

func (c configCmd) Run(a *app) error {
	if c.Markdown {
		return config.Markdown(a.out)
	}
	a.config.Server.PublicURL = a.config.PublicURL(a.config.Server.Listen)
	if n, err := networks.Load(a.config.Network.Name); err == nil {
		a.config.Data.Dir = a.dataDir(n)
	}
	return config.Print(a.out, a.config, a.origins)
}
