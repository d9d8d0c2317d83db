package embedded

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
)

// builder makes a segment of the records of one batch.
type builder struct {
	seg   *segment // allocated by itself: the builder is not kept alive by it
	attrs attributeBuilder
	known map[string]uint32
	terms []string // by number, in order of first appearance
	units [2]inverter
}

// maxPostings bounds the postings of a batch, whose offsets are 32 bits.
const maxPostings = 1 << 28

// build makes a segment of records, which must be sorted by id and distinct.
func build(records []*keyword.Record, scoring *[2]Scoring) (*segment, error) {
	b := builder{seg: &segment{}, known: map[string]uint32{}}
	for u := range b.units {
		b.units[u] = inverter{scoring: &scoring[u], codes: newCodes()}
	}
	for _, r := range records {
		if err := b.add(r); err != nil {
			return nil, fmt.Errorf("record %d: %w", r.ID, err)
		}
		if len(b.units[keyword.Passages].entries) > maxPostings {
			return nil, fmt.Errorf("a batch of more than %d postings", maxPostings)
		}
	}
	s := b.seg
	s.first = append(s.first, uint32(len(s.ordinals)))
	s.attrs = b.attrs.attributes
	order := make([]uint32, len(b.terms)) // numbers by term
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return strings.Compare(b.terms[x], b.terms[y]) })
	sorted, place := make([]string, len(order)), make([]uint32, len(order))
	for i, number := range order {
		sorted[i], place[number] = b.terms[number], uint32(i)
	}
	s.terms = newVocabulary(sorted)
	for u := range s.units {
		b.units[u].invert(&s.units[u], place)
	}
	s.derive()
	return s, nil
}

func (b *builder) add(r *keyword.Record) error {
	if r.ID < 0 || r.ID > maxRecord {
		return fmt.Errorf("id out of range 0..%d", int64(maxRecord))
	}
	passages := r.Passages
	if !slices.IsSortedFunc(passages, comparePassages) {
		passages = slices.SortedFunc(slices.Values(passages), comparePassages)
	}
	s := b.seg
	s.ids = append(s.ids, r.ID)
	s.dates = append(s.dates, r.Attributes.UnixMicro())
	s.first = append(s.first, uint32(len(s.ordinals)))
	b.attrs.add(r.Attributes.Words())
	title, path := b.numbers(r.Title), b.numbers(r.Path)
	document, one := &b.units[keyword.Documents], &b.units[keyword.Passages]
	document.count(title, analysis.Title)
	document.count(path, analysis.Path)
	var before []uint32 // the heading of the previous passage
	for i := range passages {
		p := &passages[i]
		if p.ID.Record() != r.ID {
			return fmt.Errorf("passage %d belongs to record %d", p.ID, p.ID.Record())
		}
		if i > 0 && p.ID == passages[i-1].ID {
			return fmt.Errorf("passage %d occurs twice", p.ID)
		}
		s.ordinals = append(s.ordinals, uint16(p.ID.Ordinal()))
		heading, body := b.numbers(p.Heading), b.numbers(p.Body)
		one.count(title, analysis.Title)
		one.count(path, analysis.Path)
		one.count(heading, analysis.Heading)
		one.count(body, analysis.Body)
		one.finish()
		// A document has the part of a heading path that a passage shares with the
		// previous one only once, as a reader sees the heading once.
		document.count(heading[commonPrefix(before, heading):], analysis.Heading)
		document.count(body, analysis.Body)
		before = heading
	}
	document.finish()
	return nil
}

func comparePassages(a, b keyword.Passage) int { return cmp.Compare(a.ID, b.ID) }

func commonPrefix(a, b []uint32) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// numbers returns the numbers of a text's terms.
func (b *builder) numbers(t keyword.Text) []uint32 {
	list := make([]uint32, 0, len(t.Tokens))
	for i := range t.Tokens {
		term := t.Tokens[i].Term
		if term == "" {
			continue
		}
		number, ok := b.known[term]
		if !ok {
			number = uint32(len(b.terms))
			b.known[term] = number
			b.terms = append(b.terms, term)
		}
		list = append(list, number)
	}
	return list
}

// frequencies are the frequencies of a term in the fields of a document, 16
// bits each, where they saturate.
type frequencies uint64

const maxFrequency = 1<<16 - 1

func (t *frequencies) add(f analysis.Field) {
	if *t>>(16*f)&maxFrequency != maxFrequency {
		*t += 1 << (16 * f)
	}
}

func (t frequencies) weighted(weights *[analysis.NumFields]float64) float64 {
	sum := 0.0
	for f, w := range weights {
		sum += w * float64(t>>(16*f)&maxFrequency)
	}
	return sum
}

// inverter makes the posting lists of one unit.
type inverter struct {
	scoring *Scoring
	tf      []frequencies // by term number, in the current document
	seen    []uint32      // term numbers with tf
	length  [analysis.NumFields]int

	entries []entry
	ends    []uint32 // of documents in entries
	lengths []float32
	codes   codes
	common  [256]uint32 // code+1 by frequency, of terms in the body alone
}

// entry is a posting before inversion.
type entry struct{ term, code uint32 }

// count adds a field to the current document.
func (in *inverter) count(terms []uint32, field analysis.Field) {
	if in.scoring.FieldWeights[field] == 0 {
		return
	}
	in.length[field] += len(terms)
	for _, t := range terms {
		if int(t) >= len(in.tf) {
			in.tf = append(in.tf, make([]frequencies, int(t)+1-len(in.tf))...)
		}
		if in.tf[t] == 0 {
			in.seen = append(in.seen, t)
		}
		in.tf[t].add(field)
	}
}

// finish ends the current document.
func (in *inverter) finish() {
	for _, t := range in.seen {
		in.entries = append(in.entries, entry{t, in.code(in.tf[t])})
		in.tf[t] = 0
	}
	length := 0.0
	for f, n := range in.length {
		length += in.scoring.FieldWeights[f] * float64(n)
	}
	in.lengths = append(in.lengths, float32(length))
	in.ends = append(in.ends, uint32(len(in.entries)))
	in.seen, in.length = in.seen[:0], [analysis.NumFields]int{}
}

func (in *inverter) code(t frequencies) uint32 {
	body := t >> (16 * analysis.Body)
	if t != body<<(16*analysis.Body) || body >= 256 {
		return in.codes.use(t.weighted(&in.scoring.FieldWeights), 1)
	}
	if in.common[body] == 0 {
		in.common[body] = in.codes.use(t.weighted(&in.scoring.FieldWeights), 0) + 1
	}
	code := in.common[body] - 1
	in.codes.uses[code]++
	return code
}

// invert sorts the entries by the place of their terms in the vocabulary and packs them.
func (in *inverter) invert(p *postings, place []uint32) {
	p.lengths = in.lengths
	newCodes := in.codes.rank(p)
	start := make([]uint32, len(place)+1)
	for i := range in.entries {
		in.entries[i].term = place[in.entries[i].term]
		start[in.entries[i].term+1]++
	}
	for t := range place {
		start[t+1] += start[t]
	}
	list, next := make([]posting, len(in.entries)), slices.Clone(start)
	for doc, i := 0, uint32(0); doc < len(in.ends); doc++ {
		for ; i < in.ends[doc]; i++ {
			e := in.entries[i]
			list[next[e.term]] = newPosting(uint32(doc), newCodes[e.code])
			next[e.term]++
		}
	}
	w := newListWriter(p, in.scoring)
	for t := range place {
		w.add(list[start[t]:start[t+1]])
	}
	w.close()
}
