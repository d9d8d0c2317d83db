package dedup

import "slices"

// Window is the number of results among which copies are looked for. It does
// not depend on the page, so that pages are consistent.
const Window = 100

// Collapse groups n ranked items: one that is the same as an item already kept,
// within the first Window, joins its cluster. A cluster has the rank of its
// best item; the item to show comes first in it: the preferred one, else the
// better ranked.
func Collapse(n int, same, preferred func(a, b int) bool) [][]int {
	clusters, alone := make([][]int, 0, n), make([]int, n) // alone: the memory of clusters of one
	for i := range n {
		at := -1
		if i < Window {
			at = slices.IndexFunc(clusters, func(c []int) bool { return same(c[0], i) })
		}
		switch {
		case at < 0:
			alone[i] = i
			clusters = append(clusters, alone[i:i+1:i+1])
		case preferred(i, clusters[at][0]):
			c := append(clusters[at], clusters[at][0])
			c[0] = i
			clusters[at] = c
		default:
			clusters[at] = append(clusters[at], i)
		}
	}
	return clusters
}
