package webpage

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"almanac/text/markdown"
	"almanac/text/webaddress"
)

// dress rewrites what Markdown cannot express into what it can.
func dress(n *html.Node, base *url.URL) {
	code(n)
	for e := range Elements(n) {
		switch e.Data {
		case "h1", "h2", "h3", "h4", "h5", "h6":
			anchor(e)
		case "summary":
			bold(e)
		case "dt":
			bold(e)
		case "dd":
			e.Data, e.DataAtom = "div", 0
		case "td", "th":
			cell(e)
		case "sup":
			raise(e)
		case "ul", "ol", "blockquote":
			if depth(e) > maxDepth {
				spread(e)
			}
		case "li":
			if e.Parent.Data != "ul" && e.Parent.Data != "ol" {
				spread(e)
			}
		case "img":
			Replace(e, TextNode(strings.Join(strings.Fields(Attr(e, "alt")), " ")))
		case "picture", "figure":
			spread(e)
		}
	}
	for e := range Elements(n) {
		if e.Data == "a" {
			link(e, base)
		}
	}
	veil(n, veilText)
}

// maxDepth is the maximum nesting of lists and quotations: every level makes
// another copy of its content.
const maxDepth = 8

// depth returns the number of lists and quotations around an element.
func depth(e *html.Node) (n int) {
	for p := e.Parent; p != nil; p = p.Parent {
		if p.Data == "ul" || p.Data == "ol" || p.Data == "blockquote" {
			n++
		}
	}
	return n
}

// bold makes a term or summary a paragraph in bold.
func bold(e *html.Node) {
	s := Line(e)
	clear(e)
	e.Data, e.DataAtom, e.Attr = "p", 0, nil
	if s != "" {
		e.AppendChild(Element("strong", TextNode(s)))
	}
}

// spread separates elements that Markdown does not have from their
// surroundings.
func spread(e *html.Node) { e.Data, e.DataAtom = "div", 0 }

// cell turns the content of a table cell into one line: Markdown tables have no
// others.
func cell(e *html.Node) {
	for _, span := range []string{"colspan", "rowspan"} {
		if n, err := strconv.Atoi(Attr(e, span)); err != nil || n > maxSpan {
			setAttr(e, span, "1")
		}
	}
	for c := range Elements(e) {
		switch c.Data {
		case "pre":
			c.Data, c.DataAtom = "code", 0
			s := Line(c)
			clear(c)
			c.AppendChild(TextNode(s))
		case "br":
			Replace(c, TextNode(" "))
		case "p", "div", "ul", "ol", "li", "blockquote", "section", "h1", "h2", "h3", "h4", "h5", "h6", "dl", "table",
			"tbody", "thead", "tr", "td", "th":
			c.Data, c.DataAtom, c.Attr = "span", 0, nil
			c.AppendChild(TextNode(" "))
			c.InsertBefore(TextNode(" "), c.FirstChild)
		}
	}
	for c := range e.Descendants() {
		if c.Type == html.TextNode && !strings.Contains(c.Data, `\|`) {
			c.Data = strings.ReplaceAll(c.Data, "|", `\|`)
		}
	}
}

// maxSpan is the maximum number of columns or rows that a table cell may span:
// the table is padded with as many empty ones.
const maxSpan = 20

// raise separates an exponent from the number before it.
func raise(e *html.Node) {
	if s := Line(e); s != "" && strings.Trim(s, "+-0123456789") == "" {
		e.InsertBefore(TextNode("^"), e.FirstChild)
	}
}

// permalink are the classes of a heading's links to itself.
var permalink = []string{"headerlink", "hash-link", "header-anchor", "anchor", "anchor-link", "heading-anchor",
	"anchorjs-link", "sl-anchor-link", "permalink", "direct-link"}

