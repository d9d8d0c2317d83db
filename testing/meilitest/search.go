package meilitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// maxWords is how many words of a query are read.
const maxWords = 10

// request is one search of a multi-search.
type request struct {
	IndexUID             string   `json:"indexUid"`
	Query                string   `json:"q"`
	Filter               string   `json:"filter"`
	Distinct             string   `json:"distinct"`
	Limit                *int     `json:"limit"`
	AttributesToRetrieve []string `json:"attributesToRetrieve"`
	ShowRankingScore     bool     `json:"showRankingScore"`
}

// answer is the response to one.
type answer struct {
	Hits     []document `json:"hits"`
	Query    string     `json:"query"`
	IndexUID string     `json:"indexUid"`
}

// search runs several searches, each separately.
func (s *Server) search(r *http.Request) (any, error) {
	var body struct{ Queries []request }
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		return nil, err
	}
	answers := []answer{}
	for _, q := range body.Queries {
		x, err := s.find(q.IndexUID)
		if err != nil {
			return nil, err
		}
		found, err := x.search(q)
		if err != nil {
			return nil, err
		}
		a := answer{Hits: []document{}, Query: q.Query, IndexUID: q.IndexUID}
		for i, h := range found {
			if q.Limit != nil && i >= *q.Limit {
				break
			}
			hit := x.shown(h.document, q.AttributesToRetrieve)
			if q.ShowRankingScore {
				hit["_rankingScore"] = h.score
			}
			a.Hits = append(a.Hits, hit)
		}
		answers = append(answers, a)
	}
	return map[string]any{"results": answers}, nil
}

// hit is a found document with its share of the query's words.
type hit struct {
	document document
	score    float64
}

// search returns the matches, best first; equal ones stay in insertion order.
func (x *index) search(q request) ([]hit, error) {
	holds, err := x.filter(q.Filter, "invalid_search_filter")
	if err != nil {
		return nil, err
	}
	parts := parse(q.Query)
	searchable := x.words("searchableAttributes")
	hits := []hit{}
	for _, id := range x.order {
		d := x.documents[id]
		if !holds(d) {
			continue
		}
		if score, ok := match(d.texts(searchable), parts); ok {
			hits = append(hits, hit{d, score})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	if q.Distinct != "" {
		seen := map[any]bool{}
		hits = slices.DeleteFunc(hits, func(h hit) bool {
			value, ok := h.document[q.Distinct]
			again := ok && seen[value]
			seen[value] = true
			return again
		})
	}
	return hits, nil
}

// phrase is a part of a query: adjacent words.
type phrase struct {
	words    []string
	quoted   bool // matches only exactly, and is required
	excluded bool
	prefix   bool // the last word is a prefix
}

// parse splits a query: words, "phrases" and exclusions, marked by a minus. The
// last word is a prefix unless something follows it.
func parse(query string) []phrase {
	var parts []phrase
	for rest := query; ; {
		rest = strings.TrimLeft(rest, " ")
		if rest == "" || len(parts) == maxWords {
			return parts
		}
		var p phrase
		p.excluded = strings.HasPrefix(rest, "-")
		rest = strings.TrimPrefix(rest, "-")
		var text string
		if quoted, ok := strings.CutPrefix(rest, `"`); ok {
			p.quoted = true
			text, rest, _ = strings.Cut(quoted, `"`)
		} else {
			end := strings.IndexByte(rest, ' ')
			p.prefix = end < 0
			if end < 0 {
				end = len(rest)
			}
			text, rest = rest[:end], rest[end:]
		}
		if p.words = strings.Fields(text); len(p.words) > 0 {
			parts = append(parts, p)
		}
	}
}

// texts returns the words of a document's searchable attributes, each by itself.
func (d document) texts(searchable []string) (all [][]string) {
	every := slices.Contains(searchable, "*")
	for name, value := range d {
		if name != primaryKey && (every || slices.Contains(searchable, name)) {
			all = append(all, strings.Fields(fmt.Sprint(value)))
		}
	}
	return all
}

// match returns the share of a query's words that a document's texts have, counted up
// to the first missing one, and whether they have what is required: every phrase and
// the first word.
func match(texts [][]string, parts []phrase) (share float64, ok bool) {
	all, matched, missed := 0, 0, false
	for _, p := range parts {
		has := slices.ContainsFunc(texts, p.in)
		if p.excluded {
			if has {
				return 0, false
			}
			continue
		}
		if !has && (p.quoted || all == 0) {
			return 0, false
		}
		all += len(p.words)
		if missed = missed || !has; !missed {
			matched += len(p.words)
		}
	}
	if all == 0 {
		return 1, true
	}
	return float64(matched) / float64(all), true
}

// in reports whether a text contains a part of a query.
func (p phrase) in(text []string) bool {
	for at := range text {
		if stands(text[at:], p.words, p.prefix) {
			return true
		}
	}
	return false
}

// stands reports whether a text begins with words.
func stands(text, words []string, prefix bool) bool {
	if len(text) < len(words) {
		return false
	}
	for i, w := range words {
		if text[i] != w && (!prefix || i < len(words)-1 || !strings.HasPrefix(text[i], w)) {
			return false
		}
	}
	return true
}

// filter returns a filter as a function. An attribute that is not filterable is
// an error with the code for that kind of request.
func (x *index) filter(text, code string) (func(document) bool, error) {
	if text == "" {
		return func(document) bool { return true }, nil
	}
	p := &parser{index: x, tokens: lex(text)}
	f, err := p.or()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("unexpected %q", p.tokens[0])
	}
	if err != nil {
		return nil, refuse(http.StatusBadRequest, code, "%v", err)
	}
	return f, nil
}
