package retrieval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"almanac/catalog"
	"almanac/retrieval/corpus"
	"almanac/retrieval/index"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
	"almanac/retrieval/vector"
)

// ErrUnavailable is wrapped by the error of a search that no engine answers.
var ErrUnavailable = errors.New("no search engine answers")

// CrossEncoder scores how well texts answer a query, greater being better; only
// differences within one call mean something. It has its own deadline.
type CrossEncoder interface {
	Score(ctx context.Context, query string, texts []string) ([]float64, error)
}

// engines are what searches ask.
type engines struct {
	index.Engines
	follower   *index.Follower
	cross      CrossEncoder // nil: none
	retrievers map[string]retriever
	breakers   [len(names)]*breaker
	deadline   time.Duration
	log        *slog.Logger
}

// newEngines returns the engines that a follower feeds, with a cross-encoder, which may be
// nil. A search waits for its engines until the deadline, and for their lists no
// longer than three quarters of that.
func newEngines(follower *index.Follower, cross CrossEncoder, deadline time.Duration, log *slog.Logger) *engines {
	e := &engines{Engines: follower.Engines(), follower: follower, cross: cross, deadline: deadline, log: log}
	for i, server := range []bool{e.KeywordServer, e.VectorServer, e.EmbedderServer, cross != nil} {
		e.breakers[i] = newBreaker(names[i], server, log)
	}
	e.retrievers = map[string]retriever{"documents": lexical(e.Keyword, keyword.Documents),
		"passages": lexical(e.Keyword, keyword.Passages), "dense": nearest(e.Vector)}
	if s, ok := e.Vector.(vector.Sparse); ok {
		e.retrievers["sparse"] = sparse(s)
	}
	return e
}

// gathering is what the engines answered to a search. They may be asked for more until
// Close.
type gathering struct {
	Plan       *plan
	Candidates []*gathered // best first by the fusion
	Lists      []foundList
	Placed     []*corpus.Document // of the plan's places; nil: it is not indexed

	engines             *engines
	ctx                 context.Context
	retrieving, scoring context.Context // of the two parts that call engines
	cancel              func()
	uses                uses
	early               bool // cosines are fetched while lists are being read
	cosines             cosines
	vector              func(context.Context) ([]float32, error) // the query's embedding, computed once
	scratch             *gatherScratch
	without             []string // engines
	trace               *trace.Trace
}

// foundList is what one retriever found.
type foundList struct {
	planList
	Hits []keyword.Hit
	err  error
}

// Run gathers the candidates of a plan. The gathering must be closed. An engine that fails
// or is late is listed in Missing. If no engine is left that holds everything, the
// documents are searched instead, if they are in memory. It is an error only if no engine
// answers and they are not.
func (e *engines) Run(ctx context.Context, p *plan, t *trace.Trace, s *gatherScratch) (*gathering, error) {
	f := e.begin(ctx, p, t, s)
	f.early = p.Reranks() && e.VectorServer
	err := f.retrieve()
	t.End("retrieve")
	if err == nil {
		err = f.fuse()
		t.End("fuse")
		if err == nil && p.Reranks() {
			f.score(f.Candidates)
			err = ctx.Err()
			t.End("cosines")
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Deep reads the lists of a plan as deep as any is read, without those of engines
// that do not answer.
func (e *engines) Deep(ctx context.Context, p *plan, t *trace.Trace, s *gatherScratch) ([]foundList, error) {
	f := e.begin(ctx, p.Deepest(), t, s)
	defer f.Close()
	f.ask()
	return slices.DeleteFunc(f.Lists, func(l foundList) bool { return l.err != nil }), ctx.Err()
}

func (e *engines) begin(ctx context.Context, p *plan, t *trace.Trace, s *gatherScratch) *gathering {
	f := &gathering{Plan: p, engines: e, ctx: ctx, scratch: s, trace: t}
	for i, b := range e.breakers {
		f.uses[i] = b.use()
	}
	f.cosines.known = s.known
	var once sync.Once
	var v []float32
	var err error
	f.vector = func(ctx context.Context) ([]float32, error) {
		once.Do(func() { v, err = f.embed(ctx) })
		return v, err
	}
	scoring, cancelScoring := context.WithTimeoutCause(ctx, e.deadline, errLate)
	retrieving, cancelRetrieving := context.WithTimeoutCause(scoring, e.deadline*3/4, errLate)
	f.scoring, f.retrieving = scoring, retrieving
	f.cancel = func() { cancelRetrieving(); cancelScoring() }
	return f
}

// Close counts what the engines did and releases the deadlines and the scratch.
func (f *gathering) Close() {
	f.cancel()
	f.cosines.out.Wait()
	for _, t := range f.uses {
		t.end()
	}
	f.scratch.release()
}

// ask has the plan's retrievers read their lists at the same time.
func (f *gathering) ask() {
	f.Lists = make([]foundList, len(f.Plan.Lists))
	var wg sync.WaitGroup
	for i, l := range f.Plan.Lists {
		wg.Go(func() {
			ctx, end := f.trace.Part(f.retrieving, "retrieve/"+l.Retriever)
			hits, err := f.engines.retrievers[l.Retriever](ctx, f, l.Read)
			if err == nil && f.Plan.Decisions != nil {
				err = f.Plan.Decisions.Prepare(ctx, recordsOf(hits))
			}
			end(err)
			f.Lists[i] = foundList{l, hits, err}
			switch {
			case l.Retriever == "dense":
				f.cosines.learn(hits)
			case f.early:
				f.scoreEarly(hits)
			}
		})
	}
	wg.Wait()
}

// retrieve reads the lists, or the corpus.
func (f *gathering) retrieve() error {
	f.ask()
	answered, whole := false, false // by any engine, by one that has everything
	var errs []error
	for _, l := range f.Lists {
		engine := ranking.EngineOf[l.Retriever]
		if errs = append(errs, l.err); l.err != nil {
			f.Without(engine)
			continue
		}
		answered, whole = true, whole || f.engines.complete(engine)
	}
	switch {
	case whole:
	case f.Plan.Corpus.InMemory() && slices.ContainsFunc(f.engines.breakers[:reranker], (*breaker).server):
		_, end := f.trace.Part(f.ctx, "retrieve/"+corpusList.Retriever)
		hits, err := f.scan(corpusList.Depth)
		end(err)
		f.Lists = append(f.Lists, foundList{planList: planList{List: corpusList}, Hits: hits})
		return err
	case !answered:
		return fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(errs...))
	}
	return nil
}

// Texts returns the texts of passages.
func (f *gathering) Texts(ids []passage.ID) ([]catalog.Passage, error) {
	return f.engines.follower.Texts(f.ctx, ids)
}

// CrossScores has the cross-encoder read passages with the titles of their records.
func (f *gathering) CrossScores(ids []passage.ID, titles []string) ([]float64, error) {
	stored, err := f.Texts(ids)
	if err != nil {
		f.engines.log.Warn("read texts for the cross-encoder", "error", err)
		return nil, err
	}
	texts := make([]string, len(ids))
	for i, t := range stored {
		texts[i] = strings.Join([]string{titles[i], t.Heading, t.Text}, "\n")
	}
	return ask(f.ctx, f.uses[reranker],
		func(ctx context.Context) ([]float64, error) {
			return f.engines.cross.Score(ctx, f.Plan.Query.Text, texts)
		})
}
