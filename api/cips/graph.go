package cips

import (
	"context"
	"errors"
	"slices"
	"strings"

	"almanac/api/kb"
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
	Status string `json:"status" doc:"empty for one that is required and not in the catalog"`
	URL    string `json:"url,omitempty"`
}

// Edge runs from the dependent to its prerequisite.
type Edge struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (s service) graph(ctx context.Context, _ struct{}) (Graph, error) {
	records, _, err := s.Catalog.List(ctx, catalog.ListQuery{Kinds: []catalog.Kind{catalog.KindCIP}, Order: catalog.ByKey})
	if err != nil {
		return Graph{}, err
	}
	links, err := s.Catalog.LinksByRelation(ctx, catalog.Requires)
	if err != nil {
		return Graph{}, err
	}
	g := Graph{Edges: []Edge{}}
	byID, known := map[int64]string{}, map[string]bool{}
	for _, r := range records {
		n := s.node(r)
		byID[r.ID], known[n.ID] = n.ID, true
		g.Nodes = append(g.Nodes, n)
	}
	for _, l := range links {
		from, ok := byID[l.From]
		if !ok || l.To.Kind != catalog.KindCIP {
			continue
		}
		to, err := s.resolve(ctx, l.To)
		if err != nil {
			return Graph{}, err
		}
		if !known[to.ID] {
			known[to.ID] = true
			g.Nodes = append(g.Nodes, to)
		}
		if e := (Edge{from, to.ID}); !slices.Contains(g.Edges, e) {
			g.Edges = append(g.Edges, e)
		}
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int { return strings.Compare(a.From+" "+a.To, b.From+" "+b.To) })
	return g, nil
}

func (s service) node(r catalog.Record) Node {
	return Node{ID: kb.CIPID(r.Key), Label: r.Key, Title: r.Title, Status: r.State, URL: s.URL(r)}
}

// resolve returns the node of a required proposal, also of one that is not in
// the catalog.
func (s service) resolve(ctx context.Context, ref catalog.Ref) (Node, error) {
	r, err := s.Catalog.Get(ctx, ref)
	if errors.Is(err, catalog.ErrNotFound) {
		return Node{ID: kb.CIPID(ref.Key), Label: ref.Key}, nil
	}
	if err != nil {
		return Node{}, err
	}
	return s.node(r), nil
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

type chainIn struct {
	ID string `json:"cip_id" pattern:"^\\s*(?i:(cip[-\\s#]?)?\\d{1,4}|pr[-\\s#]?\\d+)\\s*$" required:"true" doc:"CIP-56, 56, or PR-203 for a draft"`
}

func (s service) chain(ctx context.Context, in chainIn) (Chain, error) {
	start, err := s.start(ctx, in.ID)
	if err != nil {
		return Chain{}, err
	}
	c := Chain{ID: start.Key, Title: start.Title, Status: start.State, Kind: string(start.Kind), URL: s.URL(start), Ready: true}
	if start.Kind == catalog.KindCIP {
		c.ID = kb.CIPID(start.Key)
	} else {
		c.ID = "PR-" + start.Key
	}
	at := map[string]int{c.ID: -1}
	level, names := []int64{start.ID}, []string{c.ID}
	for depth := 1; len(level) > 0; depth++ {
		var next []int64
		var nextNames []string
		for i, id := range level {
			refs, err := s.prerequisites(ctx, id, depth == 1 && start.Kind == catalog.KindProposal)
			if err != nil {
				return Chain{}, err
			}
			for _, ref := range refs {
				n, err := s.resolve(ctx, ref)
				if err != nil {
					return Chain{}, err
				}
				j, seen := at[n.ID]
				switch {
				case seen && j < 0: // a cycle back to the start
				case seen:
					c.Prerequisites[j].RequiredBy = append(c.Prerequisites[j].RequiredBy, names[i])
				default:
					at[n.ID] = len(c.Prerequisites)
					c.Prerequisites = append(c.Prerequisites, Prerequisite{Node: n, Depth: depth, RequiredBy: []string{names[i]}, Final: n.Status == "Final"})
					if r, err := s.Catalog.Get(ctx, ref); err == nil {
						next, nextNames = append(next, r.ID), append(nextNames, n.ID)
					}
				}
			}
		}
		level, names = next, nextNames
	}
	c.Total = len(c.Prerequisites)
	for _, p := range c.Prerequisites {
		if !p.Final {
			c.Open++
			c.Ready = false
		}
	}
	return c, nil
}

// start finds where the walk begins: a proposal, its draft, or a grant draft.
func (s service) start(ctx context.Context, id string) (catalog.Record, error) {
	r, err := s.CIPRecord(ctx, id)
	if ref, _ := s.CIPRef(id); isNotFound(err) && strings.HasPrefix(ref.Key, "PR-") {
		grant, grantErr := s.Catalog.Get(ctx, catalog.Ref{Kind: catalog.KindProposal, Key: strings.TrimPrefix(ref.Key, "PR-")})
		return grant, kb.NotFound(grantErr, "there is no %s, neither a draft nor a grant proposal", ref.Key)
	}
	return r, err
}

// prerequisites returns what a record requires. A grant proposal has no
// requires header: what it cites or implements is what it builds on.
func (s service) prerequisites(ctx context.Context, id int64, grant bool) ([]catalog.Ref, error) {
	relations := []catalog.Relation{catalog.Requires}
	if grant {
		relations = append(relations, catalog.Implements, catalog.Cites, catalog.Mentions)
	}
	links, err := s.Catalog.LinksFrom(ctx, id, relations...)
	if err != nil {
		return nil, err
	}
	var refs []catalog.Ref
	for _, l := range links {
		if l.To.Kind == catalog.KindCIP && !slices.Contains(refs, l.To) {
			refs = append(refs, l.To)
		}
	}
	return refs, nil
}
