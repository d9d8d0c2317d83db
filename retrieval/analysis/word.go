package analysis

import (
	"encoding/hex"
	"hash/fnv"
	"hash/maphash"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// The bounds of folding letters followed by a number into one term.
const (
	minPrefix       = 2
	maxPrefix       = 6
	maxSpacedPrefix = 5 // with a space between them
	maxNumber       = 9 // digits
)

// opaque is the length from which letters mixed with digits are taken for a
// hash or a key and not split.
const opaque = 16

// maxMarked is the number of letters before ++ that are a name with it.
const maxMarked = 10

// marked returns the end of a name of letters and a mark that is at the start of a
// text: C#, C++; 0 if there is none.
func marked(text string) int {
	n := 0
	for n < len(text) && n <= maxMarked && classes[text[n]&0x7f]&(lower|upper) != 0 && text[n] < utf8.RuneSelf {
		n++
	}
	rest := text[n:]
	switch {
	case n == 1 && strings.HasPrefix(rest, "#") && (len(rest) == 1 || rest[1] < utf8.RuneSelf &&
		classes[rest[1]]&(lower|upper) == 0 && rest[1] != '#'):
		return n + 1
	case 0 < n && n <= maxMarked && strings.HasPrefix(rest, "++") && !strings.HasPrefix(rest, "+++"):
		return n + 2
	}
	return 0
}

// leaf emits a leaf and moves to the next position.
func (t *tokenizer) leaf(l leaf) {
	text := t.text[l.start:l.end]
	if n := marked(t.text[l.start:]); n > len(text) && (t.initials == nil || t.initials[initials(t.text[l.start:])]) {
		t.add(strings.ToLower(t.text[l.start:l.start+n]), l.start, l.start+n)
	}
	switch {
	case l.version:
		t.version(l, text)
	case l.class&(lower|upper|other) == 0:
		t.add(number(text), l.start, l.end)
		t.pos++
	case l.class == digit|other && text[0] < utf8.RuneSelf && strings.IndexByte(text, ',') > 0:
		t.add(number(strings.ReplaceAll(text, ",", "")), l.start, l.end)
		t.pos++
	case l.class&other != 0:
		t.add(foreign(text), l.start, l.end)
		t.pos++
	case l.class&digit != 0 && len(text) >= opaque:
		t.add(shorten(strings.ToLower(text)), l.start, l.end)
		t.pos++
	case l.class&upper != 0 && l.class&lower != 0 && strings.IndexFunc(text[1:], isUpper) >= 0:
		t.camel(l, text)
	default:
		t.word(l, text)
	}
}

// word emits a leaf that is one word of ASCII letters and digits.
func (t *tokenizer) word(l leaf, text string) {
	if l.class&digit != 0 {
		if n := prefix(text); n > 0 {
			t.add(folded(text[:n], text[n:]), l.start, l.end)
			t.add(fold(text[:n]).stem, l.start, l.start+n)
			t.pos++
			t.add(number(text[n:]), l.start+n, l.end)
		} else {
			t.add(fold(text).word, l.start, l.end)
		}
		t.pos++
		return
	}
	if t.initials != nil && !t.initials[initials(text)] {
		t.pos++
		return
	}
	if end := t.numberAfter(l); end > 0 {
		t.add(folded(text, t.text[end-trailingDigits(t.text[:end]):end]), l.start, end)
	}
	if len(text) > MaxTerm {
		t.add(shorten(strings.ToLower(text)), l.start, l.end)
	} else {
		t.add(fold(text).stem, l.start, l.end)
	}
	t.pos++
}

// camel emits a leaf of mixed case.
func (t *tokenizer) camel(l leaf, text string) {
	if end := t.numberAfter(l); end > 0 {
		t.add(folded(text, t.text[end-trailingDigits(t.text[:end]):end]), l.start, end)
	}
	first := len(t.tokens)
	whole := shorten(strings.ToLower(text))
	t.add(whole, l.start, l.end)
	parts := 0
	for a := 0; a < len(text); parts++ {
		b := camelEnd(text, a)
		if a == 0 && b == len(text) {
			// one word after all: an acronym in the plural
			t.tokens[first].Term = strings.TrimSuffix(whole, "s")
			break
		}
		if a == 0 && l.class&digit == 0 {
			if stem := Stem(whole); stem != whole {
				t.add(stem, l.start, l.end)
			}
		}
		part := text[a:b]
		if n := prefix(part); n > 0 {
			t.add(folded(part[:n], part[n:]), l.start+a, l.start+b)
			t.add(fold(part[:n]).stem, l.start+a, l.start+a+n)
			t.add(number(part[n:]), l.start+a+n, l.start+b)
		} else if len(part) > 1 {
			t.add(stemmed(part), l.start+a, l.start+b)
		}
		a = b
	}
	t.pos++
}

// version emits numbers joined by dots.
func (t *tokenizer) version(l leaf, text string) {
	text = strings.TrimLeft(text, "vV")
	t.add(text, l.start, l.end)
	if major := strings.IndexByte(text, '.'); major >= 0 {
		if minor := strings.IndexByte(text[major+1:], '.'); minor >= 0 {
			n := major + 1 + minor
			t.add(text[:n], l.start, l.end-len(text)+n)
		}
	}
	t.pos++
}

// numberAfter returns the end of the number that folds with the letters of the
// leaf, 0 if there is none.
func (t *tokenizer) numberAfter(l leaf) int {
	n := l.end - l.start
	if n < minPrefix || n > maxPrefix || l.class&^(lower|upper) != 0 {
		return 0
	}
	i := l.end
	if i == len(t.text) {
		return 0
	}
	switch t.text[i] {
	case '-', '_', '#':
		i++
	case ' ':
		for i < l.end+2 && i < len(t.text) && t.text[i] == ' ' {
			i++
		}
		if i < len(t.text) && t.text[i] == '#' {
			i++
		}
		if n > maxSpacedPrefix {
			return 0
		}
	default:
		return 0
	}
	end := i
	for end < len(t.text) && end-i <= maxNumber && isDigit(t.text[end]) {
		end++
	}
	if end == i || end-i > maxNumber || end < len(t.text) && t.continues(end) {
		return 0
	}
	if t.text[l.end] == ' ' && IsStop(fold(t.text[l.start:l.end]).word) {
		return 0
	}
	return end
}

// continues reports whether the number before i continues there: as a word, a
// version or a grouped number.
func (t *tokenizer) continues(i int) bool {
	if t.wordAt(i) {
		return true
	}
	return (t.text[i] == '.' || t.text[i] == ',') && i+1 < len(t.text) && isDigit(t.text[i+1])
}

// prefix returns the number of letters in front of the digits of a word that
// is nothing but letters and a number that fold, else 0.
func prefix(word string) int {
	digits := trailingDigits(word)
	n := len(word) - digits
	if digits == 0 || digits > maxNumber || n < minPrefix || n > maxPrefix {
		return 0
	}
	for i := range n {
		if isDigit(word[i]) {
			return 0
		}
	}
	return n
}

// folded returns the one spelling of letters followed by a number.
func folded(letters, digits string) string {
	return strings.ToLower(letters) + "-" + number(digits)
}

// number returns the one spelling of a whole number.
func number(digits string) string {
	digits = strings.TrimLeft(digits, "0")
	switch {
	case digits == "":
		return "0"
	case len(digits) > MaxTerm:
		return shorten(digits)
	}
	return fold(digits).word
}

// foreign folds a word with other than ASCII letters and digits. Apostrophes
// are dropped, and a possessive s with its apostrophe.
func foreign(word string) string {
	word = strings.ToLower(word)
	if strings.IndexByte(word, '\'') >= 0 {
		word = strings.TrimSuffix(word, "'s")
		word = strings.ReplaceAll(word, "'", "")
	}
	return Stem(word)
}

// stemmed folds and stems a part of an identifier.
func stemmed(part string) string {
	if len(part) > MaxTerm {
		return shorten(strings.ToLower(part))
	}
	return fold(part).stem
}

// shorten cuts a term to MaxTerm: its beginning and a hash of the whole.
func shorten(term string) string {
	if len(term) <= MaxTerm {
		return term
	}
	h := fnv.New64a()
	h.Write([]byte(term))
	n := MaxTerm - 17
	for !utf8.RuneStart(term[n]) {
		n--
	}
	return term[:n] + "~" + hex.EncodeToString(h.Sum(nil))
}

// camelEnd returns the end of the part of a camelCase word that starts at a:
// before an upper-case letter that follows a lower-case one or a digit, and
// before the last of several upper-case letters if a lower-case one follows
// it (HTTPServer), unless that is a plural s at the end (DARs).
func camelEnd(s string, a int) int {
	for i := a + 1; i < len(s); i++ {
		if !isUpper(rune(s[i])) {
			continue
		}
		if !isUpper(rune(s[i-1])) {
			return i
		}
		if i+1 < len(s) && classes[s[i+1]] == lower && !(s[i+1] == 's' && i+2 == len(s)) {
			return i
		}
	}
	return len(s)
}

// dotted returns the end of numbers joined by dots at i, with or without a v
// in front, and how many they are; 0 when something else follows directly.
func dotted(s string, i int) (end, numbers int) {
	limit := min(len(s), i+MaxTerm)
	if i+1 < limit && s[i]|0x20 == 'v' {
		i++
	}
	for i < limit && isDigit(s[i]) {
		for i < limit && isDigit(s[i]) {
			i++
		}
		numbers++
		if i+1 < limit && s[i] == '.' && isDigit(s[i+1]) {
			i++
			continue
		}
		break
	}
	if numbers < 2 || i == limit && limit < len(s) {
		return i, 0
	}
	if i < len(s) && (s[i] >= utf8.RuneSelf || classes[s[i]]&alnum != 0) {
		return i, 0
	}
	return i, numbers
}

// grouped returns the end of a number whose digits start at a and continue
// after b in groups of three: 1,234,567.
func grouped(s string, a, b int) int {
	if b-a > 3 {
		return b
	}
	for b+3 < len(s) && s[b] == ',' && isDigit(s[b+1]) && isDigit(s[b+2]) && isDigit(s[b+3]) {
		if b+4 < len(s) && (s[b+4] >= utf8.RuneSelf || classes[s[b+4]]&alnum != 0) {
			break
		}
		b += 4
	}
	return b
}

func trailingDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[len(s)-1-n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isUpper(r rune) bool { return 'A' <= r && r <= 'Z' }

// IsStop reports whether a folded, unstemmed word is a function word of
// English: one that carries grammar rather than a topic. Documents keep them;
// queries leave them out of scoring unless nothing else remains.
func IsStop(word string) bool {
	_, ok := stopWords[word]
	return ok
}

// stopWords are articles, pronouns, prepositions, conjunctions, auxiliaries,
// question words, adverbs of degree and the verbs and nouns of asking, with
// contractions as folding spells them (without apostrophe).
var stopWords = func() map[string]struct{} {
	set := make(map[string]struct{}, 400)
	for _, word := range strings.Fields(stopText) {
		set[word] = struct{}{}
	}
	return set
}()

const stopText = `
a an the this that these those such same other another each every either neither both all any some no none few
many much more most less least several own certain various
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers
herself it its itself they them their theirs themselves one ones oneself somebody someone something anybody anyone
anything everybody everyone everything nobody nothing whoever whatever whichever
about above across after against along alongside amid among amongst around as at before behind below beneath beside
besides between beyond by concerning despite down during except for from in inside into like near of off on onto out
outside over past per regarding since than through throughout to toward towards under underneath unlike until up upon
versus via with within without
and but or nor so yet because although though unless whereas whether while if else then thus hence therefore however
moreover furthermore otherwise meanwhile nevertheless
am is are was were be been being do does did doing done have has had having can could may might must shall should will
would ought need needs cannot
what when where which who whom whose why how whats whos wheres whens whys hows wherever whenever
not never only just also too very quite rather really still already again ever even else almost always often
sometimes usually perhaps maybe soon here there now once twice today
im ive id ill youre youve youd youll hes shes weve theyre theyve theyd theyll thats thatll theres heres isnt arent wasnt
werent dont doesnt didnt havent hasnt hadnt cant couldnt wont wouldnt shouldnt mustnt mightnt neednt shant aint lets
its itll itd
able get gets getting got gotten give gives given make makes made making take takes let put seem seems seemed come
comes go goes going gone want wants wanted know knows please tell say says said see seen mean means happen happens
happened explain describe show
etc eg ie vs et al re ok okay yes
`

// minStem is the length of the shortest word that is stemmed. Shorter ones
// that end in s are seldom plurals: gas, dns, aws.
const minStem = 4

// Stem returns the stem of a folded English word by the Snowball English
// (Porter2) algorithm. Stop words, words of up to three letters, and words not
// all of letters a to z are not stemmed, only shortened to MaxTerm.
func Stem(word string) string {
	if len(word) > MaxTerm {
		return shorten(word)
	}
	return fold(word).stem
}

// spelling is a folded word with its stem.
type spelling struct {
	word string
	stem string
}

// spellings caches folded words: a word's hash selects a pair of slots, in which a
// new word replaces the older one. It is bounded (about 6 MB when full) and
// lock-free, and it interns, so that tokens keep no text alive.
var (
	spellings [1 << 15]atomic.Pointer[spelling]
	seed      = maphash.MakeSeed()
)

// fold lower-cases the ASCII letters of a word of at most MaxTerm bytes that
// is normalised, and finds or makes its spelling.
func fold(word string) *spelling {
	var b [MaxTerm]byte
	n := copy(b[:], word)
	for i, c := range b[:n] {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	slot := maphash.Bytes(seed, b[:n]) % uint64(len(spellings))
	newer, older := &spellings[slot&^1], &spellings[slot|1]
	first := newer.Load()
	if first != nil && first.word == string(b[:n]) {
		return first
	}
	if s := older.Load(); s != nil && s.word == string(b[:n]) {
		return s
	}
	s := newSpelling(string(b[:n]))
	older.Store(first)
	newer.Store(s)
	return s
}

func newSpelling(word string) *spelling {
	for _, c := range []byte(word) {
		if c < 'a' || c > 'z' {
			return &spelling{word, word}
		}
	}
	if len(word) < minStem || IsStop(word) {
		return &spelling{word, word}
	}
	stem := english.Stem(word, true)
	if stem == word {
		stem = word // one copy
	}
	return &spelling{word, stem}
}
