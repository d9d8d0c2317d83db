package main

import (
	"io"
	"log/slog"

	"almanac/catalog"
	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/cmd/config"
	"almanac/ingest/networks"
	"almanac/retrieval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
	"almanac/retrieval/stack"
)

// app is passed to every subcommand.
type app struct {
	config  config.Config
	origins config.Origins
	environ []string
	log     *slog.Logger
	lines   *slog.Logger // of progress where there is no terminal
	out     io.Writer
	err     io.Writer
}

// open loads the network and creates its data directory.
func (a *app) open() (n network.Network, dir string, err error) {
	if n, err = networks.Load(a.config.Network.Name); err != nil {
		return n, "", err
	}
	dir = a.dataDir(n)
	return n, dir, datadir.Create(dir)
}

// dataDir returns the data directory of a network, "" without a home directory.
func (a *app) dataDir(n network.Network) string {
	if a.config.Data.Dir != "" {
		return a.config.Data.Dir
	}
	return datadir.Default(n.Name, config.Getenv(a.environ, "XDG_DATA_HOME"), config.Getenv(a.environ, "HOME"))
}

// indexing shows that a command brings the index up to date.
func (a *app) indexing() (set func(done, total int), end func()) {
	task := a.progress("index")
	return task.Set, task.End
}

// stackConfig returns the configuration of the index in a directory, without
// the catalog. The configured profile is the default of searches.
func (a *app) stackConfig(n network.Network, dir string, profiles ...profile.Profile) (stack.Config, error) {
	standard, err := profile.Load(a.config.ProfileName())
	if err != nil {
		return stack.Config{}, err
	}
	standard.Name = profile.DefaultName
	return stack.Config{
		Dir: dir, Profiles: append([]profile.Profile{standard}, profiles...),
		Authority: n.Authority, Aliases: n.Aliases,
		Keyword: stack.Keyword(a.config.Keyword), Vector: stack.Vector(a.config.Vector),
		Embed: stack.Embed(a.config.Embed), Rerank: stack.Rerank(a.config.Rerank),
		Deadline: a.config.Search.Deadline, Progress: a.indexing, Log: a.log,
	}, nil
}

// revisions reads what people saved in a catalog, over the configuration.
func (a *app) revisions(n network.Network, store catalog.Store) (revision.Source, error) {
	cfg, err := a.stackConfig(n, "")
	return revision.Source{Store: store, Base: retrieval.Relevance{Profiles: cfg.Profiles, Aliases: cfg.Aliases}}, err
}
