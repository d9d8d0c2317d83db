package cips

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/op"
	"almanac/catalog"
)

// Graph is the requires graph.
type Graph struct {
	Nodes []Node `json:"nodes"`
	Edges []Edge `json:"edges"`
}

// Node is a proposal of the graph.
type Node struct {
	ID     string `json:"id"`
	Label  string `json:"label"`
	Title  string `json:"title"`
	Status string `json:"status" doc:"empty if it is not in the catalog"`
	URL    string `json:"url,omitempty"`
}

// Edge runs from the dependent to its prerequisite.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

var graph = kb.New(op.Spec{
	ID: "get_cip_graph", Path: "/api/v1/cips/graph",
	Doc: "The requires graph: an edge runs from the dependent to its prerequisite.",
}, runGraph)

func runGraph(ctx context.Context, b kb.Base, _ struct{}) (Graph, error) {
	records, _, err := b.Catalog.List(ctx, catalog.ListQuery{Kinds: kinds, Order: catalog.ByKey})
	if err != nil {
		return Graph{}, err
	}
	links, err := b.Catalog.LinksByRelation(ctx, catalog.Requires)
	if err != nil {
		return Graph{}, err
	}
	g := Graph{}
	byRecord, byRef := map[int64]string{}, map[catalog.Ref]string{}
	for _, r := range records {
		n := node(b, r)
		byRecord[r.ID], byRef[r.Ref()] = n.ID, n.ID
		g.Nodes = append(g.Nodes, n)
	}
	for _, l := range links {
		from, ok := byRecord[l.From]
		if !ok || l.To.Kind != catalog.KindCIP {
			continue
		}
		to, ok := byRef[l.To]
		if !ok { // an alias, or not in the catalog
			n, _, err := resolve(ctx, b, l.To)
			if err != nil {
				return Graph{}, err
			}
			to = n.ID
			byRef[l.To] = to
			if !slices.ContainsFunc(g.Nodes, func(x Node) bool { return x.ID == to }) {
				g.Nodes = append(g.Nodes, n)
			}
		}
		g.Edges = append(g.Edges, Edge{from, to})
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	g.Edges = slices.Compact(g.Edges)
	return g, nil
}

func node(b kb.Base, r catalog.Record) Node {
	return Node{ID: b.ID(r), Label: r.Key, Title: r.Title, Status: r.State, URL: b.URL(r)}
}

// resolve returns the node of a required proposal and its record id, 0 if it is
// not in the catalog.
func resolve(ctx context.Context, b kb.Base, ref catalog.Ref) (Node, int64, error) {
	r, err := b.Catalog.Head(ctx, ref)
	if errors.Is(err, catalog.ErrNotFound) {
		return Node{ID: b.Network.Proposals.ID(ref.Key), Label: ref.Key}, 0, nil
	}
	if err != nil {
		return Node{}, 0, err
	}
	return node(b, r), r.ID, nil
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

var chain = kb.New(op.Spec{
	ID: "detect_cip_dependency_chain", Tool: "detect_cip_dependency_chain", MayFail: notFound,
	Doc: `
Prerequisites of a proposal
Every prerequisite of a proposal or draft with its status.

Walks the requires graph from an improvement proposal or a draft (PR-n) and lists every prerequisite that must
be Final first, with its current status.
`,
}, runChain)

func runChain(ctx context.Context, b kb.Base, in chainIn) (Chain, error) {
	start, err := startOf(ctx, b, in.ID)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{ID: b.ID(start), Title: start.Title, Status: start.State, Kind: string(start.Kind), URL: b.URL(start)}
	relations := []catalog.Relation{catalog.Requires}
	if start.Kind == catalog.KindProposal {
		c.ID = "PR-" + start.Key
		// A grant has no requires header: it builds on the proposals it names.
		relations = append(relations, catalog.Implements, catalog.Cites, catalog.Mentions)
	}
	w := walk{Base: b, start: c.ID, at: map[string]int{}}
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

// startOf finds the start of the walk: a proposal, a draft, or a grant draft.
func startOf(ctx context.Context, b kb.Base, id kb.CIPID) (catalog.Record, error) {
	r, err := b.CIPHead(ctx, id)
	ref, invalid := b.CIPRef(id)
	number, draft := strings.CutPrefix(ref.Key, "PR-")
	if invalid != nil || !isNotFound(err) || !draft {
		return r, err
	}
	r, err = b.Catalog.Head(ctx, catalog.Ref{Kind: catalog.KindProposal, Key: number})
	return r, kb.NotFound(err, "there is no %s, neither a draft nor a grant proposal", ref.Key)
}

// walk traverses the requires graph breadth first.
type walk struct {
	kb.Base
	start string
	found []Prerequisite
	at    map[string]int // id → place in found
}

// visit is a proposal of the current level.
type visit struct {
	record int64
	id     string
}

// step adds the proposals that one level requires, and returns those found for
// the first time. In a cycle, the start is not its own prerequisite.
func (w *walk) step(
	ctx context.Context, depth int, level []visit, relations []catalog.Relation,
) (met []visit, err error) {
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
		n, record, err := resolve(ctx, w.Base, l.To)
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
