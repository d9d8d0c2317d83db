package snapshot

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/network"
	"almanac/ingest/proposals"
)

// pull is one line of a file of pull requests.
type pull struct {
	Number       int         `json:"number"`
	State        string      `json:"state"`
	StateFromGit string      `json:"state_from_git"` // derived if the forge was not queried
	Head         string      `json:"head"`
	Author       string      `json:"author"`
	FirstCommit  string      `json:"first_commit"`
	LastCommit   string      `json:"last_commit"`
	MergedCommit string      `json:"merged_commit"`
	MergedAt     string      `json:"merged_at"`
	Files        [][2]string `json:"files"` // the action (A, M, R, D) and the path
}

// readPulls reads the file of pull requests, all of which belong to the file's
// repository in the manifest.
func (r *run) readPulls() error {
	r.pulls = map[int]pull{}
	if r.options.Pulls == "" {
		return nil
	}
	return index(r.archive, r.options.Pulls, r.out.Skip, func(_ string, p pull) error {
		if p.Number <= 0 {
			return errors.New("has no pull request number")
		}
		r.pulls[p.Number] = p
		return nil
	})
}

// request returns what is known about a pull request. An unlisted one counts as
// open: only its text is known.
func (r *run) request(number int) *catalog.PullRequest {
	p, ok := r.pulls[number]
	if !ok {
		return &catalog.PullRequest{Number: number, State: "open"}
	}
	return &catalog.PullRequest{
		Number: number, State: p.state(), Head: p.Head, Author: p.Author, FirstCommit: p.FirstCommit,
		LastCommit: p.LastCommit, MergedAt: p.MergedAt, MergeCommit: p.MergedCommit,
	}
}

// state returns open, merged or closed; any other state counts as closed.
func (p pull) state() string {
	switch s := strings.ToLower(p.State + p.StateFromGit); s {
	case "open", "merged":
		return s
	default:
		return "closed"
	}
}

// proposals returns the numbers of the proposals whose text the pull request
// changes, and of those among them that it adds.
func (p pull) proposals() (changed, added map[string]bool) {
	changed, added = map[string]bool{}, map[string]bool{}
	for _, f := range p.Files {
		n := proposals.NumberFromPath(f[1])
		if n == "" || f[0] == "D" || path.Ext(f[1]) != ".md" {
			continue
		}
		changed[n] = true
		if f[0] == "A" {
			added[n] = true
		}
	}
	return changed, added
}

// past is the merged pull requests of one proposal.
type past struct {
	aliases []string // PR-4: the pull requests that became this proposal
	added   int      // the first that added its text; 0 if unknown
	first   time.Time
	last    time.Time
}

// pasts joins the merged pull requests to the proposals they became: the one
// that they added or, if they added none, the only one they changed. A pull
// request of several proposals became none of them.
func (r *run) pasts() map[string]past {
	all := map[string]past{}
	for _, number := range slices.Sorted(maps.Keys(r.pulls)) {
		p := r.pulls[number]
		if p.state() != "merged" {
			continue
		}
		changed, added := p.proposals()
		became := added
		if len(became) == 0 {
			became = changed
		}
		merged := parseTime(p.MergedAt)
		for n := range changed {
			h := all[n]
			if len(became) == 1 && became[n] {
				h.aliases = append(h.aliases, network.DraftKey(number))
			}
			if h.added == 0 && added[n] {
				h.added = number
			}
			if !merged.IsZero() {
				if h.first.IsZero() || merged.Before(h.first) {
					h.first = merged
				}
				if merged.After(h.last) {
					h.last = merged
				}
			}
			all[n] = h
		}
	}
	return all
}

func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
