package manage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// publication is the page on which somebody decides: what is to become live, what it
// changes and what is known of it.
type publication struct {
	Name     string // NAME@NUMBER, or configured
	Note     string
	Query    string // of the lab, to which it leads back; "" = it was not opened there
	Live     catalog.Publication
	Already  bool // it is live
	Saved    catalog.Revision
	Changes  []ranking.Change
	Measured []measurement
}

// measurement is the latest run of a profile on a case, beside one of what is live.
type measurement struct {
	Case       catalog.Case
	Run        workbench.Run
	Live       *workbench.Run // nil: what is live was not measured on the case
	Difference workbench.Difference
}

// named reads which profile a request is about.
func (h handler) named(r *http.Request) (name string, p catalog.Publication, saved catalog.Revision, err error) {
	p.Kind, name = catalog.ProfileRevision, r.FormValue("revision")
	if name == ranking.Configured {
		return name, p, saved, nil
	}
	n, ok := ranking.ParseName(name)
	if !ok {
		return name, p, saved, form.Invalid(fmt.Sprintf("there is no revision %q", name))
	}
	p.Name, p.Number = n.Profile, n.Number
	saved, err = h.Saved(r.Context(), n)
	return name, p, saved, err
}

// publishPage shows what publishing a profile would do.
func (h handler) publishPage(r *http.Request) (form.Reply, error) {
	ctx := r.Context()
	name, _, saved, err := h.named(r)
	if err != nil {
		return form.Reply{}, err
	}
	live, _, err := ranking.InForce(ctx, h.Store)
	if err != nil {
		return form.Reply{}, err
	}
	p := publication{Name: name, Note: r.FormValue("note"), Query: r.FormValue("q"), Live: live[0],
		Already: live.Profile() == name, Saved: saved}
	if _, p.Changes, err = h.differences(ctx, ranking.Live, name); err != nil {
		return form.Reply{}, err
	}
	p.Measured, err = h.measured(ctx, name, live.Profile())
	return form.Reply{Template: "publish", Title: "Publish " + name, Data: p}, err
}

// measured finds the latest run of a profile on each case, and compares it with one of
// what is live: of the same job if there is one, else the latest.
func (h handler) measured(ctx context.Context, name, live string) (out []measurement, err error) {
	runs, err := workbench.ListRuns(ctx, h.Store, 0, 0)
	if err != nil {
		return nil, err
	}
	cases, err := h.Store.Cases(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range cases {
		of := slices.DeleteFunc(slices.Clone(runs), func(r workbench.Run) bool { return r.Case != c.ID })
		at := slices.IndexFunc(of, func(r workbench.Run) bool { return r.Report.Profile == name })
		if at < 0 {
			continue
		}
		m := measurement{Case: c, Run: of[at]}
		is := func(r workbench.Run) bool { return r.Report.Profile == live && r.ID != m.Run.ID }
		beside := slices.IndexFunc(of, func(r workbench.Run) bool { return is(r) && r.At.Equal(m.Run.At) })
		if beside < 0 {
			beside = slices.IndexFunc(of, is)
		}
		if beside >= 0 {
			theirs, err := workbench.Load(ctx, h.Store, of[beside].ID)
			if err == nil {
				m.Run, err = workbench.Load(ctx, h.Store, m.Run.ID)
			}
			if err != nil {
				return nil, err
			}
			m.Live, m.Difference = &theirs, workbench.Compare(m.Run, theirs)
		}
		out = append(out, m)
	}
	return out, nil
}

// publishProfile makes a revision live, or what is configured.
func (h handler) publishProfile(r *http.Request) (form.Reply, error) {
	_, p, saved, err := h.named(r)
	if err != nil {
		return form.Reply{}, err
	}
	if p.Number > 0 {
		if _, err := h.usable(r.Context(), saved.Data); err != nil {
			return form.Reply{}, form.Invalid(form.Plainly(err, saved.Data))
		}
	}
	p.By, p.Note = admin.User(r.Context()), strings.TrimSpace(r.FormValue("note"))
	was, _, err := ranking.InForce(r.Context(), h.Store)
	if err != nil {
		return form.Reply{}, err
	}
	p, err = h.Store.Publish(r.Context(), p, int64(form.Number(r, "since", 0)))
	if query := r.FormValue("q"); query != "" {
		return form.Reply{Goto: form.Address("/lab", "q", query, "a", was.Profile(), "b", ranking.Live,
			"published", p.ID)}, err
	}
	return form.Reply{Goto: form.After("/profiles", p)}, err
}
