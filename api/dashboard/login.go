package dashboard

import (
	"net/http"

	"almanac/api/admin"
	"almanac/api/look"
)

var _ admin.Front = (*Handler)(nil)

// Login implements admin.Front.
func (h *Handler) Login(w http.ResponseWriter, r *http.Request, f admin.Form) {
	h.show(w, r, reply{Template: "login", Page: look.Page{Title: "Log in", Path: "/login"}, Status: f.Status, Data: f,
		Stranger: true})
}

// Refuse implements admin.Front.
func (h *Handler) Refuse(w http.ResponseWriter, r *http.Request, status int, message string) {
	f := failure{Status: status, Heading: "This was refused", Text: message, Stranger: true}
	h.show(w, r, f.reply())
}

// Assets implements admin.Front.
func (h *Handler) Assets() (path string, files http.Handler) { return look.AssetPath, h.site.Assets() }
