package dashboard

import (
	"net/http"

	"almanac/api/admin"
	"almanac/api/look"
)

// loginPage is the template of the one page that people see without a name.
const loginPage = "login"

var _ admin.Front = (*Handler)(nil)

// Login implements admin.Front.
func (h *Handler) Login(w http.ResponseWriter, r *http.Request, f admin.Form) {
	h.show(w, r, reply{Template: loginPage, Page: look.Page{Title: "Log in", Path: "/login"}, Status: f.Status, Data: f})
}

// Assets implements admin.Front.
func (h *Handler) Assets() (path string, files http.Handler) { return look.AssetPath, h.site.Assets() }
