package meili

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/meilisearch/meilisearch-go"
	"go.opentelemetry.io/otel/propagation"

	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// Search implements keyword.Engine.
func (e *Engine) Search(ctx context.Context, q keyword.Query, f passage.Filter, k int) ([]keyword.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("meili: search: %w", err)
	}
	p, err := newPlan(q)
	if err != nil || len(p.lists) == 0 || k <= 0 {
		return nil, err
	}
	found, err := e.ask(ctx, p, request{unit: q.Unit, filter: filterOf(f), limit: p.depth(k)})
	if err != nil {
		return nil, err
	}
	hits := p.score(found, q.Unit)
	return hits[:min(k, len(hits))], nil
}

// request is the common part of the lists of a plan.
type request struct {
	unit   keyword.Unit
	filter string
	limit  int
}

// answer is what one list found: passages with the number of words matched.
type answer []match

type match struct {
	id    passage.ID
	words int
}

// ask runs all lists of a plan in one request. The last search in it fetches the manifest.
func (e *Engine) ask(ctx context.Context, p plan, r request) ([]answer, error) {
	var answers []answer
	err := e.onIndex(ctx, "search", func(uid string) (manifest, error) {
		queries := make([]*meilisearch.SearchRequest, len(p.lists), len(p.lists)+1)
		for i, l := range p.lists {
			queries[i] = &meilisearch.SearchRequest{IndexUID: uid, Query: l.query, MatchingStrategy: meilisearch.Last,
				Limit: int64(r.limit), AttributesToRetrieve: []string{primaryKey}, ShowRankingScore: true}
			if r.filter != "" {
				queries[i].Filter = r.filter
			}
			if r.unit == keyword.Documents {
				queries[i].Distinct = "record"
			}
		}
		queries = append(queries, &meilisearch.SearchRequest{IndexUID: uid, Filter: "owner EXISTS", Limit: 1})
		response, err := e.client.MultiSearchWithContext(ctx, &meilisearch.MultiSearchRequest{Queries: queries})
		if err != nil {
			return manifest{}, err
		}
		if len(response.Results) != len(queries) {
			return manifest{}, fmt.Errorf("%s answered %d of %d searches", e.host, len(response.Results), len(queries))
		}
		answers = make([]answer, len(p.lists))
		for i, l := range p.lists {
			if answers[i], err = decode(response.Results[i].Hits, l.words, r.unit); err != nil {
				return manifest{}, fmt.Errorf("response of %s: %w", e.host, err)
			}
		}
		var found []manifest
		if err := response.Results[len(p.lists)].Hits.DecodeInto(&found); err != nil || len(found) != 1 {
			return manifest{}, nil // the index is another's by now
		}
		return found[0], nil
	})
	return answers, err
}

// decode reads the hits of a list with the given number of words. In a search
// for documents a passage stands for its record.
func decode(hits meilisearch.Hits, words int, unit keyword.Unit) (answer, error) {
	out := make(answer, 0, len(hits))
	for _, h := range hits {
		text, isTitleOnly := strings.CutPrefix(strings.Trim(string(h[primaryKey]), `"`), titleOnly)
		if text == manifestID || text == writerID {
			continue // numbers in it stay findable if indexed before the settings
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("hit without the id of a passage: %q", h[primaryKey])
		}
		// With words as the only ranking rule the score is their share.
		score, err := strconv.ParseFloat(string(h["_rankingScore"]), 64)
		if err != nil {
			return nil, fmt.Errorf("hit without a ranking score: %q", h["_rankingScore"])
		}
		id := passage.ID(n)
		switch {
		case isTitleOnly && unit == keyword.Passages:
			continue
		case isTitleOnly:
			id = passage.NewID(n, 0)
		case unit == keyword.Documents:
			id = passage.NewID(id.Record(), 0)
		}
		out = append(out, match{id, int(math.Round(score * float64(words)))})
	}
	return out, nil
}

// score combines the lists into hits, best first.
func (p *plan) score(answers []answer, unit keyword.Unit) []keyword.Hit {
	type evidence struct{ holds, outstanding uint64 } // a bit for each term
	known := map[passage.ID]evidence{}
	for i, a := range answers {
		l := p.lists[i]
		for _, m := range a {
			x := known[m.id]
			for n, t := range l.chain[:min(max(m.words-l.fixed, 0), len(l.chain))] {
				x.holds |= 1 << t
				if l.outstanding && n == 0 {
					x.outstanding |= 1 << t
				}
			}
			known[m.id] = x
		}
	}
	hits := make([]keyword.Hit, 0, len(known))
	for id, x := range known {
		h := keyword.Hit{Record: id.Record(), Passage: id}
		if unit == keyword.Documents {
			h.Passage = 0
		}
		for i, t := range p.terms {
			switch {
			case x.outstanding&(1<<i) != 0:
				h.Score += t.weight
			case x.holds&(1<<i) != 0:
				h.Score += plainShare * t.weight
			}
		}
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b keyword.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Record, b.Record), cmp.Compare(a.Passage, b.Passage))
	})
	return hits
}

// maxAnswer is the longest response that is read, in bytes: the hits of a
// search of the largest depth.
const maxAnswer = 64 << 20

var errAnswerTooLarge = errors.New("answer too large")

// limited ends responses that are too long with an error, and has the server continue the trace.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	propagation.TraceContext{}.Inject(r.Context(), propagation.HeaderCarrier(r.Header))
	response, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		response.Body = &limitedBody{response.Body, maxAnswer}
	}
	return response, err
}

// CloseIdleConnections lets http.Client close the inner transport's.
func (l limited) CloseIdleConnections() {
	if c, ok := l.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errAnswerTooLarge
	}
	return n, err
}

// filterOf returns a filter in the server's language, "" for all passages.
func filterOf(f passage.Filter) string {
	var parts []string
	for _, of := range []struct {
		attribute string
		values    []string
	}{{"kind", f.Kinds}, {"source", f.Sources}, {"container", f.Containers}, {"state", f.States}} {
		if len(of.values) == 0 {
			continue
		}
		quoted := make([]string, len(of.values))
		for i, v := range of.values {
			quoted[i] = `"` + attributeKey(v) + `"`
		}
		parts = append(parts, of.attribute+" IN ["+strings.Join(quoted, ", ")+"]")
	}
	// A record without a date matches no period.
	if !f.Since.IsZero() {
		parts = append(parts, "date >= "+strconv.FormatInt(ceilSeconds(f.Since.Unix(), f.Since.Nanosecond()), 10))
	}
	if !f.Until.IsZero() {
		parts = append(parts, "date < "+strconv.FormatInt(ceilSeconds(f.Until.Unix(), f.Until.Nanosecond()), 10))
	}
	if len(f.Records) > 0 {
		parts = append(parts, "record IN ["+joinInts(f.Records)+"]")
	}
	return strings.Join(parts, " AND ")
}

// ceilSeconds rounds up: dates are whole seconds.
func ceilSeconds(seconds int64, nanoseconds int) int64 {
	if nanoseconds > 0 {
		return seconds + 1
	}
	return seconds
}
