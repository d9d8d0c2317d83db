package proposals

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
)

// advise says which files of a repository on this machine would not be read as
// proposals, though the options name them. It returns nothing if all would be.
func (c *connector) advise(ctx context.Context) []string {
	read, beside, unread, err := c.survey(ctx)
	if err != nil {
		return []string{fmt.Sprintf("its files cannot be looked at: %v", err)}
	}
	switch all := read + beside + len(unread); {
	case all == 0:
		return []string{proposal.ErrNothing.Error()}
	case len(unread) == 0 && read > 0:
		return nil
	default:
		found := fmt.Sprintf("%d files match, %d are proposals", all, read)
		if beside > 0 {
			found += fmt.Sprintf(", %d lie beside one", beside)
		}
		var skipped []ingest.Problem
		for _, u := range unread {
			skipped = append(skipped, ingest.Problem{Locator: u.File, Message: u.Reason.Error(), Skipped: true})
		}
		return []string{found + ": " + ingest.Reasons(skipped, len(skipped))}
	}
}

func (c *connector) survey(ctx context.Context) (read, beside int, unread []proposal.Unread, err error) {
	work, err := os.MkdirTemp(c.env.WorkDir, "survey-*")
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	dir := filepath.Join(work, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository, Branch: c.opts.Branch, Depth: 1}
	branch, err := gitrepo.Fetch(ctx, c.env.HTTP, dir, from)
	if err != nil {
		return 0, 0, nil, err
	}
	repo, err := gitrepo.Open(dir, branch)
	if err != nil {
		return 0, 0, nil, err
	}
	defer func() { _ = repo.Close() }()
	files, err := c.branch(repo)
	if err != nil {
		return 0, 0, nil, err
	}
	read, beside, unread = proposal.Survey(ctx, files, c.layout, c.env.Network)
	return read, beside, unread, nil
}
