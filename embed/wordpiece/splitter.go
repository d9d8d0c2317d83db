package wordpiece

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// splitter cuts a text into words as BERT's uncased models do and passes each
// to the Tokenizer: control characters dropped, each CJK ideograph a word,
// canonical decomposition without non-spacing marks, lower case character by
// character, each punctuation character a word, the rest split at white space.
// Invalid UTF-8 reads as U+FFFD and is dropped with it.
type splitter struct {
	tokens *Tokenizer
	ids    []int32 // of the words so far
	n      int     // bytes of word in use
	chars  int     // characters of the current word, of which it keeps maxWordChars
	word   [maxWordChars * utf8.UTFMax]byte
}

// Classes of characters.
const (
	letter = iota // part of a word
	space
	punctuation
	dropped
)

// ascii holds the class of each byte below 0x80, and lower its lower case.
var ascii, lower = func() (class, lower [utf8.RuneSelf]byte) {
	for b := range class {
		lower[b] = byte(unicode.ToLower(rune(b)))
		switch {
		case b == ' ' || b == '\t' || b == '\n' || b == '\r':
			class[b] = space
		case b < ' ' || b == 0x7f:
			class[b] = dropped
		case b <= '/' || b >= ':' && b <= '@' || b >= '[' && b <= '`' || b >= '{':
			class[b] = punctuation
		}
	}
	return class, lower
}()

// text splits a whole text.
func (s *splitter) text(text string) {
	for i := 0; i < len(text); {
		if b := text[i]; b < utf8.RuneSelf {
			i++
			switch ascii[b] {
			case letter:
				if s.chars < maxWordChars {
					s.word[s.n] = lower[b]
					s.n++
				}
				s.chars++
			case space:
				s.flush()
			case punctuation:
				s.alone(rune(b))
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		i += size
		s.wide(r)
	}
	s.flush()
}

// wide handles a character beyond ASCII.
func (s *splitter) wide(r rune) {
	if r == utf8.RuneError || isControl(r) {
		return
	}
	if isIdeograph(r) {
		s.flush()
		defer s.flush()
	}
	if r >= hangulFirst && r <= hangulLast {
		s.hangul(r)
		return
	}
	var buf [utf8.UTFMax]byte
	decomposed := norm.NFD.Properties(buf[:utf8.EncodeRune(buf[:], r)]).Decomposition()
	if decomposed == nil {
		s.folded(r)
		return
	}
	for len(decomposed) > 0 {
		r, size := utf8.DecodeRune(decomposed)
		decomposed = decomposed[size:]
		s.folded(r)
	}
}

// folded handles a character after decomposition.
func (s *splitter) folded(r rune) {
	switch {
	case unicode.Is(unicode.Mn, r):
	case unicode.IsSpace(r):
		s.flush()
	case isPunctuation(r):
		s.alone(r)
	default:
		s.add(unicode.ToLower(r))
	}
}

// Hangul syllables decompose by arithmetic (Unicode, chapter 3.12).
const (
	hangulFirst, hangulLast = 0xAC00, 0xD7A3
	jamoL, jamoV, jamoT     = 0x1100, 0x1161, 0x11A7
	jamoVs, jamoTs          = 21, 28
)

func (s *splitter) hangul(r rune) {
	i := r - hangulFirst
	s.add(jamoL + i/(jamoVs*jamoTs))
	s.add(jamoV + i%(jamoVs*jamoTs)/jamoTs)
	if t := i % jamoTs; t > 0 {
		s.add(jamoT + t)
	}
}

// add appends a character to the current word.
func (s *splitter) add(r rune) {
	if s.chars < maxWordChars {
		s.n += utf8.EncodeRune(s.word[s.n:], r)
	}
	s.chars++
}

// alone emits one character as a word.
func (s *splitter) alone(r rune) {
	s.flush()
	s.add(r)
	s.flush()
}

// flush ends the current word.
func (s *splitter) flush() {
	if s.chars == 0 {
		return
	}
	s.ids = s.tokens.appendPieces(s.ids, s.word[:s.n], s.chars)
	s.n, s.chars = 0, 0
}

// isControl: control, format, private use. Unassigned characters stay, as in
// the tokenizer the model was made with, so that a new version of Unicode
// changes no vector.
func isControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isPunctuation: Unicode punctuation, and every ASCII character that is neither
// letter nor digit (a decomposition can yield one).
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return ascii[r] == punctuation
	}
	return unicode.IsPunct(r)
}

// isIdeograph lists the blocks that BERT separates, which exclude Japanese syllables and Hangul.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF,
		r >= 0x4E00 && r <= 0x9FFF,
		r >= 0xF900 && r <= 0xFAFF,
		r >= 0x20000 && r <= 0x2A6DF,
		r >= 0x2A700 && r <= 0x2B73F,
		r >= 0x2B740 && r <= 0x2B81F,
		r >= 0x2B820 && r <= 0x2CEAF,
		r >= 0x2F800 && r <= 0x2FA1F:
		return true
	}
	return false
}
