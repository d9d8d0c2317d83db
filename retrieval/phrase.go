package retrieval

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"almanac/retrieval/analysis"
	"almanac/retrieval/corpus"
	"almanac/retrieval/query"
)

// operators are the phrases and exclusions of a query. They are decided here,
// on the analysed passages, for what every engine found: engines get them only
// as a hint, to find more of what is left.
type operators struct {
	exclude [][]analysis.TermID // of each word: what it may be indexed as, or its parts
	absent  []phrase            // excluded
	phrases []phrase
}

// newOperators returns the operators of a query.
func newOperators(q query.Query) operators {
	var o operators
	for _, x := range q.Exclude {
		if x.Phrase {
			o.absent = append(o.absent, newPhrase(x.Terms))
			continue
		}
		var ids []analysis.TermID
		for _, t := range x.Terms {
			ids = append(ids, t.ID)
		}
		o.exclude = append(o.exclude, ids)
	}
	for _, x := range q.Phrases {
		o.phrases = append(o.phrases, newPhrase(x.Terms))
	}
	return o
}

// None reports whether there are no operators.
func (o *operators) None() bool { return len(o.exclude)+len(o.absent)+len(o.phrases) == 0 }

// Allow reports whether a document has none of the excluded words and phrases in
// any field and every phrase in one field of one passage. It may have a word that it
// writes behind a hyphen, as an option of a command.
func (o *operators) Allow(d *corpus.Document) bool {
	for _, ids := range o.exclude {
		held := slices.ContainsFunc(ids, func(id analysis.TermID) bool {
			return d.Frequencies(id) != [analysis.NumFields]uint16{}
		})
		if held && !d.Hyphened(ids[0]) {
			return false
		}
	}
	for i := range o.absent {
		if o.absent[i].in(d) {
			return false
		}
	}
	for i := range o.phrases {
		if !o.phrases[i].in(d) {
			return false
		}
	}
	return true
}

// decisions say which records of a corpus the operators of a query allow. Each is decided
// once: several lists ask at the same time, and for the same records.
type decisions struct {
	operators *operators
	corpus    *corpus.Corpus

	mu    sync.Mutex // guards known
	known map[int64]bool
}

// Decide returns the decisions for a corpus; nil: there are no operators.
func (o *operators) Decide(c *corpus.Corpus) *decisions {
	if o.None() {
		return nil
	}
	return &decisions{operators: o, corpus: c, known: map[int64]bool{}}
}

