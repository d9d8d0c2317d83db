package proposals

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"almanac/ingest/gitrepo"
)

// fileChange is a change of a file by a commit. A renamed file has both paths,
// an added one has no old, a deleted one no new.
type fileChange struct {
	old, new         string
	oldHash, newHash plumbing.Hash
}

// step is a commit on the branch's first-parent line with its changes.
type step struct {
	commit  *object.Commit
	changes []fileChange
	pull    int // number of the pull request it merged; 0 for none
}

// steps returns the first-parent line of the branch's head, oldest first: the
// states of the branch, one for each merged pull request or direct commit.
// Commits inside a pull request were never on the branch.
func steps(ctx context.Context, repo *gitrepo.Repository) ([]step, error) {
	var line []step
	for c := repo.Head; ; {
		line = append(line, step{commit: c, pull: pullOf(c)})
		if c.NumParents() == 0 {
			break
		}
		parent, err := c.Parent(0)
		if err != nil {
			return nil, fmt.Errorf("parent of %s: %w", c.Hash, err)
		}
		c = parent
	}
	slices.Reverse(line)
	var before *object.Tree
	for i := range line {
		tree, err := repo.Tree(line[i].commit)
		if err != nil {
			return nil, err
		}
		if line[i].changes, err = diff(ctx, repo, before, tree); err != nil {
			return nil, fmt.Errorf("changes of %s: %w", line[i].commit.Hash, err)
		}
		before = tree
	}
	return line, nil
}

// diff returns the changes between two trees, with renames found, by path.
func diff(ctx context.Context, repo *gitrepo.Repository, before, after *object.Tree) ([]fileChange, error) {
	changes, err := repo.Changes(ctx, before, after)
	if err != nil {
		return nil, err
	}
	var out []fileChange
	for _, c := range changes {
		f := fileChange{old: c.From.Name, new: c.To.Name}
		if f.old != "" {
			f.oldHash = c.From.TreeEntry.Hash
		}
		if f.new != "" {
			if !c.To.TreeEntry.Mode.IsFile() {
				continue
			}
			f.newHash = c.To.TreeEntry.Hash
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b fileChange) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.new, a.old), cmp.Or(b.new, b.old)), cmp.Compare(a.old, b.old))
	})
	return out, nil
}

var (
	squashed = regexp.MustCompile(`\(#(\d+)\)\s*$`)
	merged   = regexp.MustCompile(`^Merge pull request #(\d+)\b`)
)

// pullOf returns the number of the pull request that a commit merged, by its
// subject.
func pullOf(c *object.Commit) int {
	for _, pattern := range []*regexp.Regexp{squashed, merged} {
		if m := pattern.FindStringSubmatch(subject(c)); m != nil {
			n, _ := strconv.Atoi(m[1])
			return n
		}
	}
	return 0
}

func subject(c *object.Commit) string {
	s, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\r\n"), "\n")
	return strings.TrimSpace(s)
}

// origin is where a file of the branch's head comes from.
type origin struct {
	firstPath string // path under which the file was added
	added     step   // the step that added it
	updated   step   // the step that last changed its content
	pulls     []int  // of all steps that touched it
}

// origins traces every file of the head back through its renames.
func origins(line []step) map[string]origin {
	at := map[string]origin{}
	for _, s := range line {
		gone := map[string]origin{}
		for _, c := range s.changes {
			if c.old != "" && c.old != c.new {
				gone[c.old] = at[c.old]
				delete(at, c.old)
			}
		}
		for _, c := range s.changes {
			if c.new == "" {
				continue
			}
			o, ok := at[c.new]
			if c.old != "" && c.old != c.new {
				o, ok = gone[c.old], true
			}
			if !ok || c.old == "" {
				o = origin{firstPath: c.new, added: s}
			}
			if c.oldHash != c.newHash {
				o.updated = s
			}
			if s.pull > 0 {
				o.pulls = append(slices.Clip(o.pulls), s.pull)
			}
			at[c.new] = o
		}
	}
	return at
}
