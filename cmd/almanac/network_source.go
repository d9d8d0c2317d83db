package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"almanac/catalog/network"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/ingest/connectors"
	"almanac/ingest/networks"
	"almanac/retrieval/stack"
)

type networkSourceCmd struct {
	Add    sourceAddCmd    `cmd:"" help:"Add a source as the last."`
	Remove sourceRemoveCmd `cmd:"" help:"Remove a source."`
	Rename sourceRenameCmd `cmd:"" help:"Give a source another name."`
}

type sourceAddCmd struct {
	File    string   `arg:"" help:"Network file to change."`
	Kind    string   `arg:"" complete:"source-kinds" help:"Kind of the source; network kinds lists them."`
	Options []string `arg:"" optional:"" name:"option" help:"Options, as KEY=VALUE; a value is written as in YAML."`
	Name    string   `help:"Name of the source; default its kind." placeholder:"NAME"`
	Every   string   `help:"How often it is read, such as 1h; default once at each start." placeholder:"DURATION"`
}

func (sourceAddCmd) Help() string {
	return `The file keeps its lines and comments. The new source is checked as network check
does, and nothing is changed if it has problems. ` + "`almanac network kinds KIND`" + ` prints
the options of a kind.`
}

func (c sourceAddCmd) Run(ctx context.Context, a *app) error {
	if _, err := connectors.KindOf(c.Kind); err != nil {
		return err
	}
	e := networks.Entry{Name: cmp.Or(c.Name, c.Kind), Kind: c.Kind, Every: c.Every}
	for _, option := range c.Options {
		key, value, ok := strings.Cut(option, "=")
		if !ok {
			return fmt.Errorf("%w: %q: an option is KEY=VALUE", config.ErrUsage, option)
		}
		if err := e.Set(key, value); err != nil {
			return fmt.Errorf("%w: %w", config.ErrUsage, err)
		}
	}
	_, err := a.edit(ctx, c.File, e.Name, func(text []byte) ([]byte, error) { return networks.Add(c.File, text, e) })
	if err == nil {
		_, err = fmt.Fprintf(a.out, "%s: added %s as the last source; `almanac sync --network %s %[2]s` reads it, and "+
			"`almanac serve` from its next start on\n", c.File, e.Name, asPath(c.File))
	}
	return err
}

type sourceRemoveCmd struct {
	File string `arg:"" help:"Network file to change."`
	Name string `arg:"" help:"Source to remove."`
}

func (sourceRemoveCmd) Help() string {
	return `The file keeps its other lines and comments. The records of the source, its state
and its working directory are given up by the next sync of all sources, or start of
the server; what another source yields too becomes that one's.`
}

func (c sourceRemoveCmd) Run(ctx context.Context, a *app) error {
	_, err := a.edit(ctx, c.File, "", func(text []byte) ([]byte, error) { return networks.Remove(c.File, text, c.Name) })
	if err == nil {
		_, err = fmt.Fprintf(a.out, "%s: removed %s; the next `almanac sync --network %s`, or start of `almanac serve`, "+
			"gives up its records\n", c.File, c.Name, asPath(c.File))
	}
	return err
}

type sourceRenameCmd struct {
	File string `arg:"" help:"Network file to change."`
	From string `arg:"" help:"Name of the source."`
	To   string `arg:"" help:"Its new name."`
}

func (sourceRenameCmd) Help() string {
	return `The file keeps its lines and comments; an authority by the old name is renamed too.
The next sync of all sources, or start of the server, reads the source again under
its new name: it takes its records over, with their ids, and what it does not list
any more, such as old posts of a feed, is given up. Its working directory, such as
a clone, is moved, unless a server has the data directory open.`
}

func (c sourceRenameCmd) Run(ctx context.Context, a *app) error {
	n, err := a.edit(ctx, c.File, "", func(text []byte) ([]byte, error) {
		return networks.Rename(c.File, text, c.From, c.To)
	})
	if err != nil {
		return err
	}
	moved, err := a.moveWorkDir(ctx, n, c.From, c.To)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s: renamed %s to %s; the next `almanac sync --network %s`, or start of `almanac serve`, reads it "+
		"again, and its records keep their ids; what it does not list any more is given up\n",
		c.File, c.From, c.To, asPath(c.File))
	if moved != "" {
		fmt.Fprintf(a.out, "moved its working directory to %s\n", moved)
	}
	return nil
}

// moveWorkDir moves what a source has in the data directory of its network, if it has
// anything there and no server may be using it. moved is where it is now.
func (a *app) moveWorkDir(ctx context.Context, n network.Network, from, to string) (moved string, err error) {
	dir := a.dataDir(n)
	old, now := filepath.Join(workDirs(dir), from), filepath.Join(workDirs(dir), to)
	if info, err := os.Stat(old); dir == "" || err != nil || !info.IsDir() {
		return "", nil
	}
	if _, err := os.Lstat(now); err == nil {
		return "", nil
	}
	lock, err := stack.TryLock(ctx, dir, nil)
	if err != nil || lock == nil {
		return "", err
	}
	return now, errors.Join(os.Rename(old, now), lock.Unlock())
}

// edit changes a network file, and returns the network. What is to be written is checked
// as `network check` does, with the source of this name, beside the file, whose place it
// then takes.
func (a *app) edit(ctx context.Context, file, source string, change func([]byte) ([]byte, error)) (
	n network.Network, err error,
) {
	if err := checkEnding(file); err != nil {
		return n, err
	}
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		return n, fmt.Errorf("%s: %w", file, reason(err))
	}
	text, err := os.ReadFile(path)
	if err == nil {
		text, err = change(text)
	}
	if err == nil {
		n, err = network.Parse(file, text)
	}
	if err == nil {
		err = a.checkName(asPath(file), n)
	}
	for _, src := range n.Sources {
		if err == nil && src.Name == source {
			err = a.checkSource(ctx, n, src, path)
		}
	}
	if err != nil {
		return n, err
	}
	return n, replaceFile(path, text)
}

// checkSource fails if a source cannot be read as it is.
func (a *app) checkSource(ctx context.Context, n network.Network, src network.Source, file string) error {
	n.Sources = []network.Source{src}
	findings, err := a.findings(ctx, n, asPath(file), connectors.CheckConfig{Read: true})
	if err != nil {
		return err
	}
	for _, f := range findings {
		if len(f.Problems) > 0 {
			return fmt.Errorf("source %s cannot be read as it is, and the file was not changed: %s", src.Name,
				terminal.OneLine(strings.Join(f.Problems, "; ")))
		}
		for _, advice := range f.Advice {
			fmt.Fprintf(a.err, "%s: %s\n", src.Name, terminal.OneLine(advice))
		}
	}
	return nil
}

// asPath is how --network takes a file.
func asPath(file string) string {
	if filepath.IsAbs(file) || strings.ContainsRune(file, filepath.Separator) {
		return file
	}
	return "." + string(filepath.Separator) + file
}
