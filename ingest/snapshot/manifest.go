package snapshot

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"almanac/ingest/folder"
)

// manifestName is the index of a snapshot; other files are only read if it
// lists them.
const manifestName = "manifest.jsonl"

// Limits of what is read into memory at once.
const (
	maxFile = 8 << 20   // bytes of one file
	maxLine = 256 << 10 // bytes of one line of an index
	maxRows = 2_000_000 // lines of the manifest
)

// Reasons for skipping an item.
var (
	errNotFile   = errors.New("is not a regular file")
	errChecksum  = errors.New("differs from its checksum in the manifest")
	errPath      = errors.New("its path leaves the snapshot or is not a plain relative path")
	errDuplicate = errors.New("its path appears twice in the manifest; the first is kept")
	errLine      = fmt.Errorf("the line is longer than %d kB", maxLine>>10)
)

// row is one line of the manifest: a file and its origin.
type row struct {
	Path       string `json:"path"`
	Repo       string `json:"source_repo"`
	SourcePath string `json:"source_path"` // in the repository
	Commit     string `json:"commit"`
	Licence    string `json:"licence"`
	Type       string `json:"content_type"`
	SHA256     string `json:"sha256"` // of the stored file; empty: not checked
	CIP        string `json:"cip"`    // number of the proposal in the file
	Pull       int    `json:"pr"`     // pull request that the file is a copy of
}

// archive is a run's file system with its manifest.
type archive struct {
	fsys fs.FS
	rows []row
	at   map[string]int // path → index of rows
}

// openArchive reads the manifest. Unusable lines are reported to skip.
func openArchive(fsys fs.FS, skip func(locator string, err error)) (*archive, error) {
	a := &archive{fsys: fsys, at: map[string]int{}}
	err := eachLine(fsys, manifestName, skip, func(locator string, line []byte) error {
		var r row
		if err := json.Unmarshal(line, &r); err != nil {
			return err
		}
		if !plainPath(r.Path) {
			return fmt.Errorf("%q: %w", r.Path, errPath)
		}
		if _, seen := a.at[r.Path]; seen {
			return fmt.Errorf("%s: %w", r.Path, errDuplicate)
		}
		if len(a.rows) == maxRows {
			return fmt.Errorf("the manifest has more than %d files", maxRows)
		}
		a.at[r.Path] = len(a.rows)
		a.rows = append(a.rows, r)
		return nil
	})
	return a, err
}

// plainPath reports whether a path names a file inside the snapshot on every
// system.
func plainPath(p string) bool {
	return fs.ValidPath(p) && p != "." && !strings.ContainsAny(p, "\\\x00")
}

// read returns a file of the manifest, of at most limit bytes, after verifying it
// against its row.
func (a *archive) read(name string, limit int64) ([]byte, error) {
	if !plainPath(name) {
		return nil, errPath
	}
	switch info, err := fs.Stat(a.fsys, name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotFile // opening a pipe would block
	}
	text, err := folder.Read(a.fsys, name, limit)
	if err != nil {
		return nil, folder.Reason(err)
	}
	if i, ok := a.at[name]; ok && a.rows[i].SHA256 != "" {
		sum := sha256.Sum256(text)
		if !strings.EqualFold(hex.EncodeToString(sum[:]), a.rows[i].SHA256) {
			return nil, errChecksum
		}
	}
	return text, nil
}

// eachLine passes the lines of a JSON-lines file to use, numbered from 1. A
// line that is too long or that use rejects is reported to skip.
func eachLine(fsys fs.FS, name string, skip func(string, error), use func(locator string, line []byte) error) error {
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return scanLines(f, name, skip, use)
}

func scanLines(f io.Reader, name string, skip func(string, error), use func(locator string, line []byte) error) error {
	in := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		locator := fmt.Sprintf("%s:%d", name, n)
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			skip(locator, errLine)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			line = nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read %s: %w", name, err)
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if problem := use(locator, line); problem != nil {
				skip(locator, problem)
			}
		}
		if err != nil {
			return nil
		}
	}
}

// index passes the rows of a JSON-lines file of the snapshot to use. Such a
// file determines the records, so the whole run fails without it; an invalid
// line is skipped.
func index[T any](a *archive, name string, skip func(string, error), use func(locator string, value T) error) error {
	text, err := a.read(name, maxFile)
	if err != nil {
		return fmt.Errorf("index %s: %w", name, err)
	}
	return scanLines(bytes.NewReader(text), name, skip, func(locator string, line []byte) error {
		var value T
		if err := json.Unmarshal(line, &value); err != nil {
			return err
		}
		return use(locator, value)
	})
}
