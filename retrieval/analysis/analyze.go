package analysis

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Version identifies the output of this analyzer; it changes whenever a text
// would give other tokens, and is part of an index's fingerprint.
const Version = "3"

// MaxTerm is the length of the longest term, in bytes. A longer one is cut and
// ends in a hash of the whole.
const MaxTerm = 64

// Analyze turns a text into tokens, ordered by position and start. It is the
// same for documents and queries, and stop words are kept.
//
// A position is a word as a reader counts it:
//
//   - A word is one token, its English stem: "Validators'" → validator.
//   - What separators join (a-b, a_b, a.b, a/b, a::b, a@b, a#b) takes one
//     position per part; the whole, folded and unstemmed, stands on the
//     position of its first part, and so do the segments between / : @ and #
//     that are compounds themselves. So a phrase matches across "traffic
//     top-up" and "traffic top up". Two words joined by one hyphen also stand
//     there as one word: "multi-sig" meets "multisig".
//   - camelCase is one position: the whole, its stem where that differs, and
//     its parts, because its other spelling is one lower-case word.
//   - Two to six letters followed by a number, directly or after a hyphen,
//     underscore, # or (up to five letters) a space, are also one folded term
//     on the position of the letters: "CIP-0056", "cip 56", "CIP#56" and
//     "cip56" all give cip-56, cip, 56.
//   - A number loses its leading zeros and grouping commas; a version or
//     decimal is one position, without its v, and from three numbers on also
//     shortened to the first two: "v0.5.9" → 0.5.9, 0.5.
//   - One letter before # and a word before ++ stand there with it too: "C#" gives
//     c# and c, "C++17" gives c++, c and 17.
//   - Scripts written without spaces give overlapping pairs of characters.
//
// Start and End are byte offsets into text, on rune boundaries.
func Analyze(text string) []Token { return analyze(text, nil, nil) }

// Initials are the first two letters of terms that a text is searched for.
type Initials [1 << 10]bool

// Add adds the first letters of a term.
func (s *Initials) Add(term string) {
	switch {
	case term == "":
	case len(term) == 1:
		for second := range 1 << 5 {
			s[initials(term)|second] = true
		}
	default:
		s[initials(term)] = true
		if term[1] == 'i' { // the stem of "dying" is "die"
			s[initials(term[:1]+"y")] = true
		}
	}
}

// initials returns the place of the first two letters of an ASCII word, of either case.
func initials(word string) int {
	at := int(word[0]&0x1f) << 5
	if len(word) > 1 {
		at |= int(word[1] & 0x1f)
	}
	return at
}

// AppendFor appends what Analyze returns, but may leave out tokens whose terms begin
// with letters that no wanted term begins with. Folding and stemming keep the first
// two letters of a word, so such words need not be folded or stemmed.
func AppendFor(initials *Initials, tokens []Token, text string) []Token {
	return analyze(text, initials, tokens)
}

func analyze(text string, initials *Initials, tokens []Token) []Token {
	t := tokenizer{limit: len(text), initials: initials, tokens: tokens}
	t.text, t.offsets = normalize(text)
	if initials == nil {
		t.tokens = slices.Grow(tokens, len(t.text)/5+2)
	}
	for i := 0; i < len(t.text); {
		c := t.text[i]
		if c < utf8.RuneSelf {
			if classes[c]&alnum == 0 {
				i++
				continue
			}
			if end := t.unwanted(i); end > i {
				t.pos++
				i = end
				continue
			}
			i = t.compound(i)
			continue
		}
		r, size := utf8.DecodeRuneInString(t.text[i:])
		switch {
		case Unspaced(r):
			i = t.pairs(i)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			i = t.compound(i)
		default:
			i += size
		}
	}
	return t.tokens
}

// The classes of ASCII characters.
const (
	lower = 1 << iota
	upper
	digit
	joiner // joins the words before and after it
	other  // of a leaf: contains other than ASCII letters and digits
	alnum  = lower | upper | digit
)

var classes = func() (c [utf8.RuneSelf]uint8) {
	for i := range c {
		switch {
		case 'a' <= i && i <= 'z':
			c[i] = lower
		case 'A' <= i && i <= 'Z':
			c[i] = upper
		case '0' <= i && i <= '9':
			c[i] = digit
		case strings.IndexByte("_-./:@#'", byte(i)) >= 0:
			c[i] = joiner
		}
	}
	return c
}()

// tokenizer walks one normalised text.
type tokenizer struct {
	text    string
	offsets []int32 // of each byte of text in the original; nil = the same
	limit   int     // length of the original
	tokens  []Token
	pos     int
	// initials are of the terms wanted; nil: all are.
	initials *Initials
	leaves   []leaf // of the current compound
}

// leaf is a part of a compound between two separators.
type leaf struct {
	start, end int
	class      uint8 // classes that occur in it
	version    bool  // numbers joined by dots
	segment    bool  // the separator before it was one of / : @ #
}

// unwanted returns the end of the word at i if it is one of ASCII letters that stands
// alone, in lower case but for the first, and begins like no wanted term; else i.
func (t *tokenizer) unwanted(i int) int {
	if t.initials == nil || classes[t.text[i]]&(lower|upper) == 0 || t.initials[initials(t.text[i:])] {
		return i
	}
	end := i + 1
	for end < len(t.text) && t.text[end] < utf8.RuneSelf && classes[t.text[end]] == lower {
		end++
	}
	if end < len(t.text) && (t.text[end] >= utf8.RuneSelf || classes[t.text[end]] != 0) {
		return i
	}
	return end
}

