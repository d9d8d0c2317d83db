package lab

import (
	"net/http"
	"strings"

	"almanac/api/dashboard/desk"
	"almanac/catalog"
)

// suggested is how many names a field offers.
const suggested = 8

// names lists the records that somebody may mean who is typing into a field: the one that
// is named so already, then what the text finds, of one kind if it begins with kind:.
func (h handler) names(r *http.Request) (desk.Reply, error) {
	ctx, text := r.Context(), strings.TrimSpace(r.FormValue("q"))
	reply := desk.Reply{Template: "lab", Part: "found-names"}
	if text == "" {
		return reply, nil
	}
	var list []catalog.Record
	if found, err := h.Find(ctx, text); err == nil {
		list = append(list, found)
	}
	near, err := h.Near(ctx, text, suggested)
	if err != nil {
		return reply, err
	}
	for _, head := range near {
		if len(list) == 0 || head.ID != list[0].ID {
			list = append(list, head)
		}
	}
	reply.Data = list
	return reply, nil
}
