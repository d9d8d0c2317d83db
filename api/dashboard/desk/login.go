package desk

import (
	"net/http"

	"almanac/api/admin"
	"almanac/api/edge"
)

var _ admin.Front = (*Desk)(nil)

// Login implements admin.Front.
func (d *Desk) Login(r *http.Request, f admin.Form) *edge.Answer {
	return d.answer(r, Reply{Template: "login", Title: "Log in", Status: f.Status,
		Data: f, stranger: true})
}

// Assets implements admin.Front.
func (d *Desk) Assets() edge.Route { return d.site.Assets() }
