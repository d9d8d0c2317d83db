// Package tuning is the section of the dashboard about profiles: their revisions,
// what is in force, and what fits or tries one.
package tuning

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

//go:embed pages
var pages embed.FS

// handler answers.
type handler struct{ *desk.Desk }

// New returns the section.
func New(d *desk.Desk) desk.Section {
	h := handler{d}
	return desk.Section{Title: "Tuning", Path: "/tuning", Pages: pages, Routes: map[string]desk.Route{
		"GET /tuning":          desk.Page(h.revisions),
		"GET /tuning/diff":     desk.Page(h.diff),
		"GET /tuning/edit":     desk.Page(h.editProfile),
		"POST /tuning/edit":    desk.Page(h.saveProfile),
		"POST /tuning/publish": desk.Form(h.publishProfile, h.publishPage),
		"GET /tuning/fit":      desk.Page(h.fits),
		"POST /tuning/fit":     desk.Form(h.startFit, h.fits),
		"GET /tuning/fit/{id}": desk.Page(h.fit),
		"GET /tuning/shadow":   desk.Page(h.shadow),
		"POST /tuning/shadow":  desk.Form(h.setShadow, h.shadow),
	}}
}

// How much of the past the page lists.
const (
	shownPublications = 8
	shownChanges      = 12
)

// savedProfile is a revision in the list.
type savedProfile struct {
	catalog.Revision
	ID   string // NAME@NUMBER
	Live bool
}

// revisions lists the revisions of profiles, and what was in force.
func (h handler) revisions(r *http.Request) (desk.Reply, error) {
	ctx := r.Context()
	live, _, err := revision.InForce(ctx, h.Store)
	if err != nil {
		return desk.Reply{}, err
	}
	all, err := h.Store.Revisions(ctx, catalog.ProfileRevision)
	if err != nil {
		return desk.Reply{}, err
	}
	list := make([]savedProfile, len(all))
	for i, x := range all {
		id := revision.NameOf(x).String()
		list[i] = savedProfile{x, id, id == live.Profile()}
	}
	was, err := h.Store.Publications(ctx, catalog.ProfileRevision, shownPublications+1)
	if err != nil {
		return desk.Reply{}, err
	}
	if len(was) > 0 && len(was) <= shownPublications {
		was = append(was, catalog.Publication{Kind: catalog.ProfileRevision}) // where it began
	}
	choices, err := h.Names(ctx)
	if err != nil {
		return desk.Reply{}, err
	}
	changes, err := h.Store.Audit(ctx, 0)
	if err != nil {
		return desk.Reply{}, err
	}
	changes = slices.DeleteFunc(changes, func(a catalog.Audit) bool {
		what, _, _ := strings.Cut(a.Subject, " ")
		return what != string(catalog.ProfileRevision) && what != "shadow"
	})
	return desk.Reply{Template: "tuning", Title: "Tuning", Path: "/tuning", Data: map[string]any{
		"Live": live, "Revisions": list, "Earlier": was[min(1, len(was)):], "Choices": choices,
		"Changes": changes[:min(shownChanges, len(changes))],
	}}, nil
}

// diff compares two profiles field by field.
func (h handler) diff(r *http.Request) (desk.Reply, error) {
	a, b := cmp.Or(r.FormValue("a"), revision.Published), cmp.Or(r.FormValue("b"), revision.Configured)
	before, err := h.Named(r.Context(), a)
	if err != nil {
		return desk.Reply{}, err
	}
	after, err := h.Named(r.Context(), b)
	if err != nil {
		return desk.Reply{}, err
	}
	changes, err := profile.Diff(before.Profile, after.Profile)
	if err != nil {
		return desk.Reply{}, err
	}
	live, _, err := revision.InForce(r.Context(), h.Store)
	if err != nil {
		return desk.Reply{}, err
	}
	text, err := yaml.Marshal(after.Profile)
	if err != nil {
		return desk.Reply{}, err
	}
	_, saved := revision.ParseName(b)
	return desk.Reply{Template: "tuning-diff", Title: a + " and " + b, Path: "/tuning/diff",
		Data: map[string]any{"A": a, "B": b, "Changes": changes, "Live": live[0],
			"YAML": string(text), "CanPublish": saved && live.Profile() != b}}, nil
}

// profileForm is a profile that is being edited.
type profileForm struct {
	Name, Note, YAML string
	Base             int
	From             string // what it was filled from
	Query            string // of the lab, which goes on with it
	Fault            string
	Conflict         *catalog.ConflictError
	Theirs           []profile.Change // what the other's revision has otherwise; Before is the other's
}

// page shows the form.
func (f profileForm) page(status int) desk.Reply {
	return desk.Reply{Template: "tuning-edit", Status: status, Title: "Edit " + f.Name, Path: "/tuning/edit", Data: f}
}

