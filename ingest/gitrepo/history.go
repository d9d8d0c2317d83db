package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
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

// Change is the change of a file by a commit. A renamed file has both paths, an
// added one no Old, a deleted one no New.
type Change struct{ Old, New string }

// History yields the first-parent line of the branch, newest first, with the
// changes of files below the directories dirs, or of all files without dirs. The
// rest is not computed when the caller stops.
func (r *Repository) History(ctx context.Context, dirs []string) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		shallow, err := r.Git.Storer.Shallow()
		if err != nil {
			yield(Step{}, fmt.Errorf("history: %w", err))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		args := []string{
			"--literal-pathspecs", "--git-dir=" + r.dir, "log", "--first-parent", "--diff-merges=first-parent",
			"--sparse", "--root",
			"--name-status", "--no-ext-diff", "--no-textconv", "-z", "-M60%", "-l400", "--format=" + mark + "%H %ct",
			r.Head.Hash.String(), "--",
		}
		cmd := command(ctx, route{}, append(args, dirs...)...)
		var stderr bytes.Buffer
		cmd.Stderr = &limitedWriter{w: &stderr, left: 4096}
		out, err := cmd.StdoutPipe()
		if err != nil {
			yield(Step{}, err)
			return
		}
		if err := start(cmd, logMemory); err != nil {
			yield(Step{}, failure(ctx, err, &stderr))
			return
		}
		stopped := false
		err = readSteps(bufio.NewReader(out), func(s Step) bool {
			s.Shallow = slices.Contains(shallow, plumbing.NewHash(s.Commit))
			stopped = !yield(s, nil)
			return !stopped
		})
		if stopped || err != nil {
			cancel()
		}
		ended := cmd.Wait()
		if !stopped {
			if err = errors.Join(err, failure(ctx, ended, &stderr)); err != nil {
				yield(Step{}, fmt.Errorf("history: %w", err))
			}
		}
	}
}

const (
	mark      = "\x01" // in front of a commit
	maxToken  = 64 << 10
	logMemory = 512 << 20 // bytes that git may allocate; the changes of a commit take some hundred each
)

var errHistory = errors.New("git log has an unknown output format")

// readSteps parses the output of git log -z --name-status: a marked line for each
// commit, then a status and one path, or two for a rename, for each file, all
// terminated by NUL.
func readSteps(r *bufio.Reader, visit func(Step) bool) error {
	var step Step
	for {
		token, err := nextToken(r)
		if errors.Is(err, io.EOF) {
			if step.Commit != "" {
				visit(step)
			}
			return nil
		}
		if err != nil {
			return err
		}
		token = strings.TrimPrefix(token, "\n")
		if head, ok := strings.CutPrefix(token, mark); ok {
			if step.Commit != "" && !visit(step) {
				return nil
			}
			if step, err = readStep(head); err != nil {
				return err
			}
			continue
		}
		if token == "" {
			continue
		}
		if step.Commit == "" {
			return errHistory
		}
		change, err := readChange(r, token[0])
		if err != nil {
			return err
		}
		if len(step.Changes) == maxFiles {
			return fmt.Errorf("commit %s changes more than %d files: %w", step.Commit, maxFiles, ErrTooLarge)
		}
		step.Changes = append(step.Changes, change)
	}
}

func readStep(head string) (Step, error) {
	hash, seconds, ok := strings.Cut(head, " ")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if !ok || hash == "" || err != nil {
		return Step{}, errHistory
	}
	return Step{Commit: hash, At: time.Unix(at, 0).UTC()}, nil
}

func readChange(r *bufio.Reader, status byte) (Change, error) {
	first, err := nextToken(r)
	if err != nil {
		return Change{}, fmt.Errorf("%w: %w", errHistory, err)
	}
	switch status {
	case 'A':
		return Change{New: first}, nil
	case 'D':
		return Change{Old: first}, nil
	case 'M', 'T', 'U', 'X':
		return Change{Old: first, New: first}, nil
	case 'R', 'C':
		second, err := nextToken(r)
		if err != nil {
			return Change{}, fmt.Errorf("%w: %w", errHistory, err)
		}
		if status == 'C' {
			return Change{New: second}, nil
		}
		return Change{Old: first, New: second}, nil
	}
	return Change{}, errHistory
}

// nextToken reads up to the next NUL.
func nextToken(r *bufio.Reader) (string, error) {
	var token []byte
	for {
		part, err := r.ReadSlice(0)
		token = append(token, part...)
		switch {
		case len(token) > maxToken:
			return "", errHistory
		case err == nil:
			return string(token[:len(token)-1]), nil
		case errors.Is(err, io.EOF) && len(token) > 0:
			return string(token), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}
