package retrieval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"almanac/catalog"
	"almanac/retrieval/corpus"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/trace"
)

// ErrUnavailable is wrapped by the error of a search that no engine answers.
var ErrUnavailable = errors.New("no search engine answers")

// CrossEncoder scores how well texts answer a query, greater being better; only
// differences within one call mean something. It has its own deadline.
type CrossEncoder interface {
	Score(ctx context.Context, query string, texts []string) ([]float64, error)
}

// run is a search under way: what the engines answered to its plan. They may be asked for
// more until close.
type run struct {
	Plan       *plan
	Candidates []*candidate // best first by the fusion
	Lists      []foundList
	Placed     []*corpus.Document // of the plan's places; nil: it is not indexed

	engine              *Engine
	ctx                 context.Context
	retrieving, scoring context.Context // of the two parts that call engines
	cancel              func()
	uses                uses
	early               bool // cosines are fetched while lists are being read
	cosines             cosines
	vector              func(context.Context) ([]float32, error) // the query's embedding, computed once
	scratch             *scratch
	without             []string // engines
	trace               *trace.Trace
}

// foundList is what one retriever found.
type foundList struct {
	planList
	Hits []keyword.Hit
	err  error
}

// gather runs a plan up to its candidates. The run must be closed. An engine that fails
// or is late is one of without. If no engine is left that holds everything, the
// documents are searched instead, if they are in memory. It is an error only if no engine
// answers and they are not.
func (e *Engine) gather(ctx context.Context, p *plan, t *trace.Trace) (*run, error) {
	r := e.begin(ctx, p, t)
	r.early = p.Reranks() && e.VectorServer
	err := r.retrieve()
	t.End("retrieve")
	if err == nil {
		err = r.fuse()
		t.End("fuse")
		if err == nil && p.Reranks() {
			r.addCosines(r.Candidates)
			err = ctx.Err()
			t.End("cosines")
		}
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// deep reads the lists of a plan as deep as any is read, without those of engines
// that do not answer.
func (e *Engine) deep(ctx context.Context, p *plan, t *trace.Trace) ([]foundList, error) {
	r := e.begin(ctx, p.Deepest(), t)
	defer r.close()
	r.ask()
	return slices.DeleteFunc(r.Lists, func(l foundList) bool { return l.err != nil }), ctx.Err()
}

func (e *Engine) begin(ctx context.Context, p *plan, t *trace.Trace) *run {
	r := &run{Plan: p, engine: e, ctx: ctx, scratch: e.scratches.Get().(*scratch), trace: t}
	for i, b := range e.breakers {
		r.uses[i] = b.use()
	}
	r.cosines.known = r.scratch.known
	var once sync.Once
	var v []float32
	var err error
	r.vector = func(ctx context.Context) ([]float32, error) {
		once.Do(func() { v, err = r.embed(ctx) })
		return v, err
	}
	scoring, cancelScoring := context.WithTimeoutCause(ctx, e.deadline, errLate)
	retrieving, cancelRetrieving := context.WithTimeoutCause(scoring, e.deadline*3/4, errLate)
	r.scoring, r.retrieving = scoring, retrieving
	r.cancel = func() { cancelRetrieving(); cancelScoring() }
	return r
}

// close counts what the engines did and releases the deadlines and the scratch.
func (r *run) close() {
	r.cancel()
	r.cosines.out.Wait()
	for _, t := range r.uses {
		t.end()
	}
	r.scratch.release()
	r.engine.scratches.Put(r.scratch)
}

// ask has the plan's retrievers read their lists at the same time.
func (r *run) ask() {
	r.Lists = make([]foundList, len(r.Plan.Lists))
	var wg sync.WaitGroup
	for i, l := range r.Plan.Lists {
		wg.Go(func() {
			ctx, end := r.trace.Part(r.retrieving, "retrieve/"+l.Retriever)
			hits, err := r.engine.retrievers[l.Retriever](ctx, r, l.Read)
			if err == nil && r.Plan.Decisions != nil {
				err = r.Plan.Decisions.Prepare(ctx, recordsOf(hits))
			}
			end(err)
			r.Lists[i] = foundList{l, hits, err}
			switch {
			case l.Retriever == "dense":
				r.cosines.learn(hits)
			case r.early:
				r.scoreEarly(hits)
			}
		})
	}
	wg.Wait()
}

// retrieve reads the lists, or the corpus.
func (r *run) retrieve() error {
	r.ask()
	answered, whole := false, false // by any engine, by one that has everything
	var errs []error
	for _, l := range r.Lists {
		engine := ranking.EngineOf[l.Retriever]
		if errs = append(errs, l.err); l.err != nil {
			r.leaveOut(engine)
			continue
		}
		answered, whole = true, whole || r.engine.complete(engine)
	}
	switch {
	case whole:
	case r.Plan.Corpus.InMemory() && slices.ContainsFunc(r.engine.breakers[:engineReranker], (*breaker).server):
		_, end := r.trace.Part(r.ctx, "retrieve/"+corpusList.Retriever)
		hits, err := r.scan(corpusList.Depth)
		end(err)
		r.Lists = append(r.Lists, foundList{planList: planList{List: corpusList}, Hits: hits})
		return err
	case !answered:
		return fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(errs...))
	}
	return nil
}

// texts returns the texts of passages.
func (r *run) texts(ids []passage.ID) ([]catalog.Passage, error) {
	return r.engine.follower.Texts(r.ctx, ids)
}

// crossScores has the cross-encoder read passages with the titles of their records.
func (r *run) crossScores(ids []passage.ID, titles []string) ([]float64, error) {
	stored, err := r.texts(ids)
	if err != nil {
		r.engine.log.Warn("read texts for the cross-encoder", "error", err)
		return nil, err
	}
	texts := make([]string, len(ids))
	for i, t := range stored {
		texts[i] = strings.Join([]string{titles[i], t.Heading, t.Text}, "\n")
	}
	return ask(r.ctx, r.uses[engineReranker],
		func(ctx context.Context) ([]float64, error) {
			return r.engine.cross.Score(ctx, r.Plan.Query.Text, texts)
		})
}
