package embedded_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/keyword/embedded"
	"almanac/retrieval/passage"
)

// reference is the engine as its documentation reads, without any index:
// every search looks at every record.
type reference struct {
	scoring [2]embedded.Scoring
	records map[int64]keyword.Record
}

func newReference(scoring [2]embedded.Scoring) *reference {
	return &reference{scoring: scoring, records: map[int64]keyword.Record{}}
}

func (m *reference) apply(b keyword.Batch) {
	for _, r := range b.Records {
		m.records[r.ID] = r
	}
	for _, id := range b.Delete {
		delete(m.records, id)
	}
}

// field is a text that a document consists of.
type field struct {
	of     analysis.Field
	tokens []analysis.Token
	counts int // tokens from here on count
}

type document struct {
	record  keyword.Record
	passage passage.ID
	fields  []field
}

// documents lists the documents of a unit, with the fields that have a weight.
func (m *reference) documents(unit keyword.Unit) []document {
	var docs []document
	add := func(r keyword.Record, id passage.ID, fields ...field) {
		d := document{record: r, passage: id}
		for _, f := range fields {
			if m.scoring[unit].FieldWeights[f.of] > 0 {
				d.fields = append(d.fields, f)
			}
		}
		docs = append(docs, d)
	}
	for _, id := range slices.Sorted(maps.Keys(m.records)) {
		r := m.records[id]
		title, path := field{analysis.Title, r.Title.Tokens, 0}, field{analysis.Path, r.Path.Tokens, 0}
		whole := []field{title, path}
		var before []analysis.Token
		for _, p := range r.Passages {
			heading, body := field{analysis.Heading, p.Heading.Tokens, 0}, field{analysis.Body, p.Body.Tokens, 0}
			if unit == keyword.Passages {
				add(r, p.ID, title, path, heading, body)
			}
			for heading.counts < min(len(before), len(heading.tokens)) &&
				before[heading.counts].Term == heading.tokens[heading.counts].Term {
				heading.counts++
			}
			before = heading.tokens
			whole = append(whole, heading, body)
		}
		if unit == keyword.Documents {
			add(r, 0, whole...)
		}
	}
	return docs
}

func (d *document) frequency(weights [analysis.NumFields]float64, match func(string) bool) float64 {
	sum := 0.0
	for _, f := range d.fields {
		for _, t := range f.tokens[f.counts:] {
			if match(t.Term) {
				sum += weights[f.of]
			}
		}
	}
	return sum
}

func (d *document) length(weights [analysis.NumFields]float64) float64 {
	return d.frequency(weights, func(string) bool { return true })
}

func is(t keyword.Term) func(string) bool { return func(s string) bool { return s == t.Text } }

func (d *document) holds(t keyword.Term) bool {
	return slices.ContainsFunc(d.fields, func(f field) bool {
		return slices.ContainsFunc(f.tokens, func(k analysis.Token) bool { return k.Term == t.Text })
	})
}

func (d *document) holdsAll(phrase []keyword.Term) bool {
	return !slices.ContainsFunc(phrase, func(t keyword.Term) bool { return !d.holds(t) })
}

func passes(a passage.Attributes, id int64, f passage.Filter) bool {
	one := func(list []string, v string) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, v) })
	}
	return one(f.Kinds, a.Kind) && one(f.Sources, a.Source) && one(f.Containers, a.Container) &&
		one(f.States, a.State) &&
		(f.Since.IsZero() || !a.Date.IsZero() && !a.Date.Before(f.Since)) &&
		(f.Until.IsZero() || !a.Date.IsZero() && a.Date.Before(f.Until)) &&
		(len(f.Records) == 0 || slices.Contains(f.Records, id))
}

// weighted is a term with weight and idf.
type weighted struct {
	term  string
	share float64
}

// weigh follows the rules of Search for terms and repetitions.
func (m *reference) weigh(docs []document, q keyword.Query) (out []weighted) {
	usable := func(terms []keyword.Term) []keyword.Term {
		return slices.DeleteFunc(slices.Clone(terms),
			func(t keyword.Term) bool { return t.Weight <= 0 || t.Text == "" })
	}
	terms := usable(q.Terms)
	if len(terms) == 0 {
		terms = usable(slices.Concat(q.Phrases...))
	}
	for _, t := range terms {
		df := 0
		for i := range docs {
			if docs[i].holds(t) {
				df++
			}
		}
		if df > 0 {
			out = append(out, weighted{t.Text, t.Weight * math.Log(1+(float64(len(docs)-df)+0.5)/(float64(df)+0.5))})
		}
	}
	return out
}

// search returns all hits, best first.
func (m *reference) search(q keyword.Query, f passage.Filter) []keyword.Hit {
	docs := m.documents(q.Unit)
	s := m.scoring[q.Unit]
	average := 0.0
	for i := range docs {
		average += docs[i].length(s.FieldWeights) / float64(len(docs))
	}
	terms := m.weigh(docs, q)
	phrases := slices.DeleteFunc(slices.Clone(q.Phrases), func(p []keyword.Term) bool { return len(p) == 0 })
	var hits []keyword.Hit
	for i := range docs {
		d := &docs[i]
		if !passes(d.record.Attributes, d.record.ID, f) ||
			slices.ContainsFunc(phrases, func(p []keyword.Term) bool { return !d.holdsAll(p) }) ||
			q.Accept != nil && !q.Accept(d.record.ID) {
			continue
		}
		score, found := 0.0, len(phrases) > 0
		for _, t := range terms {
			if tf := d.frequency(s.FieldWeights, is(keyword.Term{Text: t.term})); tf > 0 {
				found = true
				score += t.share * tf * (s.K1 + 1) / (tf + s.K1*(1-s.B+s.B*d.length(s.FieldWeights)/average))
			}
		}
		if found {
			hits = append(hits, keyword.Hit{Record: d.record.ID, Passage: d.passage, Score: score})
		}
	}
	slices.SortStableFunc(hits, func(a, b keyword.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits
}
