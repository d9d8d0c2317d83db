package web

import (
	"cmp"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"almanac/api/kb/arg"
	"almanac/api/kb/find"
	"almanac/api/look"
	"almanac/api/meta"
	"almanac/api/op"
	"almanac/api/search"
	"almanac/api/tally"
	"almanac/catalog"
	"almanac/text/dates"
)

// hit is a result with the others of the same document.
type hit struct {
	find.Hit
	Quote  template.HTML // the snippet
	Folded []hit
}

// Said is the snippet as text.
func (x hit) Said() string { return look.Legible(x.Snippet) }

// Link is the address of the heading above what was found. The texts of a thread have
// their headings numbered by post, which is not known here.
func (x hit) Link() string {
	if kind := catalog.Kind(x.Kind); x.Anchor == "" || kind.InThread() || kind.Role() == catalog.RoleThread {
		return x.Page
	}
	return x.Page + "#" + url.PathEscape(sectionPrefix+x.Anchor)
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
	Found   search.Answer
	Hits    []hit
	Failure string   // why nothing could be searched for
	Begun   bool     // nothing has the last word: it is read as the beginning of others
	Looser  []choice // if nothing was found: the search without an operator
	Without []choice // words behind a hyphen that were searched for, with the search that leaves them out
	Types   []choice
	Kinds   []choice // of the type that is chosen
	Dates   []choice
	Sources []choice
	Chips   []choice
	Sort    choice // the other order
	Instead string // address of the search for what was typed
	Typed   string // the words of it that were read as others
	First   int    // number of the first result
	Before  string
	After   string
	Hidden  []look.Field // what the form of dates keeps

	asked url.Values // the parameters of the search
}

// hitsOnPage is the number of results of a page, suggested that of suggestions.
const (
	hitsOnPage = 20
	suggested  = 6
)

var filters = []string{"type", "kind", "source", "since", "until", "sort"}

// prepareSearch asks the search and arranges its answer.
func prepareSearch(h *Handler, v *view) error {
	v.Path = "/"
	query := strings.TrimSpace(v.Param("q"))
	if query == "" {
		v.Extra = &searchView{}
		return latest(h, v, 8)
	}
	v.Title = query
	if to := h.jump(v, query); to != "" && !v.row.quiet {
		return redirect{to, http.StatusSeeOther}
	}
	s := &searchView{Query: query}
	v.Extra = s
	s.asked = v.Params
	if v.row.quiet {
		s.asked = typing(v.Params)
	}
	found, got, err := h.ask.search.ask(v.ctx, nil, s.asked)
	if err == nil && found.Total == 0 && !v.row.quiet {
		begun, as, err := h.ask.search.ask(tally.Uncounted(v.ctx), nil, typing(v.Params))
		if s.Begun = err == nil && begun.Total > 0; s.Begun {
			found, got, s.asked = begun, as, typing(v.Params)
		}
	}
	if err != nil {
		if f := op.Explain(err); f.Kind == op.ErrInvalid {
			s.Failure = sentence(f.Message)
			return nil
		}
		return err
	}
	v.answers, s.Found, s.Hits = []asked{got}, found, grouped(found.Items)
	v.retitle(s.Hits)
	if err := s.facets(h, v); err != nil {
		return err
	}
	s.corrected(v)
	s.paged(v)
	if s.Found.Total == 0 {
		if _, popular, err := h.ask.popular.ask(v.ctx, nil, nil); err == nil {
			v.answers = append(v.answers, popular)
		}
	}
	return nil
}

// typing are the parameters of a search for what is still being typed.
func typing(params url.Values) url.Values {
	params = maps.Clone(params)
	params.Set("typing", "true")
	return params
}

