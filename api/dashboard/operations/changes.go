package operations

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// NewChanges returns the pages of who changed what. They have no place among the
// sections: the masthead has them beside the name of who works.
func NewChanges(d *desk.Desk) desk.Section {
	h := handler{d}
	return desk.Section{Path: "/changes", Routes: map[string]desk.Route{
		"GET /changes":            desk.Page(h.changes),
		"POST /changes/{id}/undo": desk.Form(h.undo, h.changes),
	}}
}

// auditPage is how many changes the page lists.
const auditPage = 200

// change is an entry of the audit log.
type change struct {
	catalog.Audit
	Did  string // the action, for people
	Undo string // what undoing does; "" if it cannot be undone
}

// did says what an action was.
var did = map[string]string{"save": "saved", "publish": "published", "edit": "changed", "remove": "removed",
	"job": "asked for a job on", "switch": "switched"}

// changes lists who changed what.
func (h handler) changes(r *http.Request) (desk.Reply, error) {
	list, err := h.Store.Audit(r.Context(), auditPage)
	if err != nil {
		return desk.Reply{}, err
	}
	changes := make([]change, len(list))
	for i, a := range list {
		changes[i] = change{a, cmp.Or(did[a.Action], a.Action), undoing(a)}
		if !strings.Contains(a.Before, "/") || len(a.Before) > 80 {
			changes[i].Before = ""
		}
	}
	return desk.Reply{Template: "changes", Title: "Changes", Data: changes}, nil
}

// undoing says what undoing a change does; "" if it cannot be undone.
func undoing(a catalog.Audit) string {
	switch {
	case a.Action == "publish":
		name, number, _ := strings.Cut(a.Before, "/")
		n, _ := strconv.Atoi(number)
		return "publish " + catalog.Publication{Kind: catalog.RevisionKind(a.Subject), Name: name, Number: n}.String()
	case strings.HasPrefix(a.Subject, "case ") && strings.HasPrefix(a.Before, "{") && a.Before != "{}":
		return "put the queries back as they were"
	}
	return ""
}

// undo takes a change back, by making the opposite one.
func (h handler) undo(r *http.Request) (desk.Reply, error) {
	list, err := h.Store.Audit(r.Context(), 0)
	if err != nil {
		return desk.Reply{}, err
	}
	for _, a := range list {
		if strconv.FormatInt(a.ID, 10) != r.PathValue("id") {
			continue
		}
		back := desk.Reply{Goto: "/changes"}
		switch {
		case undoing(a) == "":
			return desk.Reply{}, desk.Invalid("this change cannot be undone")
		case a.Action == "publish":
			name, number, _ := strings.Cut(a.Before, "/")
			n, _ := strconv.Atoi(number)
			_, err := h.Store.Publish(r.Context(), catalog.Publication{Kind: catalog.RevisionKind(a.Subject), Name: name,
				Number: n, By: admin.User(r.Context()), Note: fmt.Sprintf("undoes change %d", a.ID)}, 0)
			return back, err
		}
		return back, workbench.Restore(r.Context(), h.Store, a, admin.User(r.Context()))
	}
	return desk.Reply{}, fmt.Errorf("change %s: %w", r.PathValue("id"), catalog.ErrNotFound)
}
