package webpage

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"

	"almanac/ingest/markup"
)

// ErrXML: the bytes are not a complete XML document, or it is nested deeper
// than any real one.
var ErrXML = errors.New("not readable XML")

// maxNested is the maximum nesting of elements: feed parsers recurse.
const maxNested = 64

var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\?>`)
var declared = regexp.MustCompile(`encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// XML makes an untrusted XML document readable: in UTF-8 regardless of its
// declaration and Content-Type, without declaration and control characters. It
// fails with ErrXML if the start or end is missing, so that half a list is not
// mistaken for a short one.
func XML(data []byte, contentType string) ([]byte, error) {
	head := data[:min(len(data), 256)]
	if label := declared.FindSubmatch(declaration.Find(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))); label != nil {
		contentType = "text/xml; charset=" + string(label[1])
	}
	data = []byte(markup.Clean(Decode(data, contentType)))
	data = bytes.TrimSpace(data[len(declaration.Find(data)):])
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
