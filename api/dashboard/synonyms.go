package dashboard

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval/analysis"
	"almanac/retrieval/revision"
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
	Preview []difference // nil: none was asked for
	Asked   bool
}

// synonyms lists the groups.
func (h *Handler) synonyms(r *http.Request) (reply, error) {
	set, groups, err := h.groups(r.Context())
	if err != nil {
		return reply{}, err
	}
	name := r.FormValue("name")
	edited := synonym{Name: name, Others: strings.Join(groups[name], ", ")}
	return h.synonymPage(synonymForm{Set: set, Edited: edited}, groups)
}

// groups reads the newest groups that people made.
func (h *Handler) groups(ctx context.Context) (ruleSet, map[string][]string, error) {
	set, err := h.rules(ctx, catalog.SynonymsRevision)
	if err != nil {
		return set, nil, err
	}
	groups, err := revision.ParseSynonyms([]byte(set.Newest.Data))
	return set, groups, err
}

func (h *Handler) synonymPage(f synonymForm, groups map[string][]string) (reply, error) {
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		f.Groups = append(f.Groups, synonym{name, strings.Join(groups[name], ", "), false})
	}
	network := h.cfg.Revisions.Base.Aliases
	for _, name := range slices.Sorted(maps.Keys(network)) {
		if _, replaced := groups[name]; !replaced {
			f.Groups = append(f.Groups, synonym{name, strings.Join(network[name], ", "), true})
		}
	}
	return reply{Template: "synonyms", Page: look.Page{Title: "Synonyms", Path: "/analytics/synonyms",
		Section: "/analytics"}, Data: f}, nil
}

// putSynonyms previews, publishes or removes a group.
func (h *Handler) putSynonyms(r *http.Request) (reply, error) {
	set, groups, err := h.groups(r.Context())
	if err != nil {
		return reply{}, err
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
		return reply{}, invalid("a group needs a spelling").in("name")
	case r.FormValue("do") == "remove":
		delete(groups, name)
		return reply{Goto: "/analytics/synonyms"},
			h.publish(r, catalog.SynonymsRevision, groups, "no synonyms for "+name)
	case len(others) == 0:
		return reply{}, invalid("a group needs a second spelling").in("others")
	}
	shown := maps.Clone(groups)
	groups[name] = others
	tried, err := h.previewSynonyms(r.Context(), groups, append([]string{name}, others...))
	if err != nil {
		return reply{}, err
	}
	if r.FormValue("do") == "publish" {
		return reply{Goto: "/analytics/synonyms"}, h.publish(r, catalog.SynonymsRevision, groups, "synonyms for "+name)
	}
	set.Newest.Number = number(r, "base", set.Newest.Number) // what the form was filled from
	return h.synonymPage(synonymForm{Set: set, Edited: synonym{Name: name, Others: strings.Join(others, ", ")},
		Preview: tried, Asked: true}, shown)
}

// previewQueries bounds the searches of a preview.
const previewQueries = 20

// previewSynonyms shows what groups do to queries that have one of the
// spellings: those that people searched for and those of the cases, and the
// spellings themselves. Queries that stay as they are are left out.
func (h *Handler) previewSynonyms(
	ctx context.Context, groups map[string][]string, spellings []string,
) (out []difference, err error) {
	data, err := marshal(groups)
	if err != nil {
		return nil, err
	}
	queries := slices.Clone(spellings)
	counts, _, err := h.cfg.Store.Searches(ctx, catalog.SearchQuery{Limit: 500})
	if err != nil {
		return nil, err
	}
	for _, c := range counts {
		queries = append(queries, c.Query)
	}
	cases, err := h.cfg.Store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		of, err := h.cfg.Store.Queries(ctx, c.ID)
		if err != nil {
			return nil, err
		}
		for _, q := range of {
			queries = append(queries, q.Text)
		}
	}
	seen := map[string]bool{}
	for _, query := range queries {
		key := words(query)
		if seen[key] || len(seen) == previewQueries || !slices.ContainsFunc(spellings, func(s string) bool {
			return strings.Contains(key, words(s))
		}) {
			continue
		}
		seen[key] = true
		d, err := h.preview(ctx, query, catalog.Revision{Kind: catalog.SynonymsRevision, Data: data})
		if err != nil {
			return nil, err
		}
		if d.Changed > 0 {
			out = append(out, d)
		}
	}
	return out, nil
}

// words are those of a text as searches see them, each between spaces.
func words(text string) string {
	out := " "
	for _, t := range analysis.Analyze(text) {
		out += t.Word(text) + " "
	}
	return out
}
