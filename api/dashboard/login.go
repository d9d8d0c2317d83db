package dashboard

import (
	"net/http"

	"almanac/api/admin"
	"almanac/api/edge"
	"almanac/api/look"
)

var _ admin.Front = (*Handler)(nil)

// Login implements admin.Front.
func (h *Handler) Login(r *http.Request, f admin.Form) *edge.Answer {
	return h.answer(r, reply{Template: "login", Page: look.Page{Title: "Log in", Path: "/login"}, Status: f.Status,
		Data: f, Stranger: true})
}

// Assets implements admin.Front.
func (h *Handler) Assets() edge.Route { return h.site.Assets() }
