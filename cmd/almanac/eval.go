package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/sqlstore"
	"almanac/cmd/config"
	"almanac/cmd/terminal"
	"almanac/embed/static"
	"almanac/retrieval/eval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

type evalCmd struct {
	Judged       []string   `help:"Judged collections with documents." placeholder:"DIR"`
	Queries      []string   `help:"Judged queries over the data directory; ids are paths, keys, addresses." placeholder:"DIR"`
	Case         string     `help:"Case of the data directory, as people judged it." placeholder:"NAME"`
	Qrels        string     `help:"Judgments to use instead of DIR/qrels.tsv." placeholder:"FILE"`
	Profile      []string   `help:"Profiles, baseline first: NAME@N, live, ${profiles}, YAML." placeholder:"PROFILE"`
	Stages       bool       `help:"Measure the contribution of each stage, from words alone to the whole profile."`
	Stack        string     `help:"Search engines to measure." enum:"embedded,configured" default:"configured"`
	RelevantFrom int        `help:"Grade from which a document counts as relevant." default:"1"`
	Answers      bool       `help:"Also measure how many tokens of results a client reads until the answer."`
	RunFile      string     `name:"run" help:"Write the rankings as TREC runs." placeholder:"FILE"`
	ImportRun    []string   `help:"Measure TREC runs of other systems instead of searching." placeholder:"FILE"`
	Floor        eval.Floor `help:"Fail if a measure is below: ndcg10=.60,mrr=.70." mapsep:"," placeholder:"MEASURE=LEAST"`
	Save         bool       `help:"Keep the runs in the data directory, with the case that is named as the collection."`
	JSON         bool       `name:"json" help:"Print JSON." xor:"form"`
	Markdown     bool       `help:"Print Markdown." xor:"form"`
}

// Help explains what the flags do not.
func (*evalCmd) Help() string {
	return `A judged collection is indexed in a temporary directory; several are measured
one after the other. Judgments are lines of query, document and grade, or TREC's
four columns. --stack chooses the keyword and vector engines in the program, or
those of the configuration; the embedding model is always the configured one.
Without --profile it measures what is published, or with collections that have
their own documents what is configured.
With several runs, collection and profile are added to the name of each file. A
search that fails, or that an engine takes no part in, is counted but not measured.
--floor prints what is under it on standard error, after the tables or the JSON, and
ends with code 1; a failed search is under any floor.`
}

// Run measures and prints.
func (c *evalCmd) Run(ctx context.Context, a *app) error {
	if err := c.check(); err != nil {
		return err
	}
	switch {
	case len(c.Profile) > 0:
	case len(c.Judged) > 0 && len(c.Queries) == 0: // documents of their own
		c.Profile = []string{a.config.ProfileName()}
	default:
		c.Profile = []string{ranking.Live}
	}
	sets, err := c.sets(ctx, a)
	if err != nil {
		return err
	}
	profiles, err := c.profiles(ctx, a)
	if err != nil {
		return err
	}
	if c.Stack == "embedded" {
		a.config.Keyword.URL, a.config.Vector.URL = "", ""
	}
	var reports []eval.Report
	for _, set := range sets {
		collection, err := set.load(c.Qrels)
		if err != nil {
			return err
		}
		var of []eval.Report
		if len(c.ImportRun) > 0 {
			of, err = c.imported(collection)
		} else {
			of, err = c.measured(ctx, a, set, collection, profiles)
		}
		if err != nil {
			return err
		}
		for i := range of[1:] {
			of[i+1].CompareTo(of[0])
		}
		reports = append(reports, of...)
	}
	if c.RunFile != "" {
		if err := c.writeRuns(reports); err != nil {
			return err
		}
	}
	switch {
	case c.JSON && len(reports) == 1:
		err = printJSON(a.out, reports[0])
	case c.JSON:
		err = printJSON(a.out, reports)
	default:
		err = terminal.Tables(a.out, c.Markdown, eval.Tables(reports, c.Stages)...)
	}
	if err != nil {
		return err
	}
	return c.underFloor(reports)
}

// underFloor returns an error that names the measures under the floor.
func (c *evalCmd) underFloor(reports []eval.Report) error {
	var under []string
	for _, r := range reports {
		under = append(under, c.Floor.Under(r)...)
	}
	if len(under) == 0 {
		return nil
	}
	return errors.New(strings.Join(under, "\n"))
}

// sets are the case or the collections given, else the one that comes with the network.
func (c *evalCmd) sets(ctx context.Context, a *app) ([]testSet, error) {
	if c.Case != "" {
		var of eval.Collection
		err := a.withCatalog(ctx, func(store *sqlstore.Store) error {
			named, err := workbench.CaseNamed(ctx, store, c.Case)
			if err == nil {
				of, err = workbench.Judged(ctx, store, named)
			}
			if err == nil && len(of.Queries) == 0 {
				err = fmt.Errorf("no person judged a query of case %s", c.Case)
			}
			return err
		})
		return []testSet{{name: c.Case, collection: &of}}, err
	}
	if len(c.Judged)+len(c.Queries) > 0 {
		return testSets(c.Judged, c.Queries)
	}
	set, err := a.ownSet()
	return []testSet{set}, err
}

