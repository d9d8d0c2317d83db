package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"text/tabwriter"

	"almanac/catalog"
	"almanac/ingest/networks"
)

type configCmd struct{}

// Help lists the settings.
func (configCmd) Help() string {
	var b strings.Builder
	b.WriteString("A setting comes from its flag, else its environment variable, else the\nconfiguration file (section: {key: value}), else its default:\n\n")
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
	if n, err := networks.Load(a.config.Network.Name); err == nil && a.config.Data.Dir == "" {
		a.config.Data.Dir = defaultDataDir(n.Name, a.environ)
	}
	return a.config.print(a.out, a.origins)
}

type versionCmd struct{}

func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintln(a.out, "almanac", version())
	return err
}

// release is the version of the program; the revision it was built from comes
// from the build.
const release = "0.1.0"

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return release
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-modified"
		}
	}
	if revision == "" {
		return release
	}
	return release + "+" + revision + dirty
}

type reindexCmd struct{}

func (reindexCmd) Help() string {
	return `Needed only if an index is suspected to be wrong: a damaged or missing one is
noticed and built anew by itself. No text is embedded again that was before.`
}

// Run builds the index anew. It refuses while another process writes it.
func (reindexCmd) Run(ctx context.Context, a *app) error {
	n, dir, err := a.open()
	if err != nil {
		return err
	}
	lock, err := lockIndex(dir)
	if err != nil {
		return err
	}
	if lock == nil {
		return fmt.Errorf("a running process writes the index of %s: stop it first", dir)
	}
	snapshots, err := filepath.Glob(filepath.Join(dir, "*.snapshot"))
	if err != nil {
		return errors.Join(err, lock.unlock())
	}
	for _, path := range snapshots {
		err = errors.Join(err, os.Remove(path))
	}
	store, openErr := openCatalog(ctx, dir, n.Name)
	if err = errors.Join(err, openErr); err != nil {
		return errors.Join(err, lock.unlock())
	}
	generations, err := store.Generations(ctx)
	for _, g := range generations {
		err = errors.Join(err, store.DropGeneration(ctx, g.ID))
	}
	if err = errors.Join(err, store.Close(), lock.unlock()); err != nil {
		return err
	}
	s, _, err := a.openStack(ctx)
	if err != nil {
		return err
	}
	if _, err = s.follower.CatchUp(ctx); err == nil {
		records, passages := s.follower.Table().Size()
		_, err = fmt.Fprintf(a.out, "indexed %d records in %d passages\n", records, passages)
	}
	return errors.Join(err, s.close())
}

type doctorCmd struct{}

// Run checks what it can without changing anything but an empty directory.
func (doctorCmd) Run(ctx context.Context, a *app) error {
	tw := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	failed := 0
	check := func(name string, err error, detail string) {
		if err != nil {
			failed++
			fmt.Fprintf(tw, "FAIL\t%s\t%v\n", name, err)
			return
		}
		fmt.Fprintf(tw, "ok\t%s\t%s\n", name, detail)
	}
	s, n, err := a.openStack(ctx)
	check("network and data directory", err, n.Name)
	if err == nil {
		defer s.close()
		lag, _ := s.follower.Lag()
		records, passages := s.follower.Table().Size()
		check("index", nil, fmt.Sprintf("%d records in %d passages, %d changes behind; model %s", records, passages, lag, s.embedder.Model()))
		if s.lock == nil {
			check("index lock", nil, "held by another process, which writes the index")
		}
		sources, err := s.store.Sources(ctx)
		check("sources", err, fmt.Sprintf("%d of %d synced", len(sources), len(n.Sources)))
		for _, st := range sources {
			check("source "+st.Name, sourceProblem(st), "synced "+st.LastSuccess.UTC().Format("2006-01-02 15:04"))
		}
		switch {
		case len(sources) == 0:
			fmt.Fprintf(tw, "hint\t\trun `almanac sync`, or `almanac serve`, which syncs by itself\n")
		case lag > 0 && s.lock != nil:
			fmt.Fprintf(tw, "hint\t\tthe next `almanac serve` or `almanac search` indexes what is new\n")
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the checks failed", failed)
	}
	return nil
}

func sourceProblem(st catalog.SourceState) error {
	if st.Error != "" {
		return errors.New(st.Error)
	}
	return nil
}
