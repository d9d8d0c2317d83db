package forge

import (
	"path"
	"regexp"
	"strings"

	"almanac/ingest/proposals"
)

// layout says which files of a repository are proposals. The rules are those
// of package proposals for the same repository read with git.
type layout struct {
	index            string
	include, exclude []*regexp.Regexp
}

func newLayout(o proposalOptions) layout {
	return layout{index: o.Index, include: patterns(o.Paths), exclude: patterns(o.Exclude)}
}

// patterns compiles path patterns: ? is a character, * any within a
// directory, ** any with directories.
func patterns(globs []string) []*regexp.Regexp {
	var compiled []*regexp.Regexp
	for _, g := range globs {
		quoted := strings.NewReplacer(`\*\*/`, `(?:.*/)?`, `\*\*`, `.*`, `\*`, `[^/]*`, `\?`, `[^/]`).Replace(regexp.QuoteMeta(g))
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

// isText says whether a file can be a proposal: markdown that is not excluded
// and neither the index nor about the repository itself.
func (l layout) isText(file string) bool {
	return strings.EqualFold(path.Ext(file), ".md") && file != l.index && !matches(l.exclude, file)
}

// included says whether a file stands where proposals belong.
func (l layout) included(file string) bool {
	return len(l.include) == 0 || matches(l.include, file)
}

// isNumbered says whether a file of the branch is a numbered proposal: its own
// name has a number, or is that of its directory.
func (l layout) isNumbered(file string) bool {
	if !l.isText(file) || !l.included(file) || proposals.NumberFromPath(file) == "" {
		return false
	}
	base := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return ownNumbered(file) || strings.EqualFold(base, path.Base(path.Dir(file)))
}

// ownNumbered says whether a file's own name has a number.
func ownNumbered(file string) bool { return proposals.NumberFromPath(path.Base(file)) != "" }

// choose returns the file that a pull request is about among those it adds or
// changes: one where proposals belong before others, an added one before a
// changed one, a proposal before a readme.
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
