package profiles

import (
	"context"

	"almanac/retrieval/ranking"
)

// Command is `almanac profile`.
type Command struct {
	List     listCommand     `cmd:"" help:"List the saved revisions, newest first."`
	Show     showCommand     `cmd:"" help:"Print a profile as YAML."`
	Save     saveCommand     `cmd:"" help:"Save a file as a revision, which nothing uses before it is published."`
	Publish  publishCommand  `cmd:"" help:"Make a revision live."`
	Rollback rollbackCommand `cmd:"" help:"Make live again what was before."`
	Diff     diffCommand     `cmd:"" help:"Compare two profiles field by field."`
}

type listCommand struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run lists the revisions.
func (c *listCommand) Run(ctx context.Context, d *Desk) error {
	return d.Open(ctx, func(s ranking.Source) error { return d.list(ctx, s, c.JSON) })
}

type showCommand struct {
	Name string `arg:"" help:"NAME for the newest revision or the built-in profile, NAME@N, or published."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints a profile.
func (c *showCommand) Run(ctx context.Context, d *Desk) error {
	return d.Open(ctx, func(s ranking.Source) error { return d.show(ctx, s, c.Name, c.JSON) })
}

type saveCommand struct {
	File string `arg:"" help:"A profile in YAML."`
	Name string `help:"Its name; default the one in the file." placeholder:"NAME"`
	Note string `help:"What it changes, and why." placeholder:"TEXT"`
	Base int    `help:"The revision that it was made from; 0: it is the first of its name." placeholder:"N"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help says what a conflict does.
func (*saveCommand) Help() string {
	return `Revisions are never changed or lost. If somebody saved another one since --base,
nothing is saved, and the error names that revision.`
}

// Run saves a revision.
func (c *saveCommand) Run(ctx context.Context, d *Desk) error {
	return d.Open(ctx, func(s ranking.Source) error { return d.save(ctx, s, *c) })
}

type publishCommand struct {
	Name string `arg:"" help:"A revision: NAME@N."`
	Note string `help:"Why." placeholder:"TEXT"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Help says what takes part.
func (*publishCommand) Help() string {
	return `Running servers use it within five seconds; it stands before search.profile.`
}

// Run publishes a revision.
func (c *publishCommand) Run(ctx context.Context, d *Desk) error {
	return d.Open(ctx, func(s ranking.Source) error { return d.publish(ctx, s, *c) })
}

type rollbackCommand struct {
	Steps int    `arg:"" optional:"" default:"1" help:"How many publications to go back."`
	Note  string `help:"Why." placeholder:"TEXT"`
	JSON  bool   `name:"json" help:"Print JSON."`
}

// Help says where it leads.
func (*rollbackCommand) Help() string {
	return `Before the first publication what is configured was live. A rollback is a
publication too: a second one returns to where the first one came from.`
}

// Run publishes an earlier revision.
func (c *rollbackCommand) Run(ctx context.Context, d *Desk) error {
	return d.Open(ctx, func(s ranking.Source) error {
		p, err := ranking.Rollback(ctx, s.Store, c.Steps, d.By, c.Note)
		return d.published(p, err, c.JSON)
	})
}

type diffCommand struct {
	Before string `arg:"" help:"NAME@N, live, a built-in profile, or a YAML file."`
	After  string `arg:"" help:"Another."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// Run compares two profiles.
func (c *diffCommand) Run(ctx context.Context, d *Desk) error {
	return d.diff(ctx, c.Before, c.After, c.JSON)
}
