package passage

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/text/markdown"
)

// Version identifies the rules of cutting and of FoldCase; it changes whenever a
// source would be cut, or a value folded, differently, and is part of an index's
// fingerprint.
const Version = "7"

// Source is a record to be cut. Body is text or markdown.
type Source struct {
	Title string
	Path  string
	Body  string
}

// Piece is one passage of a source.
type Piece struct {
	Ordinal int
	Anchor  string // slug of the heading above its beginning, without #; "" before the first
	Section string // what to read around it, as Outline.Read takes it; "" for the whole source
	Heading string // heading path, outermost first, joined by " › ", without a heading that repeats the title
	Text    string

	Headings []string        // those that begin in it, by themselves
	Places   []catalog.Place // where to go in it, if it has several headings
}

// The sizes of passages. Pieces are WordPieces as estimated by pieceCount.
const (
	targetWords   = 180 // a passage is full
	smallWords    = 60  // a section below this may share a passage
	tinyWords     = 20  // a passage below this joins its neighbour, if need be beyond its size
	maxPieces     = 256 // of what is embedded: title, heading path and text
	titlePieces   = 32  // of the title in it
	headingPieces = 48  // of the heading path in it
	slack         = 1.25
)

// Cut cuts a source into at least one passage: whole sections where they fit,
// small ones with their neighbours, large ones between blocks (paragraphs,
// lists, tables, fenced code) and, where a block alone is too large, between
// its lines, sentences, words or, last, characters. Passages do not overlap:
// every word of the body is in the text or the heading path of one of them.
// A body without text gives one passage with the title, or the path.
func Cut(s Source) []Piece {
	d := parse(s.Title, s.Body)
	var pieces []Piece
	before := -1 // section in which the passage before ends
	for _, units := range pack(d, min(pieceCount(s.Title), titlePieces)) {
		if len(pieces) == MaxPerRecord {
			break
		}
		p := d.render(units, before)
		before = units[len(units)-1].section
		p.Ordinal = len(pieces)
		pieces = append(pieces, p)
	}
	if len(pieces) == 0 {
		text := strings.TrimSpace(valid(s.Title))
		if text == "" {
			text = strings.TrimSpace(valid(s.Path))
		}
		pieces = []Piece{{Text: text}}
	}
	return pieces
}

// EmbedText returns what is embedded for a passage: the beginning of the
// record's title, the end of the heading path, and the text without the marks
// of fenced code. It is "" for a passage without a word ("+1") and for a source
// that is nothing but the name of a file: these are found by name, not by meaning.
func EmbedText(title string, p Piece) string {
	if p.Heading == "" && (!strings.ContainsFunc(p.Text, unicode.IsLetter) || onlyFileName(title, p.Text)) {
		return ""
	}
	var b strings.Builder
	line := func(s string) {
		if s == "" {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s)
	}
	line(firstPieces(strings.TrimSpace(valid(title)), titlePieces))
	line(lastPieces(p.Heading, headingPieces))
	for text := range strings.Lines(p.Text) {
		text = strings.TrimRight(text, "\r\n")
		if _, mark := markdown.Open(text); !mark {
			line(text)
		}
	}
	return b.String()
}

