package cips

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"almanac/api/op"
	"almanac/catalog"
)

var graphSpec = op.Spec{
	ID: "get_cip_graph", Path: "/api/v1/cips/graph",
	Summary: "The requires graph: an edge runs from the dependent to its prerequisite.",
}

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
	Status string `json:"status" doc:"empty for one that is required and not in the catalog"`
	URL    string `json:"url,omitempty"`
}

// Edge runs from the dependent to its prerequisite.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (s service) graph(ctx context.Context, _ struct{}) (Graph, error) {
	records, _, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: kinds, Order: catalog.ByKey})
	if err != nil {
		return Graph{}, err
	}
	links, err := s.Catalog.LinksByRelation(ctx, catalog.Requires)
	if err != nil {
		return Graph{}, err
	}
	g := Graph{}
	byRecord, byRef := map[int64]string{}, map[catalog.Ref]string{}
	for _, r := range records {
		n := s.node(r)
		byRecord[r.ID], byRef[r.Ref()] = n.ID, n.ID
		g.Nodes = append(g.Nodes, n)
	}
	for _, l := range links {
		from, ok := byRecord[l.From]
		if !ok || l.To.Kind != catalog.KindCIP {
			continue
		}
		to, ok := byRef[l.To]
		if !ok { // an alias, or one that is not in the catalog
			n, _, err := s.resolve(ctx, l.To)
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
	slices.SortFunc(g.Edges, func(a, b Edge) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	g.Edges = slices.Compact(g.Edges)
	return g, nil
}

func (s service) node(r catalog.Record) Node {
	return Node{ID: s.ID(r), Label: r.Key, Title: r.Title, Status: r.State, URL: s.URL(r)}
}

// resolve returns the node of a required proposal with its record's id; 0 for
// one that is not in the catalog.
func (s service) resolve(ctx context.Context, ref catalog.Ref) (Node, int64, error) {
	r, err := s.Catalog.Head(ctx, ref)
	if errors.Is(err, catalog.ErrNotFound) {
		return Node{ID: s.Network.Proposals.ID(ref.Key), Label: ref.Key}, 0, nil
	}
	if err != nil {
		return Node{}, 0, err
	}
	return s.node(r), r.ID, nil
}
