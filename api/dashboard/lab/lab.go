// Package lab is the room of the dashboard that compares two profiles on a query,
// and says why a record is not there.
package lab

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/eval"
	"almanac/retrieval/passage"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// handler answers.
type handler struct{ *form.Pages }

// Routes are those of the room.
func Routes(p *form.Pages) map[string]form.Route {
	h := handler{p}
	return map[string]form.Route{
		"GET /lab":         form.Page(h.compare),
		"POST /lab":        form.Page(h.compare),
		"GET /lab/profile": form.Page(h.labProfile),
		"GET /lab/record":  form.Form(h.record, h.recordForm),
		"GET /lab/names":   form.Page(h.names),
		"GET /lab/replay":  form.Page(h.replay),
		"POST /lab/replay": form.Form(h.startReplay, h.replay),
	}
}

// labSide is one column.
type labSide struct {
	Letter string // a or b
	Live   string // the profile that is live
	Choice string // as it was chosen
	Named  ranking.Named
	YAML   string
	Found  retrieval.Response
	Rows   []labRow
	Judged bool    // the query is judged in the case
	NDCG   float64 // on the query, if it is
	Most   float64 // the largest part of a score, by which bars are drawn
	Fault  string  // why there are no results
	// Changes are the fields that a text has otherwise than what is live.
	Changes []ranking.Change
}

// Title names what a side shows.
func (s *labSide) Title() string {
	if s.Choice == ranking.Live {
		return "live: " + s.Live
	}
	return s.Choice
}

// labRow is one result.
type labRow struct {
	Rank   int
	Result retrieval.Result
	Side   *labSide
	Record catalog.Record // without its body
	Page   string
	Target string // as judgments name it
	Move   *form.Shift
	Gone   bool // the right side does not show it
	Parts  []labPart
	Lists  []labPart
	Tree   string
	Grades []gradeButton // nil: there is no case to grade for
}

// gradeButton is a grade that can be given, or was.
type gradeButton struct {
	Grade int
	Sends int  // the grade that pressing it asks for
	On    bool // it is that of people
}

// labPart is a part of a score.
type labPart struct {
	Name, Formula string
	Value         float64
}

// labPage is what the page shows.
type labPage struct {
	Query   string
	N       int
	Kinds   string
	Sources string
	Choices []string
	A, B    *labSide
	Jaccard float64
	RBO     float64
	Stages  []string // those of the timings that took longest first
	Cases   []catalog.Case
	Judging judging
	Faults  []string // what could not be done
	Sliders []slider // of the right side
	Measure bool
	Worth   *workbench.Effect // of the right side for the case, if it was to be measured
	Landing landing           // what to begin with, without a query
	Why     string            // what was asked for
	Absence []labAbsence
	Newest  int        // revision of the default profile; 0: none is saved
	Publish string     // the revision on the right, if it can be published
	Done    *form.Done // what was just published from here
}

// labAbsence says where a record is in a side.
type labAbsence struct {
	Side *labSide
	retrieval.Absence
	Compared []labPart // what the last result of the first page has more of
	Parts    []labPart
	Fault    string
}

// compare searches with two profiles. The same form grades and measures.
func (h handler) compare(r *http.Request) (form.Reply, error) {
	if err := r.ParseForm(); err != nil {
		return form.Reply{}, form.Invalid("the form could not be read")
	}
	ctx, part := r.Context(), r.Form.Get("part")
	p, err := h.page(r)
	if err != nil {
		return form.Reply{}, err
	}
	graded := r.PostForm.Get("grade")
	if graded != "" {
		if err := h.grade(r, p, graded); err != nil {
			p.Faults = append(p.Faults, err.Error())
		}
	}
	if r.Method == http.MethodPost && !p.edited() && part == "" && len(p.Faults) == 0 {
		to := p.link() // an address that can be passed on
		if graded != "" {
			to += "#" + anchorOf(graded)
		}
		return form.Reply{Goto: to}, nil
	}
	page := form.Reply{Template: "lab", Title: cmp.Or(p.Query, "Query lab"), Data: p, Part: part}
	if p.Query == "" {
		p.Landing, err = h.landing(ctx, p.Judging.Case)
		return page, err
	}
	if (p.Measure || p.edited()) && part != "results" {
		if err := h.measure(ctx, p); err != nil {
			return form.Reply{}, err
		}
	}
	if part == "worth" {
		return page, nil
	}
	request := retrieval.Request{Query: p.Query, Limit: p.N, Diversify: true, Explain: true,
		Filter: passage.Filter{Kinds: strings.Fields(p.Kinds), Sources: strings.Fields(p.Sources)}}
	for _, s := range []*labSide{p.A, p.B} {
		if err := h.fill(ctx, s, request, p.Judging); err != nil {
			return form.Reply{}, err
		}
	}
	if p.A.Fault == "" && p.B.Fault == "" {
		p.set(recordsOf(p.A.Found.Results), recordsOf(p.B.Found.Results))
	}
	if p.Why != "" {
		if err := h.absences(ctx, p, request); err != nil {
			return form.Reply{}, err
		}
	}
	return page, nil
}