func (c *evalCmd) check() error {
	imports := len(c.ImportRun) > 0
	switch {
	case c.RelevantFrom < 1:
		return fmt.Errorf("%w: --relevant-from must be at least 1", config.ErrUsage)
	case c.Case != "" && len(c.Judged)+len(c.Queries) > 0:
		return fmt.Errorf("%w: --case cannot be used with --judged and --queries", config.ErrUsage)
	case c.Stages && len(c.Profile) > 1:
		return fmt.Errorf("%w: --stages takes one profile", config.ErrUsage)
	case c.Qrels != "" && len(c.Judged)+len(c.Queries) != 1:
		return fmt.Errorf("%w: --qrels takes one collection", config.ErrUsage)
	case c.Save && (imports || len(c.Judged) > 0):
		return fmt.Errorf("%w: --save keeps runs over the data directory only", config.ErrUsage)
	case imports && (c.Stages || c.Answers || c.RunFile != ""):
		return fmt.Errorf("%w: --import-run does not search: it cannot be used with --stages, --answers or --run",
			config.ErrUsage)
	}
	if err := c.Floor.Check(); err != nil {
		return fmt.Errorf("%w: --floor: %w", config.ErrUsage, err)
	}
	for flag, names := range map[string][]string{"--profile": c.Profile, "--import-run": c.ImportRun} {
		if twice := repeated(names); twice != "" {
			return fmt.Errorf("%w: %s %s is given twice", config.ErrUsage, flag, twice)
		}
	}
	return nil
}

// profiles loads the profiles to measure. Each is named as on the command line,
// as two files may contain the same name.
func (c *evalCmd) profiles(ctx context.Context, a *app) ([]ranking.Profile, error) {
	profiles := make([]ranking.Profile, len(c.Profile))
	for i, name := range c.Profile {
		p, err := a.profile(ctx, name)
		if err != nil {
			return nil, err
		}
		p.Name = name
		profiles[i] = p
	}
	if !c.Stages {
		return profiles, nil
	}
	stages, err := eval.Stages(profiles[0])
	if err != nil {
		err = fmt.Errorf("%w: %w", config.ErrUsage, err)
	}
	return stages, err
}

// measured runs the queries of a collection with each profile.
func (c *evalCmd) measured(
	ctx context.Context, a *app, set testSet, collection eval.Collection, profiles []ranking.Profile,
) (_ []eval.Report, err error) {
	s, o, err := a.openSet(ctx, set, collection, profiles)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if missing := eval.Missing(collection, o.Names, c.RelevantFrom); missing != "" {
		fmt.Fprintf(a.err, "%s: %s", collection.Name, missing)
	}
	o.RelevantFrom = c.RelevantFrom
	if c.Answers {
		model, err := static.New()
		if err != nil {
			return nil, err
		}
		o.Answers = &eval.AnswerOptions{Tokens: model.CountTokens}
		o.Answers.Texts = func(ctx context.Context, ids []passage.ID) ([]string, error) {
			found, err := s.Follower.Texts(ctx, ids)
			texts := make([]string, len(found))
			for i, p := range found {
				texts[i] = p.Text
			}
			return texts, err
		}
	}
	var reports []eval.Report
	for _, p := range profiles {
		if p.FittedTo(collection.Name) {
			fmt.Fprintf(a.err, "%s was fitted to %s: what it gains there says nothing of other queries\n", p.Name,
				collection.Name)
		}
		bar := a.progress(collection.Name + " " + p.Name)
		o.Profile, o.Progress = p.Name, bar.Set
		r, err := eval.Run(ctx, s.Searcher, collection, o)
		bar.End()
		if err != nil {
			return nil, err
		}
		if r.Unmeasured() > 0 {
			fmt.Fprintf(a.err, "%s, %s: of %d searches %d failed and %d were without an engine: they are not measured\n",
				collection.Name, p.Name, r.Queries, r.Failed, r.Degraded)
		}
		reports = append(reports, r)
	}
	if !c.Save {
		return reports, nil
	}
	generation, _, err := s.Indexed()
	if err != nil {
		return nil, err
	}
	return reports, workbench.Keep(ctx, s.store, reports, catalog.Evaluation{Generation: generation,
		By: a.user(), Model: s.Searcher.Status(ctx).Model, Version: version()})
}

// imported measures runs of other systems.
func (c *evalCmd) imported(collection eval.Collection) ([]eval.Report, error) {
	var reports []eval.Report
	for _, path := range c.ImportRun {
		rankings, err := eval.ReadRun(path)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(collection.Queries, func(q eval.Query) bool { return len(rankings[q.ID]) > 0 }) {
			return nil, fmt.Errorf("%s ranks nothing for any query of %s", path, collection.Name)
		}
		o := eval.Options{Profile: path, RelevantFrom: c.RelevantFrom}
		reports = append(reports, eval.Evaluate(collection, rankings, o))
	}
	return reports, nil
}

// writeRuns writes one file per report.
func (c *evalCmd) writeRuns(reports []eval.Report) error {
	paths := eval.RunPaths(c.RunFile, reports)
	if twice := repeated(paths); twice != "" {
		return fmt.Errorf("two runs would be written to %s: rename a profile's file", twice)
	}
	for i, r := range reports {
		tag := "almanac-" + stem(r.Profile)
		var run bytes.Buffer
		err := eval.WriteRun(&run, r, tag)
		if err == nil {
			err = replaceFile(paths[i], run.Bytes())
		}
		if err != nil {
			return fmt.Errorf("write run %s: %w", paths[i], err)
		}
	}
	return nil
}
