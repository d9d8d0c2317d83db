package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"almanac/api/admin"
	"almanac/catalog"
	"almanac/retrieval/workbench"
)

// restore puts the queries of a change back as they were before it, with their
// judgments; a case that is gone is made again.
func (h *Handler) restore(r *http.Request, a catalog.Audit) error {
	var before catalog.CaseContent
	if err := json.Unmarshal([]byte(a.Before), &before); err != nil {
		return fmt.Errorf("change %d: %w", a.ID, err)
	}
	if len(before.Queries) == 0 {
		return invalid("these queries are new: remove them in their case")
	}
	by, name := admin.User(r.Context()), strings.TrimPrefix(a.Subject, "case ")
	c, err := workbench.CaseNamed(r.Context(), h.cfg.Store, name)
	if errors.Is(err, catalog.ErrNotFound) {
		c, err = h.cfg.Store.PutCase(r.Context(), catalog.Case{Name: name}, by)
	}
	if err != nil {
		return err
	}
	now, err := h.cfg.Store.Queries(r.Context(), c.ID)
	if err != nil {
		return err
	}
	for i, q := range before.Queries {
		before.Queries[i].Revision = 0
		if at := slices.IndexFunc(now, func(o catalog.CaseQuery) bool { return o.ID == q.ID }); at >= 0 {
			before.Queries[i].Revision = now[at].Revision
		}
	}
	if err := h.cfg.Store.PutQueries(r.Context(), c.ID, before.Queries, by); err != nil {
		return err
	}
	return h.cfg.Store.PutJudgments(r.Context(), c.ID, before.Judgments)
}
