package forge

import (
	"regexp"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest/proposals"
)

// layout determines which files of a repository are proposals, by the same rules
// as package proposals.
type layout struct {
	index            string
	include, exclude []*regexp.Regexp
	reader           proposals.Reader
}

func newLayout(o proposalOptions, n network.Network) layout {
	return layout{index: o.Index, include: patterns(o.Paths), exclude: patterns(o.Exclude),
		reader: proposals.Reader{Network: n}}
}

// wildcards turns the wildcards of a quoted path pattern into expressions.
var wildcards = strings.NewReplacer(
	`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`,
)

// patterns compiles path patterns: ? matches a character, * any characters within
// a directory, ** any characters with directories.
func patterns(globs []string) []*regexp.Regexp {
	var compiled []*regexp.Regexp
	for _, g := range globs {
		quoted := wildcards.Replace(regexp.QuoteMeta(g))
		compiled = append(compiled, regexp.MustCompile(`(?i)^`+quoted+`$`))
	}
	return compiled
}

func matches(patterns []*regexp.Regexp, file string) bool {
	for _, p := range patterns {
		if p.MatchString(file) {
			return true
		}
	}
	return false
}

// isText reports whether a file can be a proposal: a text that is neither
// excluded nor the index.
func (l layout) isText(file string) bool { return proposals.IsText(file) && l.allowed(file) }

func (l layout) allowed(file string) bool { return file != l.index && !matches(l.exclude, file) }

// included reports whether a file is in a place for proposals.
func (l layout) included(file string) bool {
	return len(l.include) == 0 || matches(l.include, file)
}

// choose returns the main file of those that a pull request adds or changes: one
// in a place for proposals before others, an added one before a changed one, a
// proposal before a readme.
func (l layout) choose(files []changed) (changed, bool) {
	best, bestRank := changed{}, -1
	for _, f := range files {
		if f.Status == "removed" || f.SHA == "" || f.Status == "renamed" && f.Changes == 0 || !l.isText(f.Path) {
			continue
		}
		rank := l.reader.Likelihood(f.Path)
		if l.included(f.Path) {
			rank += 6
		}
		if f.Status == "added" {
			rank += 3
		}
		if rank > bestRank {
			best, bestRank = f, rank
		}
	}
	return best, bestRank >= 0
}
