package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/calendar"
	"almanac/ingest/connectors"
	"almanac/ingest/curated"
	"almanac/ingest/networks"
)

type networkCmd struct {
	Check  networkCheckCmd  `cmd:"" help:"Check a network file and the options of its sources."`
	Schema networkSchemaCmd `cmd:"" help:"Print the JSON Schema of network files, for editors."`
	Show   networkShowCmd   `cmd:"" help:"Print the file of a network that comes with the program."`
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
	options := connectors.All(time.Time{}).Schemas()
	delete(options, connectors.Sample) // it has the options of the connector that reads its files
	return network.Schema(options)
}

type networkShowCmd struct {
	Name string `arg:"" help:"${networks}."`
}

func (c networkShowCmd) Run(a *app) error {
	text, err := networks.Text(c.Name)
	if err == nil {
		_, err = a.out.Write(text)
	}
	return err
}

type networkCheckCmd struct {
	File string `arg:"" help:"YAML file, or the name of a network that comes with the program." placeholder:"FILE"`
}

func (networkCheckCmd) Help() string {
	return `Reads the file strictly, then makes the connector of every source as a sync
would, without calling a server. Problems name the line or the source.`
}

func (c networkCheckCmd) Run(a *app) error {
	n, err := networks.Load(c.File)
	if err != nil {
		return err
	}
	files, err := networks.Folder(c.File)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "almanac-check-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	registry := connectors.All(time.Now())
	env := ingest.Environment{
		Network: n, Now: time.Now, Log: a.log, HTTP: a.outgoing(), Files: files, WorkDir: work,
		CorpusDir: a.config.Network.CorpusDir, Pseudonym: func(s string) string { return s },
		// A missing secret does not make the file invalid.
		Getenv: func(name string) string { return cmp.Or(os.Getenv(name), "https://secret.invalid/") },
	}
	if env.CorpusDir == "" {
		env.CorpusDir = filepath.Join(work, "corpus") // it need not exist
	}
	tw := tabwriter.NewWriter(a.out, 0, 4, 2, ' ', 0)
	failed := 0
	for _, src := range n.Sources {
		result := "ok"
		connector, err := registry.Connector(src, env)
		if err != nil {
			failed++
			result = "FAIL " + oneLine(err.Error())
		} else if advised, ok := connector.(ingest.Advised); ok {
			for _, advice := range advised.Advice() {
				result += "; " + oneLine(advice)
			}
		}
		if src.Kind != connectors.Sample { // its servers are files, which need no secrets
			for _, name := range unset(src.Options) {
				result += "; environment variable " + name + " is not set"
			}
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\n", src.Name, src.Kind, schedule(src), result)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of the %d sources of network %s cannot be read", failed, len(n.Sources), n.Name)
	}
	fmt.Fprintf(a.out, "network %s is valid\n", n.Name)
	return nil
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

// unset returns the environment variables in options that are not set.
func unset(options any) []string {
	var names []string
	switch v := options.(type) {
	case map[string]any:
		for key, item := range v {
			name, ok := item.(string)
			if ok && strings.HasSuffix(key, "_env") && os.Getenv(name) == "" {
				names = append(names, name)
			} else if !ok {
				names = append(names, unset(item)...)
			}
		}
	case []any:
		for _, item := range v {
			names = append(names, unset(item)...)
		}
	}
	return names
}
