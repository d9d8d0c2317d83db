package kb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"almanac/api/kb/arg"
	"almanac/api/op"
	"almanac/catalog"
	"almanac/text/nearest"
	"almanac/text/prose"
)

// List is the form of every list.
type List[T any] struct {
	Items  []T    `json:"items"`
	Total  int    `json:"total" doc:"number of items in all"`
	Limit  int    `json:"limit,omitempty" doc:"how many were asked for; absent if all are there"`
	Offset int    `json:"offset"`
	Hint   string `json:"hint,omitempty" doc:"if nothing is listed: why, and what to try"`
}

// Next implements op.Paged.
func (l List[T]) Next() (offset int, more bool) {
	offset = l.Offset + len(l.Items)
	return offset, len(l.Items) > 0 && offset < l.Total
}

// Head says how many there are in all, and why nothing is listed.
func (l List[T]) Head() (total int, hint string) { return l.Total, l.Hint }

// Rows returns a page of the catalog, each record as its row.
func Rows[T any](
	ctx context.Context, b Base, q catalog.ListQuery, p arg.Paging, row func(Base, catalog.Record) (T, error),
) (List[T], error) {
	q.Limit, q.Offset = p.Limit, p.Offset
	records, total, err := b.Catalog.List(ctx, q)
	if err != nil {
		return List[T]{}, err
	}
	out := List[T]{Items: make([]T, len(records)), Total: total, Limit: q.Limit, Offset: q.Offset}
	for i, r := range records {
		if out.Items[i], err = row(b, r); err != nil {
			return List[T]{}, err
		}
	}
	if len(records) == 0 {
		out.Hint, err = b.emptyList(ctx, q, total)
	}
	return out, err
}

// namedValues is the maximum of valid values in a hint.
const namedValues = 12

// emptyList explains an empty list: the page is past the end, no record of the
// kind has the value of a filter, or nothing of the kind is indexed.
func (b Base) emptyList(ctx context.Context, q catalog.ListQuery, total int) (string, error) {
	if total > 0 {
		return PastTheEnd(total), nil
	}
	if none, err := b.NoSource(ctx, q.Sources...); none != "" || err != nil {
		return none, err
	}
	counts, err := b.Counts(ctx)
	if err != nil {
		return "", err
	}
	counts = slices.DeleteFunc(slices.Clone(counts), func(c catalog.Count) bool {
		return len(q.Kinds) > 0 && !slices.Contains(q.Kinds, c.Kind)
	})
	if len(counts) == 0 {
		return "nothing of this kind is indexed: /api/v1/sources lists what is", nil
	}
	for _, f := range []struct {
		name  string
		given []string
		of    func(catalog.Count) string
	}{
		{"state", q.States, func(c catalog.Count) string { return c.State }},
		{"category", q.Categories, func(c catalog.Count) string { return c.Category }},
		{"source", q.Sources, func(c catalog.Count) string { return c.Source }},
		{"container", q.Containers, func(c catalog.Count) string { return c.Container }},
	} {
		var known []string
		for _, c := range counts {
			if value := f.of(c); value != "" && !containsFold(known, value) {
				known = append(known, value)
			}
		}
		slices.Sort(known)
		isKnown := func(given string) bool { return containsFold(known, given) }
		if len(f.given) > 0 && !slices.ContainsFunc(f.given, isKnown) {
			return NoSuch(f.name, f.given[0], known), nil
		}
	}
	return b.emptyTags(ctx, q)
}

// NoSource says of the names of sources that the network has none of them, and which is
// meant; "" if it has one, or there are no names. A strict call is refused with that.
func (b Base) NoSource(ctx context.Context, names ...string) (string, error) {
	if len(names) == 0 {
		return "", nil
	}
	counts, err := b.Counts(ctx)
	if err != nil {
		return "", err
	}
	var known []string
	for _, c := range counts {
		known = append(known, c.Source)
	}
	for _, s := range b.Network.Sources { // one that was not read yet is known, too
		known = append(known, s.Name)
	}
	slices.Sort(known)
	if slices.ContainsFunc(names, func(name string) bool { return containsFold(known, name) }) {
		return "", nil
	}
	none := NoSuch("source", names[0], slices.Compact(known))
	if op.IsStrict(ctx) {
		return "", op.Invalid("%s", none)
	}
	return none, nil
}

// emptyTags is emptyList for filters by tag.
func (b Base) emptyTags(ctx context.Context, q catalog.ListQuery) (string, error) {
	tags := q.AllTags
	if len(q.Tags) == 1 { // one of one is all
		tags = append(slices.Clip(tags), q.Tags[0])
	}
	for _, tag := range tags {
		name, given, ok := strings.Cut(tag, ":")
		if !ok || len(q.Kinds) != 1 {
			continue
		}
		counts, err := b.Catalog.TagCounts(ctx, q.Kinds[0], name+":")
		if err != nil {
			return "", err
		}
		known := make([]string, len(counts))
		for i, c := range counts {
			known[i] = strings.TrimPrefix(c.Tag, name+":")
		}
		if !containsFold(known, given) {
			return NoSuch(name, given, known), nil
		}
	}
	return "no record has all of these: leave a filter out", nil
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// NoSuch says that no record has a value: it names the nearest existing one, or
// lists them.
func NoSuch(name, given string, known []string) string {
	given = prose.First(given, 80)
	if near := nearest.Of(given, known); near != "" {
		return fmt.Sprintf("no record has the %s %q: did you mean %q?", name, given, near)
	}
	if len(known) == 0 {
		return fmt.Sprintf("no record has a %s: leave it out", name)
	}
	more := ""
	if len(known) > namedValues {
		known, more = known[:namedValues], ", …"
	}
	return fmt.Sprintf("no record has the %s %q: there are %s%s", name, given, strings.Join(known, ", "), more)
}

// PastTheEnd says that a page is empty because it is beyond the last.
func PastTheEnd(total int) string {
	return fmt.Sprintf("there are %d in all: the offset is past the end", total)
}

// Counted writes what was counted just now, so that an answer has it, and says which of all
// that was counted may be listed: with private everything, else, where the service is
// published, only what catalog.PublicClients did. rule says so to who sees an empty list.
// If the catalog is busy the answer is a few seconds old.
func (b Base) Counted(ctx context.Context) (private bool, rule string) {
	writing, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	_ = b.Tally.Flush(writing) // what could not be written is kept
	why := "others may reach it"
	if b.Published != nil {
		published, err := b.Published(ctx)
		if published == "" && err == nil {
			return true, "only this machine reaches the service, so that each counts from the first"
		}
		why = cmp.Or(published, why)
	}
	return false, "the service is published (" + why + "), so that what fewer than five clients sent is not listed"
}
