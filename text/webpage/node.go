package webpage

import (
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Elements yields the elements below n in document order. The current element
// may be changed or removed; the content of a removed one is not yielded.
func Elements(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		walk(n, yield)
	}
}

func walk(n *html.Node, yield func(*html.Node) bool) bool {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		if c.Type == html.ElementNode {
			if !yield(c) {
				return false
			}
			if c.Parent == n && !walk(c, yield) {
				return false
			}
		}
		c = next
	}
	return true
}

// find returns the first element below n with one of the names, or nil.
func find(n *html.Node, names ...string) *html.Node {
	for e := range Elements(n) {
		if slices.Contains(names, e.Data) {
			return e
		}
	}
	return nil
}

// Attr returns an attribute of an element, "" for none.
func Attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func setAttr(n *html.Node, name, value string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
}

func hasAttr(n *html.Node, name string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
}

// HasClass reports whether an element has one of the classes.
func HasClass(n *html.Node, classes ...string) bool {
	for c := range strings.FieldsSeq(Attr(n, "class")) {
		if slices.Contains(classes, strings.ToLower(c)) {
			return true
		}
	}
	return false
}

// Text returns the text below n without scripts and styles.
func Text(n *html.Node) string {
	var b strings.Builder
	var visit func(*html.Node)
	visit = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && (n.Data == "script" || n.Data == "style" || n.Data == "template"):
			return
		case n.Type == html.ElementNode && n.Data == "br":
			b.WriteByte('\n')
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
	}
	visit(n)
	return b.String()
}

// Line returns the text below n on one line.
func Line(n *html.Node) string { return strings.Join(strings.Fields(Text(n)), " ") }

// Element returns a new element.
func Element(name string, children ...*html.Node) *html.Node {
	n := &html.Node{Type: html.ElementNode, Data: name, DataAtom: atom.Lookup([]byte(name))}
	for _, c := range children {
		n.AppendChild(c)
	}
	return n
}

// TextNode returns a new text.
func TextNode(s string) *html.Node { return &html.Node{Type: html.TextNode, Data: s} }

// label returns a paragraph in bold.
func label(s string) *html.Node { return Element("p", Element("strong", TextNode(s))) }

// Remove takes n out of its tree.
func Remove(n *html.Node) {
	if n.Parent != nil {
		n.Parent.RemoveChild(n)
	}
}

// Replace replaces n by another node.
func Replace(n, by *html.Node) {
	n.Parent.InsertBefore(by, n)
	n.Parent.RemoveChild(n)
}

// clear removes the children of n.
func clear(n *html.Node) {
	for n.FirstChild != nil {
		n.RemoveChild(n.FirstChild)
	}
}

// Within reports whether n is below an element with one of the names.
func Within(n *html.Node, names ...string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if p.Type == html.ElementNode && slices.Contains(names, p.Data) {
			return true
		}
	}
	return false
}
