package mail

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"

	"almanac/ingest/outbound"
)

// maxArchive is the maximum size of an export.
const maxArchive = 16 << 30 // bytes

var (
	errUnchanged = errors.New("the archive did not change")
	errHuge      = errors.New("the archive has more than 16 GiB")
)

// input are a group's mbox files.
type input struct {
	past  // its digest and validators
	files []string
	made  []string // the temporary ones of files
}

func (in *input) close() {
	for _, f := range in.made {
		_ = os.Remove(f) // the next run tries again
	}
}

const temporary = "mbox-*"

// open prepares a group's mbox files for reading; errUnchanged if they did not
// change since the previous run.
func (s *syncRun) open(ctx context.Context, g group, known past) (_ *input, err error) {
	in := &input{}
	defer func() {
		if err != nil {
			in.close()
		}
	}()
	var sources []string
	if s.opts.Files != "" {
		sources, err = s.find(in, g.files(s.opts.Files))
	} else {
		sources, err = s.download(ctx, g, known, in)
	}
	if err != nil {
		return nil, err
	}
	if in.Print == known.Print {
		return nil, errUnchanged
	}
	for _, name := range sources {
		if err := s.unpack(ctx, name, in); err != nil {
			if s.opts.Files != "" {
				return nil, fmt.Errorf("%s: %w", filepath.Base(name), err)
			}
			return nil, fmt.Errorf("the export: %w", err)
		}
	}
	return in, nil
}

// find lists the files that match a pattern and digests what shows that they
// changed. Files in the network's folder that are not local files are copied.
func (s *syncRun) find(in *input, pattern string) ([]string, error) {
	files, within := s.env.Place(pattern)
	found, err := fs.Glob(files, within)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no file matches %s; check option files", pattern)
	}
	digest := sha256.New()
	var names []string
	for _, name := range found {
		local, err := s.local(in, files, name, digest)
		if err != nil {
			return nil, err
		}
		names = append(names, local)
	}
	in.Print = hex.EncodeToString(digest.Sum(nil)[:16])
	return names, nil
}

// local returns the name of a local file and adds to the digest what shows that
// it changed.
func (s *syncRun) local(in *input, files fs.FS, name string, digest io.Writer) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a file", name)
	}
	if own, ok := f.(*os.File); ok {
		fmt.Fprintf(digest, "%s\x00%d\x00%d\x00", path.Base(name), info.Size(), info.ModTime().UnixNano())
		return own.Name(), nil
	}
	fmt.Fprintf(digest, "%s\x00%d\x00", path.Base(name), info.Size())
	_, copied, err := s.temporary(in, io.TeeReader(f, digest), maxArchive)
	return copied, err
}

// exportTypes are the media types of exports. Many servers send other types;
// the content decides when it is read.
var exportTypes = []string{
	"application/mbox", "application/zip", "application/x-zip-compressed", "application/gzip", "application/x-gzip",
	"application/octet-stream", "text/plain",
}

// download reads a group's export into a temporary file.
func (s *syncRun) download(ctx context.Context, g group, known past, in *input) ([]string, error) {
	request := outbound.Request{
		URL: g.export(s.opts.Export), Accept: exportTypes, MaxBody: maxArchive, ETag: known.ETag,
		LastModified: known.Modified, Header: http.Header{},
	}
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	body, answer, err := s.env.HTTP.Open(ctx, request)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if answer.NotModified {
		return nil, errUnchanged
	}
	digest := sha256.New()
	_, name, err := s.temporary(in, io.TeeReader(body, digest), maxArchive)
	if err != nil {
		return nil, err
	}
	in.Print, in.ETag, in.Modified = hex.EncodeToString(digest.Sum(nil)[:16]), answer.ETag, answer.LastModified
	return []string{name}, nil
}

// temporary copies a reader of at most limit bytes into a temporary file.
func (s *syncRun) temporary(in *input, from io.Reader, limit int64) (n int64, name string, err error) {
	f, err := os.CreateTemp(s.env.WorkDir, temporary)
	if err != nil {
		return 0, "", err
	}
	in.made = append(in.made, f.Name())
	n, err = io.Copy(f, io.LimitReader(from, limit+1))
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && n > limit {
		err = errHuge
	}
	return n, f.Name(), err
}