// Prepare decides on records whose documents are not in memory, which are read at once.
func (d *decisions) Prepare(ctx context.Context, records []int64) error {
	if d.corpus.InMemory() {
		return nil
	}
	d.mu.Lock()
	unknown := slices.DeleteFunc(records, func(r int64) bool { _, ok := d.known[r]; return ok })
	d.mu.Unlock()
	documents, err := d.corpus.AppendDocuments(ctx, nil, unknown)
	if err != nil {
		return err
	}
	allowed := make(map[int64]bool, len(documents))
	for i := range documents {
		allowed[documents[i].Record] = d.operators.Allow(&documents[i])
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range unknown {
		d.known[r] = allowed[r]
	}
	return nil
}

// Allow reports whether a record is allowed that was prepared, or whose document is in
// memory.
func (d *decisions) Allow(record int64) bool {
	if d == nil {
		return true
	}
	d.mu.Lock()
	is, ok := d.known[record]
	d.mu.Unlock()
	if ok || !d.corpus.InMemory() {
		return is
	}
	x, err := d.corpus.Document(context.Background(), record)
	is = err == nil && x != nil && d.operators.Allow(x)
	d.mu.Lock()
	d.known[record] = is
	d.mu.Unlock()
	return is
}

// phrase finds its terms at successive positions by the Shift-And algorithm
// (Baeza-Yates, Gonnet: A new approach to text searching, CACM 1992), in one
// step for each position of a text, however long the phrase is.
type phrase struct {
	ids   []analysis.TermID // distinct
	masks []uint32          // of ids: bit i is set if the id is the phrase's term i
	slots [256]uint8        // index in ids + 1 of the last id with these low bits
	next  []uint8           // of ids: index + 1 of the one before with the same low bits
	join  uint32            // bit i: term i may be at the position of term i − 1, as the parts of one word are
	last  uint32            // the bit of the last term
}

// newPhrase makes a phrase of one term for each position, of at most
// query.MaxPhraseWords, which is the number of bits in a mask.
func newPhrase(terms []query.Term) phrase {
	p := phrase{last: 1 << (len(terms) - 1)}
	for i, t := range terms {
		at := slices.Index(p.ids, t.ID)
		if at < 0 {
			at = len(p.ids)
			slot := &p.slots[t.ID%256]
			p.ids, p.masks, p.next = append(p.ids, t.ID), append(p.masks, 0), append(p.next, *slot)
			*slot = uint8(at + 1)
		}
		p.masks[at] |= 1 << i
		if i > 0 && t.ID != terms[i-1].ID {
			p.join |= 1 << i
		}
	}
	return p
}

// in reports whether the phrase occurs in a document.
func (p *phrase) in(d *corpus.Document) bool {
	var fields [analysis.NumFields]bool // that have all terms
	for f := range fields {
		fields[f] = true
	}
	rarest, least := p.ids[0], math.MaxInt
	for _, id := range p.ids {
		sum := 0
		for f, n := range d.Frequencies(id) {
			fields[f] = fields[f] && n > 0
			sum += int(n)
		}
		if sum < least {
			rarest, least = id, sum
		}
	}
	var wanted corpus.Wanted
	d.Want([]analysis.TermID{rarest}, &wanted)
	for o := range d.Len() {
		for f := range analysis.Field(analysis.NumFields) {
			// Title and path are those of the record, the same in every passage.
			if repeated := o > 0 && (f == analysis.Title || f == analysis.Path); fields[f] && !repeated &&
				p.occurs(d.Terms(o).Field(f), &wanted) {
				return true
			}
		}
	}
	return false
}

// occurs reports whether the phrase occurs in a field: it looks around every
// occurrence of the term that the document has least of.
func (p *phrase) occurs(terms corpus.Terms, rarest *corpus.Wanted) bool {
	length := bits.Len32(p.last)
	n := terms.Len()
	for i, _ := terms.Find(0, rarest); i < n; {
		first := i
		next, _ := terms.Find(i+1, rarest)
		for position := terms.Position(i); first > 0 && terms.Position(first-1) > position-length; {
			first--
		}
		end := i + 1
		for limit := terms.Position(i) + length; end < n && terms.Position(end) < limit; end++ {
			if end == next { // what is around it is looked at too
				limit = terms.Position(end) + length
				next, _ = terms.Find(end+1, rarest)
			}
		}
		if p.within(terms, first, end) {
			return true
		}
		i = next
	}
	return false
}

// within reports whether the phrase occurs among the terms from first to end.
func (p *phrase) within(terms corpus.Terms, first, end int) bool {
	var state uint32 // bit i: terms 0 to i end at the position before
	before := -1
	for i := first; i < end; {
		position := terms.Position(i)
		var here uint32 // terms of the phrase at this position
		for ; i < end && terms.Position(i) == position; i++ {
			here |= p.mask(terms.ID(i))
		}
		if position != before+1 {
			state = 0
		}
		before = position
		if state = (state<<1 | 1) & here; state == 0 {
			continue
		}
		for joined := state; joined != 0; { // runs that go on within the position
			joined = joined << 1 & here & p.join &^ state
			state |= joined
		}
		if state&p.last != 0 {
			return true
		}
	}
	return false
}

// mask returns where in the phrase a term is: 0 for nearly all terms of a text,
// which one look must tell.
func (p *phrase) mask(id analysis.TermID) uint32 {
	for at := p.slots[id%256]; at != 0; at = p.next[at-1] {
		if p.ids[at-1] == id {
			return p.masks[at-1]
		}
	}
	return 0
}
