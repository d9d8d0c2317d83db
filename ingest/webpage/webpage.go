// Package webpage reads web pages that strangers wrote: what a page is about
// as Markdown with "#" headings and ``` fences, and what its head says of it
// (canonical address, dates, authors). It also reads sitemaps, makes
// feeds readable and compares addresses. It asks no server and never fails for bad markup, only for bytes
// that are no page at all.
package webpage

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// maxBytes is the size of the largest page that is read.
const maxBytes = 4 << 20

// ErrNoPage: the bytes are no readable page.
var ErrNoPage = errors.New("no readable page")

// Page is what a web page says.
type Page struct {
	Title       string // its heading or, without one, what its head calls it
	Description string
	Canonical   string // address the page gives itself; "" if none or no web address
	Authors     []string
	Image       string
	Language    string // BCP 47
	Tags        []string
	Published   time.Time // zero: not said
	Modified    time.Time
	Hidden      bool   // asks not to be indexed
	Body        string // Markdown; links and images lead to whole addresses
}

// Parse reads a page: its bytes, the Content-Type they came with and the
// address they were read from.
func Parse(data []byte, contentType, address string) (Page, error) {
	if len(data) > maxBytes {
		return Page{}, fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrNoPage, len(data), maxBytes)
	}
	root, err := parse(Decode(data, contentType))
	if err != nil {
		return Page{}, err
	}
	base, err := url.Parse(address)
	if err != nil {
		return Page{}, fmt.Errorf("%w: its address is none", ErrNoPage)
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
// relative to an address.
func Markdown(fragment, address string) (string, error) {
	if len(fragment) > maxBytes {
		return "", fmt.Errorf("%w: it has %d bytes, at most %d are read", ErrNoPage, len(fragment), maxBytes)
	}
	root, err := parse(fragment)
	if err != nil {
		return "", err
	}
	base, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("%w: its address is none", ErrNoPage)
	}
	body := find(root, "body")
	if body == nil {
		return "", nil
	}
	shape(body, base)
	return render(body)
}

// Plain returns the text of a line that may hold HTML, as titles of feeds do.
func Plain(s string) string {
	if strings.ContainsAny(s, "<&") {
		if root, err := parse(s); err == nil {
			s = text(root)
		}
	}
	return strings.Join(strings.Fields(s), " ")
}
