package op

import (
	"strconv"
	"strings"
)

// Place is where a part of a thread begins: at an item, or at an offset in the text
// of one. As a cursor 12 is the beginning of an item, 12~500 a place in its text, and
// ~500 one in the thread's own, which comes before the first item.
type Place struct {
	Item   int // OwnText for the thread's own
	Offset int // in bytes
}

// OwnText is the item of a thread's own text.
const OwnText = -1

// String returns the cursor; "" for the beginning.
func (p Place) String() string {
	var s string
	if p.Item != OwnText {
		s = strconv.Itoa(p.Item)
	}
	if p.Offset > 0 {
		s += "~" + strconv.Itoa(p.Offset)
	}
	return s
}

// ParsePlace reads a cursor; false if String writes no such.
func ParsePlace(cursor string) (p Place, ok bool) {
	item, offset, within := strings.Cut(cursor, "~")
	p.Item = OwnText
	var err error
	if item != "" {
		p.Item, err = strconv.Atoi(item)
	}
	if within && err == nil {
		p.Offset, err = strconv.Atoi(offset)
	}
	return p, err == nil && p.Item >= OwnText && p.String() == cursor
}
