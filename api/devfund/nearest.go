package devfund

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// draftQuery is what a draft is about, to search for: its summary and the titles
// of its milestones, else its text.
func draftQuery(text string) string {
	about := []string{derive.TLDR(text)}
	for _, m := range derive.MilestonesIn(text) {
		about = append(about, m.Title)
	}
	return cmp.Or(strings.TrimSpace(strings.Join(about, "\n")), text)
}

// nearestGrants lists up to n numbers of grant proposals, the nearest to a number
// first.
func nearestGrants(grants []catalog.Record, number, n int) string {
	var known []int
	for _, r := range grants {
		if x, err := strconv.Atoi(r.Key); err == nil {
			known = append(known, x)
		}
	}
	far := func(x int) int { return max(x-number, number-x) }
	slices.SortFunc(known, func(a, b int) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
	var list []string
	for _, x := range known[:min(n, len(known))] {
		list = append(list, strconv.Itoa(x))
	}
	return strings.Join(list, ", ")
}
