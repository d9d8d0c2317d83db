package gitrepo

import (
	"regexp"
	"strings"
)

// Globs are patterns of paths.
type Globs []*regexp.Regexp

// NewGlobs compiles patterns: ? matches a character, * any characters within a
// directory, ** any characters with directories. Case is ignored.
func NewGlobs(patterns []string) Globs {
	var g Globs
	for _, p := range patterns {
		quoted := regexp.QuoteMeta(strings.ToValidUTF8(p, "\uFFFD"))
		quoted = strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(quoted)
		g = append(g, regexp.MustCompile(`(?is)^`+quoted+`$`))
	}
	return g
}

// Match reports whether a path matches one of the patterns.
func (g Globs) Match(path string) bool {
	for _, p := range g {
		if p.MatchString(path) {
			return true
		}
	}
	return false
}
