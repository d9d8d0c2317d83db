package docs

import (
	"context"
	"maps"
	"slices"
	"time"

	"almanac/ingest/gitrepo"
)

// origin is what the history says of a page.
type origin struct {
	Commit  string    `json:"commit"`           // that last touched its file
	Updated time.Time `json:"updated,omitzero"` // when that was
	Created time.Time `json:"created,omitzero"` // when the file was added, under whichever name
	Former  []string  `json:"former,omitempty"` // its former paths, newest first
}

func (o origin) equal(p origin) bool {
	return o.Commit == p.Commit && o.Updated.Equal(p.Updated) && o.Created.Equal(p.Created) && slices.Equal(o.Former, p.Former)
}

// origins follows all pages back through one walk of the history, at most to
// the commit of the run before, which knew the rest. In a history that was not
// fetched as a whole, its oldest commit stands for all before it and dates
// nothing.
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
	for step, err := range c.repo.History(ctx, dirs) {
		if err != nil {
			return nil, err
		}
		if step.Commit == r.known.Head {
			r.join(found, track)
		}
		if len(track) == 0 {
			break
		}
		r.follow(found, track, step)
	}
	return found, ctx.Err()
}

// join takes what the run before knew.
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
			o.Commit = step.Commit
		case o.Commit == "":
			o.Commit, o.Updated = step.Commit, step.At
		}
		switch {
		case step.Shallow:
			delete(track, change.New)
		case change.Old == "":
			o.Created = step.At
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
