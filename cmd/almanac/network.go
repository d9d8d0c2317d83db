package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"almanac/catalog/network"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/ingest"
	"almanac/ingest/calendar"
	"almanac/ingest/connectors"
	"almanac/ingest/curated"
	"almanac/ingest/networks"
	"almanac/ingest/sample"
)

type networkCmd struct {
	New    networkNewCmd    `cmd:"" help:"Write a network file to begin with."`
	Check  networkCheckCmd  `cmd:"" help:"Check a network file and the options of its sources."`
	Source networkSourceCmd `cmd:"" help:"Change the sources of a network file, which keeps its comments."`
	Kinds  networkKindsCmd  `cmd:"" help:"List the kinds of sources, or print every option of one."`
	Schema networkSchemaCmd `cmd:"" help:"Print the JSON Schema of network files, for editors."`
	Show   networkShowCmd   `cmd:"" help:"Print the file of a network that comes with the program."`
}

type networkNewCmd struct {
	File string `arg:"" optional:"" help:"Where to write it; default mine.yaml." default:"mine.yaml" placeholder:"FILE"`
}

func (networkNewCmd) Help() string {
	return `The file has a source of each usual kind, with comments; what needs an address of
yours is commented out. A file that is there is left alone.`
}

func (c networkNewCmd) Run(a *app) error {
	if err := checkEnding(c.File); err != nil {
		return err
	}
	f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: name another file, or change that one", c.File)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, reason(err))
	}
	_, err = f.Write(networks.New(c.File))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(c.File))
	}
	_, err = fmt.Fprintf(a.out, "%s: edit it, then run `almanac network check %[1]s`\n", c.File)
	return err
}

type networkSchemaCmd struct {
	Of string `arg:"" optional:"" help:"calendar, or a curated file (${curated}); default the network file."`
}

func (c networkSchemaCmd) Run(a *app) error {
	schema, err := c.schema()
	if err == nil {
		_, err = a.out.Write(schema)
	}
	return err
}

func (c networkSchemaCmd) schema() ([]byte, error) {
	if c.Of == "calendar" {
		return calendar.Schema()
	}
	if c.Of != "" {
		return curated.Schema(c.Of)
	}
	kinds, err := connectors.Schemas()
	if err != nil {
		return nil, err
	}
	kinds[connectors.Sample] = &jsonschema.Schema{Type: "object"}
	return network.Schema(kinds)
}

type networkKindsCmd struct {
	Kind string `arg:"" optional:"" complete:"source-kinds" help:"Print this kind as a commented entry of a file."`
}

func (c networkKindsCmd) Run(a *app) error {
	if c.Kind != "" {
		k, err := connectors.KindOf(c.Kind)
		if err == nil {
			_, err = fmt.Fprintf(a.out, "# %s\n%s", k.Summary, k.Example)
		}
		return err
	}
	var rows [][]string
	for _, k := range connectors.Kinds() {
		rows = append(rows, []string{k.Name, k.Summary})
	}
	return terminal.Rows(a.out, rows)
}

type networkShowCmd struct {
	Name    string `arg:"" complete:"networks" help:"${networks}."`
	Curated string `help:"Write the sample's curated files into this folder, as a model." placeholder:"DIR"`
}

func (c networkShowCmd) Run(a *app) error {
	if c.Curated != "" {
		return c.writeCurated()
	}
	text, err := networks.Text(c.Name)
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

// writeCurated writes the curated files of the sample with the dates of today.
func (c networkShowCmd) writeCurated() error {
	n, err := networks.Load(c.Name)
	if err != nil {
		return err
	}
	if !isSample(n) {
		return fmt.Errorf("%w: only the network sample comes with curated files", config.ErrUsage)
	}
	files, err := sample.FS(now())
	if err == nil {
		files, err = fs.Sub(files, curated.DefaultDir)
	}
	if err == nil {
		err = os.CopyFS(c.Curated, files) // refuses files that exist
	}
	return err
}

type networkCheckCmd struct {
	File  string `arg:"" help:"YAML file, or the name of a network that comes with the program." placeholder:"FILE"`
	Reach bool   `help:"Also ask every server whether it answers."`
}

func (networkCheckCmd) Help() string {
	return `Reads the file strictly, makes the connector of every source as a sync would, and
looks at what its options name: paths, environment variables, private addresses.
Sources on this machine are read, and what a sync would leave out is named with
its reason. Problems name the line or the source. No server is asked without
--reach.`
}

func (c networkCheckCmd) Run(ctx context.Context, a *app) error {
	n, err := networks.Load(c.File)
	if err == nil {
		err = a.checkName(c.File, n)
	}
	if err != nil {
		return err
	}
	if err := a.checkCorpus(n); err != nil {
		return err
	}
	findings, err := a.findings(ctx, n, c.File, connectors.CheckConfig{Reach: c.Reach, Read: true})
	if err != nil {
		return err
	}
	var rows [][]string
	failed := 0
	for _, f := range findings {
		result := "ok"
		if len(f.Problems) > 0 {
			failed++
			result = "FAIL " + terminal.OneLine(strings.Join(f.Problems, "; "))
		}
		for _, advice := range f.Advice {
			result += "; " + terminal.OneLine(advice)
		}
		rows = append(rows, []string{f.Source.Name, f.Source.Kind, schedule(f.Source), result})
	}
	if err := terminal.Rows(a.out, rows); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the %d sources of network %s cannot be read as they are", failed, len(findings), n.Name)
	}
	fmt.Fprintf(a.out, "network %s is valid\n", n.Name)
	return nil
}

// findings looks at the sources of a network file.
func (a *app) findings(ctx context.Context, n network.Network, file string, cfg connectors.CheckConfig) (
	[]connectors.Finding, error,
) {
	files, err := networks.Folder(file)
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "almanac-check-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	cfg.Allow, _ = a.config.Allowed() // checked with the configuration
	cfg.Environment = ingest.Environment{
		Network: n, Now: now, Log: a.log, HTTP: a.outgoing(), Files: files, WorkDir: work,
		CorpusDir: cmp.Or(a.corpusDir(), filepath.Join(work, "corpus")), // it need not exist
		Pseudonym: func(s string) string { return s },
	}
	return connectors.Check(ctx, cfg), nil
}

// schedule describes when a source is read.
func schedule(src network.Source) string {
	if src.Every == 0 {
		return "at start"
	}
	every := src.Every.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(every, zero) {
			every = every[:len(every)-2]
		}
	}
	return "every " + every
}
