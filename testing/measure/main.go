// Command measure grows corpora of real texts and prints how the index behaves
// with them: time to build and to start, memory, searches alone and while a sync
// writes, and bytes written for one changed record. Then, with the engines in a process of
// their own: memory, start and searches of one whose documents are in its memory, and of
// one that leaves them in the catalog.
//
//	go run ./testing/measure -passages 100000,1000000 [-dir DIR] [-catalog postgres://…]
//
// Each step is a process of its own, so that its memory is its own. With -dir
// everything is kept there, and a catalog or an index that is already there is
// used; without, it is removed at the end.
package main

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"almanac/catalog/postgres"
	"almanac/catalog/sqlite"
	"almanac/catalog/sqlstore"
	"almanac/cmd/memory"
	"almanac/embed"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/testing/scale"
)

// job is what a process measures.
type job struct {
	shared   string // test collections
	dir      string // data directory
	passages int
	rate     int // records a second that the sync writes
	searches int
	database string // address of the catalog; "": a file in dir
	engines  string // address of those of another process
	from     string // where documents are: memory or catalog
}

func main() {
	memory.Respect() // as the program does
	var j job
	sizes := flag.String("passages", "100000", "sizes of corpora, in passages")
	step := flag.String("step", "", "measure one step in this process: build, serve, engines or apart")
	flag.StringVar(&j.shared, "shared", filepath.Join("..", "shared"), "directory of test collections")
	flag.StringVar(&j.dir, "dir", "", "keep the data here")
	flag.IntVar(&j.rate, "rate", 200, "records a second that the sync writes")
	flag.IntVar(&j.searches, "searches", 1000, "searches to measure")
	flag.StringVar(&j.database, "catalog", "", "an empty PostgreSQL database for a corpus of one size; else a file")
	flag.StringVar(&j.engines, "engines", "", "address of the step engines")
	flag.StringVar(&j.from, "from", "memory", "where the step apart has documents: memory or catalog")
	flag.Parse()
	var err error
	switch *step {
	case "":
		err = j.all(*sizes)
	case "build":
		j.passages, err = strconv.Atoi(*sizes)
		if err == nil {
			err = j.build(context.Background())
		}
	case "serve":
		err = j.serve(context.Background())
	case "engines":
		err = j.serveEngines(context.Background())
	case "apart":
		err = j.searchApart(context.Background())
	default:
		err = fmt.Errorf("unknown step %q", *step)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// all measures each size, each step in a process of its own.
func (j job) all(sizes string) error {
	if _, err := scale.ReadTexts(filepath.Join(j.shared, "corpus")); err != nil {
		fmt.Println("nothing is measured:", err)
		return nil
	}
	dir := j.dir
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "almanac-scale-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for size := range strings.SplitSeq(sizes, ",") {
		args := []string{"-passages", size, "-shared", j.shared, "-dir", filepath.Join(dir, size), "-rate",
			strconv.Itoa(j.rate), "-searches", strconv.Itoa(j.searches), "-catalog", j.database}
		for _, step := range []string{"build", "serve"} {
			cmd := exec.Command(self, append(args, "-step", step)...)
			cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("%s %s: %w", step, size, err)
			}
		}
		if err := j.apart(context.Background(), self, args); err != nil {
			return fmt.Errorf("%s: %w", size, err)
		}
	}
	return nil
}

// open opens catalog and index, which has everything then; the caller closes both.
func (j job) open(ctx context.Context, as func(context.Context, stack.Config) (*stack.Stack, error)) (
	*sqlstore.Store, *stack.Stack, error,
) {
	store, err := j.store(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		return nil, nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := as(ctx, stack.Config{Dir: j.dir, Store: store, Relevance: retrieval.Relevance{
		Profiles: []ranking.Profile{p}},
		Embed: stack.Embed{Model: embed.Table}, Deadline: time.Minute, Log: log})
	if err != nil {
		return nil, nil, err
	}
	return store, s, s.CatchUp(ctx, true)
}

// store opens the catalog.
func (j job) store(ctx context.Context) (*sqlstore.Store, error) {
	if j.database != "" {
		return postgres.Open(ctx, postgres.Config{URL: j.database})
	}
	return sqlite.Open(ctx, sqlite.Config{Path: filepath.Join(j.dir, "catalog.db")})
}

// report prints one figure.
func report(name, format string, args ...any) {
	fmt.Printf("  %-34s %s\n", name, fmt.Sprintf(format, args...))
}

func seconds(d time.Duration) string { return d.Round(10 * time.Millisecond).String() }
