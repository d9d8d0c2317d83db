package look

import (
	"bytes"
	"html/template"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"almanac/text/markdown"
	"almanac/text/webaddress"
)

// Text is Markdown that a stranger wrote.
type Text struct {
	Markdown string
	Base     string // address of the source: relative links lead there
	Prefix   string // of the ids of headings
	Title    string // of the page: a first heading that repeats it is left out
	Names    []Name // parts of the Markdown that name other pages, in order
}

// Name is a part of a text, Markdown[Start:End], that names another page.
type Name struct {
	Start, End int
	Path       string // of the page on this server
	Title      string // what a reader is told of it
}

// Heading is a heading of a rendered text.
type Heading struct {
	ID, Text string
	Level    int // from 2
}

var markdownParser = goldmark.New(goldmark.WithExtensions(
	extension.Strikethrough, extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
	extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
))

// Markdown renders a text so that it can do no more than say something: HTML in
// it is dropped but for its words, links lead to http, https and mailto alone,
// and pictures of other servers are links. Headings begin at the second level
// and leave out none.
func Markdown(t Text) (template.HTML, []Heading) {
	source := []byte(strings.ToValidUTF8(t.Markdown, "\uFFFD"))
	doc := markdownParser.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext()))
	r := &stranger{Text: t, used: markdown.Anchors{}, met: map[string]bool{}}
	if u, err := url.Parse(t.Base); err == nil && u.Host != "" {
		r.base = u
	}
	flatten(doc, source)
	r.arrange(doc, source)
	rendering := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(r, 1), util.Prioritized(extension.NewTableHTMLRenderer(
			extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
		util.Prioritized(html.NewRenderer(), 1000),
	))
	var out bytes.Buffer
	if err := rendering.Render(&out, source, doc); err != nil { // a buffer does not fail
		return template.HTML(template.HTMLEscapeString(t.Markdown)), nil
	}
	// A cell without text heads nothing.
	cells := emptyHeads.ReplaceAll(out.Bytes(), []byte("<td></td>"))
	return template.HTML(cells), r.headings //nolint:gosec // every node is escaped by its renderer
}

var emptyHeads = regexp.MustCompile(`<th(?: align="[a-z]+")?></th>`)

// deepest is how deep quotes, lists and emphasis are nested; readers of HTML refuse some
// hundred elements within each other.
const deepest = 64

// flatten puts the words of what is nested deeper in its place.
func flatten(doc ast.Node, source []byte) {
	var deep []ast.Node
	depth := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		nests := n.Kind() == ast.KindBlockquote || n.Kind() == ast.KindList || n.Type() == ast.TypeInline && n.HasChildren()
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		if depth++; depth > deepest && nests {
			deep = append(deep, n)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	for _, n := range deep {
		var words ast.Node = ast.NewString([]byte(wordsOf(n, source)))
		if n.Type() == ast.TypeBlock {
			paragraph := ast.NewParagraph()
			paragraph.AppendChild(paragraph, words)
			words = paragraph
		}
		n.Parent().ReplaceChild(n.Parent(), n, words)
	}
}

// stranger renders the nodes that must not be rendered as they are.
type stranger struct {
	Text
	base     *url.URL
	headings []Heading
	used     markdown.Anchors
	met      map[string]bool // paths of the names so far
	byNode   map[ast.Node]Heading
}

// RegisterFuncs implements renderer.NodeRenderer.
func (r *stranger) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindHeading, r.heading)
	reg.Register(ast.KindLink, r.link)
	reg.Register(ast.KindAutoLink, r.autoLink)
	reg.Register(ast.KindImage, r.image)
	reg.Register(kindNamed, r.named)
	reg.Register(ast.KindRawHTML, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
		return ast.WalkSkipChildren, nil
	})
	reg.Register(ast.KindHTMLBlock, r.htmlBlock)
	reg.Register(ast.KindFencedCodeBlock, r.code)
	reg.Register(ast.KindCodeBlock, r.code)
}

