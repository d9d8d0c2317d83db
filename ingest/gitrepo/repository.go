package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"unicode"

	"almanac/ingest/outbound"
)

// MaxBlob is the usual size limit of a file in bytes.
const MaxBlob = 32 << 20

// Bounds of a commit: ten nested trees of ten names each are two kilobytes and
// 10,000,000,000 files.
const (
	maxFiles = 500_000 // and directories
	maxDepth = 256
	maxPath  = 64 << 10 // bytes
)

var (
	// ErrTooLarge: a file is larger than the limit, or there are more than can be read.
	ErrTooLarge = errors.New("larger than the limit")
	// ErrMissing: the mirror has lost an object, or never had it.
	ErrMissing = errors.New("the mirror does not have the object")

	errNoFile = errors.New("git has a link or another repository there, not a file")
	errOutput = errors.New("git has an unknown output format")
)

// Repository reads a fetched repository. It is for use by one goroutine.
type Repository struct {
	Branch string
	Head   string            // its commit
	Refs   map[string]string // hashes by name

	ctx context.Context // ends the commands that read it
	dir string

	objects, diffs server
	entries        map[string]int // below a tree, for those that were counted
}

// Read fetches a source into dir, as Fetch does, and has it read. A mirror that lacks
// an object is removed: the next run makes a new one.
func Read(ctx context.Context, client *outbound.Client, dir string, s Source, read func(*Repository) error) error {
	branch, err := Fetch(ctx, client, dir, s)
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	r, err := Open(ctx, dir, branch)
	if err == nil {
		err = read(r)
		r.Close()
	}
	if errors.Is(err, ErrMissing) {
		_ = os.RemoveAll(dir)
	}
	return err
}

