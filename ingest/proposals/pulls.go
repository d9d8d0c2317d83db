package proposals

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"almanac/catalog"
	"almanac/ingest/gitrepo"
)

// maxPullCommits is the maximum number of commits read from a pull request.
const maxPullCommits = 5000

// pull is a pull request of the repository.
type pull struct {
	catalog.PullRequest
	commits []*object.Commit // its own, newest first
	base    *object.Commit   // where it forked from the branch; nil for none
	head    *object.Commit
	merge   *step // the step that merged it; nil if unknown
}

// pulls returns every pull request with a reference, by number. It is merged if
// a step of the branch names it or its head is part of the branch, open if the
// host has a merge reference for it, else closed (or in conflict, which looks
// the same in git).
func (s *syncRun) pulls(ctx context.Context) (map[int]*pull, error) {
	onBranch, err := ancestors(s.repo.Head)
	if err != nil {
		return nil, err
	}
	merges := map[int]*step{}
	for i := range s.line {
		if n := s.line[i].pull; n > 0 && merges[n] == nil {
			merges[n] = &s.line[i]
		}
	}
	pulls := map[int]*pull{}
	heads := pullHeads(s.repo)
	for _, number := range slices.Sorted(maps.Keys(heads)) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := s.pull(number, heads[number], merges[number], onBranch)
		if err != nil {
			s.out.Skip(fmt.Sprintf("pull request %d", number), err)
			continue
		}
		pulls[number] = p
	}
	// A merge may name a pull request whose reference the host has deleted.
	for number, m := range merges {
		if pulls[number] == nil {
			pulls[number] = &pull{PullRequest: mergedPull(number, m), head: m.commit, merge: m}
		}
	}
	return pulls, nil
}

var pullRef = regexp.MustCompile(`^refs/pull/(\d{1,9})/(head|merge)$`)

// pullHeads returns the head of every pull request with a reference. If the
// head reference is missing, the host's merge commit has the head.
func pullHeads(r *gitrepo.Repository) map[int]plumbing.Hash {
	heads := map[int]plumbing.Hash{}
	for _, name := range sortedKeys(r.Refs) { // head before merge
		m := pullRef.FindStringSubmatch(name)
		if m == nil {
			continue
		}
		number, _ := strconv.Atoi(m[1])
		if m[2] == "head" {
			heads[number] = r.Refs[name]
		} else if _, known := heads[number]; !known {
			if c, err := r.Git.CommitObject(r.Refs[name]); err == nil && c.NumParents() == 2 {
				heads[number] = c.ParentHashes[1]
			}
		}
	}
	return heads
}

func mergedPull(number int, m *step) catalog.PullRequest {
	return catalog.PullRequest{
		Number: number, State: "merged", Author: m.commit.Author.Name,
		MergedAt: m.commit.Committer.When.UTC().Format(time.RFC3339), MergeCommit: m.commit.Hash.String(),
	}
}

func (s *syncRun) pull(number int, hash plumbing.Hash, merge *step, onBranch map[plumbing.Hash]bool) (*pull, error) {
	head, err := s.repo.Git.CommitObject(hash)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	p := &pull{head: head, merge: merge, PullRequest: catalog.PullRequest{Number: number, State: "closed"}}
	before := onBranch
	switch _, mergeable := s.repo.Refs[fmt.Sprintf("refs/pull/%d/merge", number)]; {
	case merge != nil:
		p.PullRequest = mergedPull(number, merge)
		if onBranch[hash] && merge.commit.NumParents() > 0 {
			// A true merge made its commits part of the branch: exclude only
			// what was there before.
			first, err := merge.commit.Parent(0)
			if err != nil {
				return nil, err
			}
			if before, err = ancestors(first); err != nil {
				return nil, err
			}
		}
	case onBranch[hash]:
		p.State = "merged"
	case mergeable:
		p.State = "open"
	}
	p.Head = hash.String()
	if p.commits, p.base, err = own(head, before); err != nil {
		return nil, err
	}
	p.Author = head.Author.Name
	if len(p.commits) > 0 {
		first := slices.MinFunc(p.commits, func(a, b *object.Commit) int {
			return a.Author.When.Compare(b.Author.When)
		})
		p.Author = first.Author.Name
		p.FirstCommit = first.Author.When.UTC().Format(time.RFC3339)
	}
	p.LastCommit = head.Author.When.UTC().Format(time.RFC3339)
	return p, nil
}

// ancestors returns a commit with all its ancestors.
func ancestors(c *object.Commit) (map[plumbing.Hash]bool, error) {
	set := map[plumbing.Hash]bool{c.Hash: true}
	for queue := []*object.Commit{c}; len(queue) > 0; {
		c, queue = queue[len(queue)-1], queue[:len(queue)-1]
		err := c.Parents().ForEach(func(p *object.Commit) error {
			if !set[p.Hash] {
				set[p.Hash] = true
				queue = append(queue, p)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("ancestors of %s: %w", c.Hash, err)
		}
	}
	return set, nil
}

// own returns the commits from head down to those in before, and the newest
// commit of before that they reach: the merge base.
func own(
	head *object.Commit, before map[plumbing.Hash]bool,
) (commits []*object.Commit, base *object.Commit, err error) {
	if before[head.Hash] {
		return nil, head, nil
	}
	seen := map[plumbing.Hash]bool{head.Hash: true}
	for queue := []*object.Commit{head}; len(queue) > 0; {
		c := queue[0]
		queue = queue[1:]
		if commits = append(commits, c); len(commits) > maxPullCommits {
			return nil, nil, fmt.Errorf("more than %d commits", maxPullCommits)
		}
		err := c.Parents().ForEach(func(p *object.Commit) error {
			switch {
			case before[p.Hash]:
				if base == nil || p.Committer.When.After(base.Committer.When) {
					base = p
				}
			case !seen[p.Hash]:
				seen[p.Hash] = true
				queue = append(queue, p)
			}
			return nil
		})
		if err != nil {
			return nil, nil, fmt.Errorf("ancestors of %s: %w", c.Hash, err)
		}
	}
	return commits, base, nil
}

// changes returns the changes of a pull request: of the branch if it was
// merged, else since it forked from the branch.
func (p *pull) changes(ctx context.Context, repo *gitrepo.Repository) ([]fileChange, error) {
	if p.merge != nil {
		return p.merge.changes, nil
	}
	if len(p.commits) == 0 {
		return nil, nil
	}
	after, err := repo.Tree(p.head)
	if err != nil {
		return nil, err
	}
	var before *object.Tree
	if p.base != nil {
		if before, err = repo.Tree(p.base); err != nil {
			return nil, err
		}
	}
	return diff(ctx, repo, before, after)
}

// proposalFile chooses the proposal among the texts that a pull request adds or
// changes: files in the place of proposals before others, added before changed
// ones, proposals before readmes.
func (s *syncRun) proposalFile(changes []fileChange) (fileChange, bool) {
	best, bestRank := fileChange{}, -1
	for _, c := range changes {
		if c.new == "" || c.oldHash == c.newHash || !s.isText(c.new) {
			continue
		}
		rank := s.reader.Likelihood(c.new)
		if s.included(c.new) {
			rank += 6
		}
		if c.old == "" {
			rank += 3
		}
		if rank > bestRank {
			best, bestRank = c, rank
		}
	}
	return best, bestRank >= 0
}
