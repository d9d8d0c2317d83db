// Package manage is the room of the dashboard where what searches use is changed and the
// service is run: profiles, rules, operations, and who changed what.
package manage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/ranking"
	"almanac/retrieval/workbench"
)

// handler answers.
type handler struct{ *form.Pages }

// Routes are those of the room.
func Routes(p *form.Pages) map[string]form.Route {
	h := handler{p}
	return map[string]form.Route{
		"GET /rules":           form.Page(h.synonyms),
		"POST /rules":          form.Form(h.putSynonyms, h.synonyms),
		"GET /rules/pins":      form.Page(h.pins),
		"GET /rules/pins/edit": form.Page(h.editPin),
		"POST /rules/pins":     form.Form(h.putPin, h.editPin),

		"GET /profiles":          form.Page(h.revisions),
		"GET /profiles/diff":     form.Page(h.diff),
		"GET /profiles/edit":     form.Page(h.editProfile),
		"POST /profiles/edit":    form.Page(h.saveProfile),
		"GET /profiles/publish":  form.Page(h.publishPage),
		"POST /profiles/publish": form.Form(h.publishProfile, h.publishPage),
		"GET /profiles/fit":      form.Page(h.fits),
		"POST /profiles/fit":     form.Form(h.startFit, h.fits),
		"GET /profiles/fit/{id}": form.Page(h.fit),

		"GET /operations":                   form.Page(h.overview),
		"GET /operations/settings":          form.Page(h.settings),
		"POST /operations/sync":             form.Form(h.syncNow, h.overview),
		"POST /operations/reindex":          form.Form(h.reindex, h.overview),
		"POST /operations/jobs/{id}/cancel": form.Form(h.cancelJob, h.overview),

		"GET /changes":            form.Page(h.changes),
		"POST /changes/{id}/undo": form.Form(h.undo, h.changes),
	}
}

// shownPublications is how much of the past the page lists.
const shownPublications = 8

// revisions lists the revisions of profiles, and what was in force.
func (h handler) revisions(r *http.Request) (form.Reply, error) {
	ctx := r.Context()
	live, _, err := ranking.InForce(ctx, h.Store)
	if err != nil {
		return form.Reply{}, err
	}
	all, err := h.Store.Revisions(ctx, catalog.ProfileRevision)
	if err != nil {
		return form.Reply{}, err
	}
	was, err := h.Store.Publications(ctx, catalog.ProfileRevision, shownPublications+1)
	if err != nil {
		return form.Reply{}, err
	}
	if len(was) > 0 && len(was) <= shownPublications {
		was = append(was, catalog.Publication{Kind: catalog.ProfileRevision}) // where it began
	}
	choices, err := h.Names(ctx)
	if err != nil {
		return form.Reply{}, err
	}
	done, err := h.Done(r)
	return form.Reply{Template: "profiles", Title: "Profiles", Data: map[string]any{
		"Live": live, "Profile": live.Profile(), "Revisions": all, "Earlier": was[min(1, len(was)):], "Choices": choices,
		"Done": done,
	}}, err
}

// diff compares two profiles field by field.
func (h handler) diff(r *http.Request) (form.Reply, error) {
	a, b := cmp.Or(r.FormValue("a"), ranking.Live), cmp.Or(r.FormValue("b"), ranking.Configured)
	after, changes, err := h.differences(r.Context(), a, b)
	if err != nil {
		return form.Reply{}, err
	}
	live, _, err := ranking.InForce(r.Context(), h.Store)
	if err != nil {
		return form.Reply{}, err
	}
	text, err := yaml.Marshal(after.Profile)
	_, saved := ranking.ParseName(b)
	return form.Reply{Template: "diff", Title: a + " and " + b, Data: map[string]any{"A": a, "B": b, "Changes": changes,
		"YAML": string(text), "CanPublish": saved && live.Profile() != b}}, err
}

// differences reads a profile, and in which fields it differs from another.
func (h handler) differences(ctx context.Context, from, to string) (n ranking.Named, changes []ranking.Change,
	err error) {
	before, err := h.Named(ctx, from)
	if err != nil {
		return n, nil, err
	}
	if n, err = h.Named(ctx, to); err != nil {
		return n, nil, err
	}
	changes, err = ranking.Diff(before.Profile, n.Profile)
	return n, changes, err
}

// profileForm is a profile that is being edited.
type profileForm struct {
	Name, Note, YAML string
	Base             int
	From             string // what it was filled from
	Query            string // of the lab, which goes on with it
	Fault            string
	Conflict         *catalog.ConflictError
	Theirs           []ranking.Change // what the other's revision has otherwise; Before is the other's
	Asked            bool             // for a preview
	Changes          []ranking.Change // what it has otherwise than what is live
	Effects          []workbench.Effect
}

