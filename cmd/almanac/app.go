package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"almanac/catalog/datadir"
	"almanac/catalog/network"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/embed"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
)

// app is passed to every subcommand.
type app struct {
	config  config.Config
	origins config.Origins
	file    string // of the configuration, given on the command line
	environ []string
	log     *slog.Logger
	lines   *slog.Logger // of progress where there is no terminal
	out     io.Writer
	err     io.Writer
	style   terminal.Style // of out
}

// open loads the network and makes its data directory, which may be one that can only
// be read.
func (a *app) open() (n network.Network, at datadir.Catalog, err error) {
	if n, at, err = a.place(); err == nil && at.Sealed != nil {
		a.log.Info(at.Sealed.Error())
	}
	return n, at, err
}

// openToWrite is open for a command that is nothing without writing.
func (a *app) openToWrite() (n network.Network, at datadir.Catalog, err error) {
	n, at, err = a.place()
	return n, at, cmp.Or(err, at.Sealed)
}

// place loads the network and makes its data directory.
func (a *app) place() (n network.Network, at datadir.Catalog, err error) {
	if n, err = networks.Load(a.config.Network.Name); err != nil {
		return n, at, err
	}
	if err := a.checkName(a.config.Network.Name, n); err != nil {
		return n, at, err
	}
	at = a.catalog(a.dataDir(n))
	at.Sealed, err = datadir.Create(at.Dir)
	return n, at, err
}

// checkName refuses a network file that would have the data directory of another network.
func (a *app) checkName(nameOrFile string, n network.Network) error {
	if a.config.Data.Dir != "" {
		return nil
	}
	return networks.CheckName(nameOrFile, n)
}

// dataDir returns the data directory of a network, "" without a home directory.
func (a *app) dataDir(n network.Network) string {
	if a.config.Data.Dir != "" {
		return a.config.Data.Dir
	}
	return datadir.Default(n.Name, config.Getenv(a.environ, "XDG_DATA_HOME"), config.Getenv(a.environ, "HOME"))
}

// catalog returns where the catalog of a data directory is.
func (a *app) catalog(dir string) datadir.Catalog {
	return datadir.Catalog{Dir: dir, URL: a.config.Catalog.URL, Now: now}
}

// indexing shows that a command brings the index up to date.
func (a *app) indexing() (set func(done, total int), end func()) {
	task := a.progress("index")
	return task.Set, task.End
}

// stackConfig returns the configuration of the index in a directory, without
// the catalog. The configured profile is the default of searches; without one that is
// the one of the kind of model.
func (a *app) stackConfig(n network.Network, dir string, profiles ...ranking.Profile) (stack.Config, error) {
	standard, err := ranking.Load(cmp.Or(a.config.Search.Profile, ranking.DefaultName))
	if err != nil {
		return stack.Config{}, err
	}
	standard.Name = ranking.DefaultName
	var fitted *ranking.Profile
	if a.config.Search.Profile == "" {
		p, err := ranking.Load(ranking.TransformerName)
		if err != nil {
			return stack.Config{}, err
		}
		fitted = &p
	}
	vectors, err := embed.ReadVectors(sample.Vectors)
	if err != nil {
		return stack.Config{}, err
	}
	return stack.Config{
		Dir: dir, Vectors: vectors, Authority: n.Authority,
		Relevance: retrieval.Relevance{Profiles: append([]ranking.Profile{standard}, profiles...), Transformer: fitted,
			Aliases: n.Aliases},
		Keyword: a.config.Keyword, Vector: a.config.Vector, Embed: a.config.Embed, Rerank: a.config.Rerank,
		Stored:   a.config.Search.Passages == config.PassagesInCatalog,
		Deadline: a.config.Search.Deadline, Progress: a.indexing, Log: a.log,
	}, nil
}

// follow keeps a searcher up to date with what is published, from its first answer on.
func follow(ctx context.Context, g *errgroup.Group, s ranking.Source, to ranking.Publisher, log *slog.Logger) {
	f := ranking.NewFollower(s, to, log)
	f.Look(ctx)
	g.Go(func() error { f.Run(ctx); return nil })
}

// profile loads a profile by name: a saved revision, NAME@NUMBER, or what is
// published, else a built-in one or a file.
func (a *app) profile(ctx context.Context, name string) (p ranking.Profile, err error) {
	if _, saved := ranking.ParseName(name); !saved && name != ranking.Live {
		return ranking.Load(name)
	}
	err = a.withRevisions(ctx, func(s ranking.Source) error {
		found, err := s.Named(ctx, name)
		p, p.Name = found.Profile, name
		return err
	})
	return p, err
}

// withRevisions opens the catalog for work on revisions.
func (a *app) withRevisions(ctx context.Context, work func(ranking.Source) error) error {
	n, _, store, err := openCatalog(ctx, a.open)
	if err != nil {
		return err
	}
	model, err := stack.Resolve(ctx, store, a.config.Embed)
	if err == nil {
		var s ranking.Source
		if s, err = a.revisions(n, store, model.Transformed); err == nil {
			err = work(s)
		}
	}
	return errors.Join(err, store.Close())
}

// revisions reads what people saved in a catalog, over the configuration. transformed
// says which kind of vectors searches have.
func (a *app) revisions(n network.Network, store *sqlstore.Store, transformed func() bool) (ranking.Source, error) {
	cfg, err := a.stackConfig(n, "")
	return ranking.Source{Store: store, Base: cfg.Relevance, Transformed: transformed}, err
}
