package proposal

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
	"almanac/text/dates"
	"almanac/text/glob"
)

// branch returns a fetched repository with the files of its branch alone.
func (c *connector) branch(repo *gitrepo.Repository) (*Repository, error) {
	to := &Repository{
		Name: c.opts.Name, Whole: true,
		URL: func(file, commit string) string { return c.fileURL(cmp.Or(commit, repo.Head), file) },
		Content: func(_ context.Context, blob string, limit int64) ([]byte, error) {
			return repo.Blob(blob, limit)
		},
	}
	var err error
	to.Files, to.Others, err = repo.Files(repo.Head)
	return to, err
}

// history adds the history of the branch, the pull requests and the branches of drafts.
func (c *connector) history(ctx context.Context, repo *gitrepo.Repository, to *Repository, out ingest.Sink) error {
	line, err := steps(repo, to, out)
	if err != nil {
		return err
	}
	h := &host{repo: repo, line: line, merges: map[int]Step{}, url: c.pullURL, refs: map[int]string{},
		tells: c.tells}
	for _, s := range line {
		if _, again := h.merges[s.Pull]; s.Pull > 0 && !again {
			h.merges[s.Pull] = s
		}
	}
	if h.commits, err = repo.Commits(); err != nil {
		return err
	}
	h.place()
	if to.Pulls, err = h.pulls(ctx, out); err == nil {
		to.Branches, err = h.branches(ctx, c.head, c.drafts, out)
	}
	return err
}

// steps reads the states of the branch along its first-parent line, one for each merged
// pull request or direct commit. Commits inside a pull request were never on the branch.
// A state that is too large is left out: what it changed is part of the next step. It
// returns all of them, oldest first, with the changes of those that are not left out.
func steps(repo *gitrepo.Repository, to *Repository, out ingest.Sink) ([]Step, error) {
	var read []gitrepo.Step
	for s, err := range repo.History() {
		if err != nil {
			return nil, err
		}
		read = append(read, s)
	}
	var line []Step
	var tooLarge []error // why states were left out
	var before *gitrepo.Commit
	for i, s := range slices.Backward(read) {
		step := Step{Pull: pullOf(s.Message), At: s.Committed, Commit: s.Hash, Subject: subject(s.Message)}
		err := s.TooLarge
		alone := i == len(read)-1 || before != nil && before.Hash == read[i+1].Hash // what changed since before is of one commit
		if !alone {
			s, err = repo.Changes(before, &read[i].Commit)
		}
		switch {
		case errors.Is(err, gitrepo.ErrTooLarge):
			tooLarge = append(tooLarge, fmt.Errorf("%s: %w", step.Commit, err))
		case err != nil:
			return nil, fmt.Errorf("changes of %s: %w", step.Commit, err)
		case alone:
			step.Changes = s.Changes
			to.Steps = append(to.Steps, step)
			before = &read[i].Commit
		default: // it is not known which of the commits changed what
			to.Steps = append(to.Steps, Step{At: step.At, Commit: step.Commit, Subject: step.Subject,
				Changes: s.Changes})
			before = &read[i].Commit
		}
		line = append(line, step)
	}
	if len(tooLarge) > 0 {
		out.Skip(fmt.Sprintf("former states of the branch (%d)", len(tooLarge)), tooLarge[0])
	}
	return line, nil
}

// mergeSubject matches the first line of what forges write when they merge, and of
// a squashed pull request, which ends in its number.
var mergeSubject = regexp.MustCompile(`\([#!](\d{1,9})\)\s*$|^Merge pull request (?:#|.* \(#)(\d{1,9})\b|` +
	`^Merged in .* \(pull request #(\d{1,9})\)|^(?:Pull request #|Merged PR )(\d{1,9}):`)

// mergeTrailer matches the line that GitLab puts below the message.
var mergeTrailer = regexp.MustCompile(`(?m)^See merge request (?:\S*)!(\d{1,9})\s*$`)

// pullOf returns the number of the pull request that a commit merged, by its
// message; 0 for none.
func pullOf(message string) int {
	m := mergeSubject.FindStringSubmatch(subject(message))
	if m == nil {
		m = mergeTrailer.FindStringSubmatch(message)
	}
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.Join(m[1:], ""))
	return n
}

func subject(message string) string {
	s, _, _ := strings.Cut(strings.TrimLeft(message, "\r\n"), "\n")
	return strings.TrimSpace(s)
}

// maxPullCommits is the maximum number of commits read from a pull request.
const maxPullCommits = 5000

// host is what git shows of the host's pull requests.
type host struct {
	repo    *gitrepo.Repository
	line    []Step       // of the branch, oldest first
	merges  map[int]Step // by pull request
	commits map[string]*gitrepo.Commit
	at      map[string]int // the commits of the branch, with the step of line that brought each
	url     func(number int) string
	refs    map[int]string // the beginning of the references of pull requests
	tells   bool           // by a reference, which ones it would merge
}

