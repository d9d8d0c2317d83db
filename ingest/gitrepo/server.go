package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os/exec"
)

// maxAsked is how many requests one process answers: git diff-tree keeps each tree
// that it was asked about in memory.
const maxAsked = 500

// server is a git command that answers one request after another. It starts with the
// first one, and again after one that failed.
type server struct {
	ctx    context.Context // ends the command
	args   []string
	cmd    *exec.Cmd // nil: it is not running
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	asked  int
}

// ask sends a request and has the whole answer read.
func (s *server) ask(request string, read func(*bufio.Reader) error) error {
	if s.asked == maxAsked {
		s.stop()
	}
	err := s.start()
	if err == nil {
		s.asked++
		if _, err = io.WriteString(s.in, request); err == nil {
			err = read(s.out)
		}
	}
	if err != nil {
		s.stop() // git has written what went wrong
	}
	return failure(s.ctx, err, &s.stderr)
}

func (s *server) start() (err error) {
	if s.cmd != nil {
		return nil
	}
	s.stderr.Reset()
	s.asked = 0
	cmd := command(s.ctx, route{}, s.args...)
	cmd.Stderr = &limitedWriter{w: &s.stderr, left: 4096}
	if s.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := start(cmd, readMemory); err != nil {
		return err
	}
	s.cmd, s.out = cmd, bufio.NewReader(out)
	return nil
}

func (s *server) stop() {
	if s.cmd != nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		s.cmd = nil
	}
}