// compound emits the words joined without a space from i on and returns
// where they end.
func (t *tokenizer) compound(i int) int {
	l := t.leafAt(i)
	next, segment := t.joint(l)
	if next < 0 {
		if rest := t.text[l.end:]; l.class&^(lower|upper) == 0 && len(rest) > 3 && rest[:3] == "://" {
			return l.end + 3 // the scheme of a URL carries no meaning
		}
		t.leaf(l)
		return t.possessive(l.end)
	}
	t.leaves = append(t.leaves[:0], l)
	segments := 0
	for next >= 0 {
		l = t.leafAt(next)
		l.segment = segment
		if segment {
			segments++
		}
		t.leaves = append(t.leaves, l)
		next, segment = t.joint(l)
	}
	t.whole(t.leaves)
	for a := 0; a < len(t.leaves); {
		b := a + 1
		for b < len(t.leaves) && !t.leaves[b].segment {
			b++
		}
		if segments > 0 && b-a > 1 {
			t.whole(t.leaves[a:b])
		}
		for _, l := range t.leaves[a:b] {
			t.leaf(l)
		}
		a = b
	}
	return t.possessive(l.end)
}

// possessive skips the 's after an identifier, which is part of no leaf.
func (t *tokenizer) possessive(i int) int {
	rest := t.text[i:]
	if len(rest) > 1 && rest[0] == '\'' && rest[1]|0x20 == 's' && (len(rest) == 2 || !t.wordAt(i+2)) {
		return i + 2
	}
	return i
}

// whole emits several leaves as one term.
func (t *tokenizer) whole(leaves []leaf) {
	first, last := leaves[0], leaves[len(leaves)-1]
	if t.initials != nil && first.class&other == 0 && first.end > first.start+1 &&
		!t.initials[initials(t.text[first.start:])] {
		return
	}
	if len(leaves) == 2 {
		if end := t.numberAfter(first); end == last.end {
			return // leaf emits them folded
		}
		const letters = lower | upper
		if t.text[first.end:last.start] == "-" && (first.class|last.class)&^letters == 0 {
			t.add(Stem(strings.ToLower(t.text[first.start:first.end]+t.text[last.start:last.end])), first.start,
				last.end)
		}
	}
	t.add(shorten(strings.ToLower(t.text[first.start:last.end])), first.start, last.end)
}

// joint returns where the next leaf of the compound starts, -1 for none, and
// whether a new segment starts there.
func (t *tokenizer) joint(l leaf) (next int, segment bool) {
	i := l.end
	for i < len(t.text) && t.text[i] < utf8.RuneSelf && classes[t.text[i]] == joiner {
		i++
	}
	if i == l.end || i == len(t.text) || !t.wordAt(i) {
		return -1, false
	}
	run := t.text[l.end:i]
	if run == "'" {
		return -1, false // an apostrophe that leafAt left
	}
	switch bare := strings.Trim(run, "_"); bare {
	case "", ".", "-":
		return i, false
	case "/", ":", "@", "#", "::", "/.", "/@", "/:":
		return i, true
	}
	return -1, false
}

// wordAt reports whether a word of a spaced script can start at i.
func (t *tokenizer) wordAt(i int) bool {
	if c := t.text[i]; c < utf8.RuneSelf {
		return classes[c]&alnum != 0
	}
	r, _ := utf8.DecodeRuneInString(t.text[i:])
	return !Unspaced(r) && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

// leafAt reads the leaf that starts at i.
func (t *tokenizer) leafAt(i int) leaf {
	l := leaf{start: i}
	if end, numbers := dotted(t.text, i); numbers > 1 {
		l.end, l.class, l.version = end, digit, true
		return l
	}
	for i < len(t.text) {
		c := t.text[i]
		if c < utf8.RuneSelf {
			class := classes[c]
			if class&alnum == 0 {
				if c == '\'' && i+1 < len(t.text) && t.letterAt(i+1) && l.class&digit == 0 {
					l.class |= other
					i++
					continue
				}
				break
			}
			l.class |= class
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t.text[i:])
		if Unspaced(r) || !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) {
			break
		}
		l.class |= other
		i += size
	}
	l.end = i
	if l.class == digit {
		if end := grouped(t.text, l.start, l.end); end > l.end {
			l.end, l.class = end, digit|other
		}
	}
	return l
}

func (t *tokenizer) letterAt(i int) bool {
	if c := t.text[i]; c < utf8.RuneSelf {
		return classes[c]&(lower|upper) != 0
	}
	r, _ := utf8.DecodeRuneInString(t.text[i:])
	return unicode.IsLetter(r) && !Unspaced(r)
}

// pairs emits the overlapping pairs of a run of a script without spaces and
// returns where it ends. A single character is emitted alone.
func (t *tokenizer) pairs(i int) int {
	previous, n := -1, 0 // start of the character before the one at i
	for i < len(t.text) {
		r, size := utf8.DecodeRuneInString(t.text[i:])
		if !Unspaced(r) {
			break
		}
		end := i + size
		for end < len(t.text) {
			r, size := utf8.DecodeRuneInString(t.text[end:])
			if !unicode.IsMark(r) {
				break
			}
			end += size
		}
		if n++; n > 1 {
			t.add(shorten(t.text[previous:end]), previous, end)
			t.pos++
		}
		previous, i = i, end
	}
	if n == 1 {
		t.add(shorten(t.text[previous:i]), previous, i)
		t.pos++
	}
	return i
}

// add appends a token at the current position for text[start:end].
func (t *tokenizer) add(term string, start, end int) {
	if t.offsets != nil {
		last := t.offsets[end-1]
		start = int(t.offsets[start])
		for end < len(t.offsets) && t.offsets[end] == last {
			end++
		}
		if end == len(t.offsets) {
			end = t.limit
		} else {
			end = int(t.offsets[end])
		}
	}
	t.tokens = append(t.tokens, Token{Term: term, Position: t.pos, Start: start, End: end})
}
