// Package nearest finds which known name a misspelt one means. It imports no other
// package of this module.
package nearest

import (
	"fmt"
	"strings"
)

// Of returns the name closest to a misspelt one, "" if none is close: at
// most a third of the letters (at least one) may differ, ignoring case.
func Of(name string, known []string) string {
	name = strings.ToLower(name)
	best, least := "", max(1, min(len(name), 60)/3)+1
	for _, k := range known {
		if max(len(k)-len(name), len(name)-len(k)) >= least {
			continue
		}
		if d := distance(name, strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance counts letters inserted, deleted, replaced or swapped with their
// neighbour (optimal string alignment), on bytes: names are ASCII.
func distance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// Unknown says of a word that it is not known, and which one is meant, or which
// there are.
func Unknown(what, word string, known []string) string {
	if near := Of(word, known); near != "" {
		return fmt.Sprintf("unknown %s %q; did you mean %q?", what, word, near)
	}
	return fmt.Sprintf("unknown %s %q; known are %s", what, word, strings.Join(known, ", "))
}
