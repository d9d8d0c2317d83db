package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"almanac/api/admin"
	"almanac/api/look"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/profile"
	"almanac/retrieval/revision"
)

// tuning are the pages of profiles: their revisions, what is in force, and what
// fits or tries one.
func (h *Handler) tuning() map[string]answer {
	return map[string]answer{
		"GET /tuning":          h.revisions,
		"GET /tuning/diff":     h.diff,
		"GET /tuning/edit":     h.editProfile,
		"POST /tuning/edit":    h.saveProfile,
		"POST /tuning/publish": h.publishProfile,
		"GET /tuning/fit":      h.fits,
		"POST /tuning/fit":     h.startFit,
		"GET /tuning/fit/{id}": h.fit,
		"GET /tuning/shadow":   h.shadow,
		"POST /tuning/shadow":  h.setShadow,
	}
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
func (h *Handler) revisions(r *http.Request) (reply, error) {
	ctx := r.Context()
	live, _, err := revision.InForce(ctx, h.cfg.Store)
	if err != nil {
		return reply{}, err
	}
	all, err := h.cfg.Store.Revisions(ctx, catalog.ProfileRevision)
	if err != nil {
		return reply{}, err
	}
	list := make([]savedProfile, len(all))
	for i, x := range all {
		id := revision.NameOf(x).String()
		list[i] = savedProfile{x, id, id == live.Profile()}
	}
	was, err := h.cfg.Store.Publications(ctx, catalog.ProfileRevision, shownPublications+1)
	if err != nil {
		return reply{}, err
	}
	if len(was) > 0 && len(was) <= shownPublications {
		was = append(was, catalog.Publication{Kind: catalog.ProfileRevision}) // where it began
	}
	choices, err := h.choices(ctx)
	if err != nil {
		return reply{}, err
	}
	changes, err := h.cfg.Store.Audit(ctx, 0)
	if err != nil {
		return reply{}, err
	}
	changes = slices.DeleteFunc(changes, func(a catalog.Audit) bool {
		what, _, _ := strings.Cut(a.Subject, " ")
		return what != string(catalog.ProfileRevision) && what != "shadow"
	})
	return reply{Template: "tuning", Page: look.Page{Title: "Tuning", Path: "/tuning"}, Data: map[string]any{
		"Live": live, "Revisions": list, "Earlier": was[min(1, len(was)):], "Choices": choices[:len(choices)-1],
		"Changes": changes[:min(shownChanges, len(changes))],
	}}, nil
}

// diff compares two profiles field by field.
func (h *Handler) diff(r *http.Request) (reply, error) {
	a, b := cmp.Or(r.FormValue("a"), revision.Published), cmp.Or(r.FormValue("b"), revision.Configured)
	before, err := h.cfg.Revisions.Named(r.Context(), a)
	if err != nil {
		return reply{}, err
	}
	after, err := h.cfg.Revisions.Named(r.Context(), b)
	if err != nil {
		return reply{}, err
	}
	changes, err := profile.Diff(before.Profile, after.Profile)
	if err != nil {
		return reply{}, err
	}
	live, _, err := revision.InForce(r.Context(), h.cfg.Store)
	if err != nil {
		return reply{}, err
	}
	text, err := yaml.Marshal(after.Profile)
	if err != nil {
		return reply{}, err
	}
	_, saved := revision.ParseName(b)
	return reply{Template: "tuning-diff", Page: look.Page{Title: a + " and " + b, Path: "/tuning/diff",
		Section: "/tuning"}, Data: map[string]any{"A": a, "B": b, "Changes": changes, "Live": live[0],
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
func (f profileForm) page(status int) reply {
	return reply{Template: "tuning-edit", Status: status,
		Page: look.Page{Title: "Edit " + f.Name, Path: "/tuning/edit", Section: "/tuning"}, Data: f}
}

// editProfile shows the form, filled from a profile.
func (h *Handler) editProfile(r *http.Request) (reply, error) {
	f := profileForm{From: cmp.Or(r.FormValue("from"), revision.Published)}
	n, err := h.cfg.Revisions.Named(r.Context(), f.From)
	if err != nil {
		return reply{}, err
	}
	f.Name = profile.DefaultName
	if name, ok := revision.ParseName(f.From); ok {
		saved, err := h.cfg.Revisions.Saved(r.Context(), name)
		if err != nil {
			return reply{}, err
		}
		f.Name, f.YAML = name.Profile, saved.Data
	} else {
		text, err := yaml.Marshal(n.Profile)
		if err != nil {
			return reply{}, err
		}
		f.YAML = string(text)
	}
	newest, err := h.cfg.Store.Revision(r.Context(), catalog.ProfileRevision, f.Name, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return reply{}, err
	}
	f.Base = newest.Number
	return f.page(http.StatusOK), nil
}

// saveProfile saves an edited profile as a revision. What was typed is kept if it
// cannot be saved.
func (h *Handler) saveProfile(r *http.Request) (reply, error) {
	f := profileForm{Name: strings.TrimSpace(r.FormValue("name")), Note: strings.TrimSpace(r.FormValue("note")),
		YAML: strings.ReplaceAll(r.FormValue("yaml"), "\r\n", "\n"), Base: number(r, "base", 0),
		Query: r.FormValue("q")}
	if err := h.usable(r.Context(), f.YAML); err != nil {
		f.Fault = plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	saved, err := revision.SaveProfile(r.Context(), h.cfg.Store, catalog.Revision{Name: f.Name, Base: f.Base,
		By: admin.User(r.Context()), Note: f.Note, Data: f.YAML})
	if conflict, ok := errors.AsType[*catalog.ConflictError](err); ok {
		f.Conflict = conflict
		if f.Theirs, err = h.against(r.Context(), f); err != nil {
			return reply{}, err
		}
		return f.page(http.StatusConflict), nil
	}
	if errors.Is(err, revision.ErrInvalid) {
		f.Fault = plainly(err, f.YAML)
		return f.page(http.StatusBadRequest), nil
	}
	if err != nil {
		return reply{}, err
	}
	to := url.Values{"a": {revision.Published}, "b": {revision.NameOf(saved).String()}}
	if f.Query != "" {
		to.Set("q", f.Query)
		return reply{Goto: "/lab?" + to.Encode()}, nil
	}
	return reply{Goto: "/tuning/diff?" + to.Encode()}, nil
}

// plainly says what is wrong with the text of a profile, in one sentence with the
// line if that is known.
func plainly(err error, text string) string {
	if f, ok := errors.AsType[profile.Fault](err); ok {
		return f.In([]byte(text)).Error()
	}
	return err.Error()
}

// usable reports whether the engines that serve can search with a profile; while
// the index is loading nobody knows, and its names are checked when it is saved.
func (h *Handler) usable(ctx context.Context, text string) error {
	n, err := h.cfg.Revisions.Edited(ctx, text)
	if err != nil {
		return err
	}
	_, err = h.cfg.Search.Search(ctx, retrieval.Request{Query: h.cfg.Network, Plain: true, Limit: 1,
		Relevance: &n.Relevance})
	if errors.Is(err, retrieval.ErrBadQuery) {
		return err
	}
	return nil
}

// against compares the newest revision with the text of a form.
func (h *Handler) against(ctx context.Context, f profileForm) ([]profile.Change, error) {
	newest, err := h.cfg.Store.Revision(ctx, catalog.ProfileRevision, f.Name, int(f.Conflict.Revision))
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
func (h *Handler) publishPage(r *http.Request) (reply, error) {
	if r.PostForm.Has("b") {
		return h.diff(r)
	}
	return h.revisions(r)
}

// publishProfile puts a revision in force, or the configuration.
func (h *Handler) publishProfile(r *http.Request) (reply, error) {
	p := catalog.Publication{Kind: catalog.ProfileRevision, By: admin.User(r.Context()),
		Note: strings.TrimSpace(r.FormValue("note"))}
	named := r.FormValue("revision")
	if named != revision.Configured {
		name, ok := revision.ParseName(named)
		if !ok {
			return reply{}, invalid(fmt.Sprintf("there is no revision %q", named))
		}
		p.Name, p.Number = name.Profile, name.Number
		saved, err := h.cfg.Revisions.Saved(r.Context(), name)
		if err != nil {
			return reply{}, err
		}
		if err := h.usable(r.Context(), saved.Data); err != nil {
			return reply{}, invalid(plainly(err, saved.Data))
		}
	}
	_, err := h.cfg.Store.Publish(r.Context(), p, int64(number(r, "since", 0)))
	return reply{Goto: "/tuning"}, err
}