// Open reads the references of a mirror. The caller closes the repository, which nobody
// can read when ctx has ended.
func Open(ctx context.Context, dir, branch string) (*Repository, error) {
	at := "--git-dir=" + dir
	r := &Repository{Branch: branch, Refs: map[string]string{}, ctx: ctx, dir: dir, entries: map[string]int{},
		objects: server{ctx: ctx, args: []string{at, "cat-file", "--batch"}},
		diffs:   server{ctx: ctx, args: append([]string{at, "diff-tree", "--stdin", "-r"}, renames...)}}
	err := r.read([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, func(out *bufio.Reader) error {
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
	if r.Head = r.Refs["refs/heads/"+branch]; r.Head == "" {
		return nil, fmt.Errorf("the mirror has no branch %s", branch)
	}
	return r, nil
}

// Close ends the commands that answer.
func (r *Repository) Close() {
	r.objects.stop()
	r.diffs.stop()
}

// read runs a git command that reads the repository, and has its output read. It ends
// the command when that fails.
func (r *Repository) read(args []string, read func(*bufio.Reader) error) error {
	running, cancel := context.WithCancel(r.ctx)
	defer cancel()
	cmd := command(running, route{}, append([]string{"--literal-pathspecs", "--git-dir=" + r.dir}, args...)...)
	var stderr bytes.Buffer
	cmd.Stderr = &limitedWriter{w: &stderr, left: 4096}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := start(cmd, readMemory); err != nil {
		return failure(r.ctx, err, &stderr)
	}
	err = read(bufio.NewReader(out))
	if err != nil {
		cancel()
	}
	ended := cmd.Wait() // when git has written what went wrong
	if errors.Is(err, ErrTooLarge) || errors.Is(err, errStopped) {
		return err
	}
	return failure(r.ctx, cmp.Or(err, ended), &stderr)
}

// nextToken reads up to the next NUL. It fails with io.EOF at the end, and with
// errOutput if that is in the middle of a token.
func nextToken(r *bufio.Reader, limit int) (string, error) {
	var token []byte
	for {
		part, err := r.ReadSlice(0)
		token = append(token, part...)
		switch {
		case len(token) > limit:
			return "", fmt.Errorf("a path or a commit has more than %d bytes: %w", limit, ErrTooLarge)
		case err == nil:
			return string(token[:len(token)-1]), nil
		case errors.Is(err, io.EOF) && len(token) > 0:
			return "", errOutput
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// Files lists the files of a commit by path, with the hashes of their content, and others
// with what they are: links, submodules, and what has a name that no file has. A path
// need not be UTF-8. A commit with more than 500,000 files is an ErrTooLarge.
func (r *Repository) Files(commit string) (files map[string]string, others map[string]error, err error) {
	files, others = map[string]string{}, map[string]error{}
	list := []string{"ls-tree", "-r", "-t", "-z", commit} // with directories: empty ones could be without end
	err = r.read(list, func(out *bufio.Reader) error {
		for n := 1; ; n++ {
			line, err := nextToken(out, maxPath)
			switch {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			case n > maxFiles:
				return fmt.Errorf("more than %d files: %w", maxFiles, ErrTooLarge)
			}
			about, name, _ := strings.Cut(line, "\t")
			fields := strings.Fields(about) // mode, type, hash
			if len(fields) != 3 {
				return errOutput
			}
			wrong := odd(name)
			switch {
			case errors.Is(wrong, ErrTooLarge):
				return wrong
			case fields[1] == "tree":
			case wrong != nil:
				others[name] = wrong
			case strings.HasPrefix(fields[0], "100"):
				files[name] = fields[2]
			default:
				others[name] = errNoFile
			}
		}
	})
	if _, failed := errors.AsType[*exec.ExitError](err); failed && r.ctx.Err() == nil {
		err = fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if err != nil {
		err = fmt.Errorf("tree of %s: %w", commit, err)
	}
	return files, others, err
}

// odd returns what is wrong with a path, nil if a file can be checked out there. Git
// itself writes no others, but whoever makes objects by hand does.
func odd(path string) error {
	if strings.Count(path, "/") >= maxDepth {
		return fmt.Errorf("directories deeper than %d: %w", maxDepth, ErrTooLarge)
	}
	for name := range strings.SplitSeq(path, "/") {
		switch {
		case name == "" || name == "." || name == ".." || strings.EqualFold(name, ".git"):
			return fmt.Errorf("a tree of git has the name %q, which no file can have", name)
		case strings.ContainsFunc(name, unicode.IsControl):
			return fmt.Errorf("a tree of git has the name %q, with a control character", name)
		}
	}
	return nil
}

// Blob reads a file's content of at most limit bytes, or fails with ErrTooLarge. Its hash
// may be anything that a tree has. One that cannot be read costs no other: git is started
// again.
func (r *Repository) Blob(hash string, limit int64) ([]byte, error) {
	return r.object(hash, "blob", limit)
}

// count counts the files and directories below a tree, up to a bit more than maxFiles. A
// tree that stands in many places, or in many commits, is read once.
func (r *Repository) count(tree string, depth int) (n int, err error) {
	n, known := r.entries[tree]
	if known {
		return n, nil
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("directories deeper than %d: %w", maxDepth, ErrTooLarge)
	}
	content, err := r.object(tree, "tree", MaxBlob)
	if err != nil {
		return 0, err
	}
	for len(content) > 0 && n <= maxFiles {
		entry, rest, _ := bytes.Cut(content, []byte{0}) // a mode, a name, a hash
		size := len(r.Head) / 2
		if len(rest) < size {
			return 0, errOutput
		}
		n++
		if strings.HasPrefix(strings.TrimLeft(string(entry), "0"), "40000 ") {
			below, err := r.count(hex.EncodeToString(rest[:size]), depth+1)
			if err != nil {
				return 0, err
			}
			n += below
		}
		content = rest[size:]
	}
	r.entries[tree] = n
	return n, nil
}

var objectName = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// object reads an object of at most limit bytes.
func (r *Repository) object(hash, kind string, limit int64) (content []byte, err error) {
	if !objectName.MatchString(hash) {
		return nil, fmt.Errorf("%s %q: %w", kind, hash, ErrMissing)
	}
	err = r.objects.ask(hash+"\n", func(out *bufio.Reader) (refused, err error) {
		header, err := out.ReadString('\n')
		if err != nil {
			return nil, err
		}
		var found string
		var size int64
		_, err = fmt.Sscanf(header, hash+" %s %d\n", &found, &size)
		switch {
		case header == hash+" missing\n":
			return fmt.Errorf("%s %s: %w", kind, hash, ErrMissing), nil
		case err != nil:
			return nil, errOutput
		case found != kind:
			return fmt.Errorf("%s is a %s, not a %s", hash, found, kind), nil
		case size > limit:
			return fmt.Errorf("has %d bytes, %w of %d", size, ErrTooLarge, limit), nil
		}
		content = make([]byte, size+1) // and a line break
		_, err = io.ReadFull(out, content)
		content = content[:size]
		return nil, err
	})
	return content, err
}

// maxAsked is how many requests one process answers: git diff-tree keeps each tree
// that it was asked about in memory.
const maxAsked = 500

// server is a git command that answers one request after another. It starts with the
// first one, and again after one that failed: that costs no other.
type server struct {
	ctx    context.Context // ends the command
	args   []string
	cmd    *exec.Cmd // nil: it is not running
	in     io.Writer
	out    *bufio.Reader
	stderr bytes.Buffer
	asked  int
}

// ask sends a request and has the whole answer read, unless that is refused.
func (s *server) ask(request string, read func(*bufio.Reader) (refused, err error)) error {
	if s.asked == maxAsked {
		s.stop()
	}
	var refused error
	err := s.start()
	if err == nil {
		s.asked++
		if _, err = io.WriteString(s.in, request); err == nil {
			refused, err = read(s.out)
		}
	}
	if refused != nil || err != nil {
		s.stop() // it goes on with its answer, or has written what went wrong
	}
	return cmp.Or(refused, failure(s.ctx, err, &s.stderr))
}

func (s *server) start() error {
	if s.cmd != nil {
		return nil
	}
	s.stderr.Reset()
	s.asked = 0
	cmd := command(s.ctx, route{}, s.args...)
	cmd.Stderr = &limitedWriter{w: &s.stderr, left: 4096}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := start(cmd, readMemory); err != nil {
		return err
	}
	s.cmd, s.in, s.out = cmd, in, bufio.NewReader(out)
	return nil
}

func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}