// grouped folds the results that are part of one document below the best of
// them.
func grouped(items []find.Hit) []hit {
	var out []hit
	at := map[int64]int{}
	for _, item := range items {
		x := hit{Hit: item}
		if m := item.Matches; m != nil {
			x.Quote = look.Quoted(x.Snippet, m.Snippet)
		}
		document := cmp.Or(x.Parent, x.RecordID)
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
	total, counts := s.Found.Total, s.Found.Facets["kind"]
	if v.Param("type") != "" && v.Param("type") != "all" || v.Param("kind") != "" {
		all, _, err := h.ask.counts.ask(v.ctx, nil, s.asked)
		if err != nil {
			return err
		}
		total, counts = all.Total, all.Facets["kind"]
	}
	s.types(h, v, total, counts)
	s.dates(h, v)
	sources := s.Found.Facets["source"]
	labels := h.sourceLabels(v)
	for _, name := range most(sources, 8) {
		s.Sources = append(s.Sources, choice{cmp.Or(labels[name], name), v.With("source", name), sources[name],
			v.Param("source") == name})
	}
	for _, x := range s.Found.Relaxed {
		if query := strings.Join(strings.Fields(strings.Replace(s.Query, x.Without, "", 1)), " "); query != s.Query {
			s.Looser = append(s.Looser, choice{Name: x.Without, Link: v.With("q", query), Count: x.Total})
		}
	}
	for _, word := range s.Found.Kept {
		s.Without = append(s.Without, choice{Name: word, Link: v.With("q", find.Without(s.Query, word))})
	}
	for _, name := range []string{"kind", "source", "since", "until"} {
		if value := v.Param(name); value != "" {
			label := map[string]string{"since": "from " + dayOf(value), "until": "before " + dayOf(value),
				"kind": kinds[value].Many, "source": labels[value]}
			for _, d := range s.Dates {
				if d.Current && name == "since" {
					label["since"] = d.Name
				}
			}
			s.Chips = append(s.Chips, choice{Name: cmp.Or(label[name], value), Link: v.With(name, "")})
		}
	}
	s.Hidden = slices.DeleteFunc(append([]look.Field{{Name: "q", Value: s.Query}}, v.filters()...),
		func(f look.Field) bool { return f.Name == "since" || f.Name == "until" })
	s.Sort = choice{Name: "newest first", Link: v.With("sort", "date")}
	if v.Param("sort") == "date" {
		s.Sort = choice{Name: "best first", Link: v.With("sort", "")}
	}
	return nil
}

// filters are those that are in use.
func (v *view) filters() (all []look.Field) {
	for _, name := range filters {
		if value := v.Param(name); value != "" {
			all = append(all, look.Field{Name: name, Value: value})
		}
	}
	return all
}

// typeNames are what people call the search types.
var typeNames = []struct{ typ, name string }{
	{"cip", "Proposals"}, {"doc", "Docs"}, {"discussion", "Discussions"}, {"mail", "Mail"}, {"proposal", "Grants"},
	{"forge", "Code"}, {"video", "Talks"}, {"blog", "Blog"}, {"whitepaper", "Whitepapers"},
}

func (s *searchView) types(h *Handler, v *view, total int, ofKind map[string]int) {
	counts := map[string]int{}
	for kind, n := range ofKind {
		counts[arg.TypeOf(catalog.Kind(kind))] += n
	}
	current := v.Param("type")
	if current == "all" {
		current = ""
	}
	s.Types = append(s.Types, choice{"Everything", v.With("type", "", "kind", ""), total, current == ""})
	if current != "" {
		for _, kind := range most(ofKind, len(ofKind)) {
			if arg.TypeOf(catalog.Kind(kind)) == current && ofKind[kind] < counts[current] {
				s.Kinds = append(s.Kinds, choice{cmp.Or(kinds[kind].Many, look.Words(kind)), v.With("kind", kind),
					ofKind[kind], v.Param("kind") == kind})
			}
		}
	}
	for _, t := range typeNames {
		if n := counts[t.typ]; n > 0 || t.typ == current {
			s.Types = append(s.Types, choice{t.name, v.With("type", t.typ, "kind", ""), n, t.typ == current})
		}
	}
}

// sourceLabels are what people call sources: the kinds that they feed. Two of the same
// are told apart by their names.
func (h *Handler) sourceLabels(v *view) map[string]string {
	answer, _, err := h.ask.sources.ask(v.ctx, nil, nil)
	if err != nil {
		return nil
	}
	fed := map[string][]string{}
	for _, kind := range answer.Sources {
		for _, name := range kind.Names {
			fed[name] = append(fed[name], cmp.Or(kinds[kind.Type].Many, look.Words(kind.Type)))
		}
	}
	labels, same := map[string]string{}, map[string]int{}
	for name, names := range fed {
		labels[name] = strings.Join(names[:min(2, len(names))], ", ")
		if len(names) > 2 {
			labels[name] += " …"
		}
		same[labels[name]]++
	}
	for name, label := range labels {
		if same[label] > 1 {
			labels[name] = label + " (" + name + ")"
		}
	}
	return labels
}

// dayOf writes a day as pages do.
func dayOf(day string) string {
	if t := dates.At(day, dates.Day); !t.IsZero() {
		return t.Format("2 Jan 2006")
	}
	return day
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
func often(items []meta.Searched) (queries []string) {
	for _, x := range items {
		if x.Proposed && len(queries) < 6 {
			queries = append(queries, x.Query)
		}
	}
	return queries
}

// headOfSearch keeps results out of search engines.
func headOfSearch(v *view, p *look.Page) {
	s := v.Extra.(*searchView)
	query := s.Query
	p.Home, p.NoIndex, p.Query = query == "", query != "", query
	if query == "" {
		p.Alternates = append(p.Alternates, look.Alternate{Type: "application/json", Path: "/api/v1", Title: "API"})
		return
	}
	if s.Failure == "" { // which a filter may have made
		p.Filters = v.filters()
	}
	p.Alternates = []look.Alternate{{
		Type: "text/markdown", Path: "/index.md?" + v.Params.Encode(), Title: "Markdown",
	}, {
		Type: "application/atom+xml", Path: "/feed.atom?" + v.Params.Encode(), Title: "Results as a feed",
	}}
}
