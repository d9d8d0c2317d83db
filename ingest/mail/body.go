package mail

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/emersion/go-message"
	"golang.org/x/net/html"

	"almanac/text/webpage"
)

// Limits of a message. Anything beyond them is not read.
const (
	maxText  = 1 << 20 // bytes of a text part
	maxParts = 200
	maxDepth = 10 // nesting of parts
)

// letter is a parsed message.
type letter struct {
	header      message.Header
	text        string   // written by the sender
	attachments []string // file names
	fault       error    // why a part of it could not be read
}

// readHead reads the header of a message in an mbox file, up to its text.
func readHead(in *bufio.Reader) (message.Header, error) {
	var raw bytes.Buffer
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return message.Header{}, err
		}
		if len(bytes.TrimRight(line, "\r\n")) == 0 || raw.Len()+len(line) > maxHeader {
			return readHeader(raw.Bytes()), nil
		}
		raw.Write(line)
		if err == io.EOF {
			return readHeader(raw.Bytes()), nil
		}
	}
}

// readLetter reads a message in an mbox file.
func readLetter(in *bufio.Reader) (letter, error) {
	h, err := readHead(in)
	if err != nil {
		return letter{}, err
	}
	l := letter{header: h}
	e, err := message.New(l.header, in)
	if err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		l.fault = err
	}
	b := bodies{}
	b.read(e, 0)
	if l.fault == nil {
		l.fault = b.fault
	}
	l.text, l.attachments = b.text(), b.files
	return l, nil
}

// bodies collects the parts of a message.
type bodies struct {
	plain, html strings.Builder
	files       []string
	parts       int
	fault       error
}

func (b *bodies) read(e *message.Entity, depth int) {
	if b.parts++; b.parts > maxParts {
		return
	}
	kind, params, _ := e.Header.ContentType()
	kind = strings.ToLower(kind)
	if parts := e.MultipartReader(); parts != nil {
		for depth < maxDepth && b.parts <= maxParts {
			part, err := parts.NextPart()
			if part == nil {
				if err != io.EOF {
					b.fault = errors.Join(b.fault, err)
				}
				return
			}
			b.read(part, depth+1)
		}
		return
	}
	disposition, names, _ := e.Header.ContentDisposition()
	name := names["filename"]
	if name == "" {
		name = params["name"]
	}
	attached := strings.EqualFold(disposition, "attachment") || name != ""
	switch {
	case !attached && kind == "text/html":
		b.add(&b.html, e, kind, params["charset"])
	case !attached && (kind == "text/plain" || !strings.Contains(kind, "/")):
		text := b.decoded(e, "text/plain", params["charset"])
		if strings.EqualFold(params["format"], "flowed") {
			text = unflow(text, strings.EqualFold(params["delsp"], "yes"))
		}
		appendPart(&b.plain, text)
	case !slices.Contains(wrappers, kind):
		b.attach(name, kind)
	}
}

// wrappers are parts without content of their own.
var wrappers = []string{"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature",
	"application/pgp-encrypted", "text/x-amp-html"}

func (b *bodies) attach(name, kind string) {
	name = path.Base(strings.ReplaceAll(strings.TrimSpace(decoded(name)), `\`, "/"))
	if name == "." || name == "/" {
		name = kind
	}
	if !slices.Contains(b.files, name) {
		b.files = append(b.files, name)
	}
}

func (b *bodies) add(to *strings.Builder, e *message.Entity, kind, charset string) {
	appendPart(to, b.decoded(e, kind, charset))
}

func appendPart(to *strings.Builder, text string) {
	if to.Len() > 0 {
		to.WriteString("\n\n")
	}
	to.WriteString(text)
}

// decoded reads a text part as UTF-8. If its transfer encoding has an error,
// the text before the error is kept.
func (b *bodies) decoded(e *message.Entity, kind, charset string) string {
	data, err := io.ReadAll(io.LimitReader(e.Body, maxText))
	if err != nil {
		b.fault = errors.Join(b.fault, err)
	}
	if charset != "" {
		kind += "; charset=" + charset
	}
	return webpage.Decode(data, kind)
}

// text returns the message's plain text, or else the text of its HTML.
func (b *bodies) text() string {
	plain := own(b.plain.String())
	if strings.TrimSpace(plain) != "" || b.html.Len() == 0 {
		return plain
	}
	text, err := webpage.Markdown(untabled(b.html.String()), "")
	if err != nil {
		b.fault = errors.Join(b.fault, err)
		return ""
	}
	return own(text)
}

// untabled turns tables and their cells into blocks: mail programs use them for
// layout. It also removes what mail programs mark as the quoted message.
func untabled(s string) string {
	var out strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(s))
	quoted := 0 // open elements since the quotation began
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return out.String()
		}
		raw := string(tokens.Raw())
		token := tokens.Token()
		starts, ends := kind == html.StartTagToken, kind == html.EndTagToken
		if starts || ends {
			switch token.Data {
			case "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption":
				raw = "<div>"
				if ends {
					raw = "</div>"
				}
			}
		}
		switch {
		case token.Data != "div" || kind == html.TextToken:
		case quoted > 0 && starts:
			quoted++
		case quoted > 0 && ends:
			if quoted--; quoted == 0 {
				continue
			}
		case starts && answered(token):
			quoted = 1
		}
		if quoted == 0 {
			out.WriteString(raw)
		}
	}
}

// answered reports whether a mail program uses the element for the quoted
// message.
func answered(t html.Token) bool {
	for _, a := range t.Attr {
		if a.Key == "class" && slices.ContainsFunc(strings.Fields(a.Val), func(c string) bool {
			return c == "gmail_quote" || c == "yahoo_quoted" || c == "moz-cite-prefix"
		}) {
			return true
		}
	}
	return false
}
