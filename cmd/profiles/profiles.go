// Package profiles does what the command line does with saved profiles: list,
// print, save, publish, roll back and compare them.
package profiles

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/cmd/terminal"
	"almanac/retrieval/ranking"
)

// Desk is where the commands work.
type Desk struct {
	// Open opens the catalog for some work.
	Open func(ctx context.Context, work func(ranking.Source) error) error
	// Load loads a profile: a revision by NAME@NUMBER, what is published, a built-in
	// one or a file.
	Load func(ctx context.Context, name string) (ranking.Profile, error)
	By   string // who works
	Out  io.Writer
	Here func(text string) string // completes the commands that a text proposes
}

// saved is a revision as JSON.
type saved struct {
	Name  string     `json:"name"`
	N     int        `json:"number"`
	Base  int        `json:"base"`
	At    time.Time  `json:"saved_at"`
	By    string     `json:"by"`
	Note  string     `json:"note"`
	Since *time.Time `json:"in_force_since,omitempty"`
	YAML  string     `json:"yaml,omitempty"`
}

func savedOf(r catalog.Revision) saved {
	return saved{Name: r.Name, N: r.Number, Base: r.Base, At: r.CreatedAt, By: r.By, Note: r.Note}
}

// list prints all revisions.
func (d *Desk) list(ctx context.Context, source ranking.Source, asJSON bool) error {
	all, err := source.Store.Revisions(ctx, catalog.ProfileRevision)
	if err != nil {
		return err
	}
	live, _, err := ranking.InForce(ctx, source.Store)
	if err != nil {
		return err
	}
	list, rows := []saved{}, [][]string{}
	for _, r := range all {
		x, since := savedOf(r), ""
		if live.Profile() == ranking.NameOf(r).String() {
			x.Since, since = &live[0].At, minute(live[0].At)
		}
		list = append(list, x)
		rows = append(rows, []string{ranking.NameOf(r).String(), minute(r.CreatedAt), r.By, since, r.Note})
	}
	if asJSON {
		return d.print(list)
	}
	return table(d.Out, append([][]string{{"PROFILE", "SAVED", "BY", "LIVE SINCE", "NOTE"}}, rows...))
}

// show prints a profile: NAME@NUMBER, NAME for the newest of that name, or any
// other that can be loaded.
func (d *Desk) show(ctx context.Context, source ranking.Source, named string, asJSON bool) error {
	name, ok := ranking.ParseName(named)
	if !ok {
		name.Profile = named
	}
	r, err := source.Saved(ctx, name)
	if errors.Is(err, catalog.ErrNotFound) && !ok {
		var p ranking.Profile
		var data []byte
		if p, err = d.Load(ctx, named); err == nil {
			data, err = yaml.Marshal(p)
		}
		r = catalog.Revision{Name: p.Name, Data: string(data)}
	}
	if err != nil {
		return err
	}
	if !asJSON {
		_, err = fmt.Fprintln(d.Out, strings.TrimRight(r.Data, "\n"))
		return err
	}
	x := savedOf(r)
	x.YAML = r.Data
	return d.print(x)
}

// save saves the text of a file as a revision made from another.
func (d *Desk) save(ctx context.Context, source ranking.Source, c saveCommand) error {
	data, err := os.ReadFile(c.File)
	if err != nil {
		return err
	}
	r, err := ranking.SaveProfile(ctx, source.Store,
		catalog.Revision{Name: c.Name, Base: c.Base, By: d.By, Note: c.Note, Data: string(data)})
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok {
		return fmt.Errorf("nothing is saved: %w, as revision %d: compare it with `almanac profile diff %s %s`, "+
			"make your change to that, and save with --base %[2]d", err, conflict.Revision,
			ranking.Name{Profile: r.Name, Number: int(conflict.Revision)}, c.File)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return d.print(savedOf(r))
	}
	_, err = fmt.Fprintln(d.Out, d.Here(fmt.Sprintf("saved as %s: `almanac profile publish %[1]s` makes it live",
		ranking.NameOf(r))))
	return err
}

// publish makes a revision live.
func (d *Desk) publish(ctx context.Context, source ranking.Source, c publishCommand) error {
	n, ok := ranking.ParseName(c.Name)
	if !ok {
		return fmt.Errorf("%w: %q is no revision: name it as default@3", catalog.ErrNotFound, c.Name)
	}
	p, err := source.Store.Publish(ctx,
		catalog.Publication{Kind: catalog.ProfileRevision, Name: n.Profile, Number: n.Number, By: d.By, Note: c.Note}, 0)
	return d.published(p, err, c.JSON)
}

// published prints a publication.
func (d *Desk) published(p catalog.Publication, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	if asJSON {
		return d.print(map[string]any{"name": p.Name, "number": p.Number, "in_force_since": p.At, "by": p.By,
			"note": p.Note})
	}
	_, err = fmt.Fprintf(d.Out, "%s is live: running servers use it within five seconds\n", p)
	return err
}

// diff prints the fields in which two profiles differ.
func (d *Desk) diff(ctx context.Context, before, after string, asJSON bool) error {
	a, err := d.Load(ctx, before)
	if err != nil {
		return err
	}
	b, err := d.Load(ctx, after)
	if err != nil {
		return err
	}
	a.Name, b.Name = "", "" // those they were asked by
	changes, err := ranking.Diff(a, b)
	if err != nil {
		return err
	}
	if asJSON {
		return d.print(append([]ranking.Change{}, changes...))
	}
	rows := [][]string{{"FIELD", before, after}}
	for _, c := range changes {
		rows = append(rows, []string{c.Field, cmp.Or(c.Before, "-"), cmp.Or(c.After, "-")})
	}
	return table(d.Out, rows)
}

// InForce prints what decides the order of results.
func InForce(ctx context.Context, store *sqlstore.Store, w io.Writer) error {
	live, _, err := ranking.InForce(ctx, store)
	if err != nil {
		return err
	}
	rows := [][]string{{"IN FORCE", "REVISION", "SINCE", "BY"}}
	for _, p := range live {
		since := "-"
		if p.ID != 0 {
			since = minute(p.At)
		}
		rows = append(rows, []string{string(p.Kind), p.String(), since, cmp.Or(p.By, "-")})
	}
	return table(w, rows)
}

func (d *Desk) print(v any) error {
	enc := json.NewEncoder(d.Out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table prints rows in columns; a line break in a cell is a space.
func table(w io.Writer, rows [][]string) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = terminal.OneLine(cell)
		}
	}
	return terminal.Rows(w, rows)
}

func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }
