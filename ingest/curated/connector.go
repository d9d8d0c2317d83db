package curated

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest"
)

// rules is the version of how this package reads an entry. After a change every
// file is read again.
const rules = "1"

// DefaultDir is the folder to read if the options do not name one.
const DefaultDir = "curated"

type options struct {
	Dir string `yaml:"dir" format:"path"`
}

type connector struct {
	dir string
	env ingest.Environment
}

// Kind is the kind of sources that network files call curated.
var Kind = ingest.Described{
	Name: "curated",
	Summary: "Reads content that a network's people maintain by hand, as YAML or CSV files in the network's " +
		"folder.",
	Constructor: New,
	Example: `sources:
  - name: curated
    kind: curated
    every: 1h
    options:
      dir: curated              # folder below the network's own; the default
`,
}

// New makes the connector of a source; it is the Constructor of kind "curated".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	o := options{Dir: DefaultDir}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return nil, err
	}
	if !fs.ValidPath(o.Dir) && !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("option dir: %q is not in the network's folder; "+
			"write a relative path with slashes that stays inside, or an absolute one", o.Dir)
	}
	return &connector{o.Dir, env}, nil
}

// Sync implements ingest.Cursored. The cursor is a digest of the files.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	found, odd, err := load(c.env.Place(c.dir))
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("curated: %w", err)
	}
	r := &reader{network: c.env.Network, warnings: odd}
	for _, f := range found {
		if err := f.of.read(r, f.name, f.data); err != nil {
			return ingest.Outcome{}, fmt.Errorf("curated: %w", err)
		}
	}
	r.join()
	for _, p := range r.warnings {
		out.Warn(p.at, p.err.Error())
	}
	for _, p := range r.problems {
		out.Skip(p.at, p.err)
	}
	now := digest(found)
	if now == cursor {
		return ingest.Outcome{Cursor: cursor}, nil
	}
	for i, m := range r.made {
		if err := out.Put(ctx, m.entry); err != nil {
			return ingest.Outcome{}, err
		}
		out.Progress(i+1, len(r.made))
	}
	return ingest.Outcome{Cursor: now, Complete: true}, nil
}

// digest changes with the files and with rules.
func digest(found []content) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	_ = enc.Encode(rules) // writing to a hash cannot fail
	for _, f := range found {
		_ = enc.Encode([]any{f.name, f.data})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// encode sets the data of a record.
func encode(e catalog.Entry, data any) (catalog.Entry, error) {
	var err error
	e.Record.Data, err = catalog.Encode(data)
	return e, err
}
