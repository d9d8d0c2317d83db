package ingest

import (
	"cmp"
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/outbound"
)

// Connector pulls one source. Sync reads everything that changed since the
// cursor and hands it to out in any order, parents before their children.
// It runs in one goroutine of the pipeline's and returns when the source is
// exhausted, ctx is done or the source as a whole fails; a single bad item is
// reported with out.Skip and does not end the run. A run may be repeated from
// the same cursor at any time: connectors hold no state of their own.
type Connector interface {
	Sync(ctx context.Context, cursor string, out Sink) (Outcome, error)
}

// Advised is a Connector whose options are sound and yet may not be what the
// operator wants. `almanac network check` shows what it says.
type Advised interface {
	Connector
	Advice() []string
}

// Sink takes what a connector finds. Its methods may write a batch and
// therefore fail; the connector returns such an error unchanged.
type Sink interface {
	// Put hands over one record with what hangs on it.
	Put(ctx context.Context, e catalog.Entry) error
	// Events hands over the complete events of one reference.
	Events(ctx context.Context, events []catalog.Event) error
	// Snapshot hands over the state of a series as of now. It is stored when
	// the run succeeds, unless the newest one of the series says the same. One
	// of a time before the run is history, and is stored as it is.
	Snapshot(s catalog.Snapshot)
	// Keep says that a record exists upstream unchanged and needs no write.
	Keep(ref catalog.Ref)
	// Skip reports an item that could not be read: where, and why.
	Skip(locator string, err error)
	// Warn reports something odd about an item that was read all the same.
	Warn(locator, message string)
	// Progress says how much of the source is done; total 0 = unknown.
	Progress(done, total int)
}

// Outcome is the end of a complete run.
type Outcome struct {
	// Cursor is where the next run starts.
	Cursor string
	// Complete says that every live record of the source was put or kept, so
	// that whatever was not is gone upstream and becomes a tombstone.
	Complete bool
	// Gone names records that are, for sources that never list all of theirs.
	Gone []catalog.Ref
}

// Environment is what a connector is built with besides its options.
type Environment struct {
	Network network.Network
	Now     func() time.Time
	Log     *slog.Logger
	// HTTP makes every request to an address that options or data name.
	HTTP *outbound.Client
	// Files is the network's folder: what lies beside its YAML file, or comes
	// with the program for a preset. Options name files in it by slash-separated
	// relative paths; see Place and Local. Nil is an empty folder.
	Files fs.FS
	// WorkDir is a directory of the source's own that survives restarts and
	// may be deleted at any time (clones, caches). It exists.
	WorkDir string
	// CorpusDir is network.corpus_dir of the configuration: what a source
	// option "${corpus}" stands for.
	CorpusDir string
	// Getenv returns the environment variable that an option names, which may
	// hold a secret; nil asks the process's environment. See Secret.
	Getenv func(name string) string
	// Pseudonym returns what stands for a mail address: a salted hash, the
	// same for the same address as long as the data directory lives. What may
	// identify a person by address only (sender, message id) is stored so.
	Pseudonym func(address string) string
}

// Place returns the file system that a path of the options lies in, and its
// name there: a relative path lies in the network's folder, an absolute one on
// this machine.
func (e Environment) Place(name string) (fs.FS, string) {
	switch {
	case filepath.IsAbs(name):
		root := filepath.VolumeName(name) + string(filepath.Separator)
		rest := filepath.Clean(name)[len(root):]
		return os.DirFS(root), cmp.Or(filepath.ToSlash(rest), ".")
	case e.Files == nil:
		return embed.FS{}, path.Clean(name)
	}
	return e.Files, path.Clean(name)
}

// Folder is a network's folder that is a directory of this machine. What is
// read by other programs, such as a git repository, needs one.
type Folder interface {
	fs.FS
	Dir() string // absolute
}

// Local returns the path on this machine of a path of the options: a relative
// one lies in the network's folder. Of a folder that comes with the program
// nothing is on this machine, and the path is returned as it is.
func (e Environment) Local(name string) string {
	if folder, ok := e.Files.(Folder); ok && !filepath.IsAbs(name) {
		return filepath.Join(folder.Dir(), name)
	}
	return name
}

// Secret returns the environment variable that an option names, without the
// space around it; "" if it is not set.
func (e Environment) Secret(name string) string {
	if e.Getenv == nil {
		return strings.TrimSpace(os.Getenv(name))
	}
	return strings.TrimSpace(e.Getenv(name))
}
