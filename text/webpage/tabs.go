package webpage

import "golang.org/x/net/html"

// tabs puts the label of each tab before its panel and shows all panels: a page
// that hides five of six variants of a command is about all of them.
func tabs(body *html.Node) {
	n := 0
	for e := range Elements(body) {
		switch {
		case Attr(e, "role") == "tablist":
			ariaTabs(e)
		case HasClass(e, "sd-tab-set", "tabbed-set"):
			labelledTabs(e)
		default:
			continue
		}
		if n++; n == maxTabs {
			return
		}
	}
}

// Limits of the sets of tabs on a page, and of the elements around each that
// are searched for its panels.
const (
	maxTabs  = 500
	maxScope = 10_000
)

// ariaTabs handles lists of tabs and panels by their roles (WAI-ARIA).
func ariaTabs(list *html.Node) {
	names := map[string]string{} // label of a tab by its id and by that of its panel
	var ordered []string
	for e := range Elements(list) {
		if Attr(e, "role") != "tab" {
			continue
		}
		ordered = append(ordered, Line(e))
		for _, id := range []string{Attr(e, "id"), Attr(e, "aria-controls")} {
			if id != "" {
				names[id] = Line(e)
			}
		}
	}
	scope := list.Parent
	n, seen := 0, 0
	for panel := range Elements(scope) {
		if seen++; seen > maxScope {
			break
		}
		if Attr(panel, "role") != "tabpanel" || nested(panel, scope) {
			continue
		}
		name := names[Attr(panel, "aria-labelledby")]
		if name == "" {
			name = names[Attr(panel, "id")]
		}
		if name == "" && n < len(ordered) {
			name = ordered[n]
		}
		n++
		show(panel, name)
	}
	clear(list)
}

// nested reports whether a panel is inside another panel of the same scope.
func nested(panel, scope *html.Node) bool {
	for p := panel.Parent; p != nil && p != scope; p = p.Parent {
		if Attr(p, "role") == "tabpanel" || Attr(p, "data-tab") == "shown" {
			return true
		}
	}
	return false
}

// show turns a panel into text under its label.
func show(panel *html.Node, name string) {
	panel.Attr = []html.Attribute{{Key: "data-tab", Val: "shown"}}
	if name != "" {
		panel.InsertBefore(label(name), panel.FirstChild)
	}
}

// labelledTabs handles sets of tabs made of labels and blocks: alternating, or
// all labels first.
func labelledTabs(set *html.Node) {
	var labels []*html.Node
	n, seen := 0, 0
	for e := range Elements(set) {
		if seen++; seen > maxScope {
			break
		}
		if owner(e) != set {
			continue
		}
		switch {
		case e.Data == "label":
			labels = append(labels, e)
		case HasClass(e, "sd-tab-content", "tabbed-block"), HasClass(e, "tabbed-content") && !holds(e, "tabbed-block"):
			name := ""
			if n < len(labels) {
				name = Line(labels[n])
			}
			n++
			show(e, name)
		}
	}
	for _, l := range labels {
		Remove(l)
	}
}

// owner returns the nearest set of labelled tabs around an element.
func owner(e *html.Node) *html.Node {
	for p := e.Parent; p != nil; p = p.Parent {
		if HasClass(p, "sd-tab-set", "tabbed-set") {
			return p
		}
	}
	return nil
}

// holds reports whether a child of n has the class.
func holds(n *html.Node, class string) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if HasClass(c, class) {
			return true
		}
	}
	return false
}
