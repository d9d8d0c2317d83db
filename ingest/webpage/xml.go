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

// ErrXML: the bytes are no whole XML document, or one that is nested deeper
// than any real one.
var ErrXML = errors.New("no readable XML")

// maxNested is how deep elements may stand in each other: readers of feeds
// recurse.
const maxNested = 64

var declaration = regexp.MustCompile(`^\s*<\?xml\s[^>]*?\?>`)
var declared = regexp.MustCompile(`encoding\s*=\s*["']([A-Za-z0-9._:-]+)["']`)

// XML makes an XML document that strangers wrote readable: UTF-8 whatever its
// declaration and Content-Type say, without declaration and control
// characters. It fails with ErrXML where it does not begin or end as one, so
// that half a list is not taken for a short one.
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
