package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"almanac/catalog"
	"almanac/catalog/jobs"
	"almanac/catalog/sqlstore"
	"almanac/retrieval/stack"
)

type reindexCmd struct{}

func (reindexCmd) Help() string {
	return `Needed only if the index seems wrong: a damaged or missing one is detected and
rebuilt automatically. Texts that were embedded before are not embedded again.
While a server runs it is asked to build the index, beside the one that answers
until the new one is complete; this command shows how far that is.`
}

// Run rebuilds the index, or asks the process that writes the index to do it.
func (reindexCmd) Run(ctx context.Context, a *app) error {
	l, err := a.openLibrary(ctx, stack.Rebuild)
	if errors.Is(err, stack.ErrBusy) {
		return a.askReindex(ctx)
	}
	if err != nil {
		return err
	}
	records, passages := l.Follower.Corpus().Size()
	return errors.Join(indexed{records, passages}.print(a), l.close())
}

// indexed is what a rebuilt index holds.
type indexed struct {
	Records  int `json:"records"`
	Passages int `json:"passages"`
}

func (i indexed) print(a *app) error {
	_, err := fmt.Fprintf(a.out, "indexed %d records in %d passages\n", i.Records, i.Passages)
	return err
}

// askReindex asks a server for a job and shows how far it is. The job goes on when
// ctx ends.
func (a *app) askReindex(ctx context.Context) error {
	return a.withCatalog(ctx, func(store *sqlstore.Store) error {
		id, err := jobs.Ask(ctx, store, catalog.Request{Kind: "reindex", By: a.user()})
		if err != nil {
			return err
		}
		fmt.Fprintf(a.err, "a server writes the index: job %d asks it to build it again\n", id)
		result, err := a.awaitJob(ctx, store, id, "index")
		if err != nil {
			return err
		}
		var done indexed
		return errors.Join(json.Unmarshal([]byte(result), &done), done.print(a))
	})
}

// awaitJob waits for the end of a job, and shows how far it is.
func (a *app) awaitJob(ctx context.Context, store *sqlstore.Store, id int64, name string) (result string, err error) {
	task := a.progress(name)
	defer task.End()
	for {
		r, err := store.Job(ctx, id)
		switch {
		case err != nil:
			return "", err
		case r.Failure != "":
			return "", fmt.Errorf("job %d: %s", id, r.Failure)
		case !r.DoneAt.IsZero():
			return r.Result, nil
		}
		task.Set(r.Done, r.Total)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second / 2):
		}
	}
}
