package web

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// jump returns the page of the proposal that a query names and nothing else,
// such as CIP-56; "" if it names none, or is filtered.
func (h *Handler) jump(v *view, query string) string {
	for _, name := range append([]string{"offset"}, filters...) {
		if v.Param(name) != "" {
			return ""
		}
	}
	return h.identified(v, query).Link
}

type identified struct{ Link, Title, Key, Status string }

func (h *Handler) identified(v *view, query string) (out identified) {
	m := identifier.FindStringSubmatch(query)
	if m == nil {
		return out
	}
	vars := map[string]string{"q": m[1] + "-" + m[2]}
	cip, _, err := h.ask.proposal.ask(v.ctx, vars, nil)
	if err != nil {
		return out
	}
	return identified{strings.TrimPrefix(cip.Page, h.cfg.PublicURL), cip.Title, cip.Label,
		cmp.Or(cip.StatusRaw, string(cip.Status))}
}

// identifier is a word and a number: CIP-56, PR 203, CIP56.
var identifier = regexp.MustCompile(`^([A-Za-z]+)[- ]?(\d+)$`)

// liveView are the suggestions below a search field.
type liveView struct {
	Query string
	Jump  identified
	Hits  []hit
	Total int
}

// prepareLive finds suggestions for what is typed so far.
func prepareLive(h *Handler, v *view) error {
	query := strings.TrimSpace(v.Param("q"))
	s := &liveView{Query: query}
	v.Extra = s
	if query == "" {
		return nil
	}
	s.Jump = h.identified(v, query)
	answer, _, err := h.ask.suggested.ask(v.ctx, nil, v.Params)
	s.Total = answer.Total
	s.Hits = slices.DeleteFunc(grouped(answer.Items), func(x hit) bool {
		return s.Jump.Link != "" && strings.TrimPrefix(x.Page, h.cfg.PublicURL) == s.Jump.Link
	})
	v.retitle(s.Hits)
	return err
}
