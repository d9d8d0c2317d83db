package pdf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"strconv"
)

const (
	maxBefore  = 1024    // bytes before a file's header
	maxRebuilt = 1 << 18 // objects of a file whose cross-references are found anew
)

// trimmed returns a file without what stands before its header, from which its
// offsets count, and below its end.
func trimmed(data []byte) []byte {
	if at := bytes.Index(data[:min(len(data), maxBefore)], []byte("%PDF-")); at > 0 {
		data = data[at:]
	}
	if at := bytes.LastIndex(data, []byte("%%EOF")); at >= 0 {
		data = data[:at+len("%%EOF")]
	}
	return data
}

var (
	object = regexp.MustCompile(`(?:^|[\r\n\t >])(\d{1,7})[ \t\r\n]+(\d{1,5})[ \t\r\n]+obj\b`)
	packed = regexp.MustCompile(name("N") + `[ \t\r\n]*(\d{1,6})`)
	pairs  = regexp.MustCompile(`(\d{1,7})[ \t\r\n]+\d{1,9}`)
	root   = regexp.MustCompile(name("Root") + `[ \t\r\n]+(\d{1,7})[ \t\r\n]+(\d{1,5})[ \t\r\n]+R\b`)
)

// place is where an object is: at an offset, or in an object stream at an index.
type place struct {
	in     int // the object stream; 0 for none
	offset int // or index
}

// rebuilt returns a file with a new cross-reference table, of the objects that are
// found in it: the last one of each number counts.
func rebuilt(data []byte) ([]byte, error) {
	roots := root.FindAllSubmatch(data, -1)
	if roots == nil || encrypt.Match(data) {
		return nil, fmt.Errorf("%w: its cross-references", ErrMalformed)
	}
	places := map[int]place{}
	last := 0
	put := func(digits []byte, p place) int {
		id, _ := strconv.Atoi(string(digits))
		if id > 0 && id <= maxRebuilt {
			places[id] = p
			last = max(last, id)
		}
		return id
	}
	objects := object.FindAllSubmatchIndex(data, -1)
	var streams [][3]int // number of the objects that may be object streams, and where they are
	for i, m := range objects {
		id := put(data[m[2]:m[3]], place{offset: m[2]})
		end := len(data)
		if i+1 < len(objects) {
			end = objects[i+1][2]
		}
		if objStm.Match(data[m[1]:end]) {
			streams = append(streams, [3]int{id, m[1], end})
		}
	}
	left := int64(maxInflated)
	for _, s := range streams {
		raw := data[s[1]:s[2]]
		content, _ := inflated(raw, min(left, maxStream))
		if left -= int64(len(content)); left <= 0 {
			break
		}
		n := 0
		if m := packed.FindSubmatch(raw); m != nil {
			n, _ = strconv.Atoi(string(m[1]))
		}
		for i, pair := range pairs.FindAllSubmatch(content[:min(len(content), 24*n)], n) {
			if id, _ := strconv.Atoi(string(pair[1])); places[id] == (place{}) {
				put(pair[1], place{s[0], i})
			}
		}
	}
	size := last + 2
	places[last+1] = place{offset: len(data) + 1}
	table := make([]byte, 0, size*13)
	for id := range size {
		switch p, ok := places[id]; {
		case !ok:
			table = append(table, make([]byte, 13)...)
		case p.in > 0:
			table = binary.BigEndian.AppendUint64(append(table, 2), uint64(p.in))
			table = binary.BigEndian.AppendUint32(table, uint32(p.offset))
		default:
			table = binary.BigEndian.AppendUint64(append(table, 1), uint64(p.offset))
			table = binary.BigEndian.AppendUint32(table, 0)
		}
	}
	out := bytes.Clone(data)
	m := roots[len(roots)-1]
	out = fmt.Appendf(out, "\n%d 0 obj\n<< /Type /XRef /Size %d /W [1 8 4] /Root %s %s R /Length %d >>\nstream\n%s\n"+
		"endstream\nendobj\nstartxref\n%d\n%%%%EOF\n", last+1, size, m[1], m[2], len(table), table, len(data)+1)
	return out, nil
}
