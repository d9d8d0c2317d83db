package mail

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"regexp"
)

var errNoMbox = errors.New("not an mbox file: it does not start with a From line")

const maxHeader = 256 << 10 // bytes of a message's header

// found is a message in an mbox file.
type found struct {
	begin          int64  // offset of its From line
	from           string // its From line
	offset, length int64  // of the message after that line
	header         []byte // raw; valid until the next message
	print          uint64 // digest of the message
}

// scan finds the messages of an mbox file (RFC 4155). A line starts a message
// if it is the first or follows an empty line, begins with "From ", has a time
// and a year or nothing but an address, and is followed by a header: mail programs
// do not always escape such lines in texts. The line with which git begins a patch
// starts a message only in a file of patches. A blank file has no messages.
func scan(r io.Reader, visit func(found) error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	s := scanner{visit: visit, digest: sha256.New()}
	at, blank, whole := int64(0), true, true // bytes read; the previous line was empty, was complete
	patches := false
	for {
		line, err := in.ReadSlice('\n')
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		at += int64(len(line))
		begins := false
		if whole && blank && separator.Match(line) && (!s.open || patches || !patch.Match(line)) {
			line = bytes.Clone(line) // looking ahead moves what was read
			next, _ := in.Peek(200)
			begins = fieldStart.Match(next)
			patches = patches || !s.open && patch.Match(line)
		}
		switch {
		case begins:
			if err := s.end(); err != nil {
				return err
			}
			s.begin(line, at-int64(len(line)))
		case s.open:
			s.add(line, whole)
		case len(bytes.TrimSpace(line)) > 0:
			return errNoMbox
		}
		if err == io.EOF {
			return s.end()
		}
		blank = whole && len(bytes.TrimRight(line, "\r\n")) == 0
		whole = line[len(line)-1] == '\n'
	}
}

var (
	separator = regexp.MustCompile(`^From (?:.*\d:\d\d.*\d{4}|.*\d{4}.*\d:\d\d|(?:-|MAILER-DAEMON|\S+@\S+)?[ \t]*\r?\n$)`)
	// git gives the same time to all.
	patch      = regexp.MustCompile(`^From [0-9a-f]{40,64} Mon Sep 17 00:00:00 2001`)
	fieldStart = regexp.MustCompile(`^(?:>From |[!-9;-~]+[ \t]*:)`)
)

// scanner holds the current message.
type scanner struct {
	visit    func(found) error
	open     bool
	inHeader bool
	message  found
	digest   hash.Hash
}

func (s *scanner) begin(line []byte, at int64) {
	s.open, s.inHeader = true, true
	s.message = found{
		begin: at, from: string(bytes.TrimRight(line, "\r\n")), offset: at + int64(len(line)),
		header: s.message.header[:0],
	}
	s.digest.Reset()
}

func (s *scanner) add(line []byte, starts bool) {
	m := &s.message
	m.length += int64(len(line))
	s.digest.Write(line)
	if starts && len(bytes.TrimRight(line, "\r\n")) == 0 {
		s.inHeader = false
	}
	if s.inHeader && len(m.header)+len(line) <= maxHeader {
		m.header = append(m.header, line...)
	}
}

func (s *scanner) end() error {
	if !s.open {
		return nil
	}
	s.open = false
	s.message.print = binary.BigEndian.Uint64(s.digest.Sum(nil))
	return s.visit(s.message)
}
