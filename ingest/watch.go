package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"almanac/catalog/network"
	"almanac/text/options"
)

const (
	// lookEvery is how often what a source reads on this machine is looked at, and
	// lookShare how much of the time that may take at most.
	lookEvery = 2 * time.Second
	lookShare = 50
	// mostWatched is how many files a source may have to be looked at.
	mostWatched = 200_000
)

// watch tells when something on this machine changes that a source reads. It polls: that
// sees changes on every file system, and costs a stat for each file.
type watch struct {
	paths []string
	seen  string        // the state that the last run began with
	wait  time.Duration // until the next look
}

// watchOf returns the watch of a source; nil: nothing of it is on this machine.
func (p *Pipeline) watchOf(src network.Source) *watch {
	w := &watch{wait: lookEvery}
	env := Environment{Files: p.config.Files}
	p.config.Connectors.Walk(src, func(at options.Field, text string) {
		// A corpus is large, and does not change while it is served.
		if !at.IsPath() || strings.Contains(text, "://") || strings.Contains(text, CorpusVariable) {
			return
		}
		if text = env.Local(text); filepath.IsAbs(text) && !strings.ContainsAny(text, "*?[{") {
			w.paths = append(w.paths, text)
		}
	})
	if len(w.paths) == 0 {
		return nil
	}
	return w
}

// begin remembers the state that a run begins with.
func (w *watch) begin(ctx context.Context) {
	if w != nil {
		w.seen = w.state(ctx)
	}
}

// next returns when to look next; nil: never.
func (w *watch) next() <-chan time.Time {
	if w == nil {
		return nil
	}
	return time.After(w.wait)
}

// changed reports whether the state is another than a run began with.
func (w *watch) changed(ctx context.Context) bool {
	began := time.Now()
	state := w.state(ctx)
	w.wait = max(lookEvery, lookShare*time.Since(began))
	return state != w.seen && ctx.Err() == nil
}

// errMany: there is too much to look at.
var errMany = errors.New("more files than are watched")

// state is a digest of names, sizes and times; the same for whatever is too much to
// look at.
func (w *watch) state(ctx context.Context) string {
	digest, files := sha256.New(), 0
	for _, path := range w.paths {
		if err := stateOf(ctx, digest, path, &files); errors.Is(err, errMany) {
			return ""
		}
	}
	return string(digest.Sum(nil))
}

// stateOf adds what is at a path. Of a git repository, where a fetch reads commits, that
// is what its branches are.
func stateOf(ctx context.Context, digest hash.Hash, path string, files *int) error {
	for _, git := range []string{filepath.Join(path, ".git"), path} {
		if _, err := os.Stat(filepath.Join(git, "HEAD")); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(git, "objects")); err == nil {
			for _, part := range []string{"HEAD", "packed-refs", "refs"} {
				if err := walk(ctx, digest, filepath.Join(git, part), files); err != nil {
					return err
				}
			}
			if git == path {
				return nil
			}
		}
	}
	return walk(ctx, digest, path, files)
}

// walk adds the files at and below a path but those that connectors do not read.
func walk(ctx context.Context, digest hash.Hash, path string, files *int) error {
	return filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			fmt.Fprintf(digest, "%q %v\n", name, err)
			return nil
		case d.IsDir() && name != path && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if *files++; *files > mostWatched {
			return errMany
		}
		if info, err := os.Stat(name); err == nil {
			fmt.Fprintf(digest, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
}
