package gitrepo

import (
	"bufio"
	"bytes"
	"context"
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

// Step is a commit of the branch's first-parent line: a former state of the
// branch.
type Step struct {
	Commit string    // its hash
	At     time.Time // when it was committed
	// Shallow means that its parents were not fetched, so it seems to add all
	// files.
	Shallow bool
	Changes []Change
}

// History yields the first-parent line of the branch, newest first, with the
// changes of files below the directories dirs, or of all files without dirs. The
// rest is not computed when the caller stops.
func (r *Repository) History(ctx context.Context, dirs []string) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		shallow, err := os.ReadFile(filepath.Join(r.dir, "shallow")) // a commit in each line
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(Step{}, fmt.Errorf("history: %w", err))
			return
		}
		args := slices.Concat([]string{
			"--literal-pathspecs", "--git-dir=" + r.dir, "log", "--first-parent", "--diff-merges=first-parent",
			"--sparse", "--root", "--format=" + mark + "%H %ct",
		}, renames, []string{r.Head.Hash, "--"}, dirs)
		stopped := false
		err = streamed(ctx, args, func(out *bufio.Reader) error {
			return readSteps(out, func(s Step) bool {
				s.Shallow = bytes.Contains(shallow, []byte(s.Commit))
				stopped = !yield(s, nil)
				return !stopped
			})
		})
		if err != nil && !stopped {
			yield(Step{}, fmt.Errorf("history: %w", err))
		}
	}
}

const mark = "\x01" // in front of a commit

var errStopped = errors.New("nobody reads on")

// readSteps parses the output of git log -z --raw: a marked line for each commit,
// then a head and one path, or two for a rename, for each file, all terminated by
// NUL. It fails with errStopped when visit does not want more.
func readSteps(r *bufio.Reader, visit func(Step) bool) error {
	var step Step
	for {
		token, err := nextToken(r)
		end := errors.Is(err, io.EOF)
		if err != nil && !end {
			return err
		}
		token = strings.TrimPrefix(token, "\n")
		head, begins := strings.CutPrefix(token, mark)
		if (begins || end) && step.Commit != "" && !visit(step) {
			return errStopped
		}
		switch {
		case end:
			return nil
		case begins:
			if step, err = readStep(head); err != nil {
				return err
			}
		case step.Commit == "":
			return errOutput
		case token != "":
			change, err := readChange(r, token)
			if err != nil {
				return err
			}
			if len(step.Changes) == maxFiles {
				return fmt.Errorf("commit %s changes more than %d files: %w", step.Commit, maxFiles, ErrTooLarge)
			}
			if change != (Change{}) {
				step.Changes = append(step.Changes, change)
			}
		}
	}
}

func readStep(head string) (Step, error) {
	hash, seconds, ok := strings.Cut(head, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if !ok || hash == "" || err != nil {
		return Step{}, errOutput
	}
	return Step{Commit: hash, At: time.Unix(at, 0).UTC()}, nil
}
