package mail

import (
	"bufio"
	"errors"
	"net/textproto"
	"slices"
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
	return slices.ContainsFunc(t.Attr, func(a html.Attribute) bool {
		return a.Key == "class" && slices.ContainsFunc(strings.Fields(a.Val), func(c string) bool {
			return c == "gmail_quote" || c == "yahoo_quoted" || c == "moz-cite-prefix"
		})
	})
}