// measure says what the right side is worth beside the left one on the case. A text that
// was edited is measured unasked, where there is something to measure it by.
func (h handler) measure(ctx context.Context, p *labPage) error {
	if p.A.Fault != "" || p.B.Fault != "" || p.Judging.Case.ID == 0 {
		return nil
	}
	worth, err := h.Bench.Effect(ctx, p.Judging.Case, p.A.Named, p.B.Named)
	switch {
	case errors.Is(err, workbench.ErrUnjudged) || errors.Is(err, retrieval.ErrBadQuery):
		if p.Measure {
			p.Faults = append(p.Faults, err.Error())
		}
		return nil
	case err != nil:
		return err
	}
	p.Worth = &worth
	return nil
}

// page reads what the form asks for.
func (h handler) page(r *http.Request) (*labPage, error) {
	p := &labPage{Query: strings.TrimSpace(cmp.Or(r.Form.Get("go"), r.Form.Get("q"))),
		N:     min(max(standardN, form.Number(r, "n", standardN)), 50),
		Kinds: strings.TrimSpace(r.Form.Get("kind")), Sources: strings.TrimSpace(r.Form.Get("source")),
		Why: strings.TrimSpace(r.Form.Get("why")), Measure: r.Form.Get("measure") != ""}
	var err error
	if p.Choices, err = h.Names(r.Context()); err != nil {
		return nil, err
	}
	p.Choices = append(p.Choices, form.Edited)
	if p.Cases, err = h.Store.Cases(r.Context()); err != nil {
		return nil, err
	}
	if p.Judging, err = h.judging(r.Context(), p.Cases, int64(form.Number(r, "case", 0)), p.Query); err != nil {
		return nil, err
	}
	if p.A, err = h.side(r, "a", standardA); err != nil {
		return nil, err
	}
	if p.B, err = h.side(r, "b", standardB); err != nil {
		return nil, err
	}
	p.Sliders = slidersOf(p.B.Named.Profile.Weights)
	newest, err := h.Store.Revision(r.Context(), catalog.ProfileRevision, ranking.DefaultName, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	p.Newest = newest.Number
	if _, saved := ranking.ParseName(p.B.Choice); saved && p.B.Fault == "" && p.B.Choice != p.B.Live {
		p.Publish = p.B.Choice
	}
	if p.Done, err = h.Done(r); p.Done != nil {
		p.Done.Here = true
	}
	return p, err
}

// edited reports whether a side is a text, which no address has.
func (p *labPage) edited() bool { return p.A.Choice == form.Edited || p.B.Choice == form.Edited }

// What the page compares unless it is told otherwise.
const (
	standardA = ranking.Live
	standardB = ranking.KeywordOnly
	standardN = 10
)

// link is the address of a comparison of profiles that have names.
func (p *labPage) link() string { return p.of(p.A.Choice, p.B.Choice) }

// FromLive is the address of the same with what is live on the right, whose weights can be
// drawn.
func (p *labPage) FromLive() string { return p.of(p.A.Choice, ranking.Live) }

// Shared is the address of the same that has these profiles whatever is live later; "" if a
// side is a text.
func (p *labPage) Shared() string {
	if p.edited() {
		return ""
	}
	lasting := func(s *labSide) string {
		if s.Choice == ranking.Live {
			return s.Live
		}
		return s.Choice
	}
	return p.of(lasting(p.A), lasting(p.B))
}

// of is the address of the same question to two profiles.
func (p *labPage) of(a, b string) string {
	v := url.Values{}
	for _, x := range [][3]string{{"q", p.Query, ""}, {"a", a, standardA}, {"b", b, standardB},
		{"n", strconv.Itoa(p.N), strconv.Itoa(standardN)}, {"kind", p.Kinds, ""}, {"source", p.Sources, ""},
		{"why", p.Why, ""}, {"case", p.Judging.named(), ""}, {"measure", onOff[p.Measure], ""}} {
		if x[1] != x[2] {
			v.Set(x[0], x[1])
		}
	}
	return strings.TrimSuffix("/lab?"+v.Encode(), "?")
}

// onOff is how an address says that something was asked for.
var onOff = map[bool]string{true: "1"}

// labProfile returns a profile as the form has it, for the script that fills it in.
func (h handler) labProfile(r *http.Request) (form.Reply, error) {
	n, err := h.Named(r.Context(), r.FormValue("name"))
	if err != nil {
		return form.Reply{}, err
	}
	data, err := yaml.Marshal(n.Profile)
	return form.Reply{Raw: &form.Raw{Name: "profile.yaml", Type: "text/plain; charset=utf-8", Body: data}}, err
}

// typed is a text of a form with the line ends that it was filled with.
func typed(r *http.Request, name string) string {
	return strings.ReplaceAll(r.Form.Get(name), "\r\n", "\n")
}

// side reads what a column shows.
func (h handler) side(r *http.Request, letter, otherwise string) (*labSide, error) {
	s := &labSide{Letter: letter, Choice: cmp.Or(r.Form.Get(letter), otherwise), YAML: typed(r, "yaml-"+letter)}
	live, _, err := ranking.InForce(r.Context(), h.Store)
	if err != nil {
		return nil, err
	}
	s.Live = live.Profile()
	// A text that was changed counts, whatever the list of the side has. One that is as
	// the page had it does not: then the list was changed.
	if was := "was-" + letter; r.Form.Has(was) && s.YAML != typed(r, was) || r.Form.Get("try") == letter {
		s.Choice = form.Edited
	}
	if letter == "b" {
		s.slide(r)
	}
	if s.Choice == form.Edited {
		s.Named, err = h.Edited(r.Context(), s.YAML)
	} else {
		s.Named, err = h.Named(r.Context(), s.Choice)
	}
	if err != nil {
		s.Fault = form.Plainly(err, s.YAML)
		return s, nil
	}
	if s.Choice != form.Edited {
		data, err := yaml.Marshal(s.Named.Profile)
		if err != nil {
			return nil, err
		}
		s.YAML = string(data)
	} else {
		now, err := h.Named(r.Context(), ranking.Live)
		if err != nil {
			return nil, err
		}
		if s.Changes, err = ranking.Diff(now.Profile, s.Named.Profile); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// fill searches for a column.
func (h handler) fill(ctx context.Context, s *labSide, request retrieval.Request, j judging) (err error) {
	if s.Fault != "" {
		return nil
	}
	request.Relevance = &s.Named.Relevance
	s.Found, err = h.Search.Search(ctx, request)
	if errors.Is(err, retrieval.ErrBadQuery) {
		s.Fault = form.Plainly(err, s.YAML)
		return nil
	}
	if err != nil {
		return err
	}
	records := recordsOf(s.Found.Results)
	heads, err := h.Store.Heads(ctx, records)
	if err != nil {
		return err
	}
	names, err := workbench.Targets(ctx, h.Store, heads, j.Targets)
	if err != nil {
		return err
	}
	byID := map[int64]catalog.Record{}
	for _, head := range heads {
		byID[head.ID] = head
	}
	s.Judged = len(j.Grades) > 0
	var ranking []string
	for i, x := range s.Found.Results {
		head := byID[x.Record]
		row := labRow{Rank: i + 1, Result: x, Side: s, Record: head, Target: names[x.Record]}
		if h.Page != nil {
			row.Page = h.Page(head)
		}
		row.explain(x.Explanation)
		row.Grades = j.buttons(row.Target)
		for _, part := range row.Parts {
			s.Most = max(s.Most, part.size())
		}
		ranking = append(ranking, row.Target)
		s.Rows = append(s.Rows, row)
	}
	if s.Judged {
		s.NDCG = eval.Measure(ranking, j.Grades, 1, nil).NDCG10
	}
	return nil
}

// explain fills in the parts of a score.
func (row *labRow) explain(x *retrieval.Explanation) {
	if x == nil {
		return
	}
	row.Parts, row.Tree = partsOf(x), x.Score.Tree(0)+x.Fusion.Tree(0)
	for _, l := range x.Fusion.Parts {
		row.Lists = append(row.Lists, labPart{Name: l.Name, Formula: l.Formula, Value: l.Value})
	}
	if len(row.Parts) == 1 && row.Parts[0].Name == "fusion" { // which is all that orders these results
		row.Parts = largestFirst(slices.Clone(row.Lists))
	}
}

// partsOf returns what a score is made of, the largest parts first: the features of
// the linear model, and what later stages added.
func partsOf(x *retrieval.Explanation) (parts []labPart) {
	for _, stage := range x.Score.Parts {
		if stage.Name != "logistic" {
			parts = append(parts, labPart{Name: stage.Name, Formula: stage.Formula, Value: stage.Value})
			continue
		}
		for _, linear := range stage.Parts {
			for _, feature := range linear.Parts {
				parts = append(parts, labPart{Name: feature.Name, Formula: feature.Formula, Value: feature.Value})
			}
		}
	}
	return largestFirst(slices.DeleteFunc(parts, func(p labPart) bool { return p.Value == 0 }))
}

// size is how much a part adds or takes.
func (p labPart) size() float64 { return max(p.Value, -p.Value) }

// largestFirst orders parts by size.
func largestFirst(parts []labPart) []labPart {
	slices.SortStableFunc(parts, func(a, b labPart) int { return cmp.Compare(b.size(), a.size()) })
	return parts
}

// recordsOf returns the ids of results.
func recordsOf(results []retrieval.Result) []int64 {
	out := make([]int64, len(results))
	for i, x := range results {
		out[i] = x.Record
	}
	return out
}

// set marks what moved between the two lists, and how alike they are.
func (p *labPage) set(a, b []int64) {
	for i := range p.A.Rows {
		p.A.Rows[i].Gone = !slices.Contains(b, a[i])
	}
	for i := range p.B.Rows {
		p.B.Rows[i].Move = form.ShiftOf(i, slices.Index(a, b[i])+1)
	}
	p.Jaccard, p.RBO = eval.Jaccard(a, b, eval.Cut), eval.RBO(a, b, eval.Persistence)
	stages := maps.Clone(p.A.Found.Timings)
	maps.Copy(stages, p.B.Found.Timings)
	p.Stages = slices.Sorted(maps.Keys(stages))
	took := func(stage string) time.Duration { return p.A.Found.Timings[stage] + p.B.Found.Timings[stage] }
	slices.SortStableFunc(p.Stages, func(a, b string) int { return cmp.Compare(took(b), took(a)) })
}

// absences says where a record is in both columns.
func (h handler) absences(ctx context.Context, p *labPage, request retrieval.Request) error {
	sides := []*labSide{p.A, p.B}
	record, err := h.Locate(ctx, p.Why, "why")
	if errors.Is(err, catalog.ErrNotFound) {
		p.Absence = []labAbsence{{Side: p.A, Fault: err.Error()}}
		return nil
	}
	if err != nil {
		return err
	}
	for _, s := range sides {
		if s.Fault != "" {
			continue
		}
		request.Relevance = &s.Named.Relevance
		a, err := h.Search.Absent(ctx, request, record.ID)
		if err != nil {
			return err
		}
		a.Title = cmp.Or(a.Title, record.Title)
		x := labAbsence{Side: s, Absence: a}
		if a.Explanation != nil {
			x.Parts = partsOf(a.Explanation)
		}
		if a.Explanation != nil && a.Beside != nil && a.Beside.Explanation != nil {
			x.Compared = gap(partsOf(a.Beside.Explanation), x.Parts)
		}
		p.Absence = append(p.Absence, x)
	}
	return nil
}

// gap returns by how much the parts of one score exceed those of another.
func gap(of, than []labPart) []labPart {
	by := map[string]float64{}
	for _, p := range of {
		by[p.Name] += p.Value
	}
	for _, p := range than {
		by[p.Name] -= p.Value
	}
	var out []labPart
	for _, name := range slices.Sorted(maps.Keys(by)) {
		if by[name] != 0 {
			out = append(out, labPart{Name: name, Value: by[name]})
		}
	}
	return largestFirst(out)
}

// landing is what the lab offers before a query is typed.
type landing struct {
	Worst []workbench.BoardRow // of the case
	Some  []workbench.BoardRow // of a case that was not measured
	Zero  []catalog.SearchCount
}

// offered is how many of each the lab offers.
const offered = 8

// landing finds what to begin with.
func (h handler) landing(ctx context.Context, c catalog.Case) (l landing, err error) {
	if c.ID != 0 {
		board, err := h.Bench.Board(ctx, c)
		if err != nil {
			return l, err
		}
		l.Worst = board.Worst()
		l.Worst = l.Worst[:min(offered, len(l.Worst))]
		l.Some = board.Rows[:min(offered, len(board.Rows))]
	}
	l.Zero, _, err = h.Store.Searches(ctx, catalog.SearchQuery{Order: catalog.MostZero, Limit: offered,
		Since: h.Now().AddDate(0, 0, -7)})
	return l, err
}
