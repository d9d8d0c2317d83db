package proposals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
	"almanac/text/dates"
	"almanac/text/glob"
)

// branch returns a fetched repository with the files of its branch alone.
func (c *connector) branch(_ context.Context, repo *gitrepo.Repository, _ ingest.Sink) (*proposal.Repository, error) {
	head := repo.Head.Hash
	to := &proposal.Repository{
		Name: c.opts.Name, Files: map[string]proposal.Blob{}, Whole: true, Attachments: true, Hand: c.env.Hand,
		URL: func(file, commit string) string { return c.fileURL(cmp.Or(commit, head), file) },
		Content: func(_ context.Context, b proposal.Blob, limit int64) ([]byte, error) {
			return repo.Blob(b.ID, limit)
		},
	}
	files, others, err := repo.Files(repo.Head)
	to.Others = others
	for file, hash := range files {
		to.Files[file] = proposal.Blob{ID: hash}
	}
	return to, err
}

// repository returns a fetched repository with its history and pull requests.
func (c *connector) repository(
	ctx context.Context, repo *gitrepo.Repository, out ingest.Sink,
) (*proposal.Repository, error) {
	to, err := c.branch(ctx, repo, out)
	if err != nil {
		return nil, err
	}
	line, err := firstParents(repo)
	if err != nil {
		return nil, err
	}
	merges, err := readSteps(repo, line, to, out)
	if err != nil {
		return nil, err
	}
	onBranch, err := positions(repo, line)
	if err != nil {
		return nil, err
	}
	h := &host{repo: repo, merges: merges, onBranch: onBranch, pulls: map[int]*proposal.Pull{}, url: c.pullURL,
		refs: map[int]string{}, tells: c.tells}
	err = h.read(ctx, out)
	to.Pulls = h.pulls
	if err == nil {
		to.Branches, err = h.branches(ctx, c.head, c.drafts, out)
	}
	return to, err
}

// merge is a step of the branch that merged a pull request.
type merge struct {
	proposal.Step
	commit *gitrepo.Commit
}

// firstParents returns the first-parent line of the branch's head, newest first.
func firstParents(repo *gitrepo.Repository) ([]*gitrepo.Commit, error) {
	line := []*gitrepo.Commit{repo.Head}
	for c := repo.Head; len(c.Parents) > 0; line = append(line, c) {
		parent, err := repo.Commit(c.Parents[0])
		if err != nil {
			return nil, fmt.Errorf("parent of %s: %w", c.Hash, err)
		}
		c = parent
	}
	return line, nil
}

// readSteps reads the states of the branch along its first-parent line, one for each
// merged pull request or direct commit. Commits inside a pull request were never on the
// branch. A state that is too large is left out: what it changed is part of the next
// step. It returns the merges by pull request.
func readSteps(
	repo *gitrepo.Repository, line []*gitrepo.Commit, to *proposal.Repository, out ingest.Sink,
) (map[int]merge, error) {
	merges := map[int]merge{}
	var before *gitrepo.Commit
	var tooLarge []error // why states were left out
	alone := true        // what changed since before is of one commit
	for _, c := range slices.Backward(line) {
		m := merge{commit: c}
		m.Step = proposal.Step{Pull: pullOf(c), At: c.Committed, Commit: c.Hash, Subject: subject(c)}
		changes, _, err := diff(repo, before, c)
		switch {
		case errors.Is(err, gitrepo.ErrTooLarge):
			tooLarge = append(tooLarge, err)
		case err != nil:
			return nil, fmt.Errorf("changes of %s: %w", c.Hash, err)
		default:
			s := m.Step
			s.Changes = changes
			if alone {
				m.Changes = s.Changes
			} else {
				s.Pull = 0 // it is not known which of the commits changed what
			}
			to.Steps = append(to.Steps, s)
			before = c
		}
		alone = err == nil
		if _, again := merges[m.Pull]; m.Pull > 0 && !again {
			merges[m.Pull] = m
		}
	}
	if len(tooLarge) > 0 {
		out.Skip(fmt.Sprintf("former states of the branch (%d)", len(tooLarge)), tooLarge[0])
	}
	return merges, nil
}

// diff returns the changes between two commits, with renames found, by path, and whether
// names were left out.
func diff(repo *gitrepo.Repository, before, after *gitrepo.Commit) (out []proposal.FileChange, wrong, err error) {
	changes, wrong, err := repo.Changes(before, after)
	for _, c := range changes {
		out = append(out, proposal.FileChange{Old: c.Old, New: c.New, Blob: proposal.Blob{ID: c.Blob}, Same: c.Same})
	}
	return out, wrong, err
}

