package analysis

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text as terms spell it: compatibility characters decomposed
// (Unicode NFKD), accents stripped, invisible characters dropped, dashes and
// apostrophes unified, invalid bytes and NUL replaced by spaces, lower case.
// Folding twice is folding once.
func Fold(text string) string {
	text, _ = normalize(text)
	return strings.ToLower(text)
}

// normalize is Fold before lower-casing: identifiers are split at their case.
// offsets[i] is the start in text of the rune that byte i came from; nil if
// nothing moved.
func normalize(text string) (normalized string, offsets []int32) {
	i := 0
	for i < len(text) && text[i] < utf8.RuneSelf && text[i] != 0 {
		i++
	}
	if i == len(text) {
		return text, nil
	}
	n := normalizer{out: make([]byte, 0, len(text)+8), offsets: make([]int32, 0, len(text)+8)}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			if c == 0 {
				c = ' '
			}
			n.out = append(n.out, c)
			n.offsets = append(n.offsets, int32(i))
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] >= utf8.RuneSelf {
			end++
		}
		n.run(text[i:end], i)
		i = end
	}
	return string(n.out), n.offsets
}

type normalizer struct {
	out     []byte
	offsets []int32
	scratch []byte
}

// run normalises a run of non-ASCII characters that starts at base. It is
// composed first, so that what must stay composed (Hangul, kana with their
// marks) is one rune however it was typed.
func (n *normalizer) run(run string, base int) {
	var it norm.Iter
	it.InitString(norm.NFKC, run)
	for !it.Done() {
		at := base + it.Pos()
		for segment := it.Next(); len(segment) > 0; {
			r, size := utf8.DecodeRune(segment)
			segment = segment[size:]
			if composed(r) {
				n.append(r, at)
				continue
			}
			if r == utf8.RuneError && size == 1 {
				n.append(' ', at)
				continue
			}
			n.scratch = norm.NFKD.AppendString(n.scratch[:0], string(r))
			for d := n.scratch; len(d) > 0; {
				r, size := utf8.DecodeRune(d)
				d = d[size:]
				n.append(r, at)
			}
		}
	}
}

// append adds a decomposed rune that came from offset at.
func (n *normalizer) append(r rune, at int) {
	if accent(r) {
		return
	}
	text := replacement(r)
	if text == "\x00" {
		return
	}
	before := len(n.out)
	if text != "" {
		n.out = append(n.out, text...)
	} else {
		n.out = utf8.AppendRune(n.out, r)
	}
	for range len(n.out) - before {
		n.offsets = append(n.offsets, int32(at))
	}
}

// replacement respells runes that decomposition does not change; "" keeps them, "\x00" drops them.
func replacement(r rune) string {
	switch r {
	case '\u00ad', '\u200c', '\u200d', '\u200e', '\u200f', '\u2060', '\ufeff', '\u061c', '\u0640':
		return "\x00" // soft hyphen, joiners, marks of direction, byte order, Arabic tatweel
	case '\u200b', '\ufffd', '\u2028', '\u2029':
		return " "
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2212':
		return "-"
	case '\u2018', '\u2019', '\u201b', '\u02bc':
		return "'"
	case '\u2044':
		return "/"
	case 'ß', 'ẞ':
		return "ss"
	case 'æ':
		return "ae"
	case 'Æ':
		return "AE"
	case 'œ':
		return "oe"
	case 'Œ':
		return "OE"
	case 'ø':
		return "o"
	case 'Ø':
		return "O"
	case 'ł':
		return "l"
	case 'Ł':
		return "L"
	case 'đ', 'ð':
		return "d"
	case 'Đ', 'Ð':
		return "D"
	case 'þ':
		return "th"
	case 'Þ':
		return "TH"
	case 'ı':
		return "i"
	case 'ς':
		return "σ"
	}
	if 0x202a <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069 {
		return "\x00" // embeddings, overrides and isolates of direction
	}
	return ""
}

// accent reports whether a mark only modifies its letter. Marks that are
// separate letters in Indic and South-East Asian scripts stay.
func accent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36f, 0x483 <= r && r <= 0x487, 0x591 <= r && r <= 0x5c7, 0x610 <= r && r <= 0x61a,
		0x64b <= r && r <= 0x65f, r == 0x670, 0x6d6 <= r && r <= 0x6ed, 0x1ab0 <= r && r <= 0x1aff,
		0x1dc0 <= r && r <= 0x1dff, 0x20d0 <= r && r <= 0x20ff, 0xfe00 <= r && r <= 0xfe0f,
		0xfe20 <= r && r <= 0xfe2f, 0xe0100 <= r && r <= 0xe01ef:
		return unicode.IsMark(r)
	}
	return false
}

// composed reports whether a rune must not be decomposed: Hangul syllables
// and kana.
func composed(r rune) bool { return 0xac00 <= r && r <= 0xd7a3 || 0x3041 <= r && r <= 0x30ff }

// Unspaced reports whether a rune belongs to a script written without spaces
// between words, or, as Korean, with words too long to be terms.
func Unspaced(r rune) bool {
	switch {
	case r < 0xe00:
		return false
	case r <= 0xeff, // Thai, Lao
		0x1000 <= r && r <= 0x11ff, // Myanmar, Georgian (below), Hangul Jamo
		0x1780 <= r && r <= 0x17ff, // Khmer
		0x3005 <= r && r <= 0x3007, 0x3021 <= r && r <= 0x3029,
		0x3040 <= r && r <= 0x318f, 0x31a0 <= r && r <= 0x31ff, // kana, Bopomofo, Jamo
		0x3400 <= r && r <= 0x4dbf, 0x4e00 <= r && r <= 0x9fff, // Han
		0xa960 <= r && r <= 0xa97f, 0xac00 <= r && r <= 0xd7ff, // Hangul
		0xf900 <= r && r <= 0xfaff, 0x20000 <= r && r <= 0x3ffff: // Han
		return !(0x10a0 <= r && r <= 0x10ff) && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
	}
	return false
}