// arrange names and levels the headings, removes one that repeats the title, and
// lets tables, which scroll, take the focus.
func (r *stranger) arrange(doc ast.Node, source []byte) {
	r.byNode = map[ast.Node]Heading{}
	var repeated ast.Node
	var all []*ast.Heading
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch h, isHeading := n.(*ast.Heading); {
		case isHeading && entering:
			all = append(all, h)
		case n.Kind() == tables.KindTable:
			n.SetAttributeString("tabindex", []byte("0"))
		}
		return ast.WalkContinue, nil
	})
	if len(all) > 0 && all[0].Parent() == doc && strings.EqualFold(wordsOf(all[0], source), r.Title) {
		repeated, all = all[0], all[1:]
	}
	top, level := 6, 1
	for _, h := range all {
		top = min(top, h.Level)
	}
	for _, h := range all {
		words, anchor := cutAnchor(strings.Join(strings.Fields(wordsOf(h, source)), " "))
		level = min(6, level+1, h.Level-top+2)
		heading := Heading{r.Prefix + r.used.Add(anchor, words), words, level}
		r.byNode[h] = heading
		r.headings = append(r.headings, heading)
	}
	if repeated != nil {
		doc.RemoveChild(doc, repeated)
	}
	if len(r.Names) > 0 && len(source) == len(r.Markdown) {
		r.linkNames(doc, source, false)
	}
}

// named is a text that names another page.
type named struct {
	ast.BaseInline
	Name
	within bool // a link of the text's own, which it does not change
}

// Naming is the id of the first place of a text that names a page, of that with a path
// on this server. No heading has it.
func Naming(prefix, path string) string { return prefix + "to:" + path }

var kindNamed = ast.NewNodeKind("Named")

// Kind implements ast.Node.
func (*named) Kind() ast.NodeKind { return kindNamed }

// Dump implements ast.Node.
func (n *named) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// unnamed are elements in which a name is no link: what becomes one, and code.
var unnamed = []ast.NodeKind{ast.KindAutoLink, ast.KindImage, ast.KindHeading, ast.KindCodeSpan}

// linkNames makes links of the names in the texts below a node, which may be within a
// link.
func (r *stranger) linkNames(parent ast.Node, source []byte, within bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		t, isText := n.(*ast.Text)
		if !isText {
			if !slices.Contains(unnamed, n.Kind()) {
				r.linkNames(n, source, within || n.Kind() == ast.KindLink)
			}
			continue
		}
		for next := t.NextSibling(); next != nil && t.Merge(next, source); next = t.NextSibling() {
			parent.RemoveChild(parent, next)
		}
		from, _ := slices.BinarySearchFunc(r.Names, t.Segment.Start, func(x Name, at int) int { return x.Start - at })
		for _, x := range r.Names[from:] {
			if x.Start < t.Segment.Start || x.Start >= x.End || x.End > t.Segment.Stop {
				break
			}
			before := ast.NewTextSegment(t.Segment.WithStop(x.Start))
			link := &named{Name: x, within: within}
			link.AppendChild(link, ast.NewTextSegment(text.NewSegment(x.Start, x.End)))
			parent.InsertBefore(parent, t, before)
			parent.InsertBefore(parent, t, link)
			t.Segment = t.Segment.WithStart(x.End)
		}
	}
}

// wordsOf is the text in a node.
func wordsOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// cutAnchor cuts an explicit anchor, {#name}, off a heading.
func cutAnchor(words string) (rest, anchor string) {
	i := strings.LastIndex(words, "{#")
	if i <= 0 || !strings.HasSuffix(words, "}") || strings.ContainsAny(words[i:len(words)-1], " }") {
		return words, ""
	}
	return strings.TrimSpace(words[:i]), words[i+2 : len(words)-1]
}

func (r *stranger) heading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering { // goldmark comes back after it has skipped the children
		return ast.WalkContinue, nil
	}
	h := r.byNode[n]
	tag := "h" + strconv.Itoa(max(2, h.Level))
	_, _ = w.WriteString("<" + tag + ` id="` + template.HTMLEscapeString(h.ID) + `"><a class="anchor" href="#` +
		template.HTMLEscapeString(url.PathEscape(h.ID)) + `">` + template.HTMLEscapeString(h.Text) + "</a></" + tag + ">\n")
	return ast.WalkSkipChildren, nil
}

