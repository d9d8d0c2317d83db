package lab

import (
	"errors"
	"net/http"
	"strings"

	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
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
	request := retrieval.Request{Query: text, Plain: true, Typing: true, Limit: suggested}
	if ref, ok := catalog.RefNamed(text); ok {
		if _, known := catalog.InfoOf(ref.Kind); known {
			request.Query, request.Filter = ref.Key, passage.Filter{Kinds: []string{string(ref.Kind)}}
		}
	}
	found, err := h.Search.Search(ctx, request)
	if err != nil && !errors.Is(err, retrieval.ErrBadQuery) { // nothing to search for yet
		return reply, err
	}
	heads, err := h.Store.Heads(ctx, recordsOf(found.Results))
	if err != nil {
		return reply, err
	}
	for _, head := range heads {
		if len(list) == 0 || head.ID != list[0].ID {
			list = append(list, head)
		}
	}
	reply.Data = list
	return reply, nil
}