// editProfile shows the form, filled from a profile.
func (h handler) editProfile(r *http.Request) (desk.Reply, error) {
	f := profileForm{From: cmp.Or(r.FormValue("from"), revision.Published)}
	n, err := h.Named(r.Context(), f.From)
	if err != nil {
		return desk.Reply{}, err
	}
	f.Name = profile.DefaultName
	if name, ok := revision.ParseName(f.From); ok {
		saved, err := h.Saved(r.Context(), name)
		if err != nil {
			return desk.Reply{}, err
		}
		f.Name, f.YAML = name.Profile, saved.Data
	} else {
		text, err := yaml.Marshal(n.Profile)
		if err != nil {
			return desk.Reply{}, err
		}
		f.YAML = string(text)
	}
	newest, err := h.Store.Revision(r.Context(), catalog.ProfileRevision, f.Name, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return desk.Reply{}, err
	}
	f.Base = newest.Number
	return f.page(http.StatusOK), nil
}

// saveProfile saves an edited profile as a revision. What was typed is kept if it
// cannot be saved.
func (h handler) saveProfile(r *http.Request) (desk.Reply, error) {
	f := profileForm{Name: strings.TrimSpace(r.FormValue("name")), Note: strings.TrimSpace(r.FormValue("note")),
		YAML: strings.ReplaceAll(r.FormValue("yaml"), "\r\n", "\n"), Base: desk.Number(r, "base", 0),
		Query: r.FormValue("q")}
	if err := h.usable(r.Context(), f.YAML); err != nil {
		f.Fault = desk.Plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	saved, err := revision.SaveProfile(r.Context(), h.Store, catalog.Revision{Name: f.Name, Base: f.Base,
		By: admin.User(r.Context()), Note: f.Note, Data: f.YAML})
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok {
		f.Conflict = conflict
		if f.Theirs, err = h.against(r.Context(), f); err != nil {
			return desk.Reply{}, err
		}
		return f.page(http.StatusConflict), nil
	}
	if errors.Is(err, revision.ErrInvalid) {
		f.Fault = desk.Plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	if err != nil {
		return desk.Reply{}, err
	}
	to := url.Values{"a": {revision.Published}, "b": {revision.NameOf(saved).String()}}
	if f.Query != "" {
		to.Set("q", f.Query)
		return desk.Reply{Goto: "/lab?" + to.Encode()}, nil
	}
	return desk.Reply{Goto: "/tuning/diff?" + to.Encode()}, nil
}

// usable reports whether the engines that serve can search with a profile; while
// the index is loading nobody knows, and its names are checked when it is saved.
func (h handler) usable(ctx context.Context, text string) error {
	n, err := h.Edited(ctx, text)
	if err != nil {
		return err
	}
	_, err = h.Search.Search(ctx, retrieval.Request{Query: h.Network, Plain: true, Limit: 1,
		Relevance: &n.Relevance})
	if errors.Is(err, retrieval.ErrBadQuery) {
		return err
	}
	return nil
}

// against compares the newest revision with the text of a form.
func (h handler) against(ctx context.Context, f profileForm) ([]profile.Change, error) {
	newest, err := h.Store.Revision(ctx, catalog.ProfileRevision, f.Name, int(f.Conflict.Revision))
	if err != nil {
		return nil, err
	}
	theirs, err := profile.Parse([]byte(newest.Data))
	if err != nil {
		return nil, err
	}
	ours, err := profile.Parse([]byte(f.YAML))
	if err != nil {
		return nil, err
	}
	return profile.Diff(theirs, ours)
}

// publishPage is the page from which a profile was published: the list, or a
// comparison with another.
func (h handler) publishPage(r *http.Request) (desk.Reply, error) {
	if r.PostForm.Has("b") {
		return h.diff(r)
	}
	return h.revisions(r)
}

// publishProfile puts a revision in force, or the configuration.
func (h handler) publishProfile(r *http.Request) (desk.Reply, error) {
	p := catalog.Publication{Kind: catalog.ProfileRevision, By: admin.User(r.Context()),
		Note: strings.TrimSpace(r.FormValue("note"))}
	named := r.FormValue("revision")
	if named != revision.Configured {
		name, ok := revision.ParseName(named)
		if !ok {
			return desk.Reply{}, desk.Invalid(fmt.Sprintf("there is no revision %q", named))
		}
		p.Name, p.Number = name.Profile, name.Number
		saved, err := h.Saved(r.Context(), name)
		if err != nil {
			return desk.Reply{}, err
		}
		if err := h.usable(r.Context(), saved.Data); err != nil {
			return desk.Reply{}, desk.Invalid(desk.Plainly(err, saved.Data))
		}
	}
	_, err := h.Store.Publish(r.Context(), p, int64(desk.Number(r, "since", 0)))
	return desk.Reply{Goto: "/tuning"}, err
}