// target returns where a link of the text may lead, and whether that is this
// page; "" for nowhere.
func (r *stranger) target(raw []byte) (address string, here bool) {
	raw = util.ResolveEntityNames(util.ResolveNumericReferences(raw))
	u, err := url.Parse(strings.TrimSpace(string(raw)))
	if err != nil {
		return "", false
	}
	if u.Scheme == "" && u.Host == "" && u.Path == "" && u.Fragment != "" {
		return "#" + url.PathEscape(r.Prefix+u.Fragment), true
	}
	if u.Scheme == "" && r.base != nil {
		u = r.base.ResolveReference(u)
	}
	if webaddress.Of(u) || u.Scheme == "mailto" {
		return u.String(), false
	}
	return "", false
}

const outward = ` rel="nofollow noopener ugc"`

func (r *stranger) open(w util.BufWriter, raw []byte) (opened bool) {
	address, here := r.target(raw)
	if address == "" {
		return false
	}
	rel := outward
	if here {
		rel = ""
	}
	_, _ = w.WriteString(`<a href="` + template.HTMLEscapeString(address) + `"` + rel + ">")
	return true
}

func (r *stranger) named(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	x := n.(*named)
	tag := "a"
	if x.within {
		tag = "span"
	}
	if !entering {
		_, _ = w.WriteString("</" + tag + ">")
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString("<" + tag)
	if !r.met[x.Path] {
		r.met[x.Path] = true
		_, _ = w.WriteString(` id="` + template.HTMLEscapeString(Naming(r.Prefix, x.Path)) + `"`)
	}
	if !x.within {
		_, _ = w.WriteString(` href="` + template.HTMLEscapeString(x.Path) + `" title="` +
			template.HTMLEscapeString(x.Title) + `"`)
	}
	_, _ = w.WriteString(">")
	return ast.WalkContinue, nil
}

func (r *stranger) link(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	link := n.(*ast.Link)
	if entering {
		r.open(w, link.Destination)
	} else if address, _ := r.target(link.Destination); address != "" {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

func (r *stranger) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	link := n.(*ast.AutoLink)
	address := link.URL(source)
	if link.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(address), []byte("mailto:")) {
		address = append([]byte("mailto:"), address...)
	}
	opened := r.open(w, address)
	_, _ = w.WriteString(template.HTMLEscapeString(string(link.Label(source))))
	if opened {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkContinue, nil
}

// image writes a link: a picture would tell another server who reads the page.
func (r *stranger) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	label := strings.TrimSpace(wordsOf(n, source))
	if label == "" {
		label = "without a description"
	}
	opened := false
	if _, nested := n.Parent().(*ast.Link); !nested {
		opened = r.open(w, n.(*ast.Image).Destination)
	}
	_, _ = w.WriteString("Picture: " + template.HTMLEscapeString(label))
	if opened {
		_, _ = w.WriteString("</a>")
	}
	return ast.WalkSkipChildren, nil
}

// code writes a block that can be scrolled by keyboard.
func (r *stranger) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	_, _ = w.WriteString(`<pre tabindex="0"><code>`)
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		_, _ = w.WriteString(template.HTMLEscapeString(string(line.Value(source))))
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// htmlBlock writes the words of a block of HTML.
func (r *stranger) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	var raw bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		raw.Write(line.Value(source))
	}
	if block := n.(*ast.HTMLBlock); block.HasClosure() {
		raw.Write(block.ClosureLine.Value(source))
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(raw.String())), "<pre") {
		words := strings.TrimSpace(wordsOfHTML(raw.String()))
		_, _ = w.WriteString(`<pre tabindex="0">` + template.HTMLEscapeString(words) + "</pre>\n")
		return ast.WalkContinue, nil
	}
	if words := strings.Join(strings.Fields(wordsOfHTML(raw.String())), " "); words != "" {
		_, _ = w.WriteString("<p>" + template.HTMLEscapeString(words) + "</p>\n")
	}
	return ast.WalkContinue, nil
}
