package mail

import (
	"bytes"
	"cmp"
	"io"
	"mime"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"almanac/text/dates"
	"almanac/text/webpage"
)

// readHeader reads the fields of a message's header and skips lines that are
// not fields: archives keep the mistakes of mail programs.
func readHeader(raw []byte) textproto.MIMEHeader {
	h := textproto.MIMEHeader{}
	var open string // the field that may continue; "" for none
	var value strings.Builder
	end := func() {
		if open != "" {
			h.Add(open, strings.TrimSpace(value.String()))
		}
		open = ""
		value.Reset()
	}
	for line := range bytes.Lines(raw) {
		switch line = bytes.TrimRight(line, "\r\n"); {
		case len(bytes.TrimSpace(line)) == 0:
			continue
		case line[0] == ' ' || line[0] == '\t':
		case fieldStart.Match(line) && line[0] != '>':
			end()
			var name []byte
			name, line, _ = bytes.Cut(line, []byte(":"))
			open = string(bytes.TrimRight(name, " \t"))
		default:
			end()
		}
		value.WriteByte(' ')
		value.Write(bytes.Trim(line, " \t"))
	}
	end()
	return h
}

// words decodes the encoded words of header fields (RFC 2047).
var words = mime.WordDecoder{CharsetReader: func(label string, in io.Reader) (io.Reader, error) {
	return charset.NewReaderLabel(encodingName(label), in)
}}

// field returns the text of a header field on one line.
func field(h textproto.MIMEHeader, name string) string { return decoded(h.Get(name)) }

func decoded(s string) string {
	if !utf8.ValidString(s) {
		s = webpage.Decode([]byte(s), "text/plain")
	}
	if text, err := words.DecodeHeader(s); err == nil {
		s = text
	}
	return strings.Join(strings.Fields(s), " ")
}

var messageID = regexp.MustCompile(`<[^<>\s]+>`)

// ids returns the message ids in a header field.
func ids(h textproto.MIMEHeader, name string) []string {
	all := messageID.FindAllString(h.Get(name), maxReferences)
	for i, id := range all {
		all[i] = strings.Trim(id, "<>")
	}
	return all
}

// maxReferences is the number of messages read from a References field.
const maxReferences = 1000

// id returns the id of the message; "" if it has none.
func id(h textproto.MIMEHeader) string {
	if own := ids(h, "Message-Id"); len(own) > 0 {
		return own[0]
	}
	return strings.TrimSpace(h.Get("Message-Id"))
}

// sent returns when a message was sent, according to its Date field or else the
// servers that relayed it. Zero if unknown.
func sent(h textproto.MIMEHeader, from string, now time.Time) time.Time {
	received := h.Get("Received")
	received = received[strings.LastIndexByte(received, ';')+1:]
	for _, text := range []string{h.Get("Date"), received, envelopeDate.FindString(from)} {
		at := dates.At(text, dates.Instant|dates.Local|dates.Free)
		if at.Year() >= 1990 && at.Before(now.Add(48*time.Hour)) {
			return at
		}
	}
	return time.Time{}
}

var envelopeDate = regexp.MustCompile(`[A-Z][a-z]{2} [A-Z][a-z]{2} +\d+ .*$`)

// person is the sender of a message.
type person struct {
	name    string // "" if only the address is known
	address string // "" if the list hides it
}

var (
	addresses  = mail.AddressParser{WordDecoder: &words}
	angled     = regexp.MustCompile(`^(.*?)<([^<>\s]+@[^<>\s]+)>`)
	commented  = regexp.MustCompile(`^(\S+@\S+|\S+ at \S+) +\((.*)\)$`)
	viaList    = regexp.MustCompile(`(?i)\s+via\s+\S.*$`)
	hideAt     = strings.NewReplacer(" at ", "@", " (at) ", "@", " _at_ ", "@")
	nameQuotes = `"' `
)

// sender reads the From field. Lists that send under their own address ("Jane
// via the-list <the-list@…>") hide the sender's.
func sender(h textproto.MIMEHeader) person {
	raw := h.Get("From")
	var p person
	if a, err := addresses.Parse(raw); err == nil {
		p = person{a.Name, a.Address}
	} else if m := angled.FindStringSubmatch(decoded(raw)); m != nil {
		p = person{m[1], m[2]}
	} else if m := commented.FindStringSubmatch(decoded(raw)); m != nil {
		p = person{m[2], hideAt.Replace(m[1])}
	} else if text := decoded(raw); strings.Contains(hideAt.Replace(text), "@") {
		p = person{"", hideAt.Replace(text)}
	} else {
		p = person{name: text}
	}
	p.name = strings.Trim(strings.Join(strings.Fields(p.name), " "), nameQuotes)
	if via := viaList.FindString(p.name); via != "" {
		p = person{name: strings.Trim(strings.TrimSuffix(p.name, via), nameQuotes)}
	}
	if strings.Contains(p.name, "@") { // an address instead of a name
		p.address, p.name = cmp.Or(p.address, p.name), ""
	}
	return p
}

// key identifies a sender.
func (p person) key() string {
	if p.address != "" {
		return strings.ToLower(p.address)
	}
	return strings.ToLower(p.name)
}

var (
	replyMark = regexp.MustCompile(`(?i)^(?:re|aw|sv|antw|odp|vs|回复|答复)(?:\[\d+\])?\s*[:：]\s*`)
	copyMark  = regexp.MustCompile(`(?i)^(?:fwd?|wg|tr)\s*[:：]\s*`)
	tag       = regexp.MustCompile(`^\[([^\[\]]*)\]\s*`)
)

// subject reads a Subject field. It strips the prefixes of replies and the tags
// added by lists and mail programs, and reports whether it is a reply.
func subject(h textproto.MIMEHeader, group string) (base string, reply bool) {
	base = field(h, "Subject")
	for {
		before := base
		if rest := replyMark.ReplaceAllString(base, ""); rest != base {
			base, reply = rest, true
		}
		base = copyMark.ReplaceAllString(base, "")
		if m := tag.FindStringSubmatch(base); m != nil && (strings.EqualFold(m[1], group) ||
			strings.EqualFold(m[1], "external") || strings.EqualFold(m[1], "ext")) {
			base = base[len(m[0]):]
		}
		if base == before {
			return base, reply
		}
	}
}
