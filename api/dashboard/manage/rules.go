package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
	"almanac/text/dates"
)

// synonym is a group of equivalent spellings.
type synonym struct {
	Name, Others string
	Network      bool // of the network's file, which a published group of the same name replaces
}

// synonymForm is the page of synonyms, with a group that is being made.
type synonymForm struct {
	Set     ruleSet
	Groups  []synonym
	Edited  synonym
	Known   bool              // there is a group of the name, which can be removed
	Preview []form.Difference // nil: none was asked for
	Asked   bool
	Effects []workbench.Effect
}

// synonyms lists the groups.
func (h handler) synonyms(r *http.Request) (form.Reply, error) {
	set, groups, err := h.groups(r)
	if err != nil {
		return form.Reply{}, err
	}
	name := r.FormValue("name")
	edited := synonym{Name: name, Others: strings.Join(groups[name], ", ")}
	if groups[name] == nil {
		edited.Others = strings.Join(h.Base.Aliases[name], ", ")
	}
	return h.synonymPage(synonymForm{Set: set, Edited: edited}, groups)
}

// groups reads the newest groups that people made.
func (h handler) groups(r *http.Request) (ruleSet, map[string][]string, error) {
	set, err := h.rules(r, catalog.SynonymsRevision)
	if err != nil {
		return set, nil, err
	}
	groups, err := ranking.ParseSynonyms([]byte(set.Newest.Data))
	return set, groups, err
}

func (h handler) synonymPage(f synonymForm, groups map[string][]string) (form.Reply, error) {
	_, f.Known = groups[f.Edited.Name]
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		f.Groups = append(f.Groups, synonym{name, strings.Join(groups[name], ", "), false})
	}
	network := h.Base.Aliases
	for _, name := range slices.Sorted(maps.Keys(network)) {
		if _, replaced := groups[name]; !replaced {
			f.Groups = append(f.Groups, synonym{name, strings.Join(network[name], ", "), true})
		}
	}
	return form.Reply{Template: "synonyms", Title: "Synonyms", Data: f}, nil
}

// The most spellings of a group besides its name, and the most bytes of one: each is
// looked for in every query that was counted.
const (
	maxSpellings = 100
	maxSpelling  = 200
	tooLong      = "a group has at most 100 further spellings of at most 200 bytes"
)

// putSynonyms previews, publishes or removes a group.
func (h handler) putSynonyms(r *http.Request) (form.Reply, error) {
	set, groups, err := h.groups(r)
	if err != nil {
		return form.Reply{}, err
	}
	name := strings.TrimSpace(r.FormValue("name"))
	var others []string
	for part := range strings.SplitSeq(r.FormValue("others"), ",") {
		if part = strings.TrimSpace(part); part != "" {
			others = append(others, part)
		}
	}
	switch {
	case name == "":
		return form.Reply{}, form.Invalid("a group needs a spelling").In("name")
	case r.FormValue("do") == "remove":
		delete(groups, name)
		return h.publishRules(r, "/rules", catalog.SynonymsRevision, groups, "no synonyms for "+name)
	case len(others) == 0:
		return form.Reply{}, form.Invalid("a group needs a second spelling").In("others")
	case len(name) > maxSpelling:
		return form.Reply{}, form.Invalid(tooLong).In("name")
	case len(others) > maxSpellings,
		slices.ContainsFunc(others, func(s string) bool { return len(s) > maxSpelling }):
		return form.Reply{}, form.Invalid(tooLong).In("others")
	}
	shown := maps.Clone(groups)
	groups[name] = others
	would, err := h.would(r.Context(), catalog.SynonymsRevision, groups)
	if err != nil {
		return form.Reply{}, err
	}
	if r.FormValue("do") == "publish" {
		return h.publishRules(r, "/rules", catalog.SynonymsRevision, groups, "synonyms for "+name)
	}
	f := synonymForm{Set: set, Edited: synonym{Name: name, Others: strings.Join(others, ", ")}, Asked: true}
	f.Set.Newest.Number = form.Number(r, "base", set.Newest.Number) // what the form was filled from
	if f.Preview, err = h.previewSynonyms(r.Context(), would, append([]string{name}, others...)); err != nil {
		return form.Reply{}, err
	}
	shownQueries := make([]*form.Difference, len(f.Preview))
	for i := range f.Preview {
		shownQueries[i] = &f.Preview[i]
	}
	if f.Effects, err = h.Effects(r.Context(), would, shownQueries...); err != nil {
		return form.Reply{}, err
	}
	return h.synonymPage(f, shown)
}

