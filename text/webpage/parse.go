package webpage

import (
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/net/html"
)

const (
	// maxReopened limits how many elements the parser may have to create.
	maxReopened = 5_000_000
	// maxTime is for a page; the largest take some tenths of one. Between tags that
	// it ignores the parser copies the text so far for every further piece.
	maxTime = 5 * time.Second
)

// parse parses HTML. The parser rejects deep nesting; what it does not limit is
// rejected here.
func parse(s string) (*html.Node, error) { return parseUntil(s, time.Now().Add(maxTime)) }

func parseUntil(s string, deadline time.Time) (*html.Node, error) {
	if reopened(s) > maxReopened {
		return nil, fmt.Errorf("%w: too many open formatting elements", ErrNoPage)
	}
	root, err := html.Parse(&until{strings.NewReader(s), deadline})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPage, err)
	}
	return root, nil
}

// until is a reader that fails after its deadline. The parser reads some kilobytes at a
// time.
type until struct {
	io.Reader
	deadline time.Time
}

func (u *until) Read(p []byte) (int, error) {
	if time.Now().After(u.deadline) {
		return 0, fmt.Errorf("it takes more than %v to parse", maxTime)
	}
	return u.Reader.Read(p)
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
