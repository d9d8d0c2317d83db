package web

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"almanac/api/cips"
	"almanac/api/look"
)

// node is a proposal with its place.
type node struct {
	cips.Node
	layer, row int
}

// Sizes of the drawing.
const (
	boxWidth, boxHeight = 190, 44
	gapX, gapY          = 50, 14
)

// Tree draws the proposals that depend on each other, prerequisites on the
// left: each stands one column right of its last prerequisite, and near the
// middle of them (Sugiyama's layers, ordered by barycentres).
func Tree(g cips.Graph, site *look.Site) template.HTML {
	used := map[string]*node{}
	before := map[string][]string{}
	for _, e := range g.Edges {
		before[e.From] = append(before[e.From], e.To)
	}
	for _, n := range drawn(g) {
		used[n.ID] = &node{Node: n}
	}
	deep := map[string]int{}
	for id, n := range used {
		n.layer = depth(id, before, map[string]bool{}, deep)
	}
	layers := layered(used, before)
	tallest := 0
	for _, l := range layers {
		tallest = max(tallest, len(l))
	}
	width := len(layers)*(boxWidth+gapX) - gapX + 2
	height := tallest*(boxHeight+gapY) - gapY + 2
	var b strings.Builder
	esc := template.HTMLEscapeString
	fmt.Fprintf(&b, `<svg class="graph" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" role="group" `+
		`aria-label="Dependencies of proposals">`, width, height)
	place := func(n *node) (x, y int) {
		return 1 + n.layer*(boxWidth+gapX), 1 + n.row*(boxHeight+gapY)
	}
	for _, e := range g.Edges {
		from, to := used[e.To], used[e.From]
		if from == nil || to == nil {
			continue
		}
		x1, y1 := place(from)
		x2, y2 := place(to)
		x1, y1, y2 = x1+boxWidth, y1+boxHeight/2, y2+boxHeight/2
		bend := gapX * 2 / 3
		fmt.Fprintf(&b, `<path data-from="%s" data-to="%s" d="M%d %dC%d %d %d %d %d %d"/>`,
			esc(e.From), esc(e.To), x1, y1, x1+bend, y1, x2-bend, y2, x2-5, y2)
		fmt.Fprintf(&b, `<path class="tip" d="M%d %dl-6 -3.5v7z"/>`, x2, y2)
	}
	for _, l := range layers {
		for _, n := range l {
			x, y := place(n)
			fmt.Fprintf(&b, `<a href="%s" data-key="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="5"/>`+
				`<circle class="%s" cx="%d" cy="%d" r="3.5"/><text class="name" x="%d" y="%d">%s</text>`+
				// A drawing in the drawing cuts what is wider than its box.
				`<svg x="%d" y="%d" width="%d" height="20"><text y="13">%s</text></svg><title>%s: %s (%s)</title></a>`,
				esc(site.At("/cips/"+n.ID)), esc(n.ID), x, y, boxWidth, boxHeight,
				site.Tone(n.Status, n.StatusRaw), x+boxWidth-12, y+14, x+10, y+18, esc(n.Label), x+10, y+21, boxWidth-16, esc(short(26, n.Title)), esc(n.Label), esc(n.Title),
				esc(cmp.Or(n.StatusRaw, n.Status)))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) //nolint:gosec // numbers, and texts escaped above
}

// drawn are the proposals that need others or are needed.
func drawn(g cips.Graph) (nodes []cips.Node) {
	for _, n := range g.Nodes {
		if slices.ContainsFunc(g.Edges, func(e cips.Edge) bool { return e.From == n.ID || e.To == n.ID }) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// sign is a colour of the drawing with the statuses that have it.
type sign struct {
	Tone  string
	Words []string
}

// legend explains the colours that occur in the drawing.
func legend(g cips.Graph, site *look.Site) (signs []sign) {
	for _, tone := range []string{"good", "warn", "calm", "bad"} {
		var words []string
		for _, n := range drawn(g) {
			if word := cmp.Or(n.StatusRaw, n.Status); word != "" && site.Tone(n.Status, n.StatusRaw) == tone {
				words = append(words, word)
			}
		}
		if slices.Sort(words); len(words) > 0 {
			signs = append(signs, sign{tone, slices.Compact(words)})
		}
	}
	return signs
}

// depth is the number of edges on the longest way to a proposal without a
// prerequisite. A circle is cut where it closes.
func depth(id string, before map[string][]string, on map[string]bool, known map[string]int) int {
	if d, ok := known[id]; ok {
		return d
	}
	on[id] = true
	defer delete(on, id)
	deepest := 0
	for _, p := range before[id] {
		if !on[p] {
			deepest = max(deepest, 1+depth(p, before, on, known))
		}
	}
	known[id] = deepest
	return deepest
}

// layered arranges proposals by their depth, and in each layer by the mean row
// of their prerequisites.
func layered(used map[string]*node, before map[string][]string) [][]*node {
	var layers [][]*node
	for _, n := range used {
		for len(layers) <= n.layer {
			layers = append(layers, nil)
		}
		layers[n.layer] = append(layers[n.layer], n)
	}
	for _, l := range layers {
		mean := map[string]float64{}
		for _, n := range l {
			sum, count := 0.0, 0.0
			for _, p := range before[n.ID] {
				if used[p] != nil {
					sum, count = sum+float64(used[p].row), count+1
				}
			}
			if count > 0 {
				mean[n.ID] = sum / count
			}
		}
		slices.SortFunc(l, func(a, b *node) int {
			return cmp.Or(cmp.Compare(mean[a.ID], mean[b.ID]), strings.Compare(a.ID, b.ID))
		})
		for i, n := range l {
			n.row = i
		}
	}
	return layers
}
