package meili

import (
	"fmt"
	"strings"
)

// spell encodes a term as a word that the server indexes unchanged: its
// tokenizer splits words at punctuation, segments and normalises scripts by
// dictionaries that differ between builds, and guesses languages, none of which
// may happen to our terms. Letters a to y and digits stay, z is zz, frequent
// punctuation is z and a letter, everything else zx or zy and its code point.
// Spellings are unique, and one term is a prefix of another exactly if their
// spellings are. Terms have at most 64 bytes and their spellings under 200,
// within the 250 that the server indexes of a word.
func spell(term string) string {
	if strings.IndexFunc(term, spelt) < 0 {
		return term
	}
	var b strings.Builder
	for _, r := range term {
		switch {
		case !spelt(r):
			b.WriteRune(r)
		case r == 'z':
			b.WriteString("zz")
		case r == '-':
			b.WriteString("zm")
		case r == '.':
			b.WriteString("zp")
		case r == '_':
			b.WriteString("zu")
		case r == '/':
			b.WriteString("zs")
		case r == ':':
			b.WriteString("zc")
		case r <= 0xffff:
			fmt.Fprintf(&b, "zx%04x", r)
		default:
			fmt.Fprintf(&b, "zy%06x", r)
		}
	}
	return b.String()
}

// spelt reports whether a character must be encoded.
func spelt(r rune) bool { return (r < 'a' || r > 'y') && (r < '0' || r > '9') }

// outstandingSuffix follows the spelling of a term that is outstanding in a passage; no spelling ends in it.
const outstandingSuffix = "zq"
