package curated

import (
	"context"

	"almanac/ingest"
)

// DefaultDir is the folder to read if the options do not name one.
const DefaultDir = "curated"

// Kind is the kind of sources that network files call curated.
var Kind = ingest.Kind[settings, state]{
	Name: "curated",
	Summary: "Reads content that a network's people maintain by hand, as YAML or CSV files in the network's " +
		"folder.",
	Example: `sources:
  - name: curated
    kind: curated
    every: 1h
    options:
      dir: curated              # folder below the network's own; the default
`,
	Defaults: settings{Dir: DefaultDir},
	Open: func(s settings, env ingest.Environment) (ingest.Connector[state], error) {
		return connector{s.Dir, env}, nil
	},
}

type settings struct {
	Dir string `yaml:"dir" format:"file"`
}

type connector struct {
	dir string
	env ingest.Environment
}

// state is what was read.
type state struct {
	Files string // digest
}

// Sync implements ingest.Connector.
func (c connector) Sync(ctx context.Context, before state, out ingest.Sink) (state, ingest.Outcome, error) {
	found, odd, err := load(c.env.Place(c.dir))
	if err != nil {
		return state{}, ingest.Outcome{}, err
	}
	r := &reader{network: c.env.Network, warnings: odd}
	for _, f := range found {
		if err := f.of.read(r, f.Name, f.Data); err != nil {
			return state{}, ingest.Outcome{}, err
		}
	}
	r.join()
	for _, p := range r.warnings {
		out.Warn(p.at, p.err.Error())
	}
	for _, p := range r.problems {
		out.Skip(p.at, p.err)
	}
	now := state{ingest.Digest(found)}
	if now == before {
		return now, ingest.Outcome{}, nil
	}
	for i, m := range r.made {
		if err := out.Put(ctx, m.entry); err != nil {
			return state{}, ingest.Outcome{}, err
		}
		out.Progress(i+1, len(r.made))
	}
	return now, ingest.Outcome{Complete: true}, nil
}
