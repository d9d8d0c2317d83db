package corpus

import (
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/dedup"
	"almanac/retrieval/passage"
)

// ErrCorrupt is wrapped by every error of Decode.
var ErrCorrupt = errors.New("corrupt document")

// The first byte of an encoded document. Programs up to 0.2 read those without marks only.
const (
	formatVersion  = 3
	formatUnmarked = 2
)

// layout says where the parts of an encoded document begin, and how many things
// each has.
type layout struct {
	marks, own, terms, passages, detailed, trigrams int
	headings                                        int // tokens in them
	width, inWord                                   int // bits of a token; tokens that a word of 64 bits holds wherever it begins

	marksAt, ownAt, trigramsAt, termsAt, detailsAt, startsAt, signatureAt, countsAt, stepsAt, tokensAt int
}

// Decode returns the view of an encoded document.
func Decode(record int64, raw string) (*Document, error) {
	d := &Document{Record: record, raw: raw}
	if len(raw) < headerSize+padding+crc32.Size || raw[0] != formatVersion && raw[0] != formatUnmarked {
		return nil, fmt.Errorf("corpus: record %d: no header in %d bytes: %w", record, len(raw), ErrCorrupt)
	}
	body := len(raw) - crc32.Size
	if crc32.Checksum([]byte(raw[:body]), castagnoli) != d.uint32(body) {
		return nil, fmt.Errorf("corpus: record %d: checksum: %w", record, ErrCorrupt)
	}
	if !d.parse() || !d.valid() {
		return nil, fmt.Errorf("corpus: record %d: parts do not fit %d bytes: %w", record, len(raw), ErrCorrupt)
	}
	return d, nil
}

// valid reports whether all that is read of the parts is in them.
func (d *Document) valid() bool {
	parts := 2 + 2*d.passages
	for i := range parts {
		if d.start(i) > d.start(i+1) {
			return false
		}
	}
	for i := range d.start(parts) {
		if d.token(i) >= d.terms {
			return false
		}
	}
	for i := range d.marks {
		if d.mark(i).Passage >= d.passages {
			return false
		}
	}
	return true
}

// view is Decode of a document that was decoded before.
func view(record int64, raw string) *Document {
	d := &Document{Record: record, raw: raw}
	d.parse()
	return d
}

// parse reads header and strings and places the parts. It reports whether they
// are just as long as the whole.
func (d *Document) parse() bool {
	d.Secondary, d.Stub, d.Over = d.raw[1]&flagSecondary != 0, d.raw[1]&flagStub != 0, d.raw[1]&flagOver != 0
	d.inWord = 56 / max(1, int(d.raw[2]))
	d.width, d.own = int(d.raw[2]), int(d.raw[3])
	d.terms, d.passages = int(d.uint32(4)), int(d.uint32(8))
	d.detailed, d.trigrams = int(d.uint32(12)), int(d.uint32(16))
	d.headings = int(d.uint32(20))
	a := &d.Attributes
	if date := int64(d.uint64(24)); date != 0 {
		a.Date = time.UnixMicro(date).UTC()
	}
	d.Thread = int64(d.uint64(32))
	at := headerSize
	for _, s := range [...]*string{&a.Kind, &a.Source, &a.Container, &a.State, &d.Key, &d.Title} {
		n, size := uvarint(d.raw[at:])
		if at += size; size == 0 || n > uint64(len(d.raw)-at) {
			return false
		}
		*s = d.raw[at : at+int(n)]
		at += int(n)
	}
	if d.marks, d.marksAt = 0, at; d.raw[0] == formatVersion {
		if len(d.raw)-at < 4 {
			return false
		}
		d.marks, d.marksAt = int(d.uint32(at)), at+4
	}
	d.ownAt = d.marksAt + markSize*d.marks
	d.trigramsAt = d.ownAt + 4*d.own
	d.termsAt = d.trigramsAt + 4*d.trigrams
	d.detailsAt = d.termsAt + 4*d.terms
	d.startsAt = d.detailsAt + detailSize*d.detailed
	d.signatureAt = d.startsAt + 4*(3+2*d.passages)
	d.countsAt = d.signatureAt + dedup.SignatureSize
	d.stepsAt = d.countsAt + d.terms
	if d.stepsAt > len(d.raw) || d.passages > passage.MaxPerRecord || d.width > 32 {
		return false
	}
	tokens := d.start(2 + 2*d.passages)
	d.tokensAt = d.stepsAt + (tokens+7)/8
	return d.tokensAt+(tokens*d.width+7)/8+padding+crc32.Size == len(d.raw)
}

// uvarint is binary.Uvarint of a string; size 0 if there is none.
func uvarint(s string) (n uint64, size int) {
	for i := range min(len(s), 9) {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return n, i + 1
		}
	}
	return 0, 0
}

func (d *Document) uint16(at int) uint16 {
	s := d.raw[at : at+2]
	return uint16(s[0]) | uint16(s[1])<<8
}

func (d *Document) uint32(at int) uint32 {
	s := d.raw[at : at+4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

func (d *Document) uint64(at int) uint64 {
	s := d.raw[at : at+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// start returns the number of the first token of a part.
func (d *Document) start(part int) int { return int(d.uint32(d.startsAt + 4*part)) }

// mark returns the i-th of the marks.
func (d *Document) mark(i int) Mark {
	at := d.marksAt + markSize*i
	packed := d.uint32(at + 4)
	return Mark{analysis.TermID(d.uint32(at)), int(packed >> 1), packed&1 != 0}
}

// term returns the k-th of the distinct terms.
func (d *Document) term(k int) analysis.TermID { return analysis.TermID(d.uint32(d.termsAt + 4*k)) }

// token returns the number of a token's term.
func (d *Document) token(i int) int {
	at := i * d.width
	return int(d.uint64(d.tokensAt+at>>3) >> (at & 7) & (1<<d.width - 1))
}

// steps returns how many positions the tokens from one to before another step
// forward.
func (d *Document) steps(from, to int) (n int) {
	for from < to {
		most := min(to-from, 56) // with the bits before it in a word of 64
		word := d.uint64(d.stepsAt+from>>3) >> (from & 7)
		n += bits.OnesCount64(word & (1<<most - 1))
		from += most
	}
	return n
}

// find returns the number of a term, −1 if the document does not hold it. Ids
// are hashes, so that its place can be guessed closely (interpolation search).
func (d *Document) find(t analysis.TermID) int {
	if d.terms == 0 {
		return -1
	}
	k := d.guess(t)
	for ; k > 0 && d.term(k) > t; k-- {
	}
	for ; k < d.terms-1 && d.term(k) < t; k++ {
	}
	if d.term(k) != t {
		return -1
	}
	return k
}

// guess returns about where a term is.
func (d *Document) guess(t analysis.TermID) int { return int(uint64(t) * uint64(d.terms) >> 32) }

// detail returns what there is to say of the k-th term.
func (d *Document) detail(k int) (x detail) {
	c := d.raw[d.countsAt+k]
	if c&countDetailed == 0 {
		x.passages = uint16(c >> countPassages)
		x.fields[analysis.Body] = uint16(c & (1<<countPassages - 1))
		return x
	}
	low, high := 0, d.detailed
	for low < high {
		if mid := (low + high) / 2; int(d.uint32(d.detailsAt+detailSize*mid)) < k {
			low = mid + 1
		} else {
			high = mid
		}
	}
	if low == d.detailed {
		return x
	}
	at := d.detailsAt + detailSize*low + 4
	x.passages = d.uint16(at)
	for f := range x.fields {
		x.fields[f] = d.uint16(at + 2 + 2*f)
	}
	return x
}
