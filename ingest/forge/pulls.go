package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest/proposals"
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

func (p *pull) merged() bool { return !p.MergedAt.IsZero() }

// request returns the pull request in the catalog's form. The dates of its
// commits come from git.
func (r *proposalRun) request(p *pull) *catalog.PullRequest {
	out := &catalog.PullRequest{Number: p.Number, State: p.State, Head: p.Head.SHA, Author: r.access.author(p.User)}
	if p.merged() {
		out.State, out.MergedAt, out.MergeCommit = "merged", stamp(p.MergedAt), p.MergeCommit
	} else if out.State != "open" {
		out.State = "closed"
	}
	return out
}

// facts returns what the forge knows of a pull request and git does not or can
// only guess: state, labels, the time of the merge, and known, members of the
// record's data. They count also where a source that reads the repository with
// git owns the record.
func facts(r catalog.Record, p *catalog.PullRequest, known map[string]any) (*catalog.Facts, error) {
	known["pull"] = map[string]any{
		"state": p.State, "merged_at": orNull(p.MergedAt), "merge_commit": orNull(p.MergeCommit),
	}
	f := &catalog.Facts{State: r.State, LastActivityAt: r.LastActivityAt}
	for _, tag := range r.Tags {
		switch name, _, _ := strings.Cut(tag, ":"); name {
		case catalog.TagLabel, catalog.TagStatus:
			f.Tags = append(f.Tags, tag)
		}
	}
	var err error
	f.Data, err = catalog.Encode(known)
	return f, err
}

// orNull returns nil, in JSON null, for an empty text.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var (
	errNoNumber = errors.New("has no number, state or head: is this API of another version?")
	errBigTree  = errors.New("the branch has more files than the forge lists at once")
)

// readPulls lists the pull requests, oldest first because that order does not
// change, and the files of each.
func (r *proposalRun) readPulls(ctx context.Context) error {
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
		case !slices.Contains(r.opts.BulkPulls, p.Number):
			r.pulls[p.Number] = p
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range sortedKeys(r.pulls) {
		if err := r.readFiles(ctx, r.pulls[n]); err != nil {
			return fmt.Errorf("pull request %d: %w", n, err)
		}
	}
	return nil
}

// readFiles lists the files of a pull request. They do not change while its head
// and base do not.
func (r *proposalRun) readFiles(ctx context.Context, p *pull) error {
	version := fmt.Sprintf("%s %s %s", p.Head.SHA, p.Base.SHA, stamp(p.MergedAt))
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
func (r *proposalRun) readTree(ctx context.Context) error {
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
		return err
	}
	if tree.Truncated {
		return errBigTree
	}
	for _, f := range tree.Tree {
		if f.Type == "blob" && f.SHA != "" {
			r.files[f.Path] = f.SHA
		}
	}
	return nil
}

// maxBlob is the maximum size of a response with a text: base64 in lines.
const maxBlob = proposals.MaxText/2*3 + 64<<10

// content reads a file by its content hash.
func (r *proposalRun) content(ctx context.Context, sha string) (string, error) {
	text := ""
	file := call{path: r.path("/git/blobs/" + url.PathEscape(sha)), version: sha, max: maxBlob}
	_, err := r.get(ctx, file, func(body []byte) error {
		var b blob
		if err := json.Unmarshal(body, &b); err != nil {
			return err
		}
		if b.SHA != sha {
			return errNoContent
		}
		var err error
		text, err = b.text()
		return err
	})
	return text, err
}

// origin is the history of a file of the branch in merged pull requests.
type origin struct {
	added   int   // the pull request that added it; 0 = none
	touched []int // all that changed it, in merge order
	created time.Time
	updated time.Time
}

// origins traces the files through the merged pull requests, under their former
// names.
func origins(pulls map[int]*pull) map[string]origin {
	var merged []*pull
	for _, n := range sortedKeys(pulls) {
		if pulls[n].merged() {
			merged = append(merged, pulls[n])
		}
	}
	slices.SortStableFunc(merged, func(a, b *pull) int {
		return cmp.Or(a.MergedAt.Compare(b.MergedAt), cmp.Compare(a.Number, b.Number))
	})
	files := map[string]origin{}
	for _, p := range merged {
		for _, f := range p.files {
			o := files[f.Path]
			switch f.Status {
			case "removed":
				delete(files, f.Path)
				continue
			case "added", "copied":
				o = origin{added: p.Number, created: p.MergedAt}
			case "renamed":
				o = files[f.Previous]
				delete(files, f.Previous)
			}
			o.touched, o.updated = append(slices.Clone(o.touched), p.Number), p.MergedAt
			files[f.Path] = o
		}
	}
	return files
}
