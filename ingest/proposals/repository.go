package proposals

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/go-git/go-billy/v5/osfs"
)

const (
	fetchTimeout = 10 * time.Minute
	maxBlob      = 32 << 20 // of a file that is read
	objectCache  = 48 << 20 // bytes of objects go-git keeps decoded
)

// errRemote: the address of a repository is none that is fetched from.
var errRemote = errors.New("not a repository address: want a path, or an https, http, ssh or git URL")

var remoteURL = regexp.MustCompile(`^(?:https?|ssh|git)://[A-Za-z0-9\[]`)

// fetch brings the branch and the pull requests of a remote (a bundle, a local
// clone or a URL) into the bare repository dir, creating it first. What the
// remote dropped or rewrote is dropped and rewritten. It runs the git command
// without any configuration, hook, credential or prompt of the machine's.
func fetch(ctx context.Context, dir, remote, branch string) error {
	if !remoteURL.MatchString(remote) {
		if strings.HasPrefix(remote, "-") || strings.Contains(remote, "::") || strings.Contains(remote, "://") {
			return fmt.Errorf("%q: %w", remote, errRemote)
		}
		abs, err := filepath.Abs(remote)
		if err != nil {
			return err
		}
		if _, err := os.Stat(abs); err != nil {
			return err
		}
		remote = abs
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		// A half-made repository is made anew.
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := run(ctx, "init", "--quiet", "--bare", "--template=", "--initial-branch="+branch, "--", dir); err != nil {
			return err
		}
	}
	return run(ctx, "--git-dir="+dir, "fetch", "--quiet", "--force", "--prune", "--no-tags", "--no-auto-maintenance",
		"--no-write-fetch-head", "--no-recurse-submodules", "--", remote,
		"+refs/heads/"+branch+":refs/heads/"+branch, "+refs/pull/*:refs/pull/*")
}

func run(ctx context.Context, args ...string) error {
	settings := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "credential.helper=",
		"-c", "protocol.ext.allow=never", "-c", "gc.auto=0", "-c", "safe.directory=*",
	}
	cmd := exec.CommandContext(ctx, "git", append(settings, args...)...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_SSH_COMMAND=ssh -oBatchMode=yes", "GIT_ALLOW_PROTOCOL=file:https:http:ssh:git",
	}
	cmd.WaitDelay = 5 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &limitedWriter{w: &stderr, left: 4096}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return fmt.Errorf("git: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return nil
}

// limitedWriter keeps the first bytes and takes the rest for written.
type limitedWriter struct {
	w    io.Writer
	left int
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	keep := p[:min(len(p), l.left)]
	l.left -= len(keep)
	if _, err := l.w.Write(keep); err != nil {
		return 0, err
	}
	return len(p), nil
}

// repository reads a fetched repository. It is used by one goroutine.
type repository struct {
	git   *git.Repository
	head  *object.Commit
	refs  map[string]plumbing.Hash // by name
	close func() error             // of its files
}

// open reads the references and the head of the branch. The caller closes the
// repository.
func open(dir, branch string) (_ *repository, err error) {
	// The packs stay open, for opening them for each object takes a quarter of
	// the time; the cache is bounded, so that memory does not grow with the
	// repository.
	storage := filesystem.NewStorageWithOptions(osfs.New(dir), cache.NewObjectLRU(objectCache), filesystem.Options{KeepDescriptors: true})
	r := &repository{refs: map[string]plumbing.Hash{}, close: storage.Close}
	defer func() {
		if err != nil {
			_ = storage.Close()
		}
	}()
	if r.git, err = git.Open(storage, nil); err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	refs, err := r.git.References()
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	err = refs.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			r.refs[ref.Name().String()] = ref.Hash()
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("references: %w", err)
	}
	hash, ok := r.refs["refs/heads/"+branch]
	if !ok {
		return nil, fmt.Errorf("the repository has no branch %s", branch)
	}
	if r.head, err = r.git.CommitObject(hash); err != nil {
		return nil, fmt.Errorf("head of %s: %w", branch, err)
	}
	return r, nil
}

// blob reads a file's content.
func (r *repository) blob(hash plumbing.Hash) ([]byte, error) {
	b, err := r.git.BlobObject(hash)
	if err != nil {
		return nil, err
	}
	if b.Size > maxBlob {
		return nil, fmt.Errorf("%d bytes: larger than is read", b.Size)
	}
	rd, err := b.Reader()
	if err != nil {
		return nil, err
	}
	defer func() { _ = rd.Close() }()
	return io.ReadAll(io.LimitReader(rd, maxBlob))
}

// files lists the files of a tree by path. Links and submodules are none.
func (r *repository) files(c *object.Commit) (map[string]plumbing.Hash, error) {
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
		if entry.Mode.IsFile() {
			files[name] = entry.Hash
		}
	}
}
