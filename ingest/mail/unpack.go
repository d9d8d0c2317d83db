package mail

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// The limits of a packed export: the text of mails packs to a tenth, attachments
// hardly.
const (
	maxMembers   = 1000    // files in a zip
	maxDirectory = 4 << 20 // bytes of a zip's directory
	maxUnpacked  = 2 << 30 // bytes, all members together
	maxRatio     = 200     // unpacked bytes for a packed one
	unpackSlack  = 1 << 20 // bytes that any archive may have unpacked
)

var (
	errMembers   = fmt.Errorf("the zip has more than %d files", maxMembers)
	errDirectory = fmt.Errorf("the directory of the zip has more than %d MiB", maxDirectory>>20)
	errBomb      = fmt.Errorf("unpacked it has more than %d GiB, or than %d times its size; unpack it beforehand if it "+
		"is meant to", maxUnpacked>>30, maxRatio)
)

// unpack adds a file, or its unpacked content, to the input.
func (s *syncRun) unpack(ctx context.Context, name string, in *input) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	magic, err := bufio.NewReader(f).Peek(4)
	if err != nil && err != io.EOF {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to := &unpacking{run: s, in: in, left: min(maxUnpacked, maxRatio*info.Size()+unpackSlack)}
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		unzipped, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		return to.add(ctx, unzipped)
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")), bytes.HasPrefix(magic, []byte("PK\x05\x06")):
		return to.unzip(ctx, f, info.Size())
	}
	in.files = append(in.files, name)
	return nil
}

// unpacking adds the content of a packed file to the input.
type unpacking struct {
	run  *syncRun
	in   *input
	left int64 // bytes that it may still have
}

func (u *unpacking) unzip(ctx context.Context, f *os.File, size int64) error {
	// The library reads the whole directory, whatever number of files it declares.
	directory := &firstBytes{ReaderAt: f, left: maxDirectory}
	packed, err := zip.NewReader(directory, size)
	if directory.left < 0 {
		return errDirectory
	}
	if err != nil {
		return err
	}
	if len(packed.File) > maxMembers {
		return errMembers
	}
	directory.left = size * 2 // each byte is read once more at most
	slices.SortFunc(packed.File, func(a, b *zip.File) int { return cmp.Compare(a.Name, b.Name) })
	for _, p := range packed.File {
		if p.FileInfo().IsDir() || strings.HasPrefix(p.Name, "__MACOSX/") {
			continue
		}
		r, err := p.Open()
		if err != nil {
			return err
		}
		err = u.add(ctx, r)
		_ = r.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// add adds a packed stream as a file.
func (u *unpacking) add(ctx context.Context, r io.Reader) error {
	n, name, err := u.run.temporary(u.in, stopping{ctx, r}, u.left)
	if errors.Is(err, errHuge) {
		return errBomb
	}
	if err != nil {
		return err
	}
	u.left -= n
	u.in.files = append(u.in.files, name)
	return nil
}

// firstBytes reads no more than a number of bytes.
type firstBytes struct {
	io.ReaderAt
	left int64
}

func (f *firstBytes) ReadAt(p []byte, at int64) (int, error) {
	if f.left -= int64(len(p)); f.left < 0 {
		return 0, io.ErrUnexpectedEOF
	}
	return f.ReaderAt.ReadAt(p, at)
}

// stopping ends reading when ctx is done.
type stopping struct {
	ctx context.Context
	io.Reader
}

func (s stopping) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}
