package kb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/retrieval"
	"almanac/retrieval/passage"
	"almanac/text/nearest"
)

// namedValues is the maximum of valid values in a hint.
const namedValues = 12

// emptyList explains an empty list: the page is past the end, no record of the
// kind has the value of a filter, or nothing of the kind is indexed.
func (b Base) emptyList(ctx context.Context, q catalog.ListQuery, total int) (string, error) {
	if total > 0 {
		return pastTheEnd(total), nil
	}
	values, err := b.valuesOf(ctx, q.Kinds)
	if err != nil {
		return "", err
	}
	if values.total == 0 {
		return "nothing of this kind is indexed: /api/v1/sources lists what is", nil
	}
	for _, f := range []struct {
		name         string
		given, known []string
	}{
		{"state", q.States, values.states}, {"category", q.Categories, values.categories},
		{"source", q.Sources, values.sources}, {"container", q.Containers, values.containers},
	} {
		isKnown := func(given string) bool { return containsFold(f.known, given) }
		if len(f.given) > 0 && !slices.ContainsFunc(f.given, isKnown) {
			return NoSuch(f.name, f.given[0], f.known), nil
		}
	}
	return b.emptyTags(ctx, q)
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

// values are the distinct values in the columns of some kinds of records.
type values struct {
	total                                   int
	states, categories, sources, containers []string
}

func (b Base) valuesOf(ctx context.Context, kinds []catalog.Kind) (v values, err error) {
	counts, err := b.Counts(ctx)
	for _, c := range counts {
		if len(kinds) > 0 && !slices.Contains(kinds, c.Kind) {
			continue
		}
		v.total += c.N
		for to, value := range map[*[]string]string{
			&v.states: c.State, &v.categories: c.Category, &v.sources: c.Source, &v.containers: c.Container,
		} {
			if value != "" && !containsFold(*to, value) {
				*to = append(*to, value)
			}
		}
	}
	for _, list := range []*[]string{&v.states, &v.categories, &v.sources, &v.containers} {
		slices.Sort(*list)
	}
	return v, err
}

func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(x string) bool { return strings.EqualFold(x, s) })
}

// NoSuch says that no record has a value: it names the nearest existing one, or
// lists them.
func NoSuch(name, given string, known []string) string {
	given = First(given, 80)
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

// EmptySearch suggests what to try if a page of results is empty. Operators
// that left nothing over are named, with what there is without them.
func EmptySearch(total int, relaxed []retrieval.Relaxed, f passage.Filter) string {
	if total > 0 {
		return pastTheEnd(total)
	}
	if len(relaxed) > 0 {
		var parts []string
		for _, r := range relaxed {
			what := r.Without
			if strings.HasPrefix(what, `"`) && strings.Count(what, `"`) == 2 {
				what = "the quotes around " + strings.Trim(what, `"`)
			}
			parts = append(parts, fmt.Sprintf("%d without %s", r.Total, what))
		}
		return "nothing matches all of the query: there are " + strings.Join(parts, ", ")
	}
	var tries []string
	if !f.Since.IsZero() || !f.Until.IsZero() || len(f.Sources) > 0 {
		tries = append(tries, "leave out the dates and the source")
	}
	if len(f.Kinds) > 0 {
		tries = append(tries, "search everything (search with type all)")
	}
	tries = append(tries, "use fewer or other words")
	return "nothing matches: " + strings.Join(tries, ", or ")
}

func pastTheEnd(total int) string {
	return fmt.Sprintf("there are %d in all: the offset is past the end", total)
}
