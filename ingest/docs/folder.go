package docs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"time"

	"almanac/ingest"
	"almanac/ingest/folder"
)

// maxFiles limits the files of a folder of pages.
const maxFiles = 200_000

// directory is one of this machine as a tree. Only its regular files are
// read: no symbolic link to a file outside, no device, no pipe.
type directory struct {
	root     *os.Root
	stats    map[string]stat
	others   map[string]error  // what is no file, and why
	digest   string            // of paths, sizes and times
	versions map[string]string // of the requested files
}

type stat struct {
	size     int64
	modified time.Time
}

var errLink = errors.New("it is a broken link, or a link out of the folder")

// openFolder lists a folder. The caller closes it.
func openFolder(ctx context.Context, dir string) (_ *directory, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("option folder: %w", err)
	}
	f := &directory{root: root, stats: map[string]stat{}, others: map[string]error{},
		versions: map[string]string{}}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	digest := sha256.New()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && name == ".":
			return fmt.Errorf("folder: %w", err)
		case err != nil:
			f.others[name] = fmt.Errorf("%w: %w", errUnread, folder.Reason(err))
			return fs.SkipDir
		case d.IsDir() && name != "." && (d.Name()[0] == '.' || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		info, err := d.Info()
		if d.Type()&fs.ModeSymlink != 0 {
			if info, err = root.Stat(name); err != nil {
				f.others[name] = errLink
			}
		}
		if err != nil { // or removed meanwhile
			return nil
		}
		if !info.Mode().IsRegular() {
			if !info.IsDir() {
				f.others[name] = folder.ErrNotRegular
			}
			return nil
		}
		if len(f.stats) == maxFiles {
			return fmt.Errorf("the folder has more than %d files", maxFiles)
		}
		f.stats[name] = stat{info.Size(), info.ModTime().UTC()}
		fmt.Fprintf(digest, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	f.digest = hex.EncodeToString(digest.Sum(nil)[:20])
	return f, err
}

// Close closes the directory.
func (f *directory) Close() { _ = f.root.Close() }

func (f *directory) head() string            { return f.digest }
func (f *directory) odd() map[string]error   { return f.others }
func (f *directory) files() iter.Seq[string] { return maps.Keys(f.stats) }

// version is the digest of a file's content, or of its size and time if it
// cannot be read.
func (f *directory) version(file string) string {
	if _, ok := f.stats[file]; !ok {
		return ""
	}
	if v, ok := f.versions[file]; ok {
		return v
	}
	data, err := f.read(file)
	if err != nil {
		data = fmt.Appendf(nil, "%v", f.stats[file])
	}
	sum := sha256.Sum256(data)
	f.versions[file] = hex.EncodeToString(sum[:20])
	return f.versions[file]
}

func (f *directory) read(file string) ([]byte, error) {
	data, err := folder.Read(f.root.FS(), file, ingest.MaxText)
	if _, large := errors.AsType[folder.TooLarge](err); err != nil && !large {
		return nil, fmt.Errorf("%w: %w", errUnread, folder.Reason(err))
	}
	return data, folder.Reason(err)
}

// origins dates the pages by their files. A page with the same content as in the
// previous run keeps its date: copying and touching files changes nothing.
func (f *directory) origins(_ context.Context, r *run) (map[string]origin, error) {
	found := map[string]origin{}
	for file := range r.pages {
		found[file] = origin{Updated: f.stats[file].modified}
		if was, ok := r.known.Pages[file]; ok && was.Inputs[file] == f.version(file) {
			found[file] = was.Origin
		}
	}
	return found, nil
}