// previewQueries bounds the searches of a preview.
const previewQueries = 20

// previewSynonyms shows what groups do to queries that have one of the
// spellings: those that people searched for and those of the cases, and the
// spellings themselves. Queries that stay as they are are left out.
func (h handler) previewSynonyms(
	ctx context.Context, would ranking.Named, spellings []string,
) (out []form.Difference, err error) {
	queries := slices.Clone(spellings)
	counts, _, err := h.Store.Searches(ctx, catalog.SearchQuery{Limit: 500})
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		queries = append(queries, c.Query)
	}
	cases, err := h.Store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		of, err := h.Store.Queries(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, q := range of {
			queries = append(queries, q.Text)
		}
	}
	var words []string
	for _, s := range spellings {
		words = append(words, form.Words(s))
	}
	seen := map[string]bool{}
	for _, query := range queries {
		key := form.Words(query)
		if seen[key] || len(seen) == previewQueries || !slices.ContainsFunc(words, func(w string) bool {
			return strings.Contains(key, w)
		}) {
			continue
		}
		seen[key] = true
		d, err := h.preview(ctx, query, would)
		if err != nil {
			return nil, err
		}
		if d.Changed > 0 {
			out = append(out, d)
		}
	}
	return out, nil
}

// ruleSet is the newest list of rules of a kind, and what is in force.
type ruleSet struct {
	Newest catalog.Revision    // Number 0: there is none yet
	Live   catalog.Publication // ID 0: nothing was published
	Done   *form.Done          // what was just published; nil: nothing
}

// rules reads the newest revision of a kind.
func (h handler) rules(r *http.Request, kind catalog.RevisionKind) (s ruleSet, err error) {
	ctx := r.Context()
	if s.Done, err = h.Done(r); err != nil {
		return s, err
	}
	s.Newest, err = h.Store.Revision(ctx, kind, "", 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return s, err
	}
	s.Newest.Kind = kind
	live, _, err := ranking.InForce(ctx, h.Store)
	s.Live = live.Of(kind)
	return s, err
}

// publishRules saves rules as a revision made from the one that the form was filled
// from, and publishes it; what says what changes, unless there is a note. It leads to the
// page of a path.
func (h handler) publishRules(r *http.Request, path string, kind catalog.RevisionKind, rules any, what string) (
	out form.Reply, err error) {
	data, err := marshal(rules)
	if err != nil {
		return out, err
	}
	by, note := admin.User(r.Context()), cmp.Or(strings.TrimSpace(r.FormValue("why")), what)
	saved, err := h.Store.SaveRevision(r.Context(), catalog.Revision{Kind: kind, Base: form.Number(r, "base", 0), By: by,
		Note: note, Data: data})
	if err != nil {
		return out, err
	}
	p, err := h.Store.Publish(r.Context(),
		catalog.Publication{Kind: kind, Number: saved.Number, By: by, Note: note}, 0)
	return form.Reply{Goto: form.After(path, p)}, err
}

// marshal writes rules as a revision has them.
func marshal(rules any) (string, error) {
	data, err := yaml.Marshal(rules)
	return string(data), err
}

// previewed is how many results a preview compares.
const previewed = 10

// would is what searches would use with rules in place of those of their kind.
func (h handler) would(ctx context.Context, kind catalog.RevisionKind, rules any) (n ranking.Named, err error) {
	data, err := marshal(rules)
	if err != nil {
		return n, err
	}
	n.Name = form.Edited
	if n.Relevance, err = h.Relevance(ctx, catalog.Revision{Kind: kind, Data: data}); err != nil {
		err = form.Invalid(err.Error())
	}
	return n, err
}

