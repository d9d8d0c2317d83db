package analysis

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/kljensen/snowball/english"
)

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
