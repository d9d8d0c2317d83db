package scale

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"almanac/catalog"
)

// What records are made of.
const (
	// PassagesPerRecord is about how many passages a record is cut into.
	PassagesPerRecord = 6

	sections     = 4    // of a record on average
	sectionWords = 150  // about a passage, with its heading
	stay         = 0.8  // chance that the next paragraph is of the same file
	inventEvery  = 50   // words, of which one is replaced by an invented one
	invented     = 2e6  // words that can be invented
	skew         = 1.05 // of Zipf's law for them
)

// Record returns the n-th record of a corpus. It is the same for the same
// texts, n and edition; editions differ in a few words, as an edited page does.
//
// Paragraphs keep to a file mostly, so that a record has a subject. Some words
// are replaced by invented ones of few occurrences each, so that the vocabulary
// grows with the corpus (Heaps' law) and texts differ although their sources
// are few.
func (t *Texts) Record(n, edition int) catalog.Entry {
	r := rand.New(rand.NewPCG(0x5ca1e, uint64(n)))
	words := rand.NewZipf(r, skew, 1, invented)
	f := &t.files[r.IntN(len(t.files))]
	title := fmt.Sprintf("%s %s", f.headings[r.IntN(len(f.headings))], invent(words.Uint64()))
	var b strings.Builder
	if edition > 0 {
		fmt.Fprintf(&b, "This is edition %d of the page.\n\n", edition)
	}
	for range 1 + r.IntN(2*sections-1) {
		fmt.Fprintf(&b, "## %s\n\n", f.headings[r.IntN(len(f.headings))])
		for written := 0; written < sectionWords; {
			if r.Float64() > stay {
				f = &t.files[r.IntN(len(t.files))]
			}
			paragraph := f.paragraphs[r.IntN(len(f.paragraphs))]
			next := r.IntN(inventEvery)
			for i, w := range paragraph {
				if i == next {
					w = invent(words.Uint64())
					next += 1 + r.IntN(2*inventEvery)
				}
				b.WriteString(w)
				b.WriteByte(' ')
			}
			b.WriteString("\n\n")
			written += len(paragraph)
		}
	}
	kinds := []catalog.Kind{catalog.KindDoc, catalog.KindTopic, catalog.KindIssue, catalog.KindMailMessage}
	key := fmt.Sprintf("record-%07d", n)
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, r.IntN(900))
	return catalog.Entry{Record: catalog.Record{
		Kind: kinds[r.IntN(len(kinds))], Key: key, Title: title, Body: b.String(), Data: []byte("{}"),
		Container: fmt.Sprintf("place-%d", r.IntN(40)), Path: fmt.Sprintf("area-%d/%s.md", r.IntN(200), key),
		CreatedAt: day, UpdatedAt: day,
	}}
}

// invent spells a number as a word.
func invent(n uint64) string {
	const consonants, vowels = "bcdfghjklmnprstvwz", "aeiou"
	var w []byte
	for n += 400; n > 0; n /= uint64(len(consonants) * len(vowels)) {
		syllable := n % uint64(len(consonants)*len(vowels))
		w = append(w, consonants[syllable/uint64(len(vowels))], vowels[syllable%uint64(len(vowels))])
	}
	return string(w) + "x"
}