// page shows the form.
func (f profileForm) page(status int) form.Reply {
	return form.Reply{Template: "edit", Status: status, Title: "Edit " + f.Name, Data: f}
}

// editProfile shows the form, filled from a profile.
func (h handler) editProfile(r *http.Request) (form.Reply, error) {
	f := profileForm{From: cmp.Or(r.FormValue("from"), ranking.Live)}
	n, err := h.Named(r.Context(), f.From)
	if err != nil {
		return form.Reply{}, err
	}
	f.Name = ranking.DefaultName
	if name, ok := ranking.ParseName(f.From); ok {
		saved, err := h.Saved(r.Context(), name)
		if err != nil {
			return form.Reply{}, err
		}
		f.Name, f.YAML = name.Profile, saved.Data
	} else {
		text, err := yaml.Marshal(n.Profile)
		if err != nil {
			return form.Reply{}, err
		}
		f.YAML = string(text)
	}
	newest, err := h.Store.Revision(r.Context(), catalog.ProfileRevision, f.Name, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return form.Reply{}, err
	}
	f.Base = newest.Number
	return f.page(http.StatusOK), nil
}

// saveProfile saves an edited profile as a revision. What was typed is kept if it
// cannot be saved.
func (h handler) saveProfile(r *http.Request) (form.Reply, error) {
	f := profileForm{Name: strings.TrimSpace(r.FormValue("name")), Note: strings.TrimSpace(r.FormValue("note")),
		YAML: strings.ReplaceAll(r.FormValue("yaml"), "\r\n", "\n"), Base: form.Number(r, "base", 0),
		Query: r.FormValue("q")}
	would, err := h.usable(r.Context(), f.YAML)
	if err != nil {
		f.Fault = form.Plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	if r.FormValue("do") == "preview" {
		return h.previewProfile(r.Context(), f, would)
	}
	saved, err := ranking.SaveProfile(r.Context(), h.Store, catalog.Revision{Name: f.Name, Base: f.Base,
		By: admin.User(r.Context()), Note: f.Note, Data: f.YAML})
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok {
		f.Conflict = conflict
		if f.Theirs, err = h.against(r.Context(), f); err != nil {
			return form.Reply{}, err
		}
		return f.page(http.StatusConflict), nil
	}
	if errors.Is(err, ranking.ErrInvalid) {
		f.Fault = form.Plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	if err != nil {
		return form.Reply{}, err
	}
	to := "/profiles/diff"
	if f.Query != "" {
		to = "/lab"
	}
	return form.Reply{Goto: form.Address(to, "q", f.Query, "a", ranking.Live, "b", saved)}, nil
}

// previewProfile shows what a text changes, and what that is worth on the judged cases.
func (h handler) previewProfile(ctx context.Context, f profileForm, would ranking.Named) (form.Reply, error) {
	now, err := h.Named(ctx, ranking.Live)
	if err != nil {
		return form.Reply{}, err
	}
	f.Asked = true
	if f.Changes, err = ranking.Diff(now.Profile, would.Profile); err != nil {
		return form.Reply{}, err
	}
	f.Effects, err = h.Effects(ctx, would)
	return f.page(http.StatusOK), err
}

// usable reads the text of a profile that the engines that serve can search with; while
// the index is loading nobody knows, and its names are checked when it is saved.
func (h handler) usable(ctx context.Context, text string) (ranking.Named, error) {
	n, err := h.Edited(ctx, text)
	if err != nil {
		return n, err
	}
	_, err = h.Search.Search(ctx, retrieval.Request{Query: h.Network, Plain: true, Limit: 1,
		Relevance: &n.Relevance})
	if errors.Is(err, retrieval.ErrBadQuery) {
		return n, err
	}
	return n, nil
}

// against compares the newest revision with the text of a form.
func (h handler) against(ctx context.Context, f profileForm) ([]ranking.Change, error) {
	newest, err := h.Store.Revision(ctx, catalog.ProfileRevision, f.Name, int(f.Conflict.Revision))
	if err != nil {
		return nil, err
	}
	theirs, err := ranking.Parse([]byte(newest.Data))
	if err != nil {
		return nil, err
	}
	ours, err := ranking.Parse([]byte(f.YAML))
	if err != nil {
		return nil, err
	}
	return ranking.Diff(theirs, ours)
}

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
