package gitrepo

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// MaxBlob is the usual size limit of a file in bytes.
const MaxBlob = 32 << 20

// Bounds of a commit: ten nested trees of ten names each are two kilobytes and
// 10,000,000,000 files.
const (
	maxFiles = 500_000 // and directories
	maxDepth = 256
)

// ErrTooLarge: a file is larger than the limit, or there are more than can be read.
var ErrTooLarge = errors.New("larger than the limit")

// Repository reads a fetched repository. It is for use by one goroutine.
type Repository struct {
	Head *Commit           // of the branch
	Refs map[string]string // hashes by name

	dir            string
	objects, diffs server
	files          map[string]int // below a tree, for those that were counted
}

// Open reads the references and the head of the branch. The caller closes the
// repository, which nobody can read when ctx has ended.
func Open(ctx context.Context, dir, branch string) (_ *Repository, err error) {
	at := "--git-dir=" + dir
	r := &Repository{Refs: map[string]string{}, dir: dir, files: map[string]int{},
		objects: server{ctx: ctx, args: []string{at, "cat-file", "--batch"}},
		diffs:   server{ctx: ctx, args: append([]string{at, "diff-tree", "--stdin", "-r"}, renames...)},
	}
	err = streamed(ctx, []string{at, "for-each-ref", "--format=%(objectname) %(refname)"}, func(out *bufio.Reader) error {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			hash, name, _ := strings.Cut(lines.Text(), " ")
			r.Refs[name] = hash
		}
		return lines.Err()
	})
	if err != nil {
		return nil, fmt.Errorf("references of %s: %w", dir, err)
	}
	hash, ok := r.Refs["refs/heads/"+branch]
	if !ok {
		return nil, fmt.Errorf("the mirror has no branch %s", branch)
	}
	if r.Head, err = r.Commit(hash); err != nil {
		r.Close()
		return nil, fmt.Errorf("head of %s: %w", branch, err)
	}
	return r, nil
}

// Close ends the commands that read the repository.
func (r *Repository) Close() {
	r.objects.stop()
	r.diffs.stop()
}

// check fails with ErrTooLarge for a commit with more than 500,000 files: whoever walks
// through its tree walks to an end.
func (r *Repository) check(c *Commit) error {
	n, err := r.count(c.Tree, 0)
	if err == nil && n > maxFiles {
		err = fmt.Errorf("more than %d files: %w", maxFiles, ErrTooLarge)
	}
	if err != nil {
		return fmt.Errorf("tree of %s: %w", c.Hash, err)
	}
	return nil
}

// count counts the files and directories below a tree, up to a bit more than maxFiles. A
// tree that stands in many places, or in many commits, is read once.
func (r *Repository) count(tree string, depth int) (n int, err error) {
	n, known := r.files[tree]
	if known {
		return n, nil
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("directories deeper than %d: %w", maxDepth, ErrTooLarge)
	}
	entries, err := r.tree(tree)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if n++; e.kind == directory {
			below, err := r.count(e.hash, depth+1)
			if err != nil {
				return 0, err
			}
			n += below
		}
		if n > maxFiles {
			break
		}
	}
	r.files[tree] = n
	return n, nil
}

// errNoFile: the path is that of a link or a submodule.
var errNoFile = errors.New("git has a link or another repository there, not a file")

// odd returns what is wrong with a name in a tree, nil if it is one of a file or directory that can be checked
// out. Git itself writes no others, but whoever makes objects by hand does.
func odd(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git") || strings.Contains(name, "/"):
		return fmt.Errorf("a tree of git has the name %q, which no file can have", name)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("a tree of git has the name %q, with a control character", name)
	}
	return nil
}

// Files lists the files of a commit by path, with the hashes of their content, and others
// with what they are: links, submodules, and what has a name that no file has. A path
// need not be UTF-8. A commit with more than 500,000 files is an ErrTooLarge.
func (r *Repository) Files(c *Commit) (files map[string]string, others map[string]error, err error) {
	if err := r.check(c); err != nil {
		return nil, nil, err
	}
	files, others = map[string]string{}, map[string]error{}
	return files, others, r.list("", c.Tree, nil, files, others)
}

// list adds what is below a directory that check has bounded. Nothing is a file below a name that is wrong.
func (r *Repository) list(
	dir, tree string, wrong error, files map[string]string, others map[string]error,
) error {
	entries, err := r.tree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name, wrong := dir+e.name, cmp.Or(wrong, odd(e.name))
		switch {
		case e.kind == directory:
			if err := r.list(name+"/", e.hash, wrong, files, others); err != nil {
				return err
			}
		case wrong != nil:
			others[name] = wrong
		case e.kind == regular:
			files[name] = e.hash
		default:
			others[name] = errNoFile
		}
	}
	return nil
}