// preview searches as it is, and as it would be.
func (h handler) preview(ctx context.Context, query string, would ranking.Named) (d form.Difference, err error) {
	request := retrieval.Request{Query: query, Limit: previewed, Diversify: true}
	before, err := h.Search.Search(ctx, request)
	if err != nil {
		return d, err
	}
	request.Relevance = &would.Relevance
	after, err := h.Search.Search(ctx, request)
	if err != nil {
		return d, err
	}
	return form.Differ(query, before.Results, after.Results), nil
}

// pinned is a rule as the page lists it.
type pinned struct {
	ranking.Pin
	State string // live, ended, to come
}

// pinRules reads the newest pins.
func (h handler) pinRules(r *http.Request) (set ruleSet, rules []ranking.Pin, err error) {
	if set, err = h.rules(r, catalog.PinsRevision); err == nil {
		rules, err = ranking.ParsePins([]byte(set.Newest.Data))
	}
	return set, rules, err
}

// pins lists what is pinned and buried.
func (h handler) pins(r *http.Request) (form.Reply, error) {
	set, rules, err := h.pinRules(r)
	if err != nil {
		return form.Reply{}, err
	}
	today := h.Now().UTC().Truncate(24 * time.Hour)
	list, titles := make([]pinned, len(rules)), map[string]string{}
	for i, rule := range rules {
		p := pinned{Pin: rule, State: "live"}
		switch {
		case !rule.Until.IsZero() && rule.Until.Before(today):
			p.State = "ended"
		case rule.From.After(today):
			p.State = "to come"
		}
		for _, place := range rule.Places {
			if titles[place.Record], err = h.title(r.Context(), place.Record); err != nil {
				return form.Reply{}, err
			}
		}
		list[i] = p
	}
	return form.Reply{Template: "pins", Title: "Pinned results",
		Data: map[string]any{"Set": set, "Rules": list, "Titles": titles}}, nil
}

// title returns the title of a record by kind:key, "" if it is gone.
func (h handler) title(ctx context.Context, record string) (string, error) {
	ref, _ := catalog.RefNamed(record)
	r, err := h.Store.Head(ctx, ref)
	if errors.Is(err, catalog.ErrNotFound) {
		return "", nil
	}
	return r.Title, err
}

// pinForm is the page on which the rule of a query is made.
type pinForm struct {
	Set     ruleSet
	Rule    ranking.Pin
	Known   bool     // the query has a rule already
	Sent    []string // records that a form had, kind:key
	Choices []pinChoice
	Preview *form.Difference
	Effects []workbench.Effect
}

// pinChoice is a record that can be pinned.
type pinChoice struct {
	Record, Title, Heading string
	Position               string // chosen: "", "0" for buried, or a number
}

// editPin shows the form for a query; one that was sent has a row for each record
// that it had.
func (h handler) editPin(r *http.Request) (form.Reply, error) {
	query := strings.TrimSpace(cmp.Or(r.FormValue("q"), r.FormValue("query")))
	set, rules, err := h.pinRules(r)
	if err != nil {
		return form.Reply{}, err
	}
	f := pinForm{Set: set, Rule: ranking.Pin{Query: query}}
	if at := slices.IndexFunc(rules, func(p ranking.Pin) bool { return strings.EqualFold(p.Query, query) }); at >= 0 {
		f.Rule, f.Known = rules[at], true
	}
	for name := range r.PostForm {
		if record, ok := strings.CutPrefix(name, placeField); ok {
			f.Sent = append(f.Sent, record)
		}
	}
	return h.pinPage(r, f)
}

