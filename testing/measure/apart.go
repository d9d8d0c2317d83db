package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"almanac/embed"
	"almanac/embed/static"
	"almanac/retrieval"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/stack"
	"almanac/retrieval/vector"
)

// apart measures servers whose engines are in a process of their own, as on servers: one
// with the documents in its memory, and one that leaves them in the catalog.
func (j job) apart(ctx context.Context, self string, args []string) error {
	engines := exec.CommandContext(ctx, self, append(args, "-step", "engines")...)
	engines.Stderr = os.Stderr
	out, err := engines.StdoutPipe()
	if err != nil {
		return err
	}
	if err := engines.Start(); err != nil {
		return err
	}
	defer func() { _, _ = engines.Process.Kill(), engines.Wait() }() // it answers until then
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("engines: %w", err)
	}
	for _, from := range []string{"memory", "catalog"} {
		cmd := exec.CommandContext(ctx, self, append(args, "-step", "apart", "-from", from, "-engines",
			strings.TrimSpace(address))...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("documents from %s: %w", from, err)
		}
	}
	return nil
}

// searchApart starts over what was built, with the engines of another process.
func (j job) searchApart(ctx context.Context) error {
	queries, err := j.queries()
	if err != nil {
		return err
	}
	p, err := ranking.Load(ranking.DefaultName)
	if err != nil {
		return err
	}
	model, err := static.New()
	if err != nil {
		return err
	}
	store, err := j.store(ctx)
	if err != nil {
		return err
	}
	calls, err := rpc.Dial("tcp", j.engines)
	if err != nil {
		return err
	}
	generation, err := store.OpenGeneration(ctx, index.Fingerprint(model.Model()))
	if err != nil {
		return err
	}
	debug.FreeOSMemory()
	report("documents from "+j.from, "%d MB before the index is opened", resident("VmRSS")>>20)
	start := time.Now()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	stored := j.from == "catalog"
	f := index.New(index.Config{Store: store, Generation: generation, Log: log, Stored: stored,
		ReadOnly: stored, // the one before has stored the statistics
		Engines: index.Engines{Keyword: words{calls}, KeywordServer: true, Vector: vectors{calls}, VectorServer: true,
			Embedder: embed.NewCache(model, embed.CacheConfig{Log: log})}})
	if err := f.Load(ctx); err != nil {
		return err
	}
	if _, err := f.CatchUp(ctx); err != nil {
		return err
	}
	f.MarkReady()
	report("start", "%s", seconds(time.Since(start)))
	debug.FreeOSMemory()
	report("memory when started", "%d MB", resident("VmRSS")>>20)
	engine, err := retrieval.New(retrieval.Config{Follower: f, Log: log,
		Relevance: retrieval.Relevance{Profiles: []ranking.Profile{p}},
		Deadline:  time.Minute})
	if err != nil {
		return err
	}
	if err := j.search(ctx, engine, queries, "", len(queries)/4); err != nil {
		return err
	}
	if err := j.search(ctx, engine, queries, "search, idle", j.searches); err != nil {
		return err
	}
	debug.FreeOSMemory()
	report("memory after searches", "%d MB", resident("VmRSS")>>20)
	return errors.Join(calls.Close(), store.Close())
}

// serveEngines answers for the engines that were built until the process is ended.
func (j job) serveEngines(ctx context.Context) error {
	_, s, err := j.open(ctx, stack.OpenReader) // the one that measures stores the statistics
	if err != nil {
		return err
	}
	server := rpc.NewServer()
	if err := server.Register(&Engines{s.Follower.Engines()}); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	server.Accept(listener)
	return nil
}

// Engines are what package net/rpc calls.
type Engines struct{ engines index.Engines }

// Asked is a search.
type Asked struct {
	Query  keyword.Query
	Vector []float32
	Filter passage.Filter
	IDs    []passage.ID
	K      int
}

// Words searches the keyword engine.
func (e *Engines) Words(a Asked, hits *[]keyword.Hit) (err error) {
	*hits, err = e.engines.Keyword.Search(context.Background(), a.Query, a.Filter, a.K)
	return err
}

// Vectors searches the vector engine.
func (e *Engines) Vectors(a Asked, hits *[]vector.Hit) (err error) {
	*hits, err = e.engines.Vector.Search(context.Background(), a.Vector, a.Filter, a.K)
	return err
}

// Scores asks the vector engine for cosines.
func (e *Engines) Scores(a Asked, cosines *[]float32) (err error) {
	*cosines, err = e.engines.Vector.Scores(context.Background(), a.Vector, a.IDs)
	return err
}

// Checkpoint is that of both engines.
func (e *Engines) Checkpoint(_ int, at *int64) (err error) {
	*at, err = e.engines.Keyword.Checkpoint(context.Background())
	return err
}

// call calls a method of Engines.
func call[T any](to *rpc.Client, method string, a any) (answer T, err error) {
	return answer, to.Call("Engines."+method, a, &answer)
}

// words is the keyword engine of another process, vectors its vector engine. Both are
// complete: nothing is applied.
type (
	words struct {
		*rpc.Client
	}
	vectors struct {
		*rpc.Client
	}
)

var errComplete = errors.New("the engines of another process take no changes")

func (w words) Search(_ context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	q.Accept = nil
	return call[[]keyword.Hit](w.Client, "Words", Asked{Query: q, Filter: f, K: k})
}
func (w words) Checkpoint(context.Context) (int64, error) {
	return call[int64](w.Client, "Checkpoint", 0)
}
func (words) Apply(context.Context, keyword.Batch) error  { return errComplete }
func (words) Flush(context.Context) error                 { return nil }
func (vectors) Apply(context.Context, vector.Batch) error { return errComplete }
func (vectors) Flush(context.Context) error               { return nil }
func (v vectors) Checkpoint(context.Context) (int64, error) {
	return call[int64](v.Client, "Checkpoint", 0)
}

func (v vectors) Search(_ context.Context, q []float32, f passage.Filter, k int) ([]vector.Hit, error) {
	return call[[]vector.Hit](v.Client, "Vectors", Asked{Vector: q, Filter: f, K: k})
}

func (v vectors) Scores(_ context.Context, q []float32, ids []passage.ID) ([]float32, error) {
	return call[[]float32](v.Client, "Scores", Asked{Vector: q, IDs: ids})
}
