package dashboard_test

import (
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// each visits the elements below a node.
func each(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		each(c, visit)
	}
}

// attribute is an attribute of an element, and whether it has it.
func attribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// content is the text in an element.
func content(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b.WriteString(content(c))
	}
	return b.String()
}

// formOf is what a browser sends of the form of a page with an action, before
// anybody has typed anything; line ends are those of forms.
func formOf(t *testing.T, page, action string) url.Values {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var form *html.Node
	each(doc, func(n *html.Node) {
		if to, _ := attribute(n, "action"); n.Data == "form" && to == action && form == nil {
			form = n
		}
	})
	if form == nil {
		t.Fatalf("no form leads to %s:\n%s", action, page)
	}
	values := url.Values{}
	each(form, func(n *html.Node) {
		name, ok := attribute(n, "name")
		if !ok || n.Data == "button" {
			return
		}
		value, _ := attribute(n, "value")
		kind, _ := attribute(n, "type")
		_, checked := attribute(n, "checked")
		switch {
		case n.Data == "textarea":
			value = strings.TrimPrefix(content(n), "\n")
		case n.Data == "select":
			value = chosen(n)
		case kind == "file", (kind == "checkbox" || kind == "radio") && !checked:
			return
		}
		values.Add(name, strings.ReplaceAll(value, "\n", "\r\n"))
	})
	return values
}

// chosen is the value of a list: of its selected option, or else of the first.
func chosen(list *html.Node) (value string) {
	first := true
	each(list, func(n *html.Node) {
		if n.Data != "option" {
			return
		}
		own, ok := attribute(n, "value")
		if !ok {
			own = strings.TrimSpace(content(n))
		}
		if _, selected := attribute(n, "selected"); selected || first {
			value, first = own, false
		}
	})
	return value
}
