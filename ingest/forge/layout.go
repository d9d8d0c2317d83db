package forge

import (
	"errors"

	"almanac/catalog/network"
	"almanac/ingest/proposals"
	"almanac/text/glob"
)

// layout determines which files of a repository are proposals, by the same rules
// as package proposals.
type layout struct {
	index            string
	include, exclude glob.Set
	reader           proposals.Reader
}

func newLayout(o proposalOptions, n network.Network) (layout, error) {
	include, err1 := glob.Fold(o.Paths)
	exclude, err2 := glob.Fold(o.Exclude)
	if err := errors.Join(err1, err2); err != nil {
		return layout{}, err
	}
	return layout{index: o.Index, include: include, exclude: exclude, reader: proposals.Reader{Network: n}}, nil
}

// isText reports whether a file can be a proposal: a text that is neither
// excluded nor the index.
func (l layout) isText(file string) bool { return proposals.IsText(file) && l.allowed(file) }

func (l layout) allowed(file string) bool { return file != l.index && !l.exclude.Match(file) }

// included reports whether a file is in a place for proposals.
func (l layout) included(file string) bool {
	return len(l.include) == 0 || l.include.Match(file)
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
