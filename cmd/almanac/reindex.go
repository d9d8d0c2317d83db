package main

import (
	"context"
	"errors"
	"fmt"

	"almanac/retrieval/stack"
)

type reindexCmd struct{}

func (reindexCmd) Help() string {
	return `Needed only if an index is suspected to be wrong: a damaged or missing one is
noticed and built again by itself. No text is embedded again that was before.`
}

// Run builds the index again. It refuses while another process writes it.
func (reindexCmd) Run(ctx context.Context, a *app) error {
	l, err := a.openLibrary(ctx, stack.Rebuild)
	if err != nil {
		return err
	}
	records, passages := l.Follower.Table().Size()
	_, err = fmt.Fprintf(a.out, "indexed %d records in %d passages\n", records, passages)
	return errors.Join(err, l.close())
}
