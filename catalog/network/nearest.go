package network

import (
	"slices"
	"strings"
)

// Nearest returns the name closest to a misspelt one, "" if none is close: at
// most a third of the letters (at least one) may differ, ignoring case.
func Nearest(name string, known []string) string {
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

// Spelling returns which of some names is meant, in any case or by one of the
// network's aliases; "" for none.
func (n Network) Spelling(asked string, known []string) string {
	asked = fold(asked)
	for _, name := range known {
		means := append([]string{name}, n.Aliases[fold(name)]...)
		if slices.ContainsFunc(means, func(s string) bool { return fold(s) == asked }) {
			return name
		}
	}
	return ""
}