// mergeSubject matches the first line of what forges write when they merge, and of
// a squashed pull request, which ends in its number.
var mergeSubject = regexp.MustCompile(`\([#!](\d{1,9})\)\s*$|^Merge pull request (?:#|.* \(#)(\d{1,9})\b|` +
	`^Merged in .* \(pull request #(\d{1,9})\)|^(?:Pull request #|Merged PR )(\d{1,9}):`)

// mergeTrailer matches the line that GitLab puts below the message.
var mergeTrailer = regexp.MustCompile(`(?m)^See merge request (?:\S*)!(\d{1,9})\s*$`)

// pullOf returns the number of the pull request that a commit merged, by its
// message; 0 for none.
func pullOf(c *gitrepo.Commit) int {
	m := mergeSubject.FindStringSubmatch(subject(c))
	if m == nil {
		m = mergeTrailer.FindStringSubmatch(c.Message)
	}
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.Join(m[1:], ""))
	return n
}

func subject(c *gitrepo.Commit) string {
	s, _, _ := strings.Cut(strings.TrimLeft(c.Message, "\r\n"), "\n")
	return strings.TrimSpace(s)
}

// maxPullCommits is the maximum number of commits read from a pull request.
const maxPullCommits = 5000

// host is what git shows of the host's pull requests.
type host struct {
	repo     *gitrepo.Repository
	merges   map[int]merge
	onBranch map[string]int // what is on the branch: how many of its steps are before the one that brought it
	url      func(number int) string
	pulls    map[int]*proposal.Pull
	refs     map[int]string // the beginning of their references
	tells    bool           // by a reference, which ones it would merge
}

// read finds every pull request with a reference. It is merged if a step of the
// branch names it or its head is part of the branch, open if the host has a merge
// reference for it, else closed (or in conflict, which looks the same in git). Of
// a host that has no such references it is open: unknown is not withdrawn.
func (h *host) read(ctx context.Context, out ingest.Sink) error {
	heads := h.heads()
	for _, number := range slices.Sorted(maps.Keys(heads)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p, err := h.pull(number, heads[number])
		if err != nil {
			out.Skip(fmt.Sprintf("pull request %d", number), err)
			continue
		}
		h.pulls[number] = p
	}
	// A merge may name a pull request whose reference the host has deleted.
	for number := range h.merges {
		if h.pulls[number] == nil {
			h.pulls[number] = h.merged(number)
		}
	}
	return nil
}

// branches returns the branches with drafts, by name.
func (h *host) branches(
	ctx context.Context, main string, drafts glob.Set, out ingest.Sink,
) (all []proposal.Branch, err error) {
	for _, ref := range slices.Sorted(maps.Keys(h.repo.Refs)) {
		name, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if !isBranch || name == main || !drafts.Match(name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		head, err := h.repo.Commit(h.repo.Refs[ref])
		var base *gitrepo.Commit
		var own []*gitrepo.Commit
		if err == nil {
			own, base, err = h.own(head, len(h.onBranch))
		}
		switch {
		case err != nil:
			out.Skip("branch "+name, err)
		case len(own) > 0:
			all = append(all, proposal.Branch{Name: name, Commit: head.Hash, Updated: head.Committed,
				Diff: func(context.Context) ([]proposal.FileChange, error) { return h.between(base, head) }})
		}
	}
	return all, nil
}

// pullRef matches the references of pull requests: GitHub's, Gitea's and
// Forgejo's; GitLab's; Bitbucket's.
var pullRef = regexp.MustCompile(`^(refs/(?:pull|merge-requests|pull-requests)/(\d{1,9})/)(head|from|merge)$`)

// heads returns the head of every pull request with a reference. If the head
// reference is missing, the host's merge commit has the head.
func (h *host) heads() map[int]string {
	heads := map[int]string{}
	for _, name := range slices.Sorted(maps.Keys(h.repo.Refs)) { // head before merge
		m := pullRef.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[2])
		h.refs[number] = m[1]
		if m[3] != "merge" {
			heads[number] = h.repo.Refs[name]
		} else if _, known := heads[number]; !known {
			if c, err := h.repo.Commit(h.repo.Refs[name]); err == nil && len(c.Parents) == 2 {
				heads[number] = c.Parents[1]
			}
		}
	}
	return heads
}

// isOpen reports whether an unmerged pull request is open: the host would merge
// it, or keeps no reference of that.
func (h *host) isOpen(number int) bool {
	_, mergeable := h.repo.Refs[h.refs[number]+"merge"]
	return mergeable || !h.tells || strings.HasPrefix(h.refs[number], "refs/merge-requests/")
}