// permalinks removes a heading's links to itself, which show nothing or a
// symbol.
func permalinks(n *html.Node) {
	for e := range Elements(n) {
		if e.Data != "a" {
			continue
		}
		sign := !strings.ContainsFunc(Text(e), func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
		if HasClass(e, permalink...) && (sign || !Within(e, "h1", "h2", "h3", "h4", "h5", "h6") ||
			HasClass(e, "hash-link")) ||
			sign && strings.HasPrefix(Attr(e, "href"), "#") && find(e, "img") == nil {
			if id := Attr(e, "id") + Attr(e, "name"); id != "" && e.Parent.Type == html.ElementNode &&
				Attr(e.Parent, "id") == "" {
				setAttr(e.Parent, "id", id)
			}
			Remove(e)
		}
	}
}

var anchorName = regexp.MustCompile(`^[\w.:-]+$`)

// anchor keeps a heading's anchor if it differs from the one derived from its
// text. Some generators put it on the section that starts with the heading.
func anchor(h *html.Node) {
	id := Attr(h, "id")
	if p := h.Parent; id == "" && p != nil && (p.Data == "section" || p.Data == "div") && begins(h) {
		id = Attr(p, "id")
	}
	s := Line(h)
	if id == "" || s == "" || !anchorName.MatchString(id) || id == markdown.Slug(s) {
		return
	}
	h.AppendChild(TextNode(" {#" + id + "}"))
}

// begins reports whether an element is the first of its parent, or follows only
// empty elements.
func begins(n *html.Node) bool {
	for range 6 {
		if n = n.PrevSibling; n == nil {
			return true
		}
		if Line(n) != "" {
			return false
		}
	}
	return false
}

// link makes a link's address absolute. A link within the page, or one that no
// browser should follow, is reduced to its text.
func link(e *html.Node, base *url.URL) {
	href := strings.TrimSpace(Attr(e, "href"))
	u, err := base.Parse(href)
	if err != nil || href == "" || strings.HasPrefix(href, "#") || !webaddress.Of(u) || Line(e) == "" {
		e.Data, e.DataAtom, e.Attr = "span", 0, nil
		return
	}
	u.User = nil
	e.Attr = []html.Attribute{{Key: "href", Val: u.String()}}
}

// code turns code blocks, which highlighters split into pieces, into plain ones
// with their language.
func code(n *html.Node) {
	for e := range Elements(n) {
		if e.Data == "table" && find(e, "pre") != nil && HasClass(e, "highlighttable", "lntable", "rouge-table",
			"codehilitetable") {
			div := Element("div")
			for c := range Elements(e) {
				if c.Data == "pre" {
					Remove(c)
					div.AppendChild(c)
				}
			}
			Replace(e, div)
		}
	}
	for e := range Elements(n) {
		if e.Data != "pre" {
			continue
		}
		language := languageOf(e)
		s := strings.TrimRight(strings.ReplaceAll(codeText(e), "\u00a0", " "), " \t\n")
		clear(e)
		if strings.TrimSpace(s) == "" {
			e.Data, e.DataAtom = "div", 0
			continue
		}
		inner := Element("code", TextNode(s))
		if language != "" {
			setAttr(inner, "class", "language-"+language)
		}
		e.Attr = nil
		e.AppendChild(inner)
	}
}

// codeText returns the text of a code block: lines may be text, elements that
// begin a new line, or end with <br>.
func codeText(n *html.Node) string {
	var b strings.Builder
	var visit func(*html.Node)
	visit = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
			return
		case n.Type == html.ElementNode && n.Data == "br":
			b.WriteByte('\n')
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			visit(c)
		}
		if n.Type == html.ElementNode && (n.Data == "div" || n.Data == "p" || n.Data == "li" || n.Data == "tr") &&
			!strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	visit(n)
	return strings.Trim(b.String(), "\n")
}

var languageClass = regexp.MustCompile(`^(?:language|lang|highlight-source|highlight)-([A-Za-z0-9+#_.-]{1,20})$`)

// plainLanguages mark blocks that are not programs.
var plainLanguages = []string{"default", "none", "text", "plaintext", "plain", "txt", "notranslate", "copybtn",
	"wrapper"}

// languageOf reads the language of a code block from its classes, those of the
// code inside and those of the elements around it.
func languageOf(pre *html.Node) string {
	around := []*html.Node{pre, find(pre, "code")}
	for p := pre.Parent; p != nil && len(around) < 5; p = p.Parent {
		around = append(around, p)
	}
	for _, n := range around {
		if n == nil || n.Type != html.ElementNode {
			continue
		}
		for _, name := range []string{Attr(n, "data-language"), Attr(n, "data-lang")} {
			if languageClass.MatchString("lang-" + name) {
				return plainLanguage(strings.ToLower(name))
			}
		}
		for c := range strings.FieldsSeq(Attr(n, "class")) {
			if m := languageClass.FindStringSubmatch(c); m != nil {
				return plainLanguage(strings.ToLower(m[1]))
			}
		}
	}
	return ""
}

func plainLanguage(name string) string {
	if slices.Contains(plainLanguages, name) {
		return ""
	}
	return name
}
