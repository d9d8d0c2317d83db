package mail

import (
	"bufio"
	"errors"
	"net/textproto"
	"strings"

	"golang.org/x/net/html"

	"almanac/text/webpage"
)

// letter is a parsed message.
type letter struct {
	header      textproto.MIMEHeader
	text        string   // written by the sender
	attachments []string // file names
	fault       error    // why a part of it could not be read
}

// readHead reads the header of a message in an mbox file, up to its text.
func readHead(in *bufio.Reader) (textproto.MIMEHeader, error) {
	b := bodies{in: in}
	h, _ := b.fields()
	return h, b.fault
}

// readLetter reads a message in an mbox file.
func readLetter(in *bufio.Reader) (letter, error) {
	b := bodies{in: in}
	h, _ := b.fields()
	if b.fault != nil {
		return letter{}, b.fault
	}
	b.read(h)
	return letter{header: h, text: b.text(), attachments: b.files, fault: b.fault}, nil
}

// text returns the message's plain text, or else the text of its HTML.
func (b *bodies) text() string {
	plain := own(b.plain.String())
	if strings.TrimSpace(plain) != "" || b.html.Len() == 0 {
		return plain
	}
	text, err := webpage.Markdown(b.html.String(), "", untabled)
	if err != nil {
		b.fault = errors.Join(b.fault, err)
		return ""
	}
	return own(text)
}

// untabled turns tables and their cells into blocks: mail programs use them for
// layout. It also removes what mail programs mark as the quoted message.
func untabled(body *html.Node) error {
	for e := range webpage.Elements(body) {
		switch e.Data {
		case "table", "tbody", "thead", "tfoot", "tr", "td", "th", "caption":
			e.Data, e.DataAtom, e.Attr = "div", 0, nil
		case "div":
			if webpage.HasClass(e, "gmail_quote", "yahoo_quoted", "moz-cite-prefix") {
				webpage.Remove(e)
			}
		}
	}
	return nil
}
