package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Checks of the raw bytes, before the parser sees them: the parser allocates
// any size that a number in the file demands, and runs forever on streams that
// end inside a string.

// maxCount limits the numbers that determine the parser's allocations: objects
// of a file, bytes of a row.
const maxCount = 5_000_000

// maxInflated limits the total size of a file's object streams.
const maxInflated = 256 << 20

var (
	counted = regexp.MustCompile(`(?:` + name("Size") + `|` + name("Columns") + `|` + name("N") + `)\s*\+?(\d{7,})`)
	arrays  = regexp.MustCompile(`(?:` + name("W") + `|` + name("Index") + `)\s*\[([^\]]*)`)
	tables  = regexp.MustCompile(`(?m)^[ \t]*(?:xref\s+)?(\d+)[ \t]+(\d+)[ \t]*\r?$`)
	number  = regexp.MustCompile(`\d+`)
	objStm  = regexp.MustCompile(name("ObjStm"))
	encrypt = regexp.MustCompile(name("Encrypt") + `\b`)
	begin   = regexp.MustCompile(`stream\r?\n`)
)

// name returns a pattern for a name in any escaping.
func name(s string) string {
	var b strings.Builder
	b.WriteString("/")
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, `(?:%c|#%02x|#%02X)`, c, c, c)
	}
	return b.String()
}

// inspect rejects files that would harm the parser.
func inspect(data []byte) error {
	if !bytes.Contains(data[:min(len(data), maxBefore)], []byte("%PDF-")) {
		return fmt.Errorf("%w: no header", ErrMalformed)
	}
	for _, m := range counted.FindAllSubmatch(data, -1) {
		if tooMany(m[1]) {
			return fmt.Errorf("%w: %s", ErrLimit, m[0])
		}
	}
	for _, m := range arrays.FindAllSubmatch(data, -1) {
		for _, n := range number.FindAll(m[1], -1) {
			if tooMany(n) {
				return fmt.Errorf("%w: %s", ErrLimit, m[0])
			}
		}
	}
	if err := inspectTables(data); err != nil {
		return err
	}
	return inspectObjects(data)
}

// inspectTables checks the sizes declared by cross-reference tables.
func inspectTables(data []byte) error {
	keyword := []byte("xref")
	for i := bytes.Index(data, keyword); i >= 0; {
		table := data[i:]
		if end := bytes.Index(table, []byte("trailer")); end >= 0 {
			table = table[:end]
		}
		for _, m := range tables.FindAllSubmatch(table, -1) {
			if tooMany(m[1]) || tooMany(m[2]) {
				return fmt.Errorf("%w: cross-reference table of %s", ErrLimit, m[0])
			}
		}
		next := bytes.Index(data[i+len(table):], keyword)
		if next < 0 {
			break
		}
		i += len(table) + next
	}
	return nil
}

func tooMany(digits []byte) bool {
	n, err := strconv.ParseInt(string(digits), 10, 64)
	return err != nil || n > maxCount
}

// inspectObjects checks object streams, as checkContent checks the others.
func inspectObjects(data []byte) error {
	left := int64(maxInflated)
	for _, at := range objStm.FindAllIndex(data, -1) {
		if encrypt.Match(data) {
			return fmt.Errorf("%w: encrypted objects", ErrMalformed)
		}
		content, err := inflated(data[at[1]:], min(left, maxStream)+1)
		left -= int64(len(content))
		if err != nil {
			continue // the parser fails on it too
		}
		if len(content) > maxStream || left < 0 {
			return fmt.Errorf("%w: object stream", ErrLimit)
		}
		if !terminated(content) {
			return fmt.Errorf("%w: an object stream ends inside a string", ErrMalformed)
		}
	}
	return nil
}

// inflated returns the content of the first stream in a part of a file, up to a
// limit.
func inflated(data []byte, limit int64) ([]byte, error) {
	start := begin.FindIndex(data)
	if start == nil {
		return nil, nil
	}
	raw := data[start[1]:]
	if z, err := zlib.NewReader(bytes.NewReader(raw)); err == nil {
		return io.ReadAll(io.LimitReader(z, limit))
	}
	if end := bytes.Index(raw, []byte("endstream")); end >= 0 {
		raw = raw[:end]
	}
	return raw, nil
}

// terminated reports whether no hexadecimal string is open at the end of a
// content stream. It follows the parser's own rules for strings and comments.
func terminated(data []byte) bool {
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '%':
			for i < len(data) && data[i] != '\n' && data[i] != '\r' {
				i++
			}
		case '(':
			depth := 1
			for i++; i < len(data); i++ {
				if c := data[i]; c == '\\' {
					i++
				} else if c == '(' {
					depth++
				} else if c == ')' {
					if depth--; depth == 0 {
						break
					}
				}
			}
		case '<':
			if i+1 < len(data) && data[i+1] == '<' {
				i++
				continue
			}
			end := bytes.IndexByte(data[i:], '>')
			if end < 0 {
				return false
			}
			i += end
		}
	}
	return true
}
