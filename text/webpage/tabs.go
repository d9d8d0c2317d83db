package webpage

import "golang.org/x/net/html"

// tabs puts the label of each tab before its panel and shows all panels: a page
// that hides five of six variants of a command is about all of them.
func tabs(body *html.Node) {
	n := 0
	for e := range elements(body) {
		switch {
		case attr(e, "role") == "tablist":
			ariaTabs(e)
		case hasClass(e, "sd-tab-set", "tabbed-set"):
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
	for e := range elements(list) {
		if attr(e, "role") != "tab" {
			continue
		}
		ordered = append(ordered, line(e))
		for _, id := range []string{attr(e, "id"), attr(e, "aria-controls")} {
			if id != "" {
				names[id] = line(e)
			}
		}
	}
	scope := list.Parent
	n, seen := 0, 0
	for panel := range elements(scope) {
		if seen++; seen > maxScope {
			break
		}
		if attr(panel, "role") != "tabpanel" || nested(panel, scope) {
			continue
		}
		name := names[attr(panel, "aria-labelledby")]
		if name == "" {
			name = names[attr(panel, "id")]
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
		if attr(p, "role") == "tabpanel" || attr(p, "data-tab") == "shown" {
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
	for e := range elements(set) {
		if seen++; seen > maxScope {
			break
		}
		if owner(e) != set {
			continue
		}
		switch {
		case e.Data == "label":
			labels = append(labels, e)
		case hasClass(e, "sd-tab-content", "tabbed-block"), hasClass(e, "tabbed-content") && !holds(e, "tabbed-block"):
			name := ""
			if n < len(labels) {
				name = line(labels[n])
			}
			n++
			show(e, name)
		}
	}
	for _, l := range labels {
		remove(l)
	}
}

// owner returns the nearest set of labelled tabs around an element.
func owner(e *html.Node) *html.Node {
	for p := e.Parent; p != nil; p = p.Parent {
		if hasClass(p, "sd-tab-set", "tabbed-set") {
			return p
		}
	}
	return nil
}

// holds reports whether a child of n has the class.
func holds(n *html.Node, class string) bool {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasClass(c, class) {
			return true
		}
	}
	return false
}
