package derive

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"almanac/catalog"
)

// Releases finds releases by the names and versions in titles.
type Releases struct {
	byVersion map[string][]namedRelease
}

type namedRelease struct {
	record  catalog.Record
	product string
	words   map[string]bool // of its names
}

// IndexReleases builds a Releases. The records may lack their bodies.
func IndexReleases(releases []catalog.Record) Releases {
	r := Releases{map[string][]namedRelease{}}
	for _, rec := range releases {
		d, err := catalog.Decode[catalog.Release](rec)
		if err != nil || d.Version == "" {
			continue
		}
		n := namedRelease{rec, catalog.Fold(ProductOf(rec, d.Version)), map[string]bool{}}
		for _, name := range ReleaseNames(rec, d.Version) {
			for _, w := range nameWords(name) {
				n.words[w] = true
			}
		}
		key := VersionKey(d.Version)
		r.byVersion[key] = append(r.byVersion[key], n)
	}
	return r
}

// Of returns the release that an operation of the calendar deploys: the one
// with the version named in its data or title. If several programs have that
// version, the title or the components must name one of them.
func (r Releases) Of(operation catalog.Record) (catalog.Ref, bool) {
	versions := VersionsIn(operation.Title)
	text := operation.Title
	if d, err := catalog.Decode[catalog.Operation](operation); err == nil {
		if d.Version != "" && len(versions) == 0 {
			versions = []string{d.Version}
		}
		text += " " + strings.Join(d.Components, " ")
	}
	named := map[string]int{} // how often
	for _, w := range nameWords(text) {
		named[w]++
	}
	for _, v := range versions {
		if ref, ok := choose(r.byVersion[VersionKey(v)], named); ok {
			return ref, true
		}
	}
	return catalog.Ref{}, false
}

// choose picks the release with the most words in its names; among records of
// the same program, the one with the lowest id.
func choose(candidates []namedRelease, named map[string]int) (catalog.Ref, bool) {
	products := map[string]bool{}
	for _, c := range candidates {
		products[c.product] = true
	}
	score := func(c namedRelease) (n int) {
		for w := range c.words {
			n += named[w]
		}
		return n
	}
	ranked := slices.SortedFunc(slices.Values(candidates), func(a, b namedRelease) int {
		return cmp.Or(score(b)-score(a), cmp.Compare(a.record.ID, b.record.ID))
	})
	switch {
	case len(ranked) == 0,
		len(products) > 1 && score(ranked[0]) == 0:
		return catalog.Ref{}, false
	}
	for _, c := range ranked[1:] {
		if c.product != ranked[0].product && score(c) == score(ranked[0]) {
			return catalog.Ref{}, false
		}
	}
	return ranked[0].record.Ref(), true
}

// OperationLinks returns the operations that deploy a known release, with the
// links to add. It stops with the error of a context that is done.
func OperationLinks(ctx context.Context, operations, releases []catalog.Record) ([]catalog.Entry, error) {
	index := IndexReleases(releases)
	var out []catalog.Entry
	for _, o := range operations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if ref, ok := index.Of(o); ok {
			out = append(out, addition(o, references([]catalog.Ref{ref})))
		}
	}
	return out, nil
}

// VersionKey is equal for all spellings of a version.
func VersionKey(s string) string {
	s = strings.ToLower(strings.TrimLeft(strings.TrimSpace(s), "vV"))
	s, _, _ = strings.Cut(s, "+")
	return s
}

// nameWords are the words that distinguish programs.
func nameWords(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) })
}
