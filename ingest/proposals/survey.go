package proposals

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
)

// survey says which files of a repository on this machine would not be read as
// proposals, though the options name them. It returns nothing if all would be.
func (c *connector) survey(ctx context.Context) []string {
	fail := func(err error) []string { return []string{fmt.Sprintf("its files cannot be looked at: %v", err)} }
	work, err := os.MkdirTemp(c.env.WorkDir, "survey-*")
	if err != nil {
		return fail(err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	dir := filepath.Join(work, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository, Branch: c.opts.Branch, Depth: 1}
	branch, err := gitrepo.Fetch(ctx, c.env.HTTP, dir, from)
	if err != nil {
		return fail(err)
	}
	repo, err := gitrepo.Open(dir, branch)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = repo.Close() }()
	s := &syncRun{connector: c, repo: repo, reader: Reader{Network: c.env.Network}}
	if s.files, err = repo.Files(repo.Head); err != nil {
		return fail(err)
	}
	numbering := s.numbered()
	read := len(numbering.Files)
	var skipped []ingest.Problem
	beside := 0
	for _, u := range numbering.Unread(s.named()) {
		if s.isAttachment(numbering, u.File) {
			beside++
			continue
		}
		skipped = append(skipped, ingest.Problem{Locator: u.File, Message: u.Reason.Error(), Skipped: true})
	}
	switch all := read + beside + len(skipped); {
	case all == 0:
		return []string{errNothing.Error()}
	case len(skipped) == 0 && read > 0:
		return nil
	default:
		said := fmt.Sprintf("%d files match, %d are proposals", all, read)
		if beside > 0 {
			said += fmt.Sprintf(", %d lie beside one", beside)
		}
		return []string{said + ": " + ingest.Reasons(skipped, len(skipped))}
	}
}
