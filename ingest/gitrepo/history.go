package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commit is a commit. A time that cannot be read is zero.
type Commit struct {
	Hash, Tree          string
	Parents             []string
	Author              string // a name
	Authored, Committed time.Time
	Message             string // "" among all commits
}

// Step is a commit of the branch's first-parent line: a former state of the
// branch.
type Step struct {
	Commit
	// Shallow means that its parents were not fetched, so it seems to add all
	// files.
	Shallow bool
	Changes []Change // by path
	// Wrong is what is wrong with the first path that after the change is none of a
	// file, and that Changes leave out.
	Wrong error
	// TooLarge means that it changes more than can be read: Changes are not all.
	TooLarge error
}

// Change is the change of a file. A renamed file has both paths, an added one no
// Old, a deleted one no New. Links are files here, other repositories are not.
type Change struct {
	Old, New string
	Blob     string // the hash of New
	Same     bool   // New has the content of Old
}

// renames has git take files for renamed if 60 % of their content is the same; of
// more than 400 only those with equal content are.
var renames = []string{"--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "-z", "-M60%", "-l400"}

// mark is in front of a commit, gap between what is told of it.
const mark, gap = "\x01", "\x02"

var aCommit = "--format=" + mark + strings.Join([]string{"%H", "%T", "%P", "%at", "%ct", "%an", ""}, gap)

// History yields the first-parent line of the branch, newest first, with the
// changes of files below the directories dirs, or of all files without dirs. The
// rest is not computed when the caller stops.
func (r *Repository) History(dirs ...string) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		shallow, err := os.ReadFile(filepath.Join(r.dir, "shallow")) // a commit in each line
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Step{}, fmt.Errorf("history: %w", err))
			return
		}
		args := slices.Concat([]string{"--first-parent", "--diff-merges=first-parent", "--sparse", "--root", aCommit + "%B"},
			renames, []string{r.Head, "--"}, dirs)
		for s, err := range r.log(args...) {
			s.Shallow = err == nil && bytes.Contains(shallow, []byte(s.Hash))
			if !yield(s, err) {
				return
			}
		}
	}
}

// Commits returns all commits, by hash.
func (r *Repository) Commits() (map[string]*Commit, error) {
	commits := map[string]*Commit{}
	for s, err := range r.log("--all", "-z", aCommit) {
		if err != nil {
			return nil, err
		}
		commits[s.Hash] = &s.Commit
	}
	return commits, nil
}

var errStopped = errors.New("nobody reads on")

func (r *Repository) log(args ...string) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		err := r.read(append([]string{"log"}, args...), func(out *bufio.Reader) error {
			return readSteps(out, func(s Step) bool { return yield(s, nil) })
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(Step{}, fmt.Errorf("history: %w", err))
		}
	}
}

// readSteps parses the output of git log -z --raw: a marked text for each commit,
// then a head and one path, or two for a rename, for each file, all terminated by
// NUL. It fails with errStopped when visit does not want more.
func readSteps(r *bufio.Reader, visit func(Step) bool) error {
	var step Step
	for {
		token, err := nextToken(r, MaxBlob)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		token = strings.TrimPrefix(token, "\n")
		head, begins := strings.CutPrefix(token, mark)
		if (begins || end) && step.Hash != "" && !visit(step) {
			return errStopped
		}
		switch {
		case end:
			return nil
		case begins:
			if step, err = readStep(head); err != nil {
				return err
			}
		case step.Hash == "":
			return errOutput
		case token != "":
			if err := step.readChange(r, token); err != nil {
				return err
			}
		}
	}
}

func readStep(head string) (s Step, err error) {
	parts := strings.SplitN(head, gap, 7)
	if len(parts) != 7 || parts[0] == "" {
		return Step{}, errOutput
	}
	s.Commit = Commit{Hash: parts[0], Tree: parts[1], Parents: strings.Fields(parts[2]), Authored: unix(parts[3]),
		Committed: unix(parts[4]), Author: parts[5], Message: parts[6]}
	return s, nil
}

func unix(seconds string) time.Time {
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(at, 0).UTC()
}

// readChange reads the paths of a change behind its head, which is as in
// ":100644 100644 4ca8… 85f1… R086": modes, hashes and what was done.
func (s *Step) readChange(r *bufio.Reader, head string) (err error) {
	fields := strings.Fields(strings.TrimPrefix(head, ":"))
	if len(fields) != 5 {
		return errOutput
	}
	c := Change{}
	if c.Old, err = nextToken(r, maxPath); err != nil {
		return err
	}
	c.New = c.Old
	if strings.HasPrefix(fields[4], "R") {
		if c.New, err = nextToken(r, maxPath); err != nil {
			return err
		}
	}
	if !isFile(fields[0]) || odd(c.Old) != nil {
		c.Old = ""
	}
	wrong := odd(c.New)
	switch {
	case !isFile(fields[1]):
		c.New = ""
	case wrong != nil:
		c.New = ""
		if s.Wrong = cmp.Or(s.Wrong, wrong); errors.Is(wrong, ErrTooLarge) {
			s.TooLarge = wrong
		}
	default:
		c.Blob = fields[3]
	}
	c.Same = c.Old != "" && c.New != "" && fields[2] == fields[3]
	switch {
	case c.Old == "" && c.New == "":
	case len(s.Changes) == maxFiles:
		s.TooLarge = fmt.Errorf("more than %d files: %w", maxFiles, ErrTooLarge)
	default:
		s.Changes = append(s.Changes, c)
	}
	return nil
}

// isFile reports whether a mode is not that of nothing or of another repository.
func isFile(mode string) bool { return mode != "000000" && mode != "160000" }

// emptyTree is known to git everywhere, by the length of a hash.
var emptyTree = map[int]string{
	40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// Changes compares the files of two commits; before may be nil. Only the changes, what
// is wrong and what is too large are known of the step. A commit with more than 500,000
// files and directories is an ErrTooLarge: git would walk through all of them.
func (r *Repository) Changes(before, after *Commit) (s Step, err error) {
	n, err := r.count(after.Tree, 0)
	if err == nil && n > maxFiles {
		err = fmt.Errorf("more than %d files: %w", maxFiles, ErrTooLarge)
	}
	if err != nil {
		return Step{}, fmt.Errorf("tree of %s: %w", after.Hash, err)
	}
	from := emptyTree[len(after.Tree)]
	if before != nil {
		from = before.Tree
	}
	// git copies a line that is no request, which ends the answer.
	request, end := from+" "+after.Tree+"\n", ".\n"
	err = r.diffs.ask(request+end, func(out *bufio.Reader) (refused, err error) {
		if header, err := out.ReadString('\n'); err != nil || header != request {
			return nil, errors.Join(errOutput, err)
		}
		for {
			next, err := out.Peek(len(end))
			if err == nil && string(next) == end {
				_, err = out.Discard(len(end))
				return nil, err
			}
			var head string
			if err == nil {
				head, err = nextToken(out, maxPath)
			}
			if err == nil {
				err = s.readChange(out, head)
			}
			if err != nil {
				return nil, err
			}
		}
	})
	return s, cmp.Or(err, s.TooLarge)
}
