// Package visible removes from texts of strangers what nobody sees. It imports no
// other package of this module.
package visible

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text removes the characters of a text that nobody sees: control characters,
// those that change the direction of writing, tag characters and other code
// points without a glyph (Unicode Standard Annex 44: Cc, Cf and
// Default_Ignorable_Code_Point). A person reads past what they hide; a model
// does not.
//
// What is part of the writing stays: a joiner between two letters or in a
// sequence of emoji, a variation selector after what it selects for, and the
// tags of the three flags that have them. Separators of lines and paragraphs
// become line ends.
func Text(s string) string {
	if !strings.ContainsFunc(s, Hidden) {
		return s
	}
	// Else the bytes around a character that is removed could form another.
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	at := strings.IndexFunc(s, Hidden)
	if i := strings.LastIndex(s[:at], string(blackFlag)); i >= 0 {
		at = i // the tags may be its own
	}
	var out strings.Builder
	out.Grow(len(s))
	out.WriteString(s[:at])
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	for rest := s[at:]; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		after, _ := utf8.DecodeRuneInString(rest[size:])
		switch {
		case r == blackFlag:
			size += flagTags(rest[size:])
			out.WriteString(rest[:size])
			before = r
		case r == '\u2028' || r == '\u2029':
			out.WriteByte('\n')
			before = '\n'
		case !Hidden(r) || belongs(before, r, after):
			out.WriteString(rest[:size])
			before = r
		}
		rest = rest[size:]
	}
	return out.String()
}

// Hidden reports whether a character has no glyph of its own.
func Hidden(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != 0 // which is replaced
	case r < 0xa0:
		return true
	case r < 0xad || r >= 0x3400 && r < 0xd800: // Han and Hangul
		return false
	case unicode.In(r, unicode.Prepended_Concatenation_Mark, unicode.Egyptian_Hieroglyphs):
		return false
	}
	return r == '\u2028' || r == '\u2029' ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

const (
	joiner       = '\u200d'
	nonJoiner    = '\u200c'
	graphemeJoin = '\u034f'
	emojiStyle   = '\ufe0f'
	blackFlag    = '\U0001f3f4'
)

// belongs reports whether a character without a glyph is part of the writing
// between two others.
func belongs(before, r, after rune) bool {
	switch {
	case r == joiner && isPictograph(before) && isPictograph(after):
		return true
	case r == joiner || r == nonJoiner || r == graphemeJoin:
		return isWritten(before) && isWritten(after)
	case r == '\ufe0e' || r == emojiStyle:
		return isPictograph(before) && before != emojiStyle || before == 'ℹ' ||
			unicode.In(before, unicode.Nd, unicode.Po, unicode.Pd)
	case r >= '\ufe00' && r < '\ufe0e':
		return unicode.In(before, unicode.Han, unicode.Sm, unicode.Myanmar, unicode.Phags_Pa, unicode.Manichaean)
	case unicode.Is(unicode.Mongolian, r):
		return unicode.Is(unicode.Mongolian, before) && unicode.IsLetter(before)
	case unicode.Is(unicode.Variation_Selector, r):
		return unicode.Is(unicode.Han, before)
	}
	return false
}

func isWritten(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) && !Hidden(r) }

// isPictograph reports whether a sequence of emoji may have a character: also a
// skin tone, an arrow and the selector of the style.
func isPictograph(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm) || r >= '\U0001f3fb' && r <= '\U0001f3ff' || r == emojiStyle
}

// flags are the tags of England, Scotland and Wales, which follow a black flag.
var flags = []string{"gbeng", "gbsct", "gbwls"}

// flagTags returns the length of a flag's tags at the start of s; 0 for none.
func flagTags(s string) int {
	for _, flag := range flags {
		tags := ""
		for _, r := range flag {
			tags += string(0xe0000 + r)
		}
		if tags += "\U000e007f"; strings.HasPrefix(s, tags) {
			return len(tags)
		}
	}
	return 0
}

// Address escapes what nobody sees in an address, which would lead elsewhere
// without it.
func Address(address string) string {
	if !strings.ContainsFunc(address, Hidden) {
		return address
	}
	var out strings.Builder
	for _, r := range address {
		if Hidden(r) {
			out.WriteString(url.PathEscape(string(r)))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
