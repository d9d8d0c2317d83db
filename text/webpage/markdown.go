package webpage

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"almanac/text/markup"
)

// toMarkdown escapes nothing: the text is for searching and reading, where
// snake_case should stay as it is.
var toMarkdown = sync.OnceValue(func() *converter.Converter {
	return converter.NewConverter(
		converter.WithEscapeMode(converter.EscapeModeDisabled),
		converter.WithPlugins(
			base.NewBasePlugin(),
			commonmark.NewCommonmarkPlugin(commonmark.WithListEndComment(false),
				commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip)),
			table.NewTablePlugin(table.WithHeaderPromotion(true), table.WithSkipEmptyRows(true),
				table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)),
		),
	)
})

// The angle brackets of text are veiled during the conversion, which would
// otherwise write them as entities.
const veiledLess, veiledGreater = '\uE0F1', '\uE0F2'

var (
	own        = []string{string(veiledLess), "", string(veiledGreater), ""} // what a page has of them is dropped
	dropOwn    = strings.NewReplacer(own...)
	veilText   = strings.NewReplacer(append(own, "<", string(veiledLess), ">", string(veiledGreater))...)
	unveilText = strings.NewReplacer(string(veiledLess), "<", string(veiledGreater), ">")
)

// veil hides the angle brackets of text with a replacer; those of code stay.
func veil(n *html.Node, text *strings.Replacer) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.TextNode {
			c.Data = text.Replace(c.Data)
			continue
		}
		for i := range c.Attr {
			c.Attr[i].Val = dropOwn.Replace(c.Attr[i].Val)
		}
		if c.Data == "code" || c.Data == "pre" {
			veil(c, dropOwn)
		} else {
			veil(c, text)
		}
	}
}

var (
	lineEnd    = regexp.MustCompile(`[ \t]+\n`)
	emptyLines = regexp.MustCompile(`\n{4,}`)
)

// render writes prepared HTML as Markdown.
func render(n *html.Node) (string, error) {
	out, err := toMarkdown().ConvertNode(n)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	s := markup.Clean(unveilText.Replace(string(out)))
	s = emptyLines.ReplaceAllString(lineEnd.ReplaceAllString(s, "\n"), "\n\n\n")
	return strings.Trim(s, "\n"), nil
}
