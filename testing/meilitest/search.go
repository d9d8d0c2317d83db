package meilitest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
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
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
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

// phrase is a part of a query: adjacent words. In quotes it is required.
type phrase struct {
	words  []string
	quoted bool
}

// parse splits a query into words and "phrases". None is read as the beginning of a word: package meili
// ends each query with a space or a quote.
func parse(query string) []phrase {
	var parts []phrase
	for i, text := range strings.Split(query, `"`) {
		words := strings.Fields(text)
		if quoted := i%2 == 1; quoted && len(words) > 0 {
			parts = append(parts, phrase{words, true})
			continue
		}
		for _, w := range words {
			parts = append(parts, phrase{words: []string{w}})
		}
	}
	return parts[:min(maxWords, len(parts))]
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
	for i, p := range parts {
		has := slices.ContainsFunc(texts, p.in)
		if !has && (p.quoted || i == 0) {
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
	for at := range len(text) - len(p.words) + 1 {
		if slices.Equal(text[at:at+len(p.words)], p.words) {
			return true
		}
	}
	return false
}

var (
	condition = regexp.MustCompile(`^(\w+) (EXISTS|IN|>=|<) ?(.*)$`)
	listed    = regexp.MustCompile(`"[^"]*"|\d+`)
)

// filter returns a filter as a function. It reads the language as far as package meili writes it: conditions
// joined by AND, and these by OR, both outside of values, which that package writes in lower case. An attribute
// that is not filterable is an error with the code for that kind of request.
func (x *index) filter(text, code string) (func(document) bool, error) {
	if text == "" {
		return func(document) bool { return true }, nil
	}
	var any [][]func(document) bool
	for alternative := range strings.SplitSeq(text, " OR ") {
		var all []func(document) bool
		for part := range strings.SplitSeq(strings.Trim(alternative, "()"), " AND ") {
			c := condition.FindStringSubmatch(part)
			if c == nil || !x.lists("filterableAttributes", c[1]) {
				return nil, refuse(http.StatusBadRequest, code, "attribute is not filterable: %s", part)
			}
			all = append(all, func(d document) bool { return d.meets(c[1], c[2], c[3]) })
		}
		any = append(any, all)
	}
	return func(d document) bool {
		return slices.ContainsFunc(any, func(all []func(document) bool) bool {
			return !slices.ContainsFunc(all, func(holds func(document) bool) bool { return !holds(d) })
		})
	}, nil
}

// meets reports whether a document meets a condition. One without the attribute meets none.
func (d document) meets(name, sign, operand string) bool {
	value, ok := d[name]
	switch {
	case !ok || sign == "EXISTS":
		return ok
	case sign == "IN":
		text := fmt.Sprint(value)
		if n, ok := value.(float64); ok {
			text = strconv.FormatFloat(n, 'f', -1, 64)
		}
		return slices.ContainsFunc(listed.FindAllString(operand, -1),
			func(listed string) bool { return strings.Trim(listed, `"`) == text })
	}
	n, ok := value.(float64)
	limit, err := strconv.ParseFloat(operand, 64)
	return ok && err == nil && (n < limit) == (sign == "<")
}

// defaults are the settings of a new index.
func defaults() map[string]any {
	return map[string]any{
		"rankingRules":         []any{"words", "typo", "proximity", "attribute", "sort", "exactness"},
		"searchableAttributes": []any{"*"},
		"displayedAttributes":  []any{"*"},
		"filterableAttributes": []any{},
		"sortableAttributes":   []any{},
		"stopWords":            []any{},
		"synonyms":             map[string]any{},
		"typoTolerance":        map[string]any{"enabled": true},
		"proximityPrecision":   "byWord",
		"facetSearch":          true,
		"distinctAttribute":    nil,
		"dictionary":           []any{},
		"separatorTokens":      []any{},
		"nonSeparatorTokens":   []any{},
		"prefixSearch":         "indexingTime",
	}
}

// patch sets several settings; the others stay.
func (s *Server) patch(r *http.Request, body []byte) error {
	x, err := s.find(r.PathValue("uid"))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, &x.settings)
}

// put sets one setting.
func (s *Server) put(r *http.Request, body []byte) error {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return s.set(r, value)
}

func (s *Server) set(r *http.Request, value any) error {
	x, err := s.find(r.PathValue("uid"))
	if err == nil {
		x.settings[settingName(r)] = value
	}
	return err
}

// settingName returns the name of a setting by its part of the path ("stop-words").
func settingName(r *http.Request) string {
	words := strings.Split(r.PathValue("name"), "-")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:min(1, len(w))]) + w[min(1, len(w)):]
	}
	return strings.Join(words, "")
}

// words returns a setting that is a list.
func (x *index) words(setting string) []string {
	list, _ := x.settings[setting].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// lists reports whether a setting lists an attribute, or all.
func (x *index) lists(setting, attribute string) bool {
	list, _ := x.settings[setting].([]any)
	return slices.Contains(list, any(attribute)) || slices.Contains(list, any("*"))
}

// shown returns a document as in responses: of the displayed attributes those
// that are requested, nil for all.
func (x *index) shown(d document, asked []string) document {
	out := document{}
	for name, value := range d {
		if x.lists("displayedAttributes", name) && (asked == nil || slices.Contains(asked, name)) {
			out[name] = value
		}
	}
	return out
}
