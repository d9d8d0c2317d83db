package ingest

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/folder"
	"almanac/ingest/outbound"
)

// Advised is a connector that can advise against options which are valid but
// may not be what the operator wants. `almanac network check` prints its advice.
type Advised interface {
	Advice(ctx context.Context) []string
}

// Sink receives what a connector finds. Methods that return an error may write
// a batch; the connector returns such an error unchanged.
type Sink interface {
	// Begin says that a stranger's file or text is parsed next, until the next call of
	// Begin, Put or Skip. ErrKilled: it must be skipped, as an earlier run was killed
	// over it.
	Begin(content []byte) error
	// Put stores one record with its links, aliases, votes and tags.
	Put(ctx context.Context, e catalog.Entry) error
	// Events stores the complete list of events of one reference.
	Events(ctx context.Context, events []catalog.Event) error
	// Snapshot reports the state of a series. It is stored when the run
	// succeeds, unless it equals the newest one of the series. A snapshot of a
	// time before the run is history and always stored.
	Snapshot(s catalog.Snapshot)
	// Keep reports that a record exists upstream unchanged and needs no write.
	Keep(ref catalog.Ref)
	// Skip reports an item that could not be read: where, and why. Its record is
	// kept, unless the error is an ErrNoItem.
	Skip(locator string, err error)
	// Warn reports something odd about an item that was read nevertheless.
	Warn(locator, message string)
	// Progress reports how much of the source is done; total 0 = unknown.
	Progress(done, total int)
}

// ErrNoItem is the error of a thing that a source's options name and that is
// not an item of the source, so that it has no record. It is counted, for nothing
// is left out in silence.
var ErrNoItem = errors.New("not read")

// Outcome is the result of a successful run.
type Outcome struct {
	// Complete means that every live record of the source was put or kept: any
	// other is gone upstream and becomes a tombstone.
	Complete bool
	// Gone names the records that are gone, for sources that never list all.
	Gone []catalog.Ref
}

// Environment is what a connector is built from besides its options.
type Environment struct {
	Network network.Network
	Now     func() time.Time
	Log     *slog.Logger
	// HTTP makes every request to an address from options or data.
	HTTP *outbound.Client
	// Files is the network's folder: the directory of its YAML file, or the
	// embedded one of a preset. Options name files in it by slash-separated
	// relative paths; see Place and Local. Nil is an empty folder.
	Files fs.FS
	// WorkDir is the source's own directory for clones and caches. It exists in
	// every run and survives restarts; the operator may delete it between runs.
	WorkDir string
	// Survey: the run only says what would be read, so that a repository's history,
	// which dates and events come from, is left out where its files are known without.
	Survey bool
	// CorpusDir is network.corpus_dir of the configuration; it replaces
	// "${corpus}" in options.
	CorpusDir string
	// Getenv returns the environment variable that an option names, which may
	// hold a secret; nil reads the process's environment. See Secret.
	Getenv func(name string) string
	// Pseudonym returns the substitute for a mail address: a salted hash that is
	// stable for the life of the data directory. Fields that identify a person
	// by address only (sender, message id) store it instead of the address.
	Pseudonym func(address string) string
}

// Place resolves a path from the options to a file system and a name in it: a
// relative path is in the network's folder, an absolute one, which may be a
// pattern, on this machine. Links lead neither out of that folder nor out of the
// directory of an absolute path; the path itself may be a link, as it is the
// operator's.
func (e Environment) Place(name string) (fs.FS, string) {
	switch {
	case filepath.IsAbs(name):
		dir, base := filepath.Split(filepath.Clean(name))
		for strings.ContainsAny(dir, `*?[`) { // a pattern
			dir, base = filepath.Dir(filepath.Clean(dir)), filepath.Base(dir)+"/"+base
		}
		if place, err := filepath.EvalSymlinks(filepath.Join(dir, base)); err == nil {
			dir, base = filepath.Split(place)
			if info, err := os.Stat(place); err == nil && info.IsDir() && base != "" {
				return folder.Named(place), base
			}
		}
		return folder.New(dir), cmp.Or(base, ".")
	case e.Files == nil:
		return embed.FS{}, path.Clean(name)
	}
	return e.Files, path.Clean(name)
}

// Read returns the content of a file that the options name, of at most limit bytes;
// see Place.
func (e Environment) Read(name string, limit int64) ([]byte, error) {
	files, at := e.Place(name)
	return folder.Read(files, at, limit)
}

// Folder is a network's folder that is a directory on this machine, which
// other programs, such as git, need to read from it.
type Folder interface {
	fs.FS
	Dir() string // absolute
}

// Local resolves a path from the options to a path on this machine: a relative
// one is in the network's folder. An embedded folder is not on this machine:
// then the path is returned unchanged.
func (e Environment) Local(name string) string {
	if folder, ok := e.Files.(Folder); ok && !filepath.IsAbs(name) {
		return filepath.Join(folder.Dir(), name)
	}
	return name
}

// Secret returns the environment variable that an option names, trimmed of
// space; "" if it is not set.
func (e Environment) Secret(name string) string {
	if e.Getenv == nil {
		return strings.TrimSpace(os.Getenv(name))
	}
	return strings.TrimSpace(e.Getenv(name))
}
