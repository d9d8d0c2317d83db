package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/textproto"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"almanac/text/webpage"
)

// Limits of a message. Anything beyond them is not read.
const (
	maxText    = 1 << 20 // bytes of a text part
	maxEncoded = 3 * maxText
	maxParts   = 200
	maxDepth   = 10 // nesting of parts
)

// bodies collects the parts of a message. It reads line by line, so that no part
// is held but the one that is read, and a part without an end ends where one around
// it goes on.
type bodies struct {
	in         *bufio.Reader
	inLine     bool     // the start of the line is read
	boundaries []string // of the multiparts that are open, outermost first

	plain, html strings.Builder
	files       []string
	parts       int
	fault       error
}

// end is what ended a part: a boundary of an open multipart, or the message.
type end struct {
	level int  // of the multipart, from 0; -1: the message
	last  bool // the multipart ends
}

// read reads a part behind its header.
func (b *bodies) read(h textproto.MIMEHeader) end {
	kind, params := mediaType(cmp.Or(h.Get("Content-Type"), "text/plain"))
	if b.parts++; strings.HasPrefix(kind, "multipart/") && len(b.boundaries) < maxDepth {
		return b.multipart(params["boundary"])
	}
	raw, ended := b.content()
	disposition, names := mediaType(h.Get("Content-Disposition"))
	name := cmp.Or(names["filename"], params["name"])
	attached := disposition == "attachment" || name != ""
	switch {
	case b.parts > maxParts || strings.HasPrefix(kind, "multipart/"):
	case !attached && kind == "text/html":
		appendPart(&b.html, b.decoded(raw, h, kind, params["charset"]))
	case !attached && (kind == "text/plain" || !strings.Contains(kind, "/")):
		text := b.decoded(raw, h, "text/plain", params["charset"])
		if strings.EqualFold(params["format"], "flowed") {
			text = unflow(text, strings.EqualFold(params["delsp"], "yes"))
		}
		appendPart(&b.plain, text)
	case !slices.Contains(wrappers, kind):
		b.attach(name, kind)
	}
	return ended
}

func (b *bodies) multipart(boundary string) end {
	level := len(b.boundaries)
	b.boundaries = append(b.boundaries, cmp.Or(strings.TrimRight(boundary, " \t"), b.firstBoundary()))
	_, ended := b.content() // for programs that do not know of parts
	for ended.level == level && !ended.last {
		h, at := b.head()
		if ended = at; at == inPart {
			ended = b.read(h)
		}
	}
	b.boundaries = b.boundaries[:level]
	switch {
	case ended.level == level:
		_, ended = b.content() // below the last part
	case ended.level < 0:
		b.fault = errors.Join(b.fault, io.ErrUnexpectedEOF)
	}
	return ended
}

// firstBoundary returns the boundary of a multipart whose header does not give it:
// what the first line has behind two hyphens.
func (b *bodies) firstBoundary() string {
	start, _ := b.in.Peek(200)
	line, _, _ := bytes.Cut(bytes.TrimLeft(start, "\r\n"), []byte("\n"))
	if rest, ok := bytes.CutPrefix(line, []byte("--")); ok {
		return string(bytes.TrimRight(rest, " \t\r"))
	}
	return ""
}

// inPart is no end.
var inPart = end{level: maxDepth}

// partStart matches the start of a part with a header, if only an empty one. Text
// begins at once in a part that somebody wrote without the line between.
var partStart = regexp.MustCompile(`^(?:--|\r?\n|[!-9;-~]+[ \t]*:)`)

// head reads the header of a part.
func (b *bodies) head() (textproto.MIMEHeader, end) {
	if start, _ := b.in.Peek(200); !partStart.Match(start) {
		return nil, inPart
	}
	return b.fields()
}

// fields reads a header up to its end.
func (b *bodies) fields() (textproto.MIMEHeader, end) {
	var raw bytes.Buffer
	for {
		line, ended := b.line()
		if ended != inPart || len(bytes.TrimRight(line, "\r\n")) == 0 || raw.Len()+len(line) > maxHeader {
			return readHeader(raw.Bytes()), ended
		}
		raw.Write(line)
	}
}

// line reads a line, or the beginning of a long one, unless it is a boundary.
func (b *bodies) line() ([]byte, end) {
	line, err := b.in.ReadSlice('\n')
	if len(line) == 0 {
		if err != io.EOF {
			b.fault = errors.Join(b.fault, err)
		}
		return nil, end{level: -1}
	}
	starts := !b.inLine
	b.inLine = line[len(line)-1] != '\n'
	if rest, ok := bytes.CutPrefix(line, []byte("--")); ok && starts {
		rest = bytes.TrimRight(rest, " \t\r\n")
		for level, boundary := range slices.Backward(b.boundaries) {
			if after, ok := strings.CutPrefix(string(rest), boundary); ok && (after == "" || after == "--") {
				return nil, end{level, after != ""}
			}
		}
	}
	return line, inPart
}

