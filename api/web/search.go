package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"almanac/api/look"
	"almanac/api/op"
)

// hit is a result of the operation search.
type hit struct {
	ID         string  `json:"id"`
	RecordID   int64   `json:"record_id"`
	ParentID   int64   `json:"parent_id"`
	Kind       string  `json:"kind"`
	Key        string  `json:"key"`
	Title      string  `json:"title"`
	URL        string  `json:"url"`
	Page       string  `json:"page"`
	Date       string  `json:"date"`
	State      string  `json:"state"`
	Container  string  `json:"container"`
	Author     string  `json:"author"`
	Read       string  `json:"read"`
	Snippet    string  `json:"snippet"`
	Heading    string  `json:"heading"`
	ThirdParty bool    `json:"third_party"`
	Score      float64 `json:"score"`
	Matches    struct {
		Title   [][2]int `json:"title"`
		Snippet [][2]int `json:"snippet"`
	} `json:"matches"`
	AlsoAt []struct {
		Title string `json:"title"`
		URL   string `json:"url"`
	} `json:"also_at"`

	Folded []hit `json:"-"` // others of the same document
}

// Link is the address of the section that was found.
func (x hit) Link() string {
	_, section, _ := strings.Cut(x.Read, "#")
	if section, _, _ = strings.Cut(section, "~"); section != "" {
		return x.Page + "#" + url.PathEscape(sectionPrefix+section)
	}
	return x.Page
}

// found is the answer of the operation search.
type found struct {
	Query     string                    `json:"query"`
	Total     int                       `json:"total"`
	Items     []hit                     `json:"items"`
	Degraded  []string                  `json:"degraded"`
	Corrected *string                   `json:"corrected"`
	TookMs    float64                   `json:"took_ms"`
	Facets    map[string]map[string]int `json:"facets"`
	Hint      string                    `json:"hint"`
}

// choice is one value of a filter.
type choice struct {
	Name, Link string
	Count      int
	Current    bool
}

// searchView is what the search page shows.
type searchView struct {
	Query   string
	Found   found
	Hits    []hit
	Failure string // why nothing could be searched for
	Types   []choice
	Dates   []choice
	Sources []choice
	Chips   []choice
	Sort    choice // the other order
	Instead string // address of the search for what was typed
	Typed   string // the words of it that were read as others
	First   int    // number of the first result
	Before  string
	After   string
	Hidden  url.Values // what the form of dates keeps
}

// hitsOnPage is the number of results of a page, the limit that is asked for.
const hitsOnPage = 20

var filters = []string{"type", "kind", "source", "since", "until", "sort"}

// prepareSearch asks the search and arranges its answer.
func prepareSearch(h *Handler, v *view) error {
	v.Path = "/"
	query := strings.TrimSpace(v.Param("q"))
	if query == "" {
		v.Extra = &searchView{}
		return nil
	}
	v.Title = query
	if to := h.jump(v, query); to != "" && !v.row.quiet {
		return redirect{to, http.StatusSeeOther}
	}
	s := &searchView{Query: query}
	v.Extra = s
	args := "q? type? kind? source? since? until? sort? offset? facets=true highlight=true limit=20"
	got, err := h.run(v.ctx, ask{op: "search", args: args}, nil, v.Params)
	if err != nil {
		if f := op.Explain(err); f.Kind == op.ErrInvalid {
			s.Failure = f.Message
			return nil
		}
		return err
	}
	v.answers = []asked{got}
	if s.Found, err = into[found](got.answer); err != nil {
		return err
	}
	s.Hits = grouped(s.Found.Items)
	if err := s.facets(h, v); err != nil {
		return err
	}
	s.corrected(v)
	s.paged(v)
	if s.Found.Total == 0 {
		popular, err := h.run(v.ctx, ask{op: "list_popular_searches", args: "window=30 limit=100"}, nil, nil)
		if err == nil {
			v.answers = append(v.answers, popular)
		}
	}
	return nil
}

// legible drops the marks of Markdown from a snippet, which shows them as they
// are, and keeps the ranges of matches.
func (x *hit) legible() {
	var b strings.Builder
	at := make([]int, len(x.Snippet)+1)
	space := true
	for i, r := range x.Snippet {
		at[i] = b.Len()
		switch {
		case r == '`' || r == '|' || r == '*' || r == '#':
		case unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
			}
			space = true
		default:
			b.WriteRune(r)
			space = false
		}
	}
	at[len(x.Snippet)] = b.Len()
	for i, span := range x.Matches.Snippet {
		if span[0] >= 0 && span[0] <= span[1] && span[1] <= len(x.Snippet) {
			x.Matches.Snippet[i] = [2]int{at[span[0]], at[span[1]]}
		}
	}
	x.Snippet = b.String()
}

// grouped folds the results that are part of one document below the best of
// them.
func grouped(items []hit) []hit {
	var out []hit
	at := map[int64]int{}
	for _, x := range items {
		x.legible()
		document := cmp.Or(x.ParentID, x.RecordID)
		if i, ok := at[document]; ok {
			out[i].Folded = append(out[i].Folded, x)
			continue
		}
		at[document] = len(out)
		out = append(out, x)
	}
	return out
}

