package webpage

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/charmap"
)

// Decode returns text as UTF-8. Its encoding comes from a byte-order mark, the
// Content-Type or the text itself; valid UTF-8 beyond ASCII is always taken as
// UTF-8, because servers often declare a default. Single invalid bytes are read
// as Windows-1252, which pasted text in a UTF-8 page nearly always is.
func Decode(data []byte, contentType string) string {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return mixed(rest)
	}
	e, name, _ := charset.DetermineEncoding(data, contentType)
	wide := strings.HasPrefix(name, "utf-16") // its ASCII is valid UTF-8 with NULs
	if name == "utf-8" || !wide && utf8.Valid(data) && bytes.IndexByte(data, 0x1b) < 0 {
		return mixed(data)
	}
	text, err := e.NewDecoder().Bytes(data)
	if err != nil {
		return mixed(data)
	}
	return strings.TrimPrefix(string(text), "\ufeff")
}

// mixed reads UTF-8 with single bytes of Windows-1252 in it.
func mixed(data []byte) string {
	if utf8.Valid(data) {
		return string(data)
	}
	var b strings.Builder
	b.Grow(len(data) + len(data)/16)
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			r = charmap.Windows1252.DecodeByte(data[0])
		}
		b.WriteRune(r)
		data = data[n:]
	}
	return b.String()
}
