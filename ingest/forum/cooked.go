package forum

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"almanac/text/webpage"
)

// Limits of a post. Forums allow some ten thousand characters, and in Markdown
// every row of a table is padded to the longest.
const (
	maxCooked = 1 << 20 // bytes of HTML
	maxCells  = 100_000 // of its tables: rows by longest row
	maxQuoted = 8       // nesting of quotations around code
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
	t := tidier{in: html.NewTokenizer(strings.NewReader(cooked))}
	if err := t.run(); err != nil {
		return "", 0, err
	}
	text, err = webpage.Markdown(t.out.String(), base+"/")
	if err != nil {
		return "", 0, fmt.Errorf("its HTML cannot be read: %w", err)
	}
	return strings.TrimSpace(text), t.code, nil
}

// noise are the classes of elements that are not part of the written text.
var noise = []string{
	"quote-controls", "avatar", "onebox-metadata", "clicks", "meta", "anchor",
	"poll-info", "poll-buttons", "elided", "expand", "svg-icon",
}

// noLanguage are the classes of code without a known language.
var noLanguage = []string{"lang-auto", "lang-nohighlight"}

// tidier converts the forum's own elements to plain HTML, token by token.
type tidier struct {
	in     *html.Tokenizer
	out    strings.Builder
	code   int // blocks of code
	pre    int // open pre elements
	quotes int // open quotations

	rows, cells, longest int // of tables
}

func (t *tidier) run() error {
	for {
		switch t.in.Next() {
		case html.ErrorToken:
			if err := t.in.Err(); err != io.EOF {
				return fmt.Errorf("its HTML cannot be read: %w", err)
			}
			return nil
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(t.in.Raw())
			t.open(raw, t.in.Token())
		case html.EndTagToken:
			raw := string(t.in.Raw())
			t.close(raw, t.in.Token().Data)
		default:
			t.out.Write(t.in.Raw())
		}
		if t.rows*t.longest > maxCells {
			return errTable
		}
	}
}

func (t *tidier) open(raw string, tag html.Token) {
	switch {
	case classed(tag, noise...):
		t.inner(tag)
	case classed(tag, "mention", "mention-group"):
		t.mark("@", tag)
	case classed(tag, "hashtag", "hashtag-cooked"):
		t.mark("#", tag)
	case tag.Data == "aside" && classed(tag, "onebox"):
		t.preview(tag)
	case tag.Data == "aside": // a quotation and its author
		t.out.WriteString("<div>")
	case tag.Data == "code" && t.pre == 0:
		text := t.inner(tag)
		if strings.Contains(text, "\n") {
			t.code++
			t.out.WriteString("<pre><code>" + html.EscapeString(text) + "</code></pre>")
			return
		}
		t.out.WriteString("<code>" + html.EscapeString(text) + "</code>")
	case tag.Data == "code" && classed(tag, noLanguage...):
		t.out.WriteString("<code>")
	default:
		t.count(tag.Data)
		if tag.Data == "pre" { // code splits a quotation: the lines of a block cannot be marked as quoted
			raw = strings.Repeat("</blockquote>", t.quotes) + raw
		}
		t.out.WriteString(raw)
	}
}

// count counts open elements, blocks of code, and rows and cells of tables.
func (t *tidier) count(name string) {
	switch name {
	case "blockquote":
		t.quotes = min(t.quotes+1, maxQuoted)
	case "pre":
		t.code++
		t.pre++
	case "tr":
		t.rows++
		t.cells = 0
	case "td", "th":
		t.cells++
		t.longest = max(t.longest, t.cells)
	}
}

func (t *tidier) close(raw, name string) {
	switch name {
	case "aside":
		raw = "</div>"
	case "blockquote":
		t.quotes = max(0, t.quotes-1)
	case "pre":
		t.pre = max(0, t.pre-1)
		raw += strings.Repeat("<blockquote>", t.quotes)
	}
	t.out.WriteString(raw)
}

// mark writes a mention's or a hashtag's name after its sign.
func (t *tidier) mark(sign string, tag html.Token) {
	name := strings.TrimLeft(strings.TrimSpace(t.inner(tag)), "@#")
	t.out.WriteString(html.EscapeString(sign + name))
}

// inner reads to the end of an element and returns the text in it.
func (t *tidier) inner(tag html.Token) string {
	var text strings.Builder
	t.within(tag, func(token html.Token) {
		if token.Type == html.TextToken {
			text.WriteString(token.Data)
		}
	})
	return text.String()
}

// void are the elements without an end tag.
var void = []string{
	"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
}

// within passes on the tokens in an element.
func (t *tidier) within(tag html.Token, visit func(html.Token)) {
	if tag.Type == html.SelfClosingTagToken || slices.Contains(void, tag.Data) {
		return
	}
	for depth := 1; depth > 0; {
		switch t.in.Next() {
		case html.ErrorToken:
			return
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken, html.TextToken:
		default:
			continue
		}
		token := t.in.Token()
		if token.Data == tag.Data && token.Type == html.StartTagToken {
			depth++
		} else if token.Data == tag.Data && token.Type == html.EndTagToken {
			depth--
		}
		visit(token)
	}
}

// preview reduces the preview of a page to its title as a link.
func (t *tidier) preview(tag html.Token) {
	address := attribute(tag, "data-onebox-src")
	var title, link, heading strings.Builder // text of the first link, the current link and the heading
	inLink, inHeading := false, false
	t.within(tag, func(token html.Token) {
		starts := token.Type == html.StartTagToken
		switch {
		case token.Type == html.TextToken && inLink:
			link.WriteString(token.Data)
			if inHeading {
				heading.WriteString(token.Data)
			}
		case token.Type == html.TextToken:
		case token.Data == "a":
			if inLink = starts; starts {
				link.Reset()
				address = cmp.Or(address, attribute(token, "href"))
			} else if strings.TrimSpace(title.String()) == "" {
				title.WriteString(link.String())
			}
		case token.Data == "h3" || token.Data == "h4":
			inHeading = starts && heading.Len() == 0
		}
	})
	if address == "" {
		return
	}
	text := cmp.Or(strings.TrimSpace(heading.String()), strings.TrimSpace(title.String()), address)
	fmt.Fprintf(&t.out, "<p><a href=\"%s\">%s</a></p>", html.EscapeString(address), html.EscapeString(text))
}

func classed(tag html.Token, names ...string) bool {
	classes := strings.Fields(attribute(tag, "class"))
	return slices.ContainsFunc(classes, func(class string) bool { return slices.Contains(names, class) })
}

func attribute(tag html.Token, key string) string {
	for _, a := range tag.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
