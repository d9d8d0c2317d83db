package gitrepo

import (
	"context"
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
// a tree may contain.
func (r *Repository) Changes(ctx context.Context, before, after *object.Tree) (object.Changes, error) {
	var found object.Changes
	if err := r.compare(ctx, "", before, after, &found); err != nil {
		return nil, err
	}
	return object.DetectRenames(found, &object.DiffTreeOptions{RenameScore: renameScore, RenameLimit: renameLimit})
}

// compare adds the changes below a directory, by name.
func (r *Repository) compare(ctx context.Context, dir string, before, after *object.Tree, to *object.Changes) error {
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
			if err := r.compare(ctx, join(dir, name), from, into, to); err != nil {
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
			*to = append(*to, change)
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
