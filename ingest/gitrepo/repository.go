package gitrepo

import (
	"errors"
	"fmt"
	"io"

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

const objectCache = 48 << 20 // bytes of decoded objects that go-git keeps

// ErrTooLarge: a file is larger than the limit.
var ErrTooLarge = errors.New("larger than the limit")

// Repository reads a fetched repository. It is for use by one goroutine.
type Repository struct {
	Git  *git.Repository
	Head *object.Commit           // of the branch
	Refs map[string]plumbing.Hash // by name

	dir   string
	close func() error // of its files
}

// Open reads the references and the head of the branch. The caller closes the
// repository.
func Open(dir, branch string) (_ *Repository, err error) {
	// The packs stay open, because opening them for each object takes a quarter
	// of the time; the cache is limited, so that memory does not grow with the
	// repository.
	storage := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(objectCache),
		filesystem.Options{KeepDescriptors: true})
	r := &Repository{Refs: map[string]plumbing.Hash{}, dir: dir, close: storage.Close}
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
	b, err := r.Git.BlobObject(hash)
	if err != nil {
		return nil, err
	}
	if b.Size > limit {
		return nil, fmt.Errorf("%d bytes: %w", b.Size, ErrTooLarge)
	}
	rd, err := b.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rd.Close() }()
	return io.ReadAll(io.LimitReader(rd, limit))
}

// Files lists the files of a commit by path, without links and submodules.
func (r *Repository) Files(c *object.Commit) (map[string]plumbing.Hash, error) {
	tree, err := c.Tree()
	if err != nil {
		return nil, err
	}
	files := map[string]plumbing.Hash{}
	walker := object.NewTreeWalker(tree, true, nil)
	defer walker.Close()
	for {
		name, entry, err := walker.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if entry.Mode.IsRegular() || entry.Mode == filemode.Executable {
			files[name] = entry.Hash
		}
	}
}
