package lab

import (
	"fmt"
	"net/http"
	"slices"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

const (
	shownReplayed = 50    // queries
	keptSearches  = 5_000 // queries whose texts are looked up
)

// replayed is a query of a replay.
type replayed struct {
	workbench.Replayed
	catalog.SearchCount
}

// replay shows the newest replay of what people searched for, and has the form of another.
func (h handler) replay(r *http.Request) (form.Reply, error) {
	choices, err := h.Names(r.Context())
	if err != nil {
		return form.Reply{}, err
	}
	_, counted, err := h.Store.Searches(r.Context(), catalog.SearchQuery{Limit: 1})
	if err != nil {
		return form.Reply{}, err
	}
	jobs, err := workbench.JobsOf[workbench.ReplayTask, workbench.Replay](r.Context(), h.Store, 0)
	if err != nil {
		return form.Reply{}, err
	}
	choices = slices.DeleteFunc(choices, func(name string) bool { return name == ranking.Live })
	data := map[string]any{"Choices": choices, "Counted": counted, "Chosen": r.FormValue("profile")}
	page := form.Reply{Template: "replay", Title: "Replay", Data: data}
	if len(jobs) == 0 {
		return page, nil
	}
	data["Job"] = jobs[0]
	if jobs[0].Result != "" {
		data["Queries"], err = h.replayed(r, jobs[0])
	}
	return page, err
}

// replayed are the queries that change most, but for those whose texts are no longer kept.
func (h handler) replayed(r *http.Request, job workbench.Job[workbench.ReplayTask, workbench.Replay]) (out []replayed,
	err error) {
	found := job.Found
	counts, _, err := h.Store.Searches(r.Context(), catalog.SearchQuery{
		Since: job.CreatedAt.AddDate(0, 0, 1-found.Days), Limit: keptSearches})
	kept := map[string]catalog.SearchCount{}
	for _, c := range counts {
		kept[workbench.ReplayKey(c.Query)] = c
	}
	for _, x := range found.Changes {
		if c, ok := kept[x.Key]; ok && x.RBO < 1-1e-9 && len(out) < shownReplayed {
			out = append(out, replayed{x, c})
		}
	}
	return out, err
}

// startReplay asks for a replay.
func (h handler) startReplay(r *http.Request) (form.Reply, error) {
	t := workbench.ReplayTask{Profile: r.FormValue("profile"), Days: form.Number(r, "days", 0)}
	if t.Days < 1 || t.Days > catalog.CountDays {
		return form.Reply{}, form.Invalid(fmt.Sprintf("searches are kept for 1 to %d days", catalog.CountDays)).In("days")
	}
	if _, err := h.Named(r.Context(), t.Profile); err != nil {
		return form.Reply{}, err
	}
	by := admin.User(r.Context())
	if _, err := workbench.Ask(r.Context(), h.Store, t, by); err != nil {
		return form.Reply{}, err
	}
	return form.Reply{Goto: "/lab/replay"}, h.Store.AddAudit(r.Context(), catalog.Audit{By: by, Action: "job",
		Subject: "profile " + t.Profile, Note: fmt.Sprintf("replay the searches of %d days", t.Days)})
}
