package gitrepo

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ErrMissing: the mirror has lost an object, or never had it.
var ErrMissing = errors.New("the mirror does not have the object")

// errOutput: git wrote something else than is documented.
var errOutput = errors.New("git has an unknown output format")

var objectName = regexp.MustCompile(`^[0-9a-f]{40}(?:[0-9a-f]{24})?$`)

// object reads an object of at most limit bytes. Its hash may be anything that a
// commit refers to.
func (r *Repository) object(hash, kind string, limit int64) (content []byte, err error) {
	if !objectName.MatchString(hash) {
		return nil, fmt.Errorf("%s %q: %w", kind, hash, ErrMissing)
	}
	var refused error
	err = r.objects.ask(hash+"\n", func(out *bufio.Reader) error {
		header, err := out.ReadString('\n')
		if err != nil {
			return err
		}
		if header == hash+" missing\n" {
			refused = fmt.Errorf("%s %s: %w", kind, hash, ErrMissing)
			return nil
		}
		var found string
		var size int64
		if _, err := fmt.Sscanf(header, hash+" %s %d\n", &found, &size); err != nil {
			return errOutput
		}
		if found != kind {
			refused = fmt.Errorf("%s is a %s, not a %s", hash, found, kind)
			return nil
		}
		if size > limit {
			refused = fmt.Errorf("has %d bytes, %w of %d", size, ErrTooLarge, limit)
			return nil
		}
		content = make([]byte, size)
		if _, err := io.ReadFull(out, content); err != nil {
			return err
		}
		_, err = out.Discard(1)
		return err
	})
	if refused != nil {
		r.objects.stop() // it goes on writing the object
	}
	if err == nil {
		err = refused
	}
	return content, err
}

// Blob reads a file's content of at most limit bytes, or fails with
// ErrTooLarge.
func (r *Repository) Blob(hash string, limit int64) ([]byte, error) {
	return r.object(hash, "blob", limit)
}

// Commit is a commit.
type Commit struct {
	Hash, Tree string
	Parents    []string
	Author     string    // a name
	Authored   time.Time // zero if it is not readable
	Committed  time.Time
	Message    string
}

// Commit reads a commit.
func (r *Repository) Commit(hash string) (*Commit, error) {
	content, err := r.object(hash, "commit", MaxBlob)
	if err != nil {
		return nil, err
	}
	c := &Commit{Hash: hash}
	head, message, _ := strings.Cut(string(content), "\n\n")
	c.Message = message
	for line := range strings.SplitSeq(head, "\n") {
		switch key, value, _ := strings.Cut(line, " "); key {
		case "tree":
			c.Tree = value
		case "parent":
			c.Parents = append(c.Parents, value)
		case "author":
			c.Author, c.Authored = signature(value)
		case "committer":
			_, c.Committed = signature(value)
		}
	}
	return c, nil
}

// signature reads who did something, and when, as in "Ada <a@x.example> 1930000000 +0200".
func signature(text string) (name string, at time.Time) {
	begin, end := strings.LastIndexByte(text, '<'), strings.LastIndexByte(text, '>')
	if begin < 0 || end < begin {
		return "", time.Time{}
	}
	if when := strings.Fields(text[end+1:]); len(when) > 0 {
		if seconds, err := strconv.ParseInt(when[0], 10, 64); err == nil {
			at = time.Unix(seconds, 0).UTC()
		}
	}
	return strings.Trim(text[:begin], " "), at
}

// entry is a name in a tree.
type entry struct {
	name, hash string
	kind       int64 // a type of files, of the modes below
}

const (
	kinds     = 0o170000
	directory = 0o040000
	regular   = 0o100000
)

// tree reads a tree. git ls-tree would join the names to paths, in which a name with
// a slash looks like a directory.
func (r *Repository) tree(hash string) (entries []entry, err error) {
	content, err := r.object(hash, "tree", MaxBlob)
	for err == nil && len(content) > 0 {
		head, rest, _ := bytes.Cut(content, []byte{0})
		octal, name, _ := strings.Cut(string(head), " ")
		mode, wrong := strconv.ParseInt(octal, 8, 32)
		size := len(hash) / 2
		if wrong != nil || len(rest) < size {
			return nil, fmt.Errorf("the tree %s cannot be read", hash)
		}
		entries = append(entries, entry{name, hex.EncodeToString(rest[:size]), mode & kinds})
		content = rest[size:]
	}
	return entries, err
}
