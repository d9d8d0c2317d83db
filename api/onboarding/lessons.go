package onboarding

import (
	"cmp"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// lessonKinds are the kinds that a learning path consists of, in its order, how
// many there are of each, and what each is read for.
var lessonKinds = []struct {
	kind catalog.Kind
	most int
	why  string
}{
	{catalog.KindWhitepaper, 1, "gives the idea and its reasons before any detail"},
	{catalog.KindDoc, 3, "explains how it works and is used today"},
	{catalog.KindCIP, 2, "specifies it exactly"},
	{catalog.KindTopic, 2, "shows what people met in practice, with their answers"},
	{catalog.KindVideo, 1, "shows it, told by those who built or run it"},
}

// kindsOfLessons are the kinds of records that lessons are picked from.
func kindsOfLessons() []catalog.Kind {
	var kinds []catalog.Kind
	for _, k := range lessonKinds {
		kinds = append(kinds, k.kind)
	}
	return kinds
}

// pickLessons returns the first of each kind, as many as a path has, from
// records in the order of their relevance. Proposals that are not in force and
// will not be, stubs, pages of other versions and pages that are there for a
// newer version too are left out.
func pickLessons(records []catalog.Record) []catalog.Record {
	var out []catalog.Record
	for _, k := range lessonKinds {
		n := 0
		for _, r := range records {
			if r.Kind == k.kind && n < k.most && !past(r) && !slices.ContainsFunc(records, newerThan(r)) {
				out = append(out, r)
				n++
			}
		}
	}
	return out
}

func past(r catalog.Record) bool {
	return slices.Contains(r.Tags, catalog.TagStub) || slices.Contains(r.Tags, catalog.TagOtherVersion) ||
		r.Kind == catalog.KindCIP && slices.Contains([]string{"Withdrawn", "Rejected", "Superseded"}, r.State)
}

// newerThan returns whether a page is the same page as r of a newer version; no
// version is the current one.
func newerThan(r catalog.Record) func(catalog.Record) bool {
	version := func(r catalog.Record) (v derive.Version, current bool) {
		d, err := catalog.Decode[catalog.Doc](r)
		v, ok := derive.ParseVersion(d.Version)
		return v, err != nil || !ok
	}
	v, current := version(r)
	return func(x catalog.Record) bool {
		if current || x.Kind != r.Kind || x.Title != r.Title {
			return false
		}
		w, newest := version(x)
		return newest || w.Compare(v) > 0
	}
}

// lesson is one step of a learning path.
type lesson struct {
	Record  catalog.Record
	Why     string
	Minutes int // to read or to watch, at least 1
}

// wordsPerMinute is how fast technical prose is read.
const wordsPerMinute = 200

// inOrder orders picked records, with their bodies, from introduction to
// detail: by kind; pages of the documentation with fewer folders in their path
// first; then the oldest, because later ones build on it; then the shortest.
func inOrder(records []catalog.Record) []lesson {
	var out []lesson
	rank := map[catalog.Kind]int{}
	for i, k := range lessonKinds {
		rank[k.kind] = i
	}
	for _, r := range records {
		out = append(out, lesson{r, lessonKinds[rank[r.Kind]].why, minutes(r)})
	}
	slices.SortStableFunc(out, func(a, b lesson) int {
		x, y := a.Record, b.Record
		return cmp.Or(rank[x.Kind]-rank[y.Kind], folders(x)-folders(y), x.CreatedAt.Compare(y.CreatedAt),
			len(x.Body)-len(y.Body))
	})
	return out
}

func folders(r catalog.Record) int {
	if r.Kind != catalog.KindDoc {
		return 0
	}
	return strings.Count(r.Path, "/")
}

// minutes is the length of a recording, if it is known, else the time that its
// words take.
func minutes(r catalog.Record) int {
	seconds := len(strings.Fields(r.Body)) * 60 / wordsPerMinute
	if v, err := catalog.Decode[catalog.Video](r); err == nil && r.Kind == catalog.KindVideo {
		if n := len(v.Cues); n > 0 {
			seconds = int(v.Cues[n-1].Seconds)
		}
		if v.Seconds != nil {
			seconds = *v.Seconds
		}
	}
	return max(1, (seconds+59)/60)
}
