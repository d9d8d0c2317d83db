package forum

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"almanac/text/webpage"
)

// Limits of a post. Forums allow some ten thousand characters, and in Markdown
// every row of a table is padded to the longest.
const (
	maxCooked = 1 << 20 // bytes of HTML
	maxCells  = 100_000 // of its tables: rows by longest row
	maxQuoted = 8       // elements around code, to the outermost quotation
)

var (
	errLong  = errors.New("the post is longer than 1 MiB")
	errTable = errors.New("the post has a table that is too large")
)

// render converts a post's HTML to Markdown and counts its blocks of code. Code
// keeps its text and language; addresses become absolute; decoration by the
// forum (avatars, previews of links, sizes of pictures) is dropped.
func render(cooked, base string) (text string, code int, err error) {
	if len(cooked) > maxCooked {
		return "", 0, errLong
	}
	text, err = webpage.Markdown(cooked, base+"/", func(body *html.Node) error {
		code, err = tidy(body)
		return err
	})
	switch {
	case errors.Is(err, errTable):
		return "", 0, errTable
	case err != nil:
		return "", 0, fmt.Errorf("its HTML cannot be read: %w", err)
	}
	return strings.TrimSpace(text), code, nil
}

// noise are the classes of elements that are not part of the written text.
var noise = []string{
	"quote-controls", "avatar", "onebox-metadata", "clicks", "meta", "anchor",
	"poll-info", "poll-buttons", "elided", "expand", "svg-icon",
}

// noLanguage are the classes of code without a known language.
var noLanguage = []string{"lang-auto", "lang-nohighlight"}

// tidy converts the forum's own elements to plain HTML and counts blocks of code.
func tidy(body *html.Node) (code int, err error) {
	var blocks []*html.Node // of code
	rows, longest := 0, 0   // of tables
	for e := range webpage.Elements(body) {
		switch {
		case webpage.HasClass(e, noise...):
			webpage.Remove(e)
		case webpage.HasClass(e, "mention", "mention-group"):
			mark("@", e)
		case webpage.HasClass(e, "hashtag", "hashtag-cooked"):
			mark("#", e)
		case e.Data == "aside" && webpage.HasClass(e, "onebox"):
			preview(e)
		case e.Data == "aside": // a quotation and its author
			e.Data, e.DataAtom = "div", 0
		case e.Data == "code":
			if webpage.HasClass(e, noLanguage...) {
				e.Attr = nil
			}
			if text := webpage.Text(e); strings.Contains(text, "\n") && !webpage.Within(e, "pre") {
				code++
				webpage.Replace(e, webpage.Element("pre", webpage.TextNode(text)))
			}
		case e.Data == "pre":
			code++
			blocks = append(blocks, e)
		case e.Data == "tr":
			rows++
			cells := 0
			for c := e.FirstChild; c != nil; c = c.NextSibling {
				cells++
			}
			longest = max(longest, cells)
		}
		if rows*longest > maxCells {
			return code, errTable
		}
	}
	for _, pre := range blocks {
		unquote(pre)
	}
	return code, nil
}

// unquote moves a block of code out of the quotations around it, whose parts before it
// stay: the lines of a block cannot be marked as quoted.
func unquote(pre *html.Node) {
	levels, outermost := 0, 0
	for p := pre.Parent; p != nil; p = p.Parent {
		if levels++; p.Data == "blockquote" {
			outermost = levels
		}
	}
	if outermost > maxQuoted {
		return
	}
	for range outermost {
		around := pre.Parent
		before := &html.Node{Type: around.Type, Data: around.Data, DataAtom: around.DataAtom, Attr: around.Attr}
		for c := around.FirstChild; c != pre; c = around.FirstChild {
			around.RemoveChild(c)
			before.AppendChild(c)
		}
		around.RemoveChild(pre)
		if before.FirstChild != nil {
			around.Parent.InsertBefore(before, around)
		}
		around.Parent.InsertBefore(pre, around)
	}
}

// mark writes a mention's or a hashtag's name after its sign.
func mark(sign string, e *html.Node) {
	name := strings.TrimLeft(strings.TrimSpace(webpage.Text(e)), "@#")
	webpage.Replace(e, webpage.TextNode(sign+name))
}

// preview reduces the preview of a page to its title as a link.
func preview(e *html.Node) {
	address, heading, title := webpage.Attr(e, "data-onebox-src"), "", ""
	for link := range webpage.Elements(e) {
		if link.Data != "a" {
			continue
		}
		address = cmp.Or(address, webpage.Attr(link, "href"))
		title = cmp.Or(title, webpage.Line(link))
		if webpage.Within(link, "h3", "h4") {
			heading = cmp.Or(heading, webpage.Line(link))
		}
	}
	if address == "" {
		webpage.Remove(e)
		return
	}
	link := webpage.Element("a", webpage.TextNode(cmp.Or(heading, title, address)))
	link.Attr = []html.Attribute{{Key: "href", Val: address}}
	webpage.Replace(e, webpage.Element("p", link))
}