// pinPage fills in what can be pinned: what the query finds, and what is pinned.
func (h handler) pinPage(r *http.Request, f pinForm) (form.Reply, error) {
	chosen := map[string]string{}
	for _, record := range f.Sent {
		chosen[record] = ""
	}
	for _, p := range f.Rule.Places {
		chosen[p.Record] = strconv.Itoa(p.Position)
	}
	if f.Rule.Query != "" {
		found, err := h.Search.Search(r.Context(),
			retrieval.Request{Query: f.Rule.Query, Limit: 2 * previewed, Diversify: true})
		if err != nil {
			return form.Reply{}, err
		}
		for _, x := range found.Results {
			record, err := h.Store.ByID(r.Context(), x.Record)
			if errors.Is(err, catalog.ErrNotFound) {
				continue // the index has not caught up
			}
			if err != nil {
				return form.Reply{}, err
			}
			name := record.Ref().Name()
			f.Choices = append(f.Choices, pinChoice{name, record.Title, x.Heading, chosen[name]})
			delete(chosen, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		title, err := h.title(r.Context(), name)
		if err != nil {
			return form.Reply{}, err
		}
		f.Choices = append(f.Choices, pinChoice{name, title, "", chosen[name]})
	}
	return form.Reply{Template: "pin", Title: "Pin results", Data: f}, nil
}

// putPin previews, publishes or removes the rule of a query.
func (h handler) putPin(r *http.Request) (form.Reply, error) {
	rule, err := h.pinOf(r)
	if err != nil {
		return form.Reply{}, err
	}
	set, rules, err := h.pinRules(r)
	if err != nil {
		return form.Reply{}, err
	}
	same := func(p ranking.Pin) bool { return strings.EqualFold(p.Query, rule.Query) }
	known := slices.ContainsFunc(rules, same)
	rules = slices.DeleteFunc(rules, same)
	if r.FormValue("do") == "remove" {
		return h.publishRules(r, "/rules/pins", catalog.PinsRevision, rules, "no pins for "+rule.Query)
	}
	if len(rule.Places) == 0 {
		return form.Reply{}, form.Invalid("choose a place for at least one record")
	}
	rules = append(rules, rule)
	would, err := h.would(r.Context(), catalog.PinsRevision, rules)
	if err != nil {
		return form.Reply{}, err
	}
	tried, err := h.preview(r.Context(), rule.Query, would)
	if err != nil {
		return form.Reply{}, err
	}
	if r.FormValue("do") == "publish" {
		return h.publishRules(r, "/rules/pins", catalog.PinsRevision, rules, "pins for "+rule.Query)
	}
	set.Newest.Number = form.Number(r, "base", set.Newest.Number) // what the form was filled from
	f := pinForm{Set: set, Rule: rule, Known: known, Preview: &tried}
	if f.Effects, err = h.Effects(r.Context(), would, f.Preview); err != nil {
		return form.Reply{}, err
	}
	return h.pinPage(r, f)
}

// placeField begins the names of the fields with the places of records.
const placeField = "place "

// pinOf reads the rule of a form.
func (h handler) pinOf(r *http.Request) (rule ranking.Pin, err error) {
	if err := r.ParseForm(); err != nil {
		return rule, form.Invalid("the form could not be read")
	}
	rule.Query, rule.Note = strings.TrimSpace(r.FormValue("query")), strings.TrimSpace(r.FormValue("note"))
	if rule.Query == "" {
		return rule, form.Invalid("a rule needs a query").In("query")
	}
	for name, day := range map[string]*ranking.Day{"from": &rule.From, "until": &rule.Until} {
		if text := r.FormValue(name); text != "" {
			if day.Time = dates.At(text, dates.Day); day.IsZero() {
				return rule, form.Invalid(fmt.Sprintf("%s must be a date like 2030-12-31", name)).In(name)
			}
		}
	}
	place := func(record, position, field string) error {
		n, err := strconv.Atoi(position)
		if err != nil || n < 0 || n > retrieval.MaxResults {
			return form.Invalid(fmt.Sprintf("the place of %s must be a number up to %d; 0 buries it", record,
				retrieval.MaxResults)).In(field)
		}
		rule.Places = append(rule.Places, ranking.Place{Record: record, Position: n})
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(r.PostForm)) {
		record, ok := strings.CutPrefix(name, placeField)
		if position := r.PostFormValue(name); ok && position != "" {
			if err := place(record, position, name); err != nil {
				return rule, err
			}
		}
	}
	if record := strings.TrimSpace(r.FormValue("record")); record != "" {
		found, err := h.Locate(r.Context(), record, "record")
		if err != nil {
			return rule, err
		}
		return rule, place(found.Ref().Name(), r.FormValue("position"), "position")
	}
	return rule, nil
}
