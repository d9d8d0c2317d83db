package meili

import (
	"slices"
	"strconv"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/retrieval/analysis/bm25"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// Format is the version of what this package writes into an index. An index of
// another format is refused: it changes together with a version of the
// fingerprint, which starts a new generation.
const Format = 1

// document is a passage as the server stores it. Its texts are our terms, spelt as spell does.
type document struct {
	ID      string `json:"id"` // of the passage, decimal; for a record without passages, titleOnly and that of the record
	Record  int64  `json:"record"`
	Ordinal int    `json:"ordinal"`

	// One term for each position, so that phrases match.
	Title   string `json:"title,omitempty"`
	Heading string `json:"heading,omitempty"`
	Body    string `json:"body,omitempty"`
	Path    string `json:"path,omitempty"`
	// Names are the other terms of these positions (compounds and identifiers as a
	// whole, camelCase unstemmed), and the outstanding terms, marked.
	Names string `json:"names,omitempty"`

	Kind      string `json:"kind,omitempty"` // as attributeKey writes it
	Source    string `json:"source,omitempty"`
	Container string `json:"container,omitempty"`
	State     string `json:"state,omitempty"`
	Date      *int64 `json:"date,omitempty"` // Unix seconds
	Card      string `json:"card"`           // as newCard writes it; not read, and part of Format 1
}

// A record without passages is a document of its title and path, to be found
// as a document only. Its ordinal is after those of passages.
const (
	titleOnly        = "r"
	titleOnlyOrdinal = 1 << 16
)

// documentsOf returns the passages of a record as documents.
func documentsOf(r keyword.Record) []document {
	title, path := newStream(r.Title.Tokens), newStream(r.Path.Tokens)
	base := document{Record: r.ID, Title: title.text, Path: path.text, Kind: attributeKey(r.Attributes.Kind),
		Source: attributeKey(r.Attributes.Source), Container: attributeKey(r.Attributes.Container),
		State: attributeKey(r.Attributes.State), Card: newCard(r.ID, r.Attributes)}
	if d := r.Attributes.Date; !d.IsZero() {
		seconds := d.Unix()
		base.Date = &seconds
	}
	if len(r.Passages) == 0 {
		base.ID, base.Ordinal = titleOnly+strconv.FormatInt(r.ID, 10), titleOnlyOrdinal
		base.Names = strings.Join(append(title.names, path.names...), " ")
		return []document{base}
	}
	documents := make([]document, len(r.Passages))
	for i, p := range r.Passages {
		d := base
		d.ID, d.Ordinal = strconv.FormatInt(int64(p.ID), 10), p.ID.Ordinal()
		heading, body := newStream(p.Heading.Tokens), newStream(p.Body.Tokens)
		d.Heading, d.Body = heading.text, body.text
		names := slices.Concat(title.names, heading.names, body.names, path.names,
			outstanding(r.Title.Tokens, p.Heading.Tokens, p.Body.Tokens))
		slices.Sort(names)
		d.Names = strings.Join(slices.Compact(names), " ")
		documents[i] = d
	}
	return documents
}

// stream is an analysed text as the server indexes it.
type stream struct {
	text  string   // a term for each position
	names []string // the other terms
}

// newStream divides tokens into one term for each position and the others. The
// one is the term that a phrase has there in every spelling: the part where a
// token spans several positions, the stem where the whole of a camelCase word
// has one.
func newStream(tokens []analysis.Token) stream {
	var s stream
	var text strings.Builder
	for i := 0; i < len(tokens); {
		end := i + 1
		for end < len(tokens) && tokens[end].Position == tokens[i].Position {
			end++
		}
		word := i
		for end < len(tokens) && word+1 < end && within(tokens[end], tokens[word]) {
			word++
		}
		if word+1 < end && tokens[word+1].Start == tokens[word].Start && tokens[word+1].End == tokens[word].End {
			word++
		}
		for n, t := range tokens[i:end] {
			if i+n != word {
				s.names = append(s.names, spell(t.Term))
				continue
			}
			if text.Len() > 0 {
				text.WriteByte(' ')
			}
			text.WriteString(spell(t.Term))
		}
		i = end
	}
	s.text = text.String()
	return s
}

func within(part, whole analysis.Token) bool { return part.Start < whole.End && part.End <= whole.End }

// Outstanding terms of a passage are those whose frequency, saturated and
// normalised by length as in BM25, is at least 1.4 of the possible 2.2. The
// average length is a constant because the server does not report it and a mark
// must not change with the corpus. At most a quarter of the postings are
// marked.
const (
	averageLength = 80.0
	outstandingAt = 1.4
	titleCounts   = 2
)

// outstanding returns the marked spellings of outstanding terms.
func outstanding(title, heading, body []analysis.Token) []string {
	frequency := make(map[string]float64, len(body))
	length := 0.0
	for _, field := range []struct {
		tokens []analysis.Token
		counts float64
	}{{title, titleCounts}, {heading, 1}, {body, 1}} {
		for _, t := range field.tokens {
			frequency[t.Term] += field.counts
			length += field.counts
		}
	}
	norm := bm25.Norm(bm25.K1, bm25.B, length, averageLength)
	var marked []string
	for term, f := range frequency {
		if bm25.Saturate(f, bm25.K1, norm) >= outstandingAt {
			marked = append(marked, spell(term)+outstandingSuffix)
		}
	}
	return marked
}

// attributeKey encodes an attribute's value so that filters ignore case and
// need no escapes: the filter language cannot express every string.
func attributeKey(value string) string {
	return keyEscapes.Replace(passage.FoldCase(value))
}

var keyEscapes = strings.NewReplacer("%", "%25", `\`, "%5c", `"`, "%22")

// newCard returns the record's id and attributes in one value.
func newCard(record int64, a passage.Attributes) string {
	card := strconv.FormatInt(record, 10)
	for _, value := range []string{a.Kind, a.Source, a.Container, a.State} {
		card += cardSeparator + strings.ReplaceAll(value, cardSeparator, " ")
	}
	return card
}

const cardSeparator = "\x1f"