// facets fills in the choices of the filters. Counts of kinds are those without
// a filter by kind.
func (s *searchView) facets(h *Handler, v *view) error {
	all := s.Found
	if v.Param("type") != "" && v.Param("type") != "all" || v.Param("kind") != "" {
		args := "facets=true limit=1 q? source? since? until?"
		got, err := h.run(v.ctx, ask{op: "search", args: args}, nil, v.Params)
		if err != nil {
			return err
		}
		if all, err = into[found](got.answer); err != nil {
			return err
		}
	}
	s.types(h, v, all)
	s.dates(h, v)
	sources := s.Found.Facets["source"]
	for _, name := range most(sources, 8) {
		s.Sources = append(s.Sources, choice{name, v.With("source", name), sources[name], v.Param("source") == name})
	}
	for _, name := range []string{"kind", "source", "since", "until"} {
		if value := v.Param(name); value != "" {
			label := map[string]string{"since": "from " + value, "until": "before " + value, "kind": h.kinds[value].Many}
			s.Chips = append(s.Chips, choice{Name: cmp.Or(label[name], value), Link: v.With(name, "")})
		}
	}
	s.Hidden = url.Values{}
	for _, name := range append([]string{"q"}, filters...) {
		if value := v.Param(name); value != "" && name != "since" && name != "until" {
			s.Hidden.Set(name, value)
		}
	}
	s.Sort = choice{Name: "newest first", Link: v.With("sort", "date")}
	if v.Param("sort") == "date" {
		s.Sort = choice{Name: "best first", Link: v.With("sort", "")}
	}
	return nil
}

// typeNames are what people call the search types.
var typeNames = []struct{ typ, name string }{
	{"cip", "Proposals"}, {"doc", "Docs"}, {"discussion", "Discussions"}, {"mail", "Mail"}, {"proposal", "Grants"},
	{"forge", "Code"}, {"video", "Talks"}, {"blog", "Blog"}, {"whitepaper", "Whitepapers"},
}

func (s *searchView) types(h *Handler, v *view, all found) {
	counts := map[string]int{}
	for kind, n := range all.Facets["kind"] {
		counts[h.kinds[kind].Type] += n
	}
	current := v.Param("type")
	if current == "" || current == "all" {
		current = ""
	}
	s.Types = append(s.Types, choice{"Everything", v.With("type", "", "kind", ""), all.Total, current == ""})
	for _, t := range typeNames {
		if n := counts[t.typ]; n > 0 || t.typ == current {
			s.Types = append(s.Types, choice{t.name, v.With("type", t.typ, "kind", ""), n, t.typ == current})
		}
	}
}

// dates are the usual ranges.
func (s *searchView) dates(h *Handler, v *view) {
	since, until := v.Param("since"), v.Param("until")
	s.Dates = []choice{{Name: "Any time", Link: v.With("since", "", "until", ""), Current: since == "" && until == ""}}
	today := h.cfg.Now().UTC()
	for _, r := range []struct {
		name string
		from time.Time
	}{
		{"Past week", today.AddDate(0, 0, -7)}, {"Past month", today.AddDate(0, -1, 0)},
		{"Past year", today.AddDate(-1, 0, 0)},
	} {
		from := r.from.Format(time.DateOnly)
		s.Dates = append(s.Dates, choice{
			Name: r.name, Link: v.With("since", from, "until", ""), Current: since == from && until == "",
		})
	}
}

// most returns the n names with the greatest counts.
func most(counts map[string]int, n int) []string {
	names := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	return names[:min(n, len(names))]
}

// corrected fills in how to search for what was typed: its words in quotes are
// not read as others.
func (s *searchView) corrected(v *view) {
	if s.Found.Corrected == nil {
		return
	}
	read := strings.Fields(strings.ToLower(*s.Found.Corrected))
	var words, typed []string
	for _, word := range strings.Fields(s.Query) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if bare != "" && !slices.Contains(read, strings.ToLower(bare)) {
			typed = append(typed, bare)
			word = `"` + bare + `"`
		}
		words = append(words, word)
	}
	if s.Typed = strings.Join(typed, " "); s.Typed != "" {
		s.Instead = v.With("q", strings.Join(words, " "))
	}
}

// paged fills in the addresses of the results before and after.
func (s *searchView) paged(v *view) {
	offset, _ := strconv.Atoi(v.Param("offset"))
	s.First = offset + 1
	if offset > 0 {
		before := ""
		if offset > hitsOnPage {
			before = strconv.Itoa(offset - hitsOnPage)
		}
		s.Before = v.With("offset", before)
	}
	if offset+len(s.Found.Items) < s.Found.Total && len(s.Found.Items) > 0 {
		s.After = v.With("offset", strconv.Itoa(offset+len(s.Found.Items)))
		v.next = s.After
	}
}

// often are the queries that a page proposes, of those that the operation lists.
func often(items any) (queries []string) {
	list := reflect.ValueOf(items)
	for i := range list.Len() {
		item := list.Index(i).Interface()
		if proposed, _ := field(item, "Proposed").(bool); proposed && len(queries) < 6 {
			queries = append(queries, text(item, "Query"))
		}
	}
	return queries
}

// headOfSearch keeps results out of search engines.
func headOfSearch(v *view, p *look.Page) {
	query := v.Extra.(*searchView).Query
	p.Home, p.NoIndex, p.Query = query == "", query != "", query
	if query == "" {
		p.Alternates = append(p.Alternates, look.Alternate{Type: "application/json", Path: "/api/v1", Title: "API"})
		return
	}
	p.Alternates = []look.Alternate{{
		Type: "text/markdown", Path: "/index.md?" + v.Params.Encode(), Title: "Markdown",
	}, {
		Type: "application/atom+xml", Path: "/feed.atom?" + v.Params.Encode(), Title: "Results as a feed",
	}}
}