// merged returns a pull request that a step of the branch merged.
func (h *host) merged(number int) *proposal.Pull {
	m := h.merges[number]
	return &proposal.Pull{
		PullRequest: catalog.PullRequest{Number: number, State: "merged", Author: m.commit.Author,
			MergedAt: dates.Format(m.At), MergeCommit: m.Commit},
		URL: h.url(number), Updated: m.At, Changes: m.Changes,
	}
}

func (h *host) pull(number int, hash string) (*proposal.Pull, error) {
	head, err := h.repo.Commit(hash)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	before := len(h.onBranch) // all of the branch
	m, isMerged := h.merges[number]
	p := &proposal.Pull{PullRequest: catalog.PullRequest{Number: number, State: "closed"}, URL: h.url(number)}
	_, onBranch := h.onBranch[hash]
	switch {
	case isMerged:
		p = h.merged(number)
		if onBranch && len(m.commit.Parents) > 0 {
			// A true merge made its commits part of the branch: exclude only
			// what was there before.
			before = h.onBranch[m.commit.Hash]
		}
	case onBranch:
		p.State = "merged"
	case h.isOpen(number):
		p.State = "open"
	}
	commits, base, err := h.own(head, before)
	if err != nil {
		return nil, err
	}
	p.Head, p.Author, p.LastCommit, p.Updated = hash, head.Author, dates.Format(head.Authored), head.Committed
	if len(commits) > 0 {
		first := slices.MinFunc(commits, func(a, b *gitrepo.Commit) int { return a.Authored.Compare(b.Authored) })
		p.Author, p.FirstCommit = first.Author, dates.Format(first.Authored)
	}
	if !isMerged && len(commits) > 0 {
		p.Diff = func(context.Context) ([]proposal.FileChange, error) { return h.between(base, head) }
	}
	return p, nil
}

// between returns the changes of a pull request since it forked from the branch. One
// with a name that no file has was made to be misread, so it has none.
func (h *host) between(base, head *gitrepo.Commit) ([]proposal.FileChange, error) {
	changes, wrong, err := diff(h.repo, base, head)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	return changes, nil
}

// positions returns the commits of the branch, each with the position of the step of its first-parent
// line that brought it: how many steps are before that.
func positions(repo *gitrepo.Repository, line []*gitrepo.Commit) (map[string]int, error) {
	at := map[string]int{}
	for i, step := range slices.Backward(line) {
		position := len(line) - 1 - i
		err := walk(repo, step, func(hash string) bool { _, known := at[hash]; return known },
			func(c *gitrepo.Commit) error {
				at[c.Hash] = position
				return nil
			})
		if err != nil {
			return nil, fmt.Errorf("ancestors of %s: %w", step.Hash, err)
		}
	}
	return at, nil
}

// walk visits a commit and its ancestors, each once, but for those that are known and what
// is reached through them alone.
func walk(
	repo *gitrepo.Repository, c *gitrepo.Commit, known func(string) bool, visit func(*gitrepo.Commit) error,
) error {
	if known(c.Hash) {
		return nil
	}
	seen := map[string]bool{c.Hash: true}
	for next := []*gitrepo.Commit{c}; len(next) > 0; {
		c, next = next[len(next)-1], next[:len(next)-1]
		if err := visit(c); err != nil {
			return err
		}
		for _, hash := range c.Parents {
			if seen[hash] || known(hash) {
				continue
			}
			seen[hash] = true
			parent, err := repo.Commit(hash)
			if err != nil {
				return err
			}
			next = append(next, parent)
		}
	}
	return nil
}

// own returns the commits of head that are not in the first steps of the branch, and the
// newest commit of these that they reach: the merge base.
func (h *host) own(head *gitrepo.Commit, steps int) (own []*gitrepo.Commit, base *gitrepo.Commit, err error) {
	before := func(hash string) bool {
		at, known := h.onBranch[hash]
		return known && at < steps
	}
	err = walk(h.repo, head, before, func(c *gitrepo.Commit) error {
		if own = append(own, c); len(own) > maxPullCommits {
			return fmt.Errorf("more than %d commits", maxPullCommits)
		}
		for _, hash := range c.Parents {
			if !before(hash) {
				continue
			}
			p, err := h.repo.Commit(hash)
			if err != nil {
				return err
			}
			if base == nil || p.Committed.After(base.Committed) {
				base = p
			}
		}
		return nil
	})
	return own, base, err
}