// content reads a part to its end, and returns as much of it as is read.
func (b *bodies) content() ([]byte, end) {
	var raw []byte
	for {
		line, ended := b.line()
		if ended != inPart {
			return raw, ended
		}
		raw = append(raw, line[:min(len(line), maxEncoded-len(raw))]...)
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

func appendPart(to *strings.Builder, text string) {
	if to.Len() > 0 {
		to.WriteString("\n\n")
	}
	to.WriteString(text)
}

// decoded reads a text part as UTF-8. If its transfer encoding has an error that
// cannot be passed over, the text before the error is kept.
func (b *bodies) decoded(raw []byte, h textproto.MIMEHeader, kind, label string) string {
	switch encoded.FindString(strings.ToLower(h.Get("Content-Transfer-Encoding"))) {
	case "quoted-printable":
		raw = unquotedPrintable(raw)
	case "base64":
		data, below, _ := bytes.Cut(bytes.Join(bytes.Fields(raw), nil), []byte("="))
		n, err := base64.RawStdEncoding.Decode(data, data)
		if err == nil && len(bytes.TrimLeft(below, "=")) > 0 {
			err = errors.New("text below base64") // lists append their footers so
		}
		b.fault = errors.Join(b.fault, err)
		raw = data[:n]
	}
	if label = encodingName(label); label != "" {
		kind += "; charset=" + label
	}
	return webpage.Decode(raw[:min(len(raw), maxText)], kind)
}

var encoded = regexp.MustCompile(`[a-z0-9-]+`)

// unquotedPrintable decodes quoted-printable text (RFC 2045, 6.7). What is no
// such text stands for itself.
func unquotedPrintable(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for line := range bytes.Lines(raw) {
		text := bytes.TrimRight(line, " \t\r\n") // a blank at the end of a line was added on the way
		rest, soft := bytes.CutSuffix(text, []byte("="))
		for i := 0; i < len(rest); i++ {
			if rest[i] == '=' && i+2 < len(rest) {
				if b, err := hex.DecodeString(string(rest[i+1 : i+3])); err == nil {
					out = append(out, b...)
					i += 2
					continue
				}
			}
			out = append(out, rest[i])
		}
		if !soft && line[len(line)-1] == '\n' {
			out = append(out, '\n')
		}
	}
	return out
}

// mediaType reads a field such as Content-Type. In one that violates the syntax
// what has the shape of a parameter is one, and the first of several counts.
func mediaType(value string) (kind string, params map[string]string) {
	kind, params, err := mime.ParseMediaType(value)
	if err == nil {
		return kind, params
	}
	value = strings.TrimLeft(value, " \t;")
	at := strings.IndexAny(value+";", " \t;")
	var mended strings.Builder
	mended.WriteString(value[:at])
	met := map[string]bool{}
	for _, m := range parameter.FindAllStringSubmatch(value[at:], -1) {
		name := strings.ToLower(m[1])
		if !met[name] {
			met[name] = true
			mended.WriteString("; " + name + `="` + m[2] + strings.TrimSpace(quotes.Replace(m[3])) + `"`)
		}
	}
	kind, params, _ = mime.ParseMediaType(mended.String())
	return kind, params
}

var (
	// A quotation that does not end, ends with the field.
	parameter = regexp.MustCompile(`([!#$%&*+.^_|~0-9A-Za-z-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)|([^;"]*))`)
	quotes    = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

var codePage = regexp.MustCompile(`^(?:cp|ms|win|windows|ibm)[-_]?(\d{3,5})$`)

// encodingName returns a name of an encoding as the standard has it, "" if it is
// not known: mail programs have names of their own.
func encodingName(label string) string {
	label = strings.ToLower(strings.Trim(label, " \t'\""))
	if m := codePage.FindStringSubmatch(label); m != nil {
		label = cmp.Or(map[string]string{"65001": "utf-8", "866": "ibm866", "932": "shift_jis", "936": "gbk",
			"949": "euc-kr", "950": "big5"}[m[1]], "windows-"+m[1])
	}
	for _, name := range []string{label, strings.ReplaceAll(label, "_", "-")} {
		if known, _ := charset.Lookup(name); known != nil {
			return name
		}
	}
	return ""
}
