package embedded

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"almanac/retrieval/analysis"
	"almanac/retrieval/keyword"
	"almanac/retrieval/passage"
)

// maxPosition is the last position that is distinguished from later ones.
const maxPosition = 1<<24 - 1

func compareStrings(a, b string) int { return strings.Compare(a, b) }

func comparePassages(a, b keyword.Passage) int { return cmp.Compare(a.ID, b.ID) }

// inOrder returns the tokens by position.
func inOrder(tokens []analysis.Token) []analysis.Token {
	byPosition := func(a, b analysis.Token) int { return cmp.Compare(a.Position, b.Position) }
	if slices.IsSortedFunc(tokens, byPosition) {
		return tokens
	}
	tokens = slices.Clone(tokens)
	slices.SortStableFunc(tokens, byPosition)
	return tokens
}

// noDate is the date of a record without one.
const noDate = math.MinInt64

func dateOf(t time.Time) int64 {
	if t.IsZero() {
		return noDate
	}
	return t.UnixMicro()
}

// The attributes, in the order of forward.attrs.
const (
	attrKind = iota
	attrSource
	attrContainer
	attrState
	numAttributes
)

// attributeIndex maps the names that Facets accepts.
var attributeIndex = map[string]int{"kind": attrKind, "source": attrSource, "container": attrContainer,
	"state": attrState}

// column is one attribute of all records of a segment.
type column struct {
	values []string // distinct
	of     []uint32 // of records: index in values
}

func (c *column) validate(records int) error {
	if len(c.of) != records {
		return fmt.Errorf("attributes of %d records, want %d", len(c.of), records)
	}
	for _, v := range c.of {
		if int(v) >= len(c.values) {
			return fmt.Errorf("attribute out of range")
		}
	}
	return nil
}

// columnBuilders collect the attributes of records.
type columnBuilders [numAttributes]struct {
	column
	known map[string]uint32
}

func newColumnBuilders() *columnBuilders {
	b := new(columnBuilders)
	for i := range b {
		b[i].known = map[string]uint32{}
	}
	return b
}

func (b *columnBuilders) add(a passage.Attributes) {
	for i, value := range [numAttributes]string{attrKind: a.Kind, attrSource: a.Source, attrContainer: a.Container,
		attrState: a.State} {
		b.append(i, value)
	}
}

func (b *columnBuilders) append(i int, value string) {
	c := &b[i]
	v, ok := c.known[value]
	if !ok {
		v = uint32(len(c.values))
		c.known[value] = v
		c.values = append(c.values, value)
	}
	c.of = append(c.of, v)
}

func (b *columnBuilders) columns() (out [numAttributes]column) {
	for i := range b {
		out[i] = b[i].column
	}
	return out
}
