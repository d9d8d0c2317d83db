package forge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"

	"almanac/catalog"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
	"almanac/text/dates"
)

// pull is a pull request of a repository of proposals, from the list
// /repos/{owner}/{repo}/pulls, with the files it changes.
type pull struct {
	Number      int       `json:"number"`
	State       string    `json:"state"`
	HTMLURL     string    `json:"html_url"`
	User        *user     `json:"user"`
	Labels      []label   `json:"labels"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at"`
	MergedAt    time.Time `json:"merged_at"`
	MergeCommit string    `json:"merge_commit_sha"` // a trial merge while unmerged
	Head        struct {
		SHA string `json:"sha"`
	} `json:"head"`
	Base struct {
		SHA string `json:"sha"`
	} `json:"base"`

	files []changed
}

// changed is a file that a pull request changes, from …/pulls/{n}/files.
type changed struct {
	Path     string `json:"filename"`
	Previous string `json:"previous_filename"` // of a renamed one
	Status   string `json:"status"`            // added, removed, modified, renamed, copied, changed, unchanged
	SHA      string `json:"sha"`               // of its content
	Changes  int    `json:"changes"`           // lines
}

// request returns the pull request for the reading of proposals. The dates of its
// commits come from git.
func (r *proposalRun) request(p *pull) *proposal.Pull {
	out := &proposal.Pull{
		PullRequest: catalog.PullRequest{Number: p.Number, State: p.State, Head: p.Head.SHA,
			Author: r.access.author(p.User)},
		URL: p.HTMLURL, Opened: p.CreatedAt, Closed: p.ClosedAt, Updated: newer(p.UpdatedAt, p.MergedAt),
		Forge: &proposal.Forge{Labels: names(p.Labels), Active: p.UpdatedAt},
	}
	if !p.MergedAt.IsZero() {
		out.State, out.MergedAt, out.MergeCommit = "merged", dates.Format(p.MergedAt), p.MergeCommit
	} else if out.State != "open" {
		out.State = "closed"
	}
	for _, f := range p.files {
		out.Changes = append(out.Changes, f.change())
	}
	return out
}

func (f changed) change() gitrepo.Change {
	c := gitrepo.Change{Old: f.Path, New: f.Path, Blob: f.SHA, Same: f.Changes == 0}
	switch f.Status {
	case "added", "copied":
		c.Old, c.Same = "", false
	case "renamed":
		c.Old = f.Previous
	case "removed":
		c.New = ""
	}
	return c
}

var (
	errNoNumber = errors.New("has no number, state or head: is this API of another version?")
	errBigTree  = errors.New("the branch has more files than the forge lists at once")
)

// readPulls lists the pull requests, oldest first because that order does not
// change, and the files of each.
func (r *proposalRun) readPulls(ctx context.Context) error {
	r.pulls = map[int]*pull{}
	list := call{path: r.path("/pulls"), query: url.Values{"state": {"all"}, "sort": {"created"}, "direction": {"asc"}}}
	err := r.list(ctx, list, func(raw json.RawMessage) error {
		p := &pull{}
		err := json.Unmarshal(raw, p)
		if err == nil && (p.Number <= 0 || p.State == "" || p.Head.SHA == "") {
			err = errNoNumber
		}
		switch {
		case err != nil:
			r.out.Skip(fmt.Sprintf("pull request %d", p.Number), err)
			r.complete = false
		default:
			r.pulls[p.Number] = p
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range slices.Sorted(maps.Keys(r.pulls)) {
		if err := r.readFiles(ctx, r.pulls[n]); err != nil {
			return fmt.Errorf("pull request %d: %w", n, err)
		}
	}
	return nil
}

// readFiles lists the files of a pull request. They do not change while its head
// and base do not.
func (r *proposalRun) readFiles(ctx context.Context, p *pull) error {
	version := fmt.Sprintf("%s %s %s", p.Head.SHA, p.Base.SHA, dates.Format(p.MergedAt))
	files := call{path: r.path(fmt.Sprintf("/pulls/%d/files", p.Number)), version: version, last: true}
	return r.list(ctx, files, func(raw json.RawMessage) error {
		var f changed
		if err := json.Unmarshal(raw, &f); err != nil || f.Path == "" {
			r.out.Warn(fmt.Sprintf("pull request %d", p.Number), "one of its files cannot be read")
			return nil
		}
		p.files = append(p.files, f)
		return nil
	})
}

// readTree lists the files of the branch.
func (r *proposalRun) readTree(ctx context.Context) (map[string]string, error) {
	var tree struct {
		Truncated bool `json:"truncated"`
		Tree      []struct {
			Path string `json:"path"`
			Type string `json:"type"`
			SHA  string `json:"sha"`
		} `json:"tree"`
	}
	list := call{path: r.path("/git/trees/" + url.PathEscape(r.branch)), query: url.Values{"recursive": {"1"}}}
	if err := r.object(ctx, list, &tree); err != nil {
		return nil, err
	}
	if tree.Truncated {
		return nil, errBigTree
	}
	files := map[string]string{}
	for _, f := range tree.Tree {
		if f.Type == "blob" && f.SHA != "" {
			files[f.Path] = f.SHA
		}
	}
	return files, nil
}

// content reads a file by its content hash. The response has it as base64 in
// lines. A file that cannot be read is left out, unless the forge answers no more.
func (r *proposalRun) content(ctx context.Context, sha string, limit int64) (data []byte, err error) {
	file := call{path: r.path("/git/blobs/" + url.PathEscape(sha)), version: sha, max: limit/2*3 + 64<<10}
	_, err = r.get(ctx, file, func(body []byte) error {
		var b blob
		if err := json.Unmarshal(body, &b); err != nil {
			return err
		}
		if b.SHA != sha {
			return errNoContent
		}
		text, err := b.text()
		data = []byte(text)
		return err
	})
	if _, limited := errors.AsType[*limitError](err); limited || ctx.Err() != nil || errors.Is(err, errToken) {
		err = proposal.Fatal{Err: err}
	}
	return data, err
}
