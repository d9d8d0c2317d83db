package cips

import (
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/catalog"
)

// Chain is the walk over a proposal's prerequisites.
type Chain struct {
	ID            string         `json:"id"`
	Title         string         `json:"title"`
	Status        string         `json:"status"`
	Kind          string         `json:"kind" doc:"cip, or proposal for a grant draft"`
	Prerequisites []Prerequisite `json:"prerequisites" doc:"nearest first"`
	Total         int            `json:"total"`
	Open          int            `json:"open" doc:"prerequisites that are not Final yet"`
	Ready         bool           `json:"ready" doc:"whether every prerequisite is Final"`
	URL           string         `json:"url"`
}

// Prerequisite is one proposal that must be Final first.
type Prerequisite struct {
	Node
	Depth      int      `json:"depth" doc:"1 for a direct prerequisite"`
	RequiredBy []string `json:"required_by"`
	Final      bool     `json:"final"`
}

type chainIn struct {
	ID string `json:"cip_id" pattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, or PR-203 for a draft"`
}

func (s service) chain(ctx context.Context, in chainIn) (Chain, error) {
	start, err := s.start(ctx, in.ID)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{ID: kb.CIPID(start.Key), Title: start.Title, Status: start.State, Kind: string(start.Kind), URL: s.URL(start)}
	relations := []catalog.Relation{catalog.Requires}
	if start.Kind == catalog.KindProposal {
		c.ID = "PR-" + start.Key
		// A grant has no requires header: what it names is what it builds on.
		relations = append(relations, catalog.Implements, catalog.Cites, catalog.Mentions)
	}
	w := walk{service: s, start: c.ID, at: map[string]int{}}
	level, err := w.step(ctx, 1, visit{start.ID, c.ID}, relations)
	for depth := 2; err == nil && len(level) > 0; depth++ {
		var next []visit
		for _, v := range level {
			var met []visit
			if met, err = w.step(ctx, depth, v, []catalog.Relation{catalog.Requires}); err != nil {
				break
			}
			next = append(next, met...)
		}
		level = next
	}
	if err != nil {
		return Chain{}, err
	}
	c.Prerequisites, c.Total = w.found, len(w.found)
	for _, p := range c.Prerequisites {
		if !p.Final {
			c.Open++
		}
	}
	c.Ready = c.Open == 0
	return c, nil
}

// start finds where the walk begins: a proposal, its draft, or a grant draft.
func (s service) start(ctx context.Context, id string) (catalog.Record, error) {
	ref, err := s.CIPRef(id)
	if err != nil {
		return catalog.Record{}, err
	}
	r, err := s.CIPRecord(ctx, id)
	number, draft := strings.CutPrefix(ref.Key, "PR-")
	if !isNotFound(err) || !draft {
		return r, err
	}
	r, err = s.Catalog.Get(ctx, catalog.Ref{Kind: catalog.KindProposal, Key: number})
	return r, kb.NotFound(err, "there is no %s, neither a draft nor a grant proposal", ref.Key)
}

// walk goes through the requires graph breadth first.
type walk struct {
	service
	start string
	found []Prerequisite
	at    map[string]int // id → place in found
}

// visit is a proposal on the way.
type visit struct {
	record int64
	id     string
}

// step adds what one proposal requires and returns what was met for the first
// time. The start, met again at the end of a cycle, is not its own
// prerequisite.
func (w *walk) step(ctx context.Context, depth int, v visit, relations []catalog.Relation) (met []visit, err error) {
	links, err := w.Catalog.LinksFrom(ctx, v.record, relations...)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.To.Kind != catalog.KindCIP {
			continue
		}
		n, record, err := w.resolve(ctx, l.To)
		if err != nil {
			return nil, err
		}
		i, seen := w.at[n.ID]
		switch {
		case n.ID == w.start:
		case !seen:
			w.at[n.ID] = len(w.found)
			w.found = append(w.found, Prerequisite{Node: n, Depth: depth, RequiredBy: []string{v.id}, Final: n.Status == "Final"})
			if record != 0 {
				met = append(met, visit{record, n.ID})
			}
		case !slices.Contains(w.found[i].RequiredBy, v.id):
			w.found[i].RequiredBy = append(w.found[i].RequiredBy, v.id)
		}
	}
	return met, nil
}
