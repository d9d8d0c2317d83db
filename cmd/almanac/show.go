package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"almanac/api"
	docs "almanac/api/library"
	"almanac/api/op"
	"almanac/cmd/config"
)

type showCmd struct {
	ID   string `arg:"" complete:"ids" help:"Of a proposal, record or section, as searches print it, or a path."`
	JSON bool   `name:"json" help:"Print JSON, as REST does."`
}

func (*showCmd) Help() string {
	return `The text is printed as Markdown. It may run while the server does.`
}

// Run prints a record in all its parts.
func (c *showCmd) Run(ctx context.Context, a *app) error {
	s, b, err := a.openSearch(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	all := api.Operations(b)
	// CIP-56 is the proposal 0056; a bare number is what searches print.
	if key, ok := b.Network.Proposals.ParseID(c.ID); ok && strings.Trim(c.ID, "0123456789") != "" {
		c.ID = b.Network.Proposals.ID(key)
	}
	if c.JSON {
		return a.answer(ctx, all, "get_doc", []string{"id=" + c.ID})
	}
	for cursor := ""; ; {
		words := []string{"id=" + c.ID}
		if cursor != "" {
			words = append(words, "cursor="+cursor)
		}
		answer, err := op.Call(ctx, all, "get_doc", words)
		if err != nil {
			return asUsage(err)
		}
		doc := answer.(docs.Full)
		if cursor == "" {
			fmt.Fprintf(a.out, "%s  %s\n%s\n\n", a.style.Bold(doc.Title), a.style.Dim("["+doc.Kind+"]"), doc.URL)
		}
		fmt.Fprint(a.out, doc.Content)
		if cursor = doc.NextCursor; cursor == "" {
			_, err := fmt.Fprintln(a.out)
			return err
		}
	}
}

// asUsage marks an invalid argument of an operation as one of the command line.
func asUsage(err error) error {
	if errors.Is(err, op.ErrInvalid) {
		return fmt.Errorf("%w: %w", config.ErrUsage, err)
	}
	return err
}
