package webpage

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// maxReopened bounds how many elements a parser may have to make up.
const maxReopened = 5_000_000

// parse parses HTML. The parser refuses what is nested too deep; what it does
// not bound is refused here.
func parse(s string) (*html.Node, error) {
	if reopened(s) > maxReopened {
		return nil, fmt.Errorf("%w: too many open elements of formatting", ErrNoPage)
	}
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	return root, nil
}

// formatting are the elements that HTML opens again in every block that
// begins before they are closed (HTML, 13.2.4.3). A thousand of them before
// a thousand paragraphs are a million elements.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true, "small": true,
	"strike": true, "strong": true, "tt": true, "u": true,
}

// reopened is an upper bound of how many elements of formatting are opened
// again.
func reopened(s string) (n int) {
	open := 0
	tokens := html.NewTokenizer(strings.NewReader(s))
	for {
		kind := tokens.Next()
		switch kind {
		case html.ErrorToken:
			if tokens.Err() == io.EOF {
				return n
			}
			return maxReopened + 1
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			name, _ := tokens.TagName()
			switch {
			case !formatting[string(name)]:
				n += open
			case kind == html.EndTagToken:
				open = max(0, open-1)
			default:
				open++
			}
		}
	}
}
