package main

import (
	"context"
	"errors"
	"fmt"

	"almanac/retrieval/stack"
)

type reindexCmd struct{}

func (reindexCmd) Help() string {
	return `Needed only if the index seems wrong: a damaged or missing one is detected and
rebuilt automatically. Texts that were embedded before are not embedded again.`
}

// Run rebuilds the index. It fails while another process writes it.
func (reindexCmd) Run(ctx context.Context, a *app) error {
	l, err := a.openLibrary(ctx, stack.Rebuild)
	if err != nil {
		return err
	}
	records, passages := l.Follower.Corpus().Size()
	_, err = fmt.Fprintf(a.out, "indexed %d records in %d passages\n", records, passages)
	return errors.Join(err, l.close())
}
