package web

import (
	"bytes"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"almanac/api/look"
)

var toMarkdown = converter.NewConverter(converter.WithPlugins(
	base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin(),
))

// asMarkdown converts the main part of a page. What only people need there is
// left out: charts, filters, other forms. The text of a record is its own.
func (h *Handler) asMarkdown(main []byte, v *view, page look.Page) ([]byte, error) {
	doc, err := html.Parse(bytes.NewReader(main))
	if err != nil {
		return nil, err
	}
	prune(doc)
	out, err := toMarkdown.ConvertNode(doc, converter.WithDomain(h.cfg.PublicURL))
	if err != nil {
		return nil, err
	}
	s := strings.TrimSpace(string(out)) + "\n"
	if v.Text != nil && v.Text.Markdown != "" {
		s = strings.Replace(s, textMark, strings.TrimSpace(v.Text.Markdown), 1)
	}
	if page.Next != "" {
		s += "\nContinues at <" + h.site.Absolute(page.Next) + ">\n"
	}
	return []byte(s), nil
}

// textMark stands where the text of a record goes.
const textMark = "THETEXTOFTHERECORD"

// prune removes the elements that have the attribute data-people, and puts the
// mark in place of the text.
func prune(n *html.Node) {
	for c := n.FirstChild; c != nil; {
		next := c.NextSibling
		switch {
		case c.Type == html.ElementNode && (has(c, "data-people") || c.Data == "svg" || c.Data == "form"):
			n.RemoveChild(c)
		case c.Type == html.ElementNode && has(c, "data-text"):
			for c.FirstChild != nil {
				c.RemoveChild(c.FirstChild)
			}
			c.AppendChild(&html.Node{Type: html.TextNode, Data: textMark})
		default:
			prune(c)
		}
		if part := c.Type == html.ElementNode && c.Data == "span"; part && c.Parent == n && isPart(c.PrevSibling) {
			n.InsertBefore(&html.Node{Type: html.TextNode, Data: " · "}, c)
		}
		c = next
	}
}

// isPart reports whether a node is one of those on a line that the style sheet
// parts by dots.
func isPart(n *html.Node) bool {
	return n != nil && n.Type == html.ElementNode && (n.Data == "span" || n.Data == "a" || n.Data == "b")
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}
