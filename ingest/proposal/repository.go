// Package proposal reads a repository of improvement proposals or grant
// proposals: which files are proposals and with which number, header, title,
// history of the status, drafts, grants, attachments. Its connector fills a
// Repository from git; the API of a forge and a copy fill one with what they know.
// Read makes its records, so that a repository has the same whoever was asked.
//
// Proposals are texts in Markdown, MediaWiki, reStructuredText or plain text.
// Reader.number says which files are proposals, and why the others are not; each
// of those is skipped with its reason. A proposal is keyed by its number as the
// network writes it (CIP-0056), a draft (PR-203) and a grant by the number of its
// pull request. Its state is one of network.Statuses; the original status word,
// the type and the category are tags (see catalog.Tag).
package proposal

import (
	"context"
	"errors"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/ingest/gitrepo"
)

// Repository is a repository of proposals as its source knows it: git knows all
// of it, the API of a forge and a copy know parts.
type Repository struct {
	Name  string            // Record.Container
	Files map[string]string // of the branch, by path, with what Content takes
	// Others is what the branch has besides, such as links, and why it is no file.
	Others map[string]error
	Steps  []Step // of the branch, oldest first, as far as they are known
	Pulls  map[int]*Pull
	// Branches are further branches, whose new files are proposals too.
	Branches []Branch
	// Numbers are the numbers of files that the source itself gives.
	Numbers map[string]string
	// Whole says that the files beside proposals are read too, and that Steps are all
	// states of the branch, so that the changes of status are found in its texts.
	// Otherwise they are Changes.
	Whole   bool
	Changes []catalog.Event
	// Copies says that what Content takes are the paths of copies, which records have.
	Copies bool

	// URL returns the address of a file at a commit; "" is the head of the branch.
	URL func(file, commit string) string
	// Content reads a file of at most limit bytes. A Fatal error ends the reading,
	// another one leaves the file out.
	Content func(ctx context.Context, blob string, limit int64) ([]byte, error)
}

// record returns the path that the record of a file has.
func (r *Repository) record(file, blob string) string {
	if r.Copies && blob != "" {
		return blob
	}
	return file
}

// Step is a state of the branch: what a pull request or a direct commit made of
// it.
type Step struct {
	Pull    int // that was merged; 0 for none
	At      time.Time
	Commit  string
	Subject string // of the commit
	Changes []gitrepo.Change
}

// Pull is a pull request.
type Pull struct {
	catalog.PullRequest
	URL string
	// Opened and Closed are unknown if zero; then the dates of its commits count.
	Opened, Closed time.Time
	Updated        time.Time // of its texts
	Forge          *Forge    // nil if no forge was asked
	Changes        []gitrepo.Change
	// Diff finds the changes where that costs something; nil if they are there.
	Diff func() ([]gitrepo.Change, error)
}

// Branch is a branch with drafts.
type Branch struct {
	Name, Commit string
	Updated      time.Time
	// Diff finds what it changed since it left the main one.
	Diff func() ([]gitrepo.Change, error)
}

// Forge is what only a forge says of a pull request. It is certain, and so are
// the state and the time of the merge then.
type Forge struct {
	Labels []string
	Column *string // of a board; nil if none was read, "" if it has none
	Active time.Time
}

// Fatal is an error that ends the reading of a repository.
type Fatal struct{ Err error }

func (e Fatal) Error() string { return e.Err.Error() }
func (e Fatal) Unwrap() error { return e.Err }

func isFatal(err error) bool {
	_, ok := errors.AsType[Fatal](err)
	return ok
}

// origin is where a file of the branch comes from.
type origin struct {
	added   int       // the pull request that added it; 0 if none or unknown
	created time.Time // zero if unknown
	updated time.Time // when its content last changed
	pulls   []int     // all that touched it, in order
}

// origins traces the files of the branch back through their renames.
func origins(steps []Step) map[string]origin {
	at := map[string]origin{}
	for _, s := range steps {
		before := map[string]origin{} // of the files that got another name
		for _, c := range s.Changes {
			if c.Old != "" && c.Old != c.New {
				before[c.Old] = at[c.Old]
				delete(at, c.Old)
			}
		}
		for _, c := range s.Changes {
			if c.New == "" {
				continue
			}
			o := origin{added: s.Pull, created: s.At}
			if c.Old == c.New {
				o = at[c.New]
			} else if c.Old != "" {
				o = before[c.Old]
			}
			if !c.Same {
				o.updated = s.At
			}
			if s.Pull > 0 {
				o.pulls = append(slices.Clip(o.pulls), s.Pull)
			}
			at[c.New] = o
		}
	}
	return at
}
