package manage

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/form"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// auditPage is how many changes the page lists.
const auditPage = 200

// did says what an action was.
var did = map[string]string{"save": "saved", "publish": "published", "edit": "changed", "remove": "removed",
	"job": "asked for a job on", "switch": "switched"}

// changes lists who changed what.
func (h handler) changes(r *http.Request) (form.Reply, error) {
	list, err := h.Store.Audit(r.Context(), auditPage)
	if err != nil {
		return form.Reply{}, err
	}
	undo := undoing(list)
	for i, a := range list {
		if !strings.Contains(a.Before, "/") || len(a.Before) > 80 {
			list[i].Before = ""
		}
	}
	return form.Reply{Template: "changes", Title: "Changes", Data: map[string]any{"List": list, "Did": did,
		"Undo": undo}}, nil
}

// undoing says what undoing does, by the id of each change that can be undone: of the
// publications of a kind the newest alone, as undoing another would discard those after it.
// The changes are the newest, and the newest of them come first.
func undoing(list []catalog.Audit) map[int64]string {
	does, followed := map[int64]string{}, map[string]bool{}
	for _, a := range list {
		if a.Action == "publish" {
			if !followed[a.Subject] {
				does[a.ID] = "publish " + before(a).String()
			}
			followed[a.Subject] = true
		} else if _, ok := workbench.Kept(a); ok {
			does[a.ID] = "put the queries back as they were"
		}
	}
	return does
}

// before is what a publication replaced.
func before(a catalog.Audit) catalog.Publication {
	name, number, _ := strings.Cut(a.Before, "/")
	n, _ := strconv.Atoi(number)
	return catalog.Publication{Kind: catalog.RevisionKind(a.Subject), Name: name, Number: n}
}

// undo takes a change back, by making the opposite one.
func (h handler) undo(r *http.Request) (form.Reply, error) {
	live, _, err := h.Store.Published(r.Context()) // before the changes are read: see since below
	if err != nil {
		return form.Reply{}, err
	}
	list, err := h.Store.Audit(r.Context(), 0)
	if err != nil {
		return form.Reply{}, err
	}
	at := slices.IndexFunc(list, func(a catalog.Audit) bool { return strconv.FormatInt(a.ID, 10) == r.PathValue("id") })
	if at < 0 {
		return form.Reply{}, fmt.Errorf("change %s: %w", r.PathValue("id"), catalog.ErrNotFound)
	}
	a, back := list[at], form.Reply{Goto: "/changes"}
	_, can := undoing(list)[a.ID]
	switch {
	case !can && a.Action == "publish":
		return form.Reply{}, form.Invalid("a newer publication followed this one: undo that first")
	case !can:
		return form.Reply{}, form.Invalid("this change cannot be undone")
	case a.Action != "publish":
		return back, workbench.Restore(r.Context(), h.Store, a, admin.User(r.Context()))
	}
	p, since := before(a), int64(0)
	for _, now := range live {
		if now.Kind == p.Kind {
			since = now.ID
		}
	}
	p.By, p.Note = admin.User(r.Context()), fmt.Sprintf("undoes change %d", a.ID)
	_, err = h.Store.Publish(r.Context(), p, since)
	return back, err
}
