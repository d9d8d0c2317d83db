// Package webpage reads untrusted web pages: their content as Markdown with "#"
// headings and ``` fences, and the metadata in their head (canonical address,
// dates, authors). It also reads sitemaps, makes feeds readable and compares
// addresses. It makes no requests and never fails on bad markup, only on bytes
// that are not a page at all.
package webpage

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// maxBytes is the maximum size of a page.
const maxBytes = 4 << 20

// ErrNoPage: the bytes are not a readable page.
var ErrNoPage = errors.New("not a readable page")

// Page is the content of a web page.
type Page struct {
	Title       string // its heading or, without one, the title in its head
	Description string
	Canonical   string // canonical address in the page; "" if missing or not a web address
	Authors     []string
	Image       string
	Language    string // BCP 47
	Tags        []string
	Published   time.Time // zero if unknown
	Modified    time.Time
	Hidden      bool   // excluded from indexing
	Body        string // Markdown; links and images have absolute addresses
}

// Parse reads a page: its bytes, the Content-Type they came with and the
// address they were read from.
func Parse(data []byte, contentType, address string) (Page, error) {
	if len(data) > maxBytes {
		return Page{}, fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrNoPage, len(data), maxBytes)
	}
	root, err := parse(Decode(data, contentType))
	if err != nil {
		return Page{}, err
	}
	base, err := url.Parse(address)
	if err != nil {
		return Page{}, fmt.Errorf("%w: its address is invalid", ErrNoPage)
	}
	h := readHead(root, base)
	p := h.page
	body, heading := content(root, h.base)
	if p.Body, err = render(body); err != nil {
		return Page{}, err
	}
	if heading != "" {
		p.Title = heading
	}
	return p, nil
}

// Markdown converts a piece of HTML, such as a feed's item, whose links are
// relative to an address. The edits change its body before.
func Markdown(fragment, address string, edits ...func(body *html.Node) error) (string, error) {
	if len(fragment) > maxBytes {
		return "", fmt.Errorf("%w: it has %d bytes, the limit is %d", ErrNoPage, len(fragment), maxBytes)
	}
	root, err := parse(fragment)
	if err != nil {
		return "", err
	}
	base, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%w: its address is invalid", ErrNoPage)
	}
	body := find(root, "body")
	if body == nil {
		return "", nil
	}
	for _, edit := range edits {
		if err := edit(body); err != nil {
			return "", err
		}
	}
	shape(body, base)
	return render(body)
}

// Plain returns the text of a line that may contain HTML, such as a feed's
// title.
func Plain(s string) string {
	if strings.ContainsAny(s, "<&") {
		if root, err := parse(s); err == nil {
			s = Text(root)
		}
	}
	return strings.Join(strings.Fields(s), " ")
}
