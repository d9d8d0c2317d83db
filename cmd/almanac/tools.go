package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"almanac/api"
	"almanac/api/describe"
	"almanac/api/kb"
	"almanac/api/limit"
	"almanac/api/op"
	"almanac/cmd/terminal"
	"almanac/ingest/networks"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
)

type toolsCmd struct {
	List toolsListCmd `cmd:"" help:"List what clients can ask, with examples."`
	Call toolsCallCmd `cmd:"" help:"Ask as a client would and print the answer as JSON."`
}

type toolsListCmd struct {
	Name     string `arg:"" optional:"" help:"Say what this one takes." complete:"tools"`
	Markdown bool   `help:"Print the reference of all tools as Markdown."`
}

func (c toolsListCmd) Run(a *app) error {
	n, err := networks.Load(a.config.Network.Name)
	if err != nil {
		return err
	}
	all := api.Operations(kb.Base{Network: n})
	switch {
	case c.Name != "":
		o, err := op.Called(all, c.Name)
		if err == nil {
			describe.Help(a.out, o, call)
		}
		return asUsage(err)
	case c.Markdown:
		return describe.Markdown(a.out, all, api.Groups())
	}
	return terminal.Rows(a.out, describe.Rows(all, call))
}

// call is the command that examples of tools begin with.
const call = "almanac tools call"

type toolsCallCmd struct {
	Name      string   `arg:"" help:"A tool, or an operation of REST; list names them." complete:"tools"`
	Arguments []string `arg:"" optional:"" help:"As name=value or --name value; items of a list with commas between."`
}

func (*toolsCallCmd) Help() string {
	return `The answer is that of REST. With a tool's name, --help says what it takes. Names that another tool has for an
argument are understood, as tool clients write them: query or q, topic, id, limit or top_k.`
}

func (c *toolsCallCmd) Run(ctx context.Context, a *app) error {
	s, b, err := a.openSearch(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return a.answer(ctx, api.Operations(b), c.Name, c.Arguments)
}

// answer prints the answer of an operation as indented JSON, as REST has it.
func (a *app) answer(ctx context.Context, ops []op.Operation, command string, words []string) error {
	answer, err := op.Call(ctx, ops, command, words)
	if err != nil {
		return asUsage(err)
	}
	raw, err := op.Encode(answer)
	if err != nil {
		return err
	}
	return a.printJSON(json.RawMessage(raw))
}

// printJSON prints a value as indented JSON.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// openSearch opens the data directory of the configured network, loads into it what
// needs no sync, and brings the index up to date.
func (a *app) openSearch(ctx context.Context, profiles ...ranking.Profile) (*library, kb.Base, error) {
	s, err := a.openLibrary(ctx, stack.Open, profiles...)
	if err != nil {
		return nil, kb.Base{}, err
	}
	if err = a.load(ctx, s.network, s.at, s.store); err == nil {
		err = s.CatchUp(ctx, false)
	}
	if records, _ := s.Follower.Corpus().Size(); err == nil && records == 0 {
		err = fmt.Errorf("nothing is indexed in %s: run `almanac sync` first", s.at.Dir)
	}
	if err != nil {
		return nil, kb.Base{}, errors.Join(err, s.close())
	}
	return s, a.base(s.network, s.store, limit.NewSearcher(s.Searcher, limit.StandardSearches()), a.config.Server.Listen), nil
}
