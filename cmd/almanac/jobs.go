package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/retrieval/eval"
)

type jobsCmd struct {
	List   jobsListCmd   `cmd:"" default:"withargs" help:"List the latest jobs, newest first."`
	Cancel jobsCancelCmd `cmd:"" help:"Ask for the end of a job."`
}

type jobsListCmd struct {
	Limit int  `help:"How many; 0: all." default:"20"`
	JSON  bool `name:"json" help:"Print JSON."`
}

func (*jobsListCmd) Help() string {
	return `Jobs are work that a page or a command asks for and a server does.`
}

// job is a request as JSON has it.
type job struct {
	catalog.Request
	State  string          `json:"state"`
	Result json.RawMessage `json:"result,omitempty"`
}

func (c *jobsListCmd) Run(ctx context.Context, a *app) error {
	return a.withCatalog(ctx, func(store *sqlstore.Store) error {
		list, err := store.Jobs(ctx, c.Limit)
		if err != nil {
			return err
		}
		all, table := []job{}, eval.Table{{"job", "what", "state", "steps", "by", "asked", "result"}}
		for _, r := range list {
			all = append(all, job{r, r.State(), json.RawMessage(r.Result)})
			table = append(table, []string{fmt.Sprint(r.ID), terminal.OneLine(r.Kind + " " + r.Argument), r.State(),
				fmt.Sprintf("%d/%d", r.Done, r.Total), r.By, r.CreatedAt.Local().Format(time.DateTime),
				terminal.OneLine(r.Failure + r.Result)})
		}
		if c.JSON {
			return json.NewEncoder(a.out).Encode(all)
		}
		return terminal.Tables(a.out, false, table)
	})
}

type jobsCancelCmd struct {
	ID int64 `arg:"" help:"As the list has it."`
}

func (*jobsCancelCmd) Help() string {
	return `What a job changed before its end stays; a reindex leaves the index that answers.`
}

func (c *jobsCancelCmd) Run(ctx context.Context, a *app) error {
	return a.withCatalog(ctx, func(store *sqlstore.Store) error {
		err := jobs.Cancel(ctx, store, c.ID, a.user())
		if errors.Is(err, catalog.ErrNotFound) {
			return fmt.Errorf("there is no open job %d", c.ID)
		}
		return err
	})
}

// user is who runs a command, for the log of changes.
func (a *app) user() string { return cmp.Or(config.Getenv(a.environ, "USER"), "command line") }
