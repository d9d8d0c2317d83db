package gitrepo

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Files are taken for renamed if this share of their content, in percent, is
// the same; of more files than the limit only those with equal content are.
const (
	renameScore = 60
	renameLimit = 400
)

// Changes compares two trees of the repository; nil is an empty one. A renamed
// file is one change. Unlike go-git's own comparison it fails for no name that
// a tree may contain: names that no file has are left out. If after adds or
// changes any, wrong says so of the first.
func (r *Repository) Changes(
	ctx context.Context, before, after *object.Tree,
) (changes object.Changes, wrong, err error) {
	found := comparison{repo: r}
	if err := found.compare(ctx, "", before, after); err != nil {
		return nil, nil, err
	}
	changes, err = object.DetectRenames(found.changes,
		&object.DiffTreeOptions{RenameScore: renameScore, RenameLimit: renameLimit})
	return changes, found.wrong, err
}

// comparison is what two trees differ in.
type comparison struct {
	repo    *Repository
	changes object.Changes
	wrong   error
}

// compare adds the changes below a directory, by name.
func (to *comparison) compare(ctx context.Context, dir string, before, after *object.Tree) error {
	r := to.repo
	if err := ctx.Err(); err != nil {
		return err
	}
	old, now := entries(before), entries(after)
	names := maps.Clone(old)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, had := old[name]
		b, has := now[name]
		if had && has && a.Hash == b.Hash && a.Mode == b.Mode {
			continue
		}
		if err := odd(name); err != nil {
			if has && to.wrong == nil {
				to.wrong = fmt.Errorf("%q: %w", join(dir, name), err)
			}
			continue
		}
		var from, into *object.Tree
		var err error
		if had && a.Mode == filemode.Dir {
			if from, err = r.Git.TreeObject(a.Hash); err != nil {
				return err
			}
		}
		if has && b.Mode == filemode.Dir {
			if into, err = r.Git.TreeObject(b.Hash); err != nil {
				return err
			}
		}
		if from != nil || into != nil {
			if err := to.compare(ctx, join(dir, name), from, into); err != nil {
				return err
			}
		}
		change := &object.Change{}
		if had && from == nil {
			change.From = changeEntry(dir, before, a)
		}
		if has && into == nil {
			change.To = changeEntry(dir, after, b)
		}
		if change.From.Name != "" || change.To.Name != "" {
			to.changes = append(to.changes, change)
		}
	}
	return nil
}

func entries(t *object.Tree) map[string]object.TreeEntry {
	if t == nil {
		return map[string]object.TreeEntry{}
	}
	byName := make(map[string]object.TreeEntry, len(t.Entries))
	for _, e := range t.Entries {
		if e.Mode == filemode.Deprecated {
			e.Mode = filemode.Regular
		}
		byName[e.Name] = e
	}
	return byName
}

// changeEntry is one side of a change. go-git reads the content of entries whose
// names may be written to a disk only, so the entry has a name of its own.
func changeEntry(dir string, tree *object.Tree, e object.TreeEntry) object.ChangeEntry {
	name := join(dir, e.Name)
	e.Name = "entry"
	return object.ChangeEntry{Name: name, Tree: tree, TreeEntry: e}
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}
