package docs

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"time"

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

// origin is the history of a page.
type origin struct {
	Commit  string    `json:"commit"`           // the last one that changed its file
	Updated time.Time `json:"updated,omitzero"` // time of that commit
	Created time.Time `json:"created,omitzero"` // when the file was added, under any name
	Former  []string  `json:"former,omitempty"` // its former paths, newest first
}

func (o origin) equal(p origin) bool {
	return o.Commit == p.Commit && o.Updated.Equal(p.Updated) && o.Created.Equal(p.Created) &&
		slices.Equal(o.Former, p.Former)
}

// origins traces all pages in one walk back through the history, down to the
// commit of the previous run, which has the rest. In a shallow history the
// oldest commit contains all changes before it, so it dates nothing.
func (c clone) origins(ctx context.Context, r *run) (map[string]origin, error) {
	found := map[string]origin{}
	track := map[string]string{} // a page's path at that time → the page
	for file := range r.pages {
		track[file] = file
	}
	var dirs []string
	for _, root := range r.opts.Roots {
		if root.Dir == "" {
			dirs = nil
			break
		}
		dirs = append(dirs, root.Dir)
	}
	for step, err := range c.repo.History(dirs...) {
		if err = cmp.Or(err, step.TooLarge); err != nil {
			return nil, err
		}
		if step.Hash == r.known.Head {
			r.join(found, track)
		}
		if len(track) == 0 {
			break
		}
		r.follow(found, track, step)
	}
	return found, ctx.Err()
}

// join adds what the previous run found.
func (r *run) join(found map[string]origin, track map[string]string) {
	for name, file := range track {
		was, ok := r.known.Pages[name]
		if !ok {
			continue
		}
		o := found[file]
		if o.Commit == "" {
			o.Commit, o.Updated = was.Origin.Commit, was.Origin.Updated
		}
		o.Created = was.Origin.Created
		o.Former = append(o.Former, was.Origin.Former...)
		found[file] = o
		delete(track, name)
	}
}

func (r *run) follow(found map[string]origin, track map[string]string, step gitrepo.Step) {
	moved := map[string]string{}
	for _, change := range step.Changes {
		file, ok := track[change.New]
		if change.New == "" || !ok {
			continue
		}
		o := found[file]
		was, known := r.known.Pages[file]
		switch {
		case step.Shallow && known && o.Commit == "" && was.Inputs[file] == r.tree.version(file):
			o = was.Origin
		case o.Commit == "" && step.Shallow:
			o.Commit = step.Hash
		case o.Commit == "":
			o.Commit, o.Updated = step.Hash, step.Committed
		}
		switch {
		case step.Shallow:
			delete(track, change.New)
		case change.Old == "":
			o.Created = step.Committed
			delete(track, change.New)
		case change.Old != change.New:
			o.Former = append(o.Former, change.Old)
			delete(track, change.New)
			moved[change.Old] = file
		}
		found[file] = o
	}
	maps.Copy(track, moved)
}
