package webpage

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// maxReopened limits how many elements the parser may have to create.
const maxReopened = 5_000_000

// parse parses HTML. The parser rejects deep nesting; what it does not limit is
// rejected here.
func parse(s string) (*html.Node, error) {
	if reopened(s) > maxReopened {
		return nil, fmt.Errorf("%w: too many open formatting elements", ErrNoPage)
	}
	root, err := html.Parse(strings.NewReader(s))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	return root, nil
}

// formatting are the elements that HTML reopens in every block that begins
// before they are closed (HTML, 13.2.4.3). A thousand of them before a thousand
// paragraphs make a million elements.
var formatting = map[string]bool{
	"a": true, "b": true, "big": true, "code": true, "em": true, "font": true, "i": true, "nobr": true, "s": true,
	"small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

// reopened returns an upper bound of the number of reopened formatting
// elements.
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
