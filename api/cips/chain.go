package cips

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

var chainSpec = op.Spec{
	ID: "detect_cip_dependency_chain", Tool: "detect_cip_dependency_chain",
	Title: "Prerequisites of a proposal", MayFail: notFound,
	Summary: "Every prerequisite of a proposal or draft with its status.",
	Description: "Walks the requires graph from an improvement proposal or a draft (PR-n) and lists every prerequisite " +
		"that must be Final first, with its current status.",
}

type chainIn struct {
	ID kb.CIPID `json:"cip_id" required:"true" doc:"{{label}}, {{short}}, or PR-203 for a draft"`
}

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

func (s service) chain(ctx context.Context, in chainIn) (Chain, error) {
	start, err := s.start(ctx, in.ID)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{ID: s.ID(start), Title: start.Title, Status: start.State, Kind: string(start.Kind), URL: s.URL(start)}
	relations := []catalog.Relation{catalog.Requires}
	if start.Kind == catalog.KindProposal {
		c.ID = "PR-" + start.Key
		// A grant has no requires header: what it names is what it builds on.
		relations = append(relations, catalog.Implements, catalog.Cites, catalog.Mentions)
	}
	w := walk{service: s, start: c.ID, at: map[string]int{}}
	level := []visit{{start.ID, c.ID}}
	for depth := 1; len(level) > 0; depth++ {
		if level, err = w.step(ctx, depth, level, relations); err != nil {
			return Chain{}, err
		}
		relations = relations[:1]
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
func (s service) start(ctx context.Context, id kb.CIPID) (catalog.Record, error) {
	r, err := s.CIPHead(ctx, id)
	ref, invalid := s.CIPRef(id)
	number, draft := strings.CutPrefix(ref.Key, "PR-")
	if invalid != nil || !isNotFound(err) || !draft {
		return r, err
	}
	r, err = s.Catalog.Head(ctx, catalog.Ref{Kind: catalog.KindProposal, Key: number})
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

// step adds what the proposals of one level require, and returns those met for
// the first time. The start, met again at the end of a cycle, is not its own
// prerequisite.
func (w *walk) step(ctx context.Context, depth int, level []visit, relations []catalog.Relation) (met []visit, err error) {
	records := make([]int64, len(level))
	for i, v := range level {
		records[i] = v.record
	}
	links, err := w.Catalog.LinksFromAll(ctx, records, relations...)
	if err != nil {
		return nil, err
	}
	order := func(l catalog.Link) int { return slices.Index(records, l.From) }
	slices.SortStableFunc(links, func(a, b catalog.Link) int { return cmp.Compare(order(a), order(b)) })
	for _, l := range links {
		if l.To.Kind != catalog.KindCIP {
			continue
		}
		n, record, err := w.resolve(ctx, l.To)
		if err != nil {
			return nil, err
		}
		by := level[order(l)].id
		i, seen := w.at[n.ID]
		switch {
		case n.ID == w.start:
		case !seen:
			w.at[n.ID] = len(w.found)
			w.found = append(w.found, Prerequisite{
				Node: n, Depth: depth, RequiredBy: []string{by}, Final: n.Status == "Final",
			})
			if record != 0 {
				met = append(met, visit{record, n.ID})
			}
		case !slices.Contains(w.found[i].RequiredBy, by):
			w.found[i].RequiredBy = append(w.found[i].RequiredBy, by)
		}
	}
	return met, nil
}
