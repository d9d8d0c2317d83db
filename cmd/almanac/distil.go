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
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/embed/distil"
	"almanac/embed/static"
	"almanac/retrieval/eval"
	"almanac/retrieval/passage"
	"almanac/retrieval/stack"
)

type distilCmd struct {
	Out        string `arg:"" help:"New directory for the table."`
	From       string `required:"" enum:"configured,built-in" help:"Source of the table: ${enum}."`
	Judged     string `help:"Use the documents of this judged collection, not the data directory's." placeholder:"DIR"`
	Dimensions int    `help:"Dimensions of the table; default 256, or as many as the model has." placeholder:"N"`
	IDF        string `name:"idf" enum:"trained,corpus" default:"trained" help:"built-in: source of token frequencies."`
	Vocabulary string `help:"configured: vocab.txt of an uncased BERT model for the language." placeholder:"FILE"`
	Passages   int    `help:"configured: maximum number of passages to embed." default:"30000"`
	Seed       uint64 `help:"configured: seed of the choice of passages." default:"1"`
	Work       string `help:"configured: file that caches vectors between runs; default OUT.work." placeholder:"FILE"`
}

// Help explains what the flags do not.
func (*distilCmd) Help() string {
	return `A table replaces the embedding model in the program: it needs no server and
takes microseconds per passage.

--from configured learns one for another language or domain from the model
server of embed.url: it requests vectors for the tokens of the vocabulary and for
passages of the documents, which can take hours. The vectors are cached in the
work file, so an interrupted run continues when it is started again. The
vocabulary must suit the language of the documents; default that of the table in
the program.

--from built-in derives one from the table in the program without a server: it
weights tokens by their rarity in the documents (--idf corpus) instead of in the
texts the table was trained on, keeps only the first dimensions (--dimensions),
or both.

Sync the documents first. With another table the index is rebuilt.`
}

// Run makes the table and prints its quality, or how to measure it.
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
`, config.EnvName("embed.model"), c.Out, config.EnvName("embed.url"))
	return err
}

func (c *distilCmd) check(configured config.EmbedConfig) error {
	switch learned := c.From == "configured"; {
	case learned && configured.URL == "":
		return fmt.Errorf("%w: --from configured learns from a model server: set %s and %s", config.ErrUsage,
			config.EnvName("embed.url"), config.EnvName("embed.model"))
	case learned && c.IDF == "corpus":
		return fmt.Errorf("%w: --idf requires --from built-in: a learned table weights tokens by its own passages",
			config.ErrUsage)
	case !learned && (c.Vocabulary != "" || c.Work != ""):
		return fmt.Errorf("%w: --vocabulary and --work cannot be used with --from built-in", config.ErrUsage)
	case !learned && c.IDF == "trained" && c.Dimensions == 0:
		return fmt.Errorf("%w: --from built-in needs --idf corpus or --dimensions: otherwise the table is unchanged",
			config.ErrUsage)
	case c.Dimensions < 0 || c.Passages < 1:
		return fmt.Errorf("%w: --dimensions and --passages must be above 0", config.ErrUsage)
	}
	return nil
}

// derive makes a table from the one in the program.
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
	to := eval.Table{{"model", "dimensions", "idf"}}
	idf := "trained"
	if made.Passages > 0 {
		idf = fmt.Sprintf("of %d passages", made.Passages)
	}
	to.Add(made.Model, fmt.Sprint(made.Dimensions), idf)
	return terminal.Tables(a.out, false, to)
}

// learn makes a table that approximates the configured model.
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
	now, stage := a.progress(""), ""
	progress := func(s string, done, total int) {
		if s != stage {
			now.End()
			now, stage = a.progress(s), s
		}
		now.Set(done, total)
	}
	made, err := distil.Run(ctx, distil.Config{
		Teacher: teacher, Vocabulary: vocabulary, Passages: c.texts(ctx, a), Limit: c.Passages, Seed: c.Seed,
		Dimensions: c.Dimensions, Before: before, Out: c.Out, Work: cmp.Or(c.Work, c.Out+".work"),
		Now: time.Now, Log: a.log, Progress: progress,
	})
	now.End()
	if err != nil {
		return err
	}
	to := eval.Table{{"table", "model", "cosine to the teacher", "correlation of similarities"}}
	to.Add("in the program", made.Before.Model, four(made.Before.Cosine), four(made.Before.Similarity))
	to.Add("the new one", made.After.Model, four(made.After.Cosine), four(made.After.Similarity))
	if err := terminal.Tables(a.out, false, to); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "\nteacher %s; learned from %d passages, measured on %d others; "+
		"%d of %d tokens seen, %.1f%% of the words unknown\n",
		made.Teacher, made.Passages, made.HeldOut, made.SeenTokens, made.Tokens, 100*made.Unknown)
	return err
}

// texts returns an iterator over the passages of the documents, as they are
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

// recordsPage is the number of records that are in memory with their bodies at
// a time.
const recordsPage = 500

// records calls fn with every record of the data directory.
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

func four(x float64) string { return fmt.Sprintf("%.4f", x) }
