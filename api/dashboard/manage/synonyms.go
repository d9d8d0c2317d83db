package manage

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
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
