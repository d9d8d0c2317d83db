package gitrepo

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

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

const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904" // git knows it everywhere

// Changes compares the files of two commits, by path; before may be nil. Names that no
// file has are left out. If after adds or changes any, wrong says so of the first. The
// errors are those of Files.
func (r *Repository) Changes(before, after *Commit) (changes []Change, wrong, err error) {
	from := emptyTree
	if before != nil {
		from, err = before.Tree, r.check(before)
	}
	if err == nil {
		err = r.check(after)
	}
	if err != nil {
		return nil, nil, err
	}
	// git copies a line that is no request, which ends the answer.
	request, end := from+" "+after.Tree+"\n", ".\n"
	err = r.diffs.ask(request+end, func(out *bufio.Reader) error {
		if header, err := out.ReadString('\n'); err != nil || header != request {
			return errors.Join(errOutput, err)
		}
		for {
			next, err := out.Peek(len(end))
			if err != nil {
				return err
			}
			if string(next) == end {
				_, err := out.Discard(len(end))
				return err
			}
			head, err := nextToken(out)
			if err != nil {
				return err
			}
			c, err := readChange(out, head)
			if err != nil {
				return err
			}
			if oddPath(c.Old) != nil {
				c.Old, c.Same = "", false
			}
			if err := oddPath(c.New); err != nil {
				c.New, c.Blob = "", ""
				if wrong == nil {
					wrong = err
				}
			}
			if c.Old != "" || c.New != "" {
				changes = append(changes, c)
			}
		}
	})
	return changes, wrong, err
}

// readChange reads the paths of a change behind its head, which is as in
// ":100644 100644 4ca8… 85f1… R086": modes, hashes and what was done.
func readChange(r *bufio.Reader, head string) (c Change, err error) {
	fields := strings.Fields(strings.TrimPrefix(head, ":"))
	if len(fields) != 5 {
		return Change{}, errOutput
	}
	if c.Old, err = nextToken(r); err != nil {
		return Change{}, err
	}
	c.New = c.Old
	if strings.HasPrefix(fields[4], "R") {
		if c.New, err = nextToken(r); err != nil {
			return Change{}, err
		}
	}
	if !isFile(fields[0]) {
		c.Old = ""
	}
	if !isFile(fields[1]) {
		c.New = ""
	} else {
		c.Blob = fields[3]
	}
	c.Same = c.Old != "" && c.New != "" && fields[2] == fields[3]
	return c, nil
}

// isFile reports whether a mode is not that of nothing or of another repository.
func isFile(mode string) bool { return mode != "000000" && mode != "160000" }

// oddPath returns what is wrong with the first wrong name in a path; "" is none.
func oddPath(path string) error {
	if path == "" {
		return nil
	}
	at := 0
	for name := range strings.SplitSeq(path, "/") {
		at += len(name)
		if err := odd(name); err != nil {
			return fmt.Errorf("%q: %w", path[:at], err)
		}
		at++
	}
	return nil
}

const maxToken = 64 << 10 // bytes of a path

// nextToken reads up to the next NUL. It fails with io.EOF at the end, and with
// errOutput if that is in the middle of a token.
func nextToken(r *bufio.Reader) (string, error) {
	var token []byte
	for {
		part, err := r.ReadSlice(0)
		token = append(token, part...)
		switch {
		case len(token) > maxToken:
			return "", fmt.Errorf("a path has more than %d bytes: %w", maxToken, ErrTooLarge)
		case err == nil:
			return string(token[:len(token)-1]), nil
		case errors.Is(err, io.EOF) && len(token) > 0:
			return "", errOutput
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}
