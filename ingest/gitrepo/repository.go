package gitrepo

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"
)

// MaxBlob is the usual size limit of a file in bytes.
const MaxBlob = 32 << 20

// Bounds of a commit: ten nested trees of ten names each are two kilobytes and
// 10,000,000,000 files.
const (
	maxFiles = 500_000
	maxDepth = 256
)

const objectCache = 48 << 20 // bytes of decoded objects that go-git keeps

// ErrTooLarge: a file is larger than the limit, or there are more than can be read.
var ErrTooLarge = errors.New("larger than the limit")

// Repository reads a fetched repository. It is for use by one goroutine.
type Repository struct {
	Git  *git.Repository
	Head *object.Commit           // of the branch
	Refs map[string]plumbing.Hash // by name

	dir   string
	close func() error          // of its files
	files map[plumbing.Hash]int // below a tree, for those that were counted
}

// Open reads the references and the head of the branch. The caller closes the
// repository.
func Open(dir, branch string) (_ *Repository, err error) {
	// The packs stay open, because opening them for each object takes a quarter
	// of the time; the cache is limited, so that memory does not grow with the
	// repository.
	storage := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(objectCache),
		filesystem.Options{KeepDescriptors: true})
	r := &Repository{Refs: map[string]plumbing.Hash{}, dir: dir, close: storage.Close, files: map[plumbing.Hash]int{}}
	defer func() {
		if err != nil {
			_ = storage.Close()
		}
	}()
	if r.Git, err = git.Open(storage, nil); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	refs, err := r.Git.References()
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			r.Refs[ref.Name().String()] = ref.Hash()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	hash, ok := r.Refs["refs/heads/"+branch]
	if !ok {
		return nil, fmt.Errorf("the mirror has no branch %s", branch)
	}
	if r.Head, err = r.Git.CommitObject(hash); err != nil {
		return nil, fmt.Errorf("head of %s: %w", branch, err)
	}
	return r, nil
}

// Close closes the repository's files.
func (r *Repository) Close() error { return r.close() }

// Blob reads a file's content of at most limit bytes, or fails with
// ErrTooLarge.
func (r *Repository) Blob(hash plumbing.Hash, limit int64) ([]byte, error) {
	if err := r.checkSize(hash, limit); err != nil {
		return nil, err
	}
	b, err := r.Git.BlobObject(hash)
	if err != nil {
		return nil, err
	}
	rd, err := b.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rd.Close() }()
	return io.ReadAll(io.LimitReader(rd, limit))
}

// checkSize checks the length of an object, which go-git reads into memory whole.
func (r *Repository) checkSize(hash plumbing.Hash, limit int64) error {
	size, err := r.Git.Storer.EncodedObjectSize(hash)
	if err == nil && size > limit {
		err = fmt.Errorf("has %d bytes, %w of %d", size, ErrTooLarge, limit)
	}
	return err
}

// Tree returns the tree of a commit. One with more than 500,000 files is an
// ErrTooLarge: whoever walks through it walks to an end.
func (r *Repository) Tree(c *object.Commit) (*object.Tree, error) {
	n, err := r.count(c.TreeHash, 0)
	if err == nil && n > maxFiles {
		err = fmt.Errorf("more than %d files: %w", maxFiles, ErrTooLarge)
	}
	if err != nil {
		return nil, fmt.Errorf("tree of %s: %w", c.Hash, err)
	}
	return c.Tree()
}

// count counts the files below a tree, up to a bit more than maxFiles. A tree that
// stands in many places, or in many commits, is read once.
func (r *Repository) count(tree plumbing.Hash, depth int) (n int, err error) {
	n, known := r.files[tree]
	if known {
		return n, nil
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("directories deeper than %d: %w", maxDepth, ErrTooLarge)
	}
	if err := r.checkSize(tree, MaxBlob); err != nil {
		return 0, err
	}
	t, err := r.Git.TreeObject(tree)
	if err != nil {
		return 0, err
	}
	for _, entry := range t.Entries {
		below := 1
		if entry.Mode == filemode.Dir {
			if below, err = r.count(entry.Hash, depth+1); err != nil {
				return 0, err
			}
		}
		if n += below; n > maxFiles {
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

// Files lists the files of a commit by path, and others with what they are: links,
// submodules, and what has a name that no file has. A path need not be UTF-8. Its
// errors are those of Tree.
func (r *Repository) Files(c *object.Commit) (
	files map[string]plumbing.Hash, others map[string]error, err error,
) {
	tree, err := r.Tree(c)
	if err != nil {
		return nil, nil, err
	}
	files, others = map[string]plumbing.Hash{}, map[string]error{}
	return files, others, r.list("", tree, nil, files, others)
}

// list adds what is below a directory, which Tree has bounded. Nothing is a file below a name that is wrong.
func (r *Repository) list(
	dir string, tree *object.Tree, wrong error, files map[string]plumbing.Hash, others map[string]error,
) error {
	for _, entry := range tree.Entries {
		name, wrong := join(dir, entry.Name), cmp.Or(wrong, odd(entry.Name))
		switch {
		case entry.Mode == filemode.Dir:
			below, err := r.Git.TreeObject(entry.Hash)
			if err == nil {
				err = r.list(name, below, wrong, files, others)
			}
			if err != nil {
				return err
			}
		case wrong != nil:
			others[name] = wrong
		case entry.Mode.IsRegular() || entry.Mode == filemode.Executable:
			files[name] = entry.Hash
		default:
			others[name] = errNoFile
		}
	}
	return nil
}
