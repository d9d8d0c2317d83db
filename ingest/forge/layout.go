package forge

import (
	"path"
	"regexp"
	"strings"

	"almanac/ingest/proposals"
)

// layout determines which files of a repository are proposals, by the same rules
// as package proposals.
type layout struct {
	index            string
	include, exclude []*regexp.Regexp
}

func newLayout(o proposalOptions) layout {
	return layout{index: o.Index, include: patterns(o.Paths), exclude: patterns(o.Exclude)}
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

// isText reports whether a file can be a proposal: markdown that is not excluded
// and neither the index nor about the repository itself.
func (l layout) isText(file string) bool {
	return strings.EqualFold(path.Ext(file), ".md") && file != l.index && !matches(l.exclude, file)
}

// included reports whether a file is in a place for proposals.
func (l layout) included(file string) bool {
	return len(l.include) == 0 || matches(l.include, file)
}

// isNumbered reports whether a file of the branch is a numbered proposal: its own
// name has a number, or equals that of its directory.
func (l layout) isNumbered(file string) bool {
	if !l.isText(file) || !l.included(file) || proposals.NumberFromPath(file) == "" {
		return false
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return ownNumbered(file) || strings.EqualFold(base, path.Base(path.Dir(file)))
}

// ownNumbered reports whether a file's own name has a number.
func ownNumbered(file string) bool { return proposals.NumberFromPath(path.Base(file)) != "" }

// choose returns the main file of those that a pull request adds or changes: one
// in a place for proposals before others, an added one before a changed one, a
// proposal before a readme.
func (l layout) choose(files []changed) (changed, bool) {
	best, bestRank := changed{}, -1
	for _, f := range files {
		if f.Status == "removed" || f.SHA == "" || f.Status == "renamed" && f.Changes == 0 || !l.isText(f.Path) {
			continue
		}
		rank := 0
		if l.included(f.Path) {
			rank += 4
		}
		if f.Status == "added" {
			rank += 2
		}
		if !strings.HasPrefix(strings.ToLower(path.Base(f.Path)), "readme") {
			rank++
		}
		if rank > bestRank {
			best, bestRank = f, rank
		}
	}
	return best, bestRank >= 0
}
