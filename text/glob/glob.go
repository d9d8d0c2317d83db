// Package glob matches paths with patterns: ? is a character of a name, * any
// characters of a name, ** any characters of names and slashes, and **/ where a
// name begins any directories, or none. All else means itself. It imports no
// other package of this module.
package glob

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Set is patterns of paths.
type Set []*regexp.Regexp

// Exact compiles patterns of paths that differ by case, as those of addresses.
// An error names the pattern.
func Exact(patterns []string) (Set, error) { return compile("(?s)", patterns) }

// Fold compiles patterns that ignore case. An error names the pattern.
func Fold(patterns []string) (Set, error) { return compile("(?is)", patterns) }

func compile(flags string, patterns []string) (Set, error) {
	var s Set
	for _, p := range patterns {
		if !utf8.ValidString(p) {
			return nil, fmt.Errorf("pattern %q is not UTF-8", p)
		}
		compiled, err := regexp.Compile(flags + "^" + expression(p) + "$")
		if err != nil { // it is too long
			return nil, fmt.Errorf("pattern %q: %w", p, err)
		}
		s = append(s, compiled)
	}
	return s, nil
}

// token is a wildcard or what stands between two of them.
var token = regexp.MustCompile(`(?:^|/)(?:\*\*/)+|\*\*|[*?/]|[^*?/]+`)

// expression turns a pattern into a regular expression.
func expression(pattern string) string {
	return token.ReplaceAllStringFunc(pattern, func(t string) string {
		switch {
		case t == "?":
			return "[^/]"
		case t == "*":
			return "[^/]*"
		case t == "**":
			return ".*"
		case strings.HasSuffix(t, "**/"):
			return t[:strings.IndexByte(t, '*')] + "(?:.*/)?"
		}
		return regexp.QuoteMeta(t)
	})
}

// Match reports whether a path matches one of the patterns.
func (s Set) Match(path string) bool {
	for _, p := range s {
		if p.MatchString(path) {
			return true
		}
	}
	return false
}
