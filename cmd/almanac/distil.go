package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"almanac/catalog"
	"almanac/embed/distil"
	"almanac/embed/static"
	"almanac/retrieval/eval"
	"almanac/retrieval/passage"
	"almanac/retrieval/stack"
)

type distilCmd struct {
	Out        string `arg:"" help:"Directory to write the table into; it must be new."`
	From       string `required:"" enum:"configured,built-in" placeholder:"configured|built-in" help:"Learn the table from the model server of the configuration, or derive it from the table in the program."`
	Judged     string `help:"Take the documents of this judged collection instead of those in the data directory; its queries and judgments are not read." placeholder:"DIR"`
	Dimensions int    `help:"Dimensions of the table; default 256, or as many as the model has." placeholder:"N"`
	IDF        string `name:"idf" enum:"trained,corpus" default:"trained" help:"Of a table from built-in: tokens weigh by how rare they are in the texts it was trained on, or in the documents."`
	Vocabulary string `help:"Of a table from configured: vocab.txt of an uncased BERT model in the language of the documents; default that of the table in the program." placeholder:"FILE"`
	Passages   int    `help:"Of a table from configured: how many passages to ask for, at most." default:"30000"`
	Seed       uint64 `help:"Of a table from configured: seed of the choice of passages." default:"1"`
	Work       string `help:"Of a table from configured: file that keeps the answers for the next run; default OUT.work." placeholder:"FILE"`
}

// Help explains what the flags do not.
func (*distilCmd) Help() string {
	return `A table replaces the embedding model in the program: it needs no server and
takes microseconds per passage. --from configured makes one for another language
or domain: it asks the model server of embed.url for vectors of the vocabulary's
tokens and of passages of the documents, which can take hours. What it answered
is kept in the work file; a run that was interrupted goes on from there when it
is started again. --from built-in asks nobody: it weighs tokens by how rare they
are in the documents (--idf corpus), keeps the first dimensions alone
(--dimensions), or both.

Sync the documents first. With another table the index is built anew.`
}

// Run makes the table and prints how good it is, or how to find out.
func (c *distilCmd) Run(ctx context.Context, a *app) error {
	if err := c.check(a.config.Embed); err != nil {
		return err
	}
	var err error
	if c.Out, err = filepath.Abs(c.Out); err != nil {
		return err
	}
	work := c.learn
	if c.From == "built-in" {
		work = c.derive
	}
	if err := work(ctx, a); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, `
to use it:      set %s=%s and no %s
to measure it:  almanac eval --queries DIR, or --judged DIR, with and without these settings
`, envName("embed.model"), c.Out, envName("embed.url"))
	return err
}

func (c *distilCmd) check(configured EmbedConfig) error {
	switch learned := c.From == "configured"; {
	case learned && configured.URL == "":
		return fmt.Errorf("%w: --from configured learns from a model server: set %s and %s", errUsage, envName("embed.url"), envName("embed.model"))
	case learned && c.IDF == "corpus":
		return fmt.Errorf("%w: --idf goes with --from built-in: a table that is learned weighs tokens by its own passages", errUsage)
	case !learned && (c.Vocabulary != "" || c.Work != ""):
		return fmt.Errorf("%w: --vocabulary and --work do not go with --from built-in", errUsage)
	case !learned && c.IDF == "trained" && c.Dimensions == 0:
		return fmt.Errorf("%w: --from built-in needs --idf corpus or --dimensions: without them the table would be the same", errUsage)
	case c.Dimensions < 0 || c.Passages < 1:
		return fmt.Errorf("%w: --dimensions and --passages must be above 0", errUsage)
	}
	return nil
}

// derive makes a table of the one in the program.
func (c *distilCmd) derive(ctx context.Context, a *app) error {
	t, err := static.Embedded()
	if err != nil {
		return err
	}
	builtIn, err := static.New()
	if err != nil {
		return err
	}
	d := distil.Derivation{Table: t, Model: builtIn.Model(), Dimensions: c.Dimensions, Out: c.Out, Now: time.Now}
	if c.IDF == "corpus" {
		d.Passages = c.texts(ctx, a)
	}
	made, err := distil.Derive(d)
	if err != nil {
		return err
	}
	to := table{{"model", "dimensions", "idf"}}
	idf := "trained"
	if made.Passages > 0 {
		idf = fmt.Sprintf("of %d passages", made.Passages)
	}
	to.add(made.Model, fmt.Sprint(made.Dimensions), idf)
	return printTables(a.out, false, to)
}

// learn makes a table that stands for the configured model.
func (c *distilCmd) learn(ctx context.Context, a *app) error {
	vocabulary := static.Vocabulary()
	if c.Vocabulary != "" {
		data, err := os.ReadFile(c.Vocabulary)
		if err != nil {
			return fmt.Errorf("vocabulary: %w", err)
		}
		vocabulary = string(data)
	}
	before, err := static.New()
	if err != nil {
		return err
	}
	teacher, err := stack.OpenEmbedder(ctx, stack.Embed(a.config.Embed), a.log)
	if err != nil {
		return err
	}
	var now bar
	var stage string
	made, err := distil.Run(ctx, distil.Config{Teacher: teacher, Vocabulary: vocabulary, Passages: c.texts(ctx, a), Limit: c.Passages, Seed: c.Seed,
		Dimensions: c.Dimensions, Before: before, Out: c.Out, Work: cmp.Or(c.Work, c.Out+".work"), Now: time.Now, Log: a.log,
		Progress: func(s string, done, total int) {
			if s != stage {
				now.done()
				now, stage = a.progress(s), s
			}
			now.set(done, total)
		}})
	now.done()
	if err != nil {
		return err
	}
	to := table{{"table", "model", "cosine to the teacher", "correlation of similarities"}}
	to.add("in the program", made.Before.Model, four(made.Before.Cosine), four(made.Before.Similarity))
	to.add("the new one", made.After.Model, four(made.After.Cosine), four(made.After.Similarity))
	if err := printTables(a.out, false, to); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "\nteacher %s; learned from %d passages, measured on %d others; %d of %d tokens seen, %.1f%% of the words unknown\n",
		made.Teacher, made.Passages, made.HeldOut, made.SeenTokens, made.Tokens, 100*made.Unknown)
	return err
}

// texts returns what hands over the passages of the documents as they are
// embedded.
func (c *distilCmd) texts(ctx context.Context, a *app) func(add func(string)) error {
	return func(add func(string)) error {
		cut := func(title, path, body string) {
			for _, p := range passage.Cut(passage.Source{Title: title, Path: path, Body: body}) {
				add(passage.EmbedText(title, p))
			}
		}
		if c.Judged != "" {
			return eval.Documents(c.Judged, func(d eval.Document) error {
				cut(d.Title, d.ID, d.Text)
				return ctx.Err()
			})
		}
		return a.records(ctx, func(r catalog.Record) { cut(r.Title, r.Path, r.Body) })
	}
}

// recordsPage is the number of records that are in memory with their bodies.
const recordsPage = 500

// records hands over the records of the data directory.
func (a *app) records(ctx context.Context, fn func(catalog.Record)) (err error) {
	_, dir, store, err := a.openCatalog(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	for offset := 0; ; offset += recordsPage {
		page, total, err := store.List(ctx, catalog.ListQuery{Limit: recordsPage, Offset: offset, WithBody: true})
		if err != nil {
			return err
		}
		if total == 0 {
			return fmt.Errorf("there are no documents in %s: run `almanac sync` first", dir)
		}
		for _, r := range page {
			fn(r)
		}
		if len(page) < recordsPage {
			return nil
		}
	}
}