// place finds the commits of the branch: a step brings those ancestors of its commit that
// the steps before it do not have.
func (h *host) place() {
	h.at = map[string]int{}
	for i, step := range h.line {
		for next := []string{step.Commit}; len(next) > 0; {
			hash := next[len(next)-1]
			next = next[:len(next)-1]
			if _, known := h.at[hash]; known {
				continue
			}
			h.at[hash] = i
			if c := h.commits[hash]; c != nil {
				next = append(next, c.Parents...)
			}
		}
	}
}

// pulls finds every pull request with a reference. It is merged if a step of the
// branch names it or its head is part of the branch, open if the host has a merge
// reference for it, else closed (or in conflict, which looks the same in git). Of
// a host that has no such references it is open: unknown is not withdrawn.
func (h *host) pulls(ctx context.Context, out ingest.Sink) (map[int]*Pull, error) {
	pulls := map[int]*Pull{}
	heads := h.heads()
	for _, number := range slices.Sorted(maps.Keys(heads)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := h.pull(number, heads[number])
		if err != nil {
			out.Skip(fmt.Sprintf("pull request %d", number), err)
			continue
		}
		pulls[number] = p
	}
	// A merge may name a pull request whose reference the host has deleted.
	for number := range h.merges {
		if pulls[number] == nil {
			pulls[number] = h.merged(number)
		}
	}
	return pulls, nil
}

// branches returns the branches with drafts, by name.
func (h *host) branches(
	ctx context.Context, main string, drafts glob.Set, out ingest.Sink,
) (all []Branch, err error) {
	for _, ref := range slices.Sorted(maps.Keys(h.repo.Refs)) {
		name, isBranch := strings.CutPrefix(ref, "refs/heads/")
		if !isBranch || name == main || !drafts.Match(name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		head := h.repo.Refs[ref]
		own, base, err := h.own(head, len(h.line))
		switch {
		case err != nil:
			out.Skip("branch "+name, err)
		case len(own) > 0:
			all = append(all, Branch{Name: name, Commit: head, Updated: own[0].Committed,
				Diff: func() ([]gitrepo.Change, error) { return h.between(base, own[0]) }})
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
		} else if c := h.commits[h.repo.Refs[name]]; heads[number] == "" && c != nil && len(c.Parents) == 2 {
			heads[number] = c.Parents[1]
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
func (h *host) merged(number int) *Pull {
	m := h.merges[number]
	return &Pull{
		PullRequest: catalog.PullRequest{Number: number, State: "merged", Author: h.commits[m.Commit].Author,
			MergedAt: dates.Format(m.At), MergeCommit: m.Commit},
		URL: h.url(number), Updated: m.At, Changes: m.Changes,
	}
}

func (h *host) pull(number int, hash string) (*Pull, error) {
	head := h.commits[hash]
	if head == nil {
		return nil, fmt.Errorf("head: %w", gitrepo.ErrMissing)
	}
	before := len(h.line) // all of the branch
	m, isMerged := h.merges[number]
	p := &Pull{PullRequest: catalog.PullRequest{Number: number, State: "closed"}, URL: h.url(number)}
	_, onBranch := h.at[hash]
	switch {
	case isMerged:
		p = h.merged(number)
		if onBranch && len(h.commits[m.Commit].Parents) > 0 {
			// A true merge made its commits part of the branch: exclude only
			// what was there before.
			before = h.at[m.Commit]
		}
	case onBranch:
		p.State = "merged"
	case h.isOpen(number):
		p.State = "open"
	}
	commits, base, err := h.own(hash, before)
	if err != nil {
		return nil, err
	}
	p.Head, p.Author, p.LastCommit, p.Updated = hash, head.Author, dates.Format(head.Authored), head.Committed
	if len(commits) > 0 {
		first := slices.MinFunc(commits, func(a, b *gitrepo.Commit) int { return a.Authored.Compare(b.Authored) })
		p.Author, p.FirstCommit = first.Author, dates.Format(first.Authored)
	}
	if !isMerged && len(commits) > 0 {
		p.Diff = func() ([]gitrepo.Change, error) { return h.between(base, head) }
	}
	return p, nil
}

// between returns the changes of a pull request since it forked from the branch. One
// with a name that no file has was made to be misread, so it has none.
func (h *host) between(base, head *gitrepo.Commit) ([]gitrepo.Change, error) {
	s, err := h.repo.Changes(base, head)
	if err = cmp.Or(err, s.Wrong); err != nil {
		return nil, err
	}
	return s.Changes, nil
}

// own returns the commits of head that are not in the first steps of the branch, head
// first, and the newest commit of these that they reach: the merge base.
func (h *host) own(head string, steps int) (own []*gitrepo.Commit, base *gitrepo.Commit, err error) {
	seen := map[string]bool{}
	for next := []string{head}; len(next) > 0; {
		c := h.commits[next[len(next)-1]]
		next = next[:len(next)-1]
		if c == nil || seen[c.Hash] {
			continue
		}
		seen[c.Hash] = true
		if at, known := h.at[c.Hash]; known && at < steps {
			if base == nil || c.Committed.After(base.Committed) {
				base = c
			}
			continue
		}
		if own = append(own, c); len(own) > maxPullCommits {
			return nil, nil, fmt.Errorf("more than %d commits", maxPullCommits)
		}
		next = append(next, c.Parents...)
	}
	return own, base, nil
}
