package cips

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"almanac/api/kb"
	"almanac/api/kb/arg"
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
	ID        string `json:"id"`
	Label     string `json:"label"`
	Title     string `json:"title"`
	Status    string `json:"status" doc:"empty if it is not in the catalog"`
	StatusRaw string `json:"status_raw" doc:"as the network spells it"`
	Missing   bool   `json:"missing,omitempty" doc:"there is no such proposal here"`
	URL       string `json:"url,omitempty"`
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
	required, err := requirements(ctx, b)
	g := Graph{}
	from := map[int64]string{}
	for _, r := range records {
		from[r.ID] = b.ID(r)
		g.Nodes = append(g.Nodes, node(b, r))
	}
	for _, l := range required {
		if from[l.From] == "" {
			continue
		}
		to := node(b, l.To)
		g.Edges = append(g.Edges, Edge{from[l.From], to.ID})
		if !slices.Contains(g.Nodes, to) { // not in the catalog
			g.Nodes = append(g.Nodes, to)
		}
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	g.Edges = slices.Compact(g.Edges)
	return g, err
}

func node(b kb.Base, r catalog.Record) Node {
	n := Node{ID: b.ID(r), Label: r.Key, Title: r.Title, Status: r.State, StatusRaw: kb.StatusRaw(r)}
	if n.Missing = r.ID == 0; !n.Missing {
		n.URL = b.URL(r)
	}
	return n
}

// requirements returns the whole requires graph.
func requirements(ctx context.Context, b kb.Base) ([]requirement, error) {
	graph, _, err := kb.Derived(ctx, b, "requires", 0, func(ctx context.Context) ([]requirement, error) {
		links, err := b.Catalog.LinksByRelation(ctx, catalog.Requires)
		if err != nil {
			return nil, err
		}
		return resolve(ctx, b, links)
	})
	return graph, err
}

// resolve returns links to proposals with the records that their keys or aliases name.
func resolve(ctx context.Context, b kb.Base, links []catalog.Link) (out []requirement, err error) {
	var refs []catalog.Ref
	for _, l := range links {
		if l.To.Kind == catalog.KindCIP {
			refs = append(refs, l.To)
		}
	}
	heads, err := b.Catalog.HeadsOf(ctx, refs)
	if err != nil {
		return nil, err
	}
	for _, l := range links {
		if l.To.Kind != catalog.KindCIP {
			continue
		}
		r, ok := heads[l.To]
		if !ok {
			r = catalog.Record{Kind: l.To.Kind, Key: l.To.Key}
		}
		out = append(out, requirement{From: l.From, To: r})
	}
	return out, nil
}

type chainIn struct {
	ID arg.CIPID `json:"cip_id" required:"true" doc:"{{label}}, {{short}}, or PR-203 for a draft"`
}

// Chain is the walk over a proposal's prerequisites.
type Chain struct {
	ID            string         `json:"id"`
	Title         string         `json:"title"`
	Status        string         `json:"status"`
	StatusRaw     string         `json:"status_raw,omitempty" doc:"a proposal's, as the network spells it"`
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
	Kinds: []catalog.Kind{catalog.KindCIP},
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
	key, relations := start.Key, []catalog.Relation{catalog.Requires}
	if start.Kind == catalog.KindGrant {
		// A grant has no requires header: it builds on the proposals it names.
		key, relations = "PR-"+key, append(relations, catalog.Implements, catalog.Cites, catalog.Mentions)
	}
	own, err := b.Catalog.LinksFrom(ctx, start.ID, relations...)
	if err != nil {
		return Chain{}, err
	}
	graph, err := requirements(ctx, b)
	if err != nil {
		return Chain{}, err
	}
	first, err := resolve(ctx, b, own)
	c := Chain{Title: start.Title, Status: start.State, StatusRaw: kb.StatusRaw(start),
		Kind: string(start.Kind), URL: b.URL(start)}
	c.ID = b.Network.Proposals.ID(key)
	for _, p := range prerequisites(start, key, append(first, graph...)) {
		row := Prerequisite{node(b, p.Proposal), p.Depth, b.CIPIDs(p.RequiredBy), p.Final}
		c.Prerequisites = append(c.Prerequisites, row)
		if !p.Final {
			c.Open++
		}
	}
	c.Total, c.Ready = len(c.Prerequisites), c.Open == 0
	return c, err
}

// startOf finds the start of the walk: a proposal, a draft, or a grant draft.
func startOf(ctx context.Context, b kb.Base, id arg.CIPID) (catalog.Record, error) {
	r, err := b.CIPHead(ctx, id)
	ref, invalid := b.CIPRef(id)
	number, draft := strings.CutPrefix(ref.Key, "PR-")
	if invalid != nil || !isNotFound(err) || !draft {
		return r, err
	}
	r, err = b.Catalog.Head(ctx, catalog.Ref{Kind: catalog.KindGrant, Key: number})
	return r, kb.NotFound(err, "there is no %s, neither a draft nor a grant proposal", ref.Key)
}

// requirement is a link of the requires graph, from the dependent to its
// prerequisite.
type requirement struct {
	From int64          // record id
	To   catalog.Record // with nothing but its kind and key if it is not in the catalog
}

// prerequisite is a proposal that must be Final first.
type prerequisite struct {
	Proposal   catalog.Record
	Depth      int      // 1 for a direct prerequisite
	RequiredBy []string // keys, each once
	Final      bool
}

// prerequisites walks the requires graph breadth first from a record, which
// stands in the graph under a key. In a cycle, the start is not its own
// prerequisite.
func prerequisites(start catalog.Record, key string, graph []requirement) []prerequisite {
	to := map[int64][]catalog.Record{}
	for _, r := range graph {
		to[r.From] = append(to[r.From], r.To)
	}
	start.Key = key
	queue := []prerequisite{{Proposal: start}}
	for i := 0; i < len(queue); i++ { // which grows
		from := queue[i]
		for _, r := range to[from.Proposal.ID] {
			met := slices.IndexFunc(queue, func(p prerequisite) bool { return p.Proposal.Key == r.Key })
			switch {
			case met == 0:
			case met < 0:
				queue = append(queue, prerequisite{r, from.Depth + 1, []string{from.Proposal.Key}, r.State == "Final"})
			case !slices.Contains(queue[met].RequiredBy, from.Proposal.Key):
				queue[met].RequiredBy = append(queue[met].RequiredBy, from.Proposal.Key)
			}
		}
	}
	return queue[1:]
}
