package profiles

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/revision"
)

// shownShadows is how many queries the page lists.
const shownShadows = 50

// shadowed is a query with what the candidate would change.
type shadowed struct {
	catalog.ShadowCount
	Difference desk.Difference
	Lab        string
}

// shadow shows what a candidate would change of what people search for.
func (h handler) shadow(r *http.Request) (desk.Reply, error) {
	ctx := r.Context()
	setting, err := revision.ShadowOf(ctx, h.Store)
	if err != nil {
		return desk.Reply{}, err
	}
	saved, err := h.Store.Revisions(ctx, catalog.ProfileRevision)
	if err != nil {
		return desk.Reply{}, err
	}
	live, _, err := revision.InForce(ctx, h.Store)
	if err != nil {
		return desk.Reply{}, err
	}
	var choices []string
	for _, x := range saved {
		choices = append(choices, revision.NameOf(x).String())
	}
	candidate := setting.Candidate
	if asked := r.FormValue("candidate"); asked != "" {
		candidate = asked
	}
	against := live.Profile()
	list, total, err := h.Store.Shadows(ctx, against, candidate, shownShadows)
	if err != nil {
		return desk.Reply{}, err
	}
	titles, err := h.titles(r, list)
	if err != nil {
		return desk.Reply{}, err
	}
	var rows []shadowed
	for _, x := range list {
		results := func(ids []int64) []retrieval.Result {
			out := make([]retrieval.Result, len(ids))
			for i, id := range ids {
				out[i] = retrieval.Result{Record: id, Title: titles[id]}
			}
			return out
		}
		rows = append(rows, shadowed{x, desk.Differ(x.Query, results(x.Was), results(x.Would)),
			"/lab?" + url.Values{"q": {x.Query}, "a": {revision.Live}, "b": {candidate}}.Encode()})
	}
	return desk.Reply{Template: "shadow", Title: "Shadow",
		Data: map[string]any{"Setting": setting, "Choices": choices, "Candidate": candidate, "Against": against,
			"Rows": rows, "Total": total}}, nil
}

// titles reads those of all records in the lists.
func (h handler) titles(r *http.Request, list []catalog.ShadowCount) (map[int64]string, error) {
	var ids []int64
	for _, x := range list {
		ids = append(append(ids, x.Was...), x.Would...)
	}
	heads, err := h.Store.Heads(r.Context(), ids)
	titles := map[int64]string{}
	for _, head := range heads {
		titles[head.ID] = head.Title
	}
	return titles, err
}

// setShadow says which candidate runs on which share of the searches.
func (h handler) setShadow(r *http.Request) (desk.Reply, error) {
	share := desk.Number(r, "share", 0)
	if r.FormValue("do") == "stop" {
		share = 0
	}
	err := revision.SetShadow(r.Context(), h.Store, revision.Shadow{Candidate: strings.TrimSpace(
		r.FormValue("candidate")), Share: share, By: admin.User(r.Context()), Since: h.Now()})
	if errors.Is(err, revision.ErrInvalid) {
		return desk.Reply{}, desk.Invalid("the share must be between 0 and 100").In("share")
	}
	return desk.Reply{Goto: desk.Link("/profiles/shadow", "candidate", r.FormValue("candidate"))}, err
}
