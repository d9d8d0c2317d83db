package webpage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"almanac/text/markup"
)

// ErrXML: the bytes are not a complete XML document, or it is nested deeper
// than any real one.
var ErrXML = errors.New("not readable XML")

// maxNested is the maximum nesting of elements: feed parsers recurse.
const maxNested = 64

var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\?>`)
var declared = regexp.MustCompile(`encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// wide names encodings in which the declaration could not have been read.
var wide = regexp.MustCompile(`(?i)^(?:utf-?16|utf-?32|ucs-?[24])`)

// reference is a numeric character reference.
var reference = regexp.MustCompile(`&#(?:[xX]([0-9a-fA-F]{1,8})|([0-9]{1,8}));`)

// legal drops the characters, and the references to such, that XML does not allow
// (XML 1.0, 2.2) and writers let through.
func legal(s string) string {
	s = reference.ReplaceAllStringFunc(s, func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		n, base := m[1], 16
		if n == "" {
			n, base = m[2], 10
		}
		if code, err := strconv.ParseInt(n, base, 64); err != nil || !isLegal(rune(min(code, 1<<30))) {
			return ""
		}
		return ref
	})
	if strings.ContainsFunc(s, func(r rune) bool { return !isLegal(r) }) {
		s = strings.Map(func(r rune) rune {
			if isLegal(r) {
				return r
			}
			return -1
		}, s)
	}
	return s
}

func isLegal(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= unicode.MaxRune
}

// XML makes an untrusted XML document readable: in UTF-8 regardless of its
// declaration and Content-Type, without declaration and characters that are not
// allowed. It fails with ErrXML if the start or end is missing, so that half a
// list is not mistaken for a short one, and if it is not well-formed.
func XML(data []byte, contentType string) ([]byte, error) {
	data = XMLText(data, contentType)
	if !bytes.HasPrefix(data, []byte("<")) {
		return nil, fmt.Errorf("%w: it does not begin with a tag", ErrXML)
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	for depth := 0; ; {
		token, err := dec.RawToken()
		switch {
		case errors.Is(err, io.EOF) && depth > 0:
			return nil, fmt.Errorf("%w: it is cut off", ErrXML)
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrXML, err)
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
		if depth > maxNested {
			return nil, fmt.Errorf("%w: elements are nested deeper than %d", ErrXML, maxNested)
		}
	}
}

// XMLText is XML of a document that may not be well-formed.
func XMLText(data []byte, contentType string) []byte {
	head := data[:min(len(data), 256)]
	if label := declared.FindSubmatch(declaration.Find(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))); label != nil {
		contentType = "text/xml; charset=" + string(label[1])
		if wide.Match(label[1]) { // it would not have been readable
			contentType = "text/xml; charset=utf-8"
		}
	}
	data = []byte(legal(markup.Clean(Decode(data, contentType))))
	return bytes.TrimSpace(data[len(declaration.Find(data)):])
}
