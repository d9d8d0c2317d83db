package feed

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/mmcdole/gofeed"
)

// The limits of a feed whose items are tried one by one: each is read with all
// that stands around the items.
const (
	maxTried  = 1000     // items
	maxAround = 64 << 10 // bytes
)

// pieces are a feed taken apart: a document with some of its items is head, those
// items with glue between them, tail.
type pieces struct {
	head, tail, glue []byte
	items            [][]byte
}

func (p pieces) document(items ...[]byte) []byte {
	return slices.Concat(p.head, bytes.Join(items, p.glue), p.tail)
}

var itemShape = regexp.MustCompile(`(?s)<(?:item|entry)[\s>].*?</(?:item|entry)\s*>`)

// splitXML takes RSS, RDF or Atom apart.
func splitXML(data []byte) (p pieces) {
	at := itemShape.FindAllIndex(data, maxTried+1)
	if len(at) == 0 {
		return p
	}
	p.head, p.tail = data[:at[0][0]], data[at[len(at)-1][1]:]
	for _, i := range at {
		p.items = append(p.items, data[i[0]:i[1]])
	}
	return p
}

// splitJSON takes a JSON Feed apart.
func splitJSON(data []byte) (p pieces) {
	var fields map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(data, &fields) != nil || json.Unmarshal(fields["items"], &items) != nil {
		return p
	}
	delete(fields, "items")
	head, err := json.Marshal(fields)
	if err != nil || len(fields) == 0 {
		return p
	}
	p.head = slices.Concat(bytes.TrimSuffix(head, []byte("}")), []byte(`,"items":[`))
	p.tail, p.glue = []byte("]}"), []byte(",")
	for _, i := range items {
		p.items = append(p.items, i)
	}
	return p
}

// salvage reads a feed without the items that cannot be read, each by itself. It
// fails with the error of the whole feed if the items are not to blame.
func salvage(p pieces, read func([]byte) (*gofeed.Feed, error), whole error) (*gofeed.Feed, int, error) {
	if len(p.items) == 0 || len(p.items) > maxTried || len(p.head)+len(p.tail) > maxAround {
		return nil, 0, whole
	}
	var good [][]byte
	for _, item := range p.items {
		if _, err := read(p.document(item)); err == nil {
			good = append(good, item)
		}
	}
	if len(good) == len(p.items) {
		return nil, 0, whole
	}
	f, err := read(p.document(good...))
	if err != nil {
		return nil, 0, whole
	}
	return f, len(p.items) - len(good), nil
}
