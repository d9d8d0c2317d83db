package markdown

import (
	"strconv"
	"strings"
	"unicode"
)

// Slug returns the anchor that forges give a heading: lower case, letters, digits,
// hyphens and underscores kept, spaces as hyphens, the rest dropped.
func Slug(heading string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsLetter(c) || unicode.IsDigit(c) || unicode.IsMark(c) || c == '-' || c == '_':
			return c
		case c == ' ':
			return '-'
		}
		return -1
	}, strings.ToLower(heading))
}

// Anchors are those given in a page, with the last number given to each. The zero value
// cannot be added to.
type Anchors map[string]int

// Add returns the anchor of a heading, its own if it has one; a repeated one gets -1,
// -2, ….
func (a Anchors) Add(own, heading string) string {
	if own == "" {
		own = Slug(heading)
	}
	unique := own
	for {
		if _, taken := a[unique]; !taken {
			a[unique] = 0
			return unique
		}
		a[own]++
		unique = own + "-" + strconv.Itoa(a[own])
	}
}
