package docs

import (
	"context"
	"iter"
	"maps"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
)

// tree is a set of files with pages.
type tree interface {
	// head changes whenever a file does.
	head() string
	// files are the paths of all files, odd those of what is none, and why.
	files() iter.Seq[string]
	odd() map[string]error
	// version changes with a file's content; "" if the file does not exist.
	version(file string) string
	// read returns a file's content. It fails with errUnread or
	// gitrepo.ErrTooLarge or folder.TooLarge if only this file cannot be read.
	read(file string) ([]byte, error)
	// origins returns the origins of the pages of a run, by path.
	origins(ctx context.Context, r *run) (map[string]origin, error)
}

// clone is the tree of a git commit.
type clone struct {
	repo   *gitrepo.Repository
	blobs  map[string]string
	others map[string]error
}

func (c clone) head() string               { return c.repo.Head }
func (c clone) odd() map[string]error      { return c.others }
func (c clone) files() iter.Seq[string]    { return maps.Keys(c.blobs) }
func (c clone) version(file string) string { return c.blobs[file] }

func (c clone) read(file string) ([]byte, error) { return c.repo.Blob(c.blobs[file], ingest.MaxText) }
