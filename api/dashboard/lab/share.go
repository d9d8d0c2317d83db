package lab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"go.yaml.in/yaml/v3"

	"almanac/api/admin"
	"almanac/api/dashboard/desk"
	"almanac/catalog"
	"almanac/retrieval/revision"
	"almanac/retrieval/workbench"
)

// comparison is what a short address keeps: the query, and both profiles as they were.
type comparison struct {
	Query   string `yaml:"query"`
	Kinds   string `yaml:"kinds,omitempty"`
	Sources string `yaml:"sources,omitempty"`
	N       int    `yaml:"n"`
	A, B    frozen
}

// frozen is a profile as it was.
type frozen struct {
	Name string `yaml:"name"`
	YAML string `yaml:"yaml"`
}

// nameLength is how many digits of its checksum name a comparison.
const nameLength = 8

// share keeps a comparison and leads to its address. The same comparison has the same.
func (h handler) share(r *http.Request) (desk.Reply, error) {
	p, err := h.page(r)
	if err != nil {
		return desk.Reply{}, err
	}
	if p.Query == "" {
		return desk.Reply{}, desk.Invalid("a comparison needs a query").In("q")
	}
	c := comparison{Query: p.Query, Kinds: p.Kinds, Sources: p.Sources, N: p.N}
	for side, to := range map[*labSide]*frozen{p.A: &c.A, p.B: &c.B} {
		if side.Fault != "" {
			return desk.Reply{}, desk.Invalid(side.Fault)
		}
		*to = frozen{side.Title(), side.YAML}
	}
	data, err := yaml.Marshal(c)
	if err != nil {
		return desk.Reply{}, err
	}
	name := fmt.Sprintf("%x", sha256.Sum256(data))[:nameLength]
	_, err = h.Store.SaveRevision(r.Context(), catalog.Revision{Kind: catalog.ComparisonRevision, Name: name,
		By: admin.User(r.Context()), Note: c.Query, Data: string(data)})
	if errors.Is(err, catalog.ErrConflict) { // it is kept already
		err = nil
	}
	return desk.Reply{Goto: "/lab/s/" + name}, err
}

// shared shows a comparison with the profiles that it keeps.
func (h handler) shared(r *http.Request) (desk.Reply, error) {
	kept, err := h.Store.Revision(r.Context(), catalog.ComparisonRevision, r.PathValue("name"), 1)
	if err != nil {
		return desk.Reply{}, err
	}
	var c comparison
	if err := yaml.Unmarshal([]byte(kept.Data), &c); err != nil {
		return desk.Reply{}, fmt.Errorf("comparison %s: %w", kept.Name, err)
	}
	r.Form = url.Values{"q": {c.Query}, "kind": {c.Kinds}, "source": {c.Sources}, "n": {fmt.Sprint(c.N)}}
	for letter, side := range map[string]frozen{"a": c.A, "b": c.B} {
		r.Form.Set(letter, desk.Edited)
		r.Form.Set("yaml-"+letter, side.YAML)
		r.Form.Set("as-"+letter, side.Name)
	}
	return h.compare(r)
}

// Title names what a side shows.
func (s *labSide) Title() string {
	switch {
	case s.As != "":
		return s.As
	case s.Choice == revision.Live:
		return "live: " + s.Live
	}
	return s.Choice
}

// landing is what the lab offers before a query is typed.
type landing struct {
	Worst  []workbench.BoardRow // of the case
	Some   []workbench.BoardRow // of a case that was not measured
	Zero   []catalog.SearchCount
	Shared []catalog.Revision
}

// offered is how many of each the lab offers.
const offered = 8

// landing finds what to begin with.
func (h handler) landing(ctx context.Context, c catalog.Case) (l landing, err error) {
	if c.ID != 0 {
		board, err := h.Bench.Board(ctx, c)
		if err != nil {
			return l, err
		}
		l.Worst = board.Worst()
		l.Worst = l.Worst[:min(offered, len(l.Worst))]
		l.Some = board.Rows[:min(offered, len(board.Rows))]
	}
	l.Zero, _, err = h.Store.Searches(ctx, catalog.SearchQuery{Order: catalog.MostZero, Limit: offered,
		Since: h.Now().AddDate(0, 0, -7)})
	if err != nil {
		return l, err
	}
	l.Shared, err = h.Store.Revisions(ctx, catalog.ComparisonRevision)
	l.Shared = l.Shared[:min(offered, len(l.Shared))]
	return l, err
}