// onlyFileName reports whether the text of a passage is the title and names a file: it
// ends in an extension, as "votes.pdf" and unlike "Release 2.9.7".
func onlyFileName(title, text string) bool {
	if strings.TrimSpace(valid(title)) != text {
		return false
	}
	extension := strings.TrimPrefix(path.Ext(text), ".")
	return len(extension) > 0 && len(extension) <= 5 && unicode.IsLetter(rune(extension[0])) &&
		!strings.ContainsFunc(extension, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// unit is a piece of a section that is not divided unless it must be.
type unit struct {
	section int
	text    string
	fence   *markdown.Fence // nil for prose
	first   bool            // of its block
	join    string          // to the previous unit of the same block
	start   int             // of its source in the document's text, about where it is a part of a block
	end     int
	words   int
	pieces  int
}

func newUnit(section int, text string, f *markdown.Fence) unit {
	return unit{section: section, text: text, fence: f, words: WordCount(text), pieces: pieceCount(text)}
}

// packing is the state of pack: full passages and the current one.
type packing struct {
	d       *document
	title   int // pieces of the title
	out     [][]unit
	current []unit
	words   int
	pieces  int
}

// pack distributes the units of a document over passages.
func pack(d *document, title int) [][]unit {
	k := packing{d: d, title: title}
	queue := make([]unit, 0, len(d.units))
	for _, u := range d.units {
		queue = append(queue[:0], u)
		for len(queue) > 0 {
			u := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			parts := k.place(u)
			for i := len(parts) - 1; i >= 0; i-- {
				queue = append(queue, parts[i])
			}
		}
	}
	k.flush()
	return k.join()
}

// place adds a unit to the current passage or a new one, or returns its parts
// to be placed instead.
func (k *packing) place(u unit) (parts []unit) {
	room := k.room(u.section)
	if n := len(k.current); n > 0 {
		if last := k.current[n-1].section; last != u.section && !k.shares(last, u.section) {
			k.flush()
		}
	}
	if k.fits(u, room) {
		k.add(u)
		return nil
	}
	if u.pieces > room || u.words > targetWords || u.fence == nil && 2*k.words < targetWords && len(k.current) > 0 {
		if parts = divide(u, room); len(parts) > 1 {
			return parts
		}
	}
	k.flush()
	k.add(u)
	return nil
}

// shares reports whether a new section begins in the current passage.
func (k *packing) shares(last, section int) bool {
	words := k.d.sections[section].words
	switch {
	case !k.d.related(last, section):
		return false
	case k.words < tinyWords:
		return true
	}
	return (k.words < smallWords || words < smallWords) && k.words+words <= targetWords
}

// room returns how many pieces of text a passage of the section can have.
func (k *packing) room(section int) int {
	return maxPieces - k.title - min(k.d.sections[section].pathPieces, headingPieces)
}

func (k *packing) fits(u unit, room int) bool {
	if len(k.current) == 0 {
		return u.pieces <= room && u.words <= targetWords
	}
	if u.fence != nil && k.words < tinyWords && u.pieces <= room && float64(k.pieces+u.pieces) <= slack*float64(room) {
		return true // code stays with the line that introduces it
	}
	return k.pieces+u.pieces <= room && k.words+u.words <= targetWords
}

func (k *packing) add(u unit) {
	k.current = append(k.current, u)
	k.words += u.words
	k.pieces += u.pieces
}

func (k *packing) flush() {
	if len(k.current) > 0 {
		k.out = append(k.out, k.current)
		k.current, k.words, k.pieces = nil, 0, 0
	}
}

// join appends tiny passages to the previous one if both fit with some slack.
func (k *packing) join() [][]unit {
	var joined [][]unit
	words, pieces := 0, 0 // of the last joined passage
	for _, units := range k.out {
		w, p := 0, 0
		for _, u := range units {
			w += u.words
			p += u.pieces
		}
		n := len(joined)
		if n > 0 && (w < tinyWords || words < tinyWords) &&
			float64(words+w) <= slack*targetWords && float64(pieces+p) <= slack*float64(k.room(units[0].section)) &&
			k.d.near(joined[n-1][len(joined[n-1])-1].section, units[0].section) {
			joined[n-1] = append(joined[n-1], units...)
			words, pieces = words+w, pieces+p
			continue
		}
		joined = append(joined, units)
		words, pieces = w, p
	}
	return joined
}

// The lengths of pieces, fitted to the uncased WordPiece vocabulary of BERT on
// 235 texts of 150 words of technical prose and code: the estimate is 0.998 of
// the true count on average, between 0.90 and 1.10 for nine in ten.
const (
	firstPiece = 8 // letters of a word that are one piece
	longPiece  = 4 // letters of each further one
)

// pieceCount estimates the number of WordPieces of a text.
func pieceCount(text string) int {
	n := 0
	for i := 0; i < len(text); {
		c, size := nextRun(text[i:])
		n += c
		i += size
	}
	return n
}

// maxRun is how much of a very long run is measured at once, in bytes.
const maxRun = 1024

// nextRun returns the estimated pieces and the bytes of the run of letters and
// digits, or of the single other character, that text begins with.
func nextRun(text string) (pieces, size int) {
	letters, digits := 0, 0
	for size < len(text) && size < maxRun {
		r, n := rune(text[size]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(text[size:])
		}
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsLetter(r)
		digit := '0' <= r && r <= '9'
		if letter && ideograph(r) || !letter && !digit {
			if size > 0 {
				break
			}
			if r == ' ' || r == '\n' || r == '\t' || unicode.IsSpace(r) || unicode.IsMark(r) {
				return 0, n
			}
			return 1, n
		}
		if letter {
			letters++
			if r >= utf8.RuneSelf {
				letters++ // other alphabets have shorter pieces
			}
		} else {
			digits++
		}
		size += n
	}
	switch {
	case digits == 0 && letters <= firstPiece, letters == 0 && digits <= 4:
		return 1, size
	case digits == 0:
		return 1 + (letters-firstPiece+longPiece-1)/longPiece, size
	}
	return (letters + digits + 1) / 2, size
}

// WordCount counts words: runs without space; ideographs are half a word.
func WordCount(text string) int {
	n, ideographs, inside := 0, 0, false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			inside = false
		case r >= utf8.RuneSelf && ideograph(r):
			ideographs++
			inside = false
		case !inside:
			inside = true
			n++
		}
	}
	return n + (ideographs+1)/2
}

// ideograph reports whether a rune is a whole word or syllable, of a script written without spaces.
func ideograph(r rune) bool {
	return 0x0e00 <= r && r <= 0x0eff || 0x1780 <= r && r <= 0x17ff || 0x3040 <= r && r <= 0x30ff ||
		0x3400 <= r && r <= 0x4dbf || 0x4e00 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3 ||
		0x20000 <= r && r <= 0x3ffff
}
