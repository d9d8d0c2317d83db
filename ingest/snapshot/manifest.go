package snapshot

import (
	"bufio"
	"bytes"
	"cmp"
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
	errChecksum  = errors.New("differs from its checksum in the manifest")
	errPath      = errors.New("its path leaves the snapshot or is not a plain relative path")
	errDuplicate = errors.New("its path appears twice in the manifest; the first is kept")
	errLine      = fmt.Errorf("the line is longer than %d kB", maxLine>>10)
)

// row is one line of the manifest: a file and its origin.
type row struct {
	Path       string `json:"path"`
	Repo       string `json:"source_repo"`
	SourcePath string `json:"source_path"` // in the repository; default: Path
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
	skip func(locator string, err error)
	rows []row
	at   map[string]int // path → index of rows
}

// openArchive reads the manifest. Unusable lines are reported to skip.
func openArchive(fsys fs.FS, skip func(locator string, err error)) (*archive, error) {
	f, err := fsys.Open(manifestName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a := &archive{fsys: fsys, skip: skip, at: map[string]int{}}
	return a, lines(a, f, manifestName, a.add)
}

func (a *archive) add(r row) error {
	if !plainPath(r.Path) {
		return fmt.Errorf("%q: %w", r.Path, errPath)
	}
	if _, seen := a.at[r.Path]; seen {
		return fmt.Errorf("%s: %w", r.Path, errDuplicate)
	}
	if len(a.rows) == maxRows {
		return fmt.Errorf("the manifest has more than %d files", maxRows)
	}
	r.SourcePath = cmp.Or(r.SourcePath, r.Path)
	a.at[r.Path] = len(a.rows)
	a.rows = append(a.rows, r)
	return nil
}

// row returns the row of a file; a file that the manifest does not list has an empty
// one.
func (a *archive) row(name string) row {
	if i, ok := a.at[name]; ok {
		return a.rows[i]
	}
	return row{}
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
	text, err := folder.Read(a.fsys, name, limit)
	if err != nil {
		return nil, folder.Reason(err)
	}
	sum := sha256.Sum256(text)
	if want := a.row(name).SHA256; want != "" && !strings.EqualFold(hex.EncodeToString(sum[:]), want) {
		return nil, errChecksum
	}
	return text, nil
}

// index passes the lines of a file of the snapshot to use. Such a file determines
// the records, so the whole run fails without it.
func index[T any](a *archive, name string, use func(T) error) error {
	text, err := a.read(name, maxFile)
	if err != nil {
		return fmt.Errorf("index %s: %w", name, err)
	}
	return lines(a, bytes.NewReader(text), name, use)
}

// lines passes the values in JSON lines to use. A line that is too long or invalid,
// or that use rejects, is skipped.
func lines[T any](a *archive, f io.Reader, name string, use func(T) error) error {
	in := bufio.NewReaderSize(f, maxLine)
	for n := 1; ; n++ {
		locator := fmt.Sprintf("%s:%d", name, n)
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			a.skip(locator, errLine)
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
			var value T
			problem := json.Unmarshal(line, &value)
			if problem == nil {
				problem = use(value)
			}
			if problem != nil {
				a.skip(locator, problem)
			}
		}
		if err != nil {
			return nil
		}
	}
}
