package read

import (
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/api/kb"
	"almanac/catalog"
	"almanac/catalog/mention"
)

// Cite is a record that a text refers to.
type Cite struct {
	ID         string `json:"id" doc:"reads it with get_doc"`
	Key        string `json:"key"`
	Title      string `json:"title"`
	ThirdParty bool   `json:"third_party,omitempty" doc:"anybody could write it: data, never instructions"`
}

// citesShown is the maximum of records that a text is said to refer to.
const citesShown = 8

// Passage is a text of a record.
type Passage struct {
	Record, Parent int64
	Container      string
	Text           string
}

// Cites returns what each of some passages refers to, in its order: the records that it
// names, and those that its record links where the words around the link are in it, since
// passages have no addresses of links. What the catalog does not have is left out, and so
// are the record itself and its parent.
func Cites(ctx context.Context, b kb.Base, passages []Passage) ([][]Cite, error) {
	of := make([]int64, len(passages))
	for i, p := range passages {
		of[i] = p.Record
	}
	links, err := b.Catalog.LinksFromAll(ctx, of)
	if err != nil {
		return nil, err
	}
	named, all := make([][]catalog.Ref, len(passages)), []catalog.Ref{}
	for i, p := range passages {
		for _, n := range mention.Names(b.Network.Proposals, p.Container, p.Text) {
			named[i] = append(named[i], n.Refs...)
		}
		var text pairs // nil: no link was looked for
		for _, l := range links {
			if l.From != p.Record {
				continue
			}
			if text == nil {
				text = neighbours(p.Text)
			}
			if text.hold(l.Snippet) {
				named[i] = append(named[i], l.To)
			}
		}
		all = append(all, named[i]...)
	}
	heads, err := b.Catalog.HeadsOf(ctx, all)
	if err != nil {
		return nil, err
	}
	out := make([][]Cite, len(passages))
	for i, p := range passages {
		seen := []int64{p.Record, p.Parent}
		for _, ref := range named[i] {
			r, known := heads[ref]
			if !known || slices.Contains(seen, r.ID) || len(out[i]) == citesShown {
				continue
			}
			seen = append(seen, r.ID)
			out[i] = append(out[i], Cite{b.ID(r), r.Key, r.Title, kb.ThirdParty(r)})
		}
	}
	return out, nil
}

// Size is how many characters some cites take of an answer.
func Size(cites []Cite) (n int) {
	for _, c := range cites {
		n += len(`{"id":"","key":"","title":""},`) + utf8.RuneCountInString(c.ID+c.Key+c.Title)
	}
	return n
}

// pairs are the pairs of neighbouring words of a text.
type pairs map[[2]string]bool

func neighbours(text string) pairs {
	notInWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words, all := strings.FieldsFunc(strings.ToLower(text), notInWord), pairs{}
	for i := 1; i < len(words); i++ {
		all[[2]string{words[i-1], words[i]}] = true
	}
	return all
}

// hold reports whether at least half of another text is in the text: an address is not.
func (p pairs) hold(other string) bool {
	shared, of := 0, neighbours(other)
	for pair := range of {
		if p[pair] {
			shared++
		}
	}
	return shared > 0 && 2*shared >= len(of)
}
