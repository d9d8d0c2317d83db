package forge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/outbound"
	"almanac/ingest/proposal"
	"almanac/text/dates"
	"almanac/text/webaddress"
)

type proposalConnector struct {
	opts   proposalSettings
	env    ingest.Environment
	layout proposal.Layout
}

// Proposals is the kind of sources that network files call forge-proposals.
var Proposals = ingest.Kind[proposalSettings, struct{}]{
	Name: "forge-proposals",
	Summary: "Reads a code forge with GitHub's REST API and GraphQL v4: github.com itself or a GitHub " +
		"Enterprise Server.",
	Example: `kind: forge-proposals
every: 1h
options:
  api: https://api.forge.example.org   # default: GitHub's
  token_env: FORGE_TOKEN               # environment variable that holds a token
  bots: [causeway-ci]                  # ordinary accounts used by programs
  repository: causeway/grants          # owner/name
  kind: grant                          # or cip
  branch: main                         # default: the repository's own
  index: README.md                     # file with the table of proposals; default README.md
  paths: ["proposals/**"]              # files that are proposals; default all
  exclude: ["**/_template.md"]         # of those files, the ones that are none; default none
  bulk_pulls: [12]                     # edits of many proposals, not proposals themselves
  board:                               # project whose columns are the progress of grants; default none
    owner: causeway                    # organisation or user that has it
    number: 4                          # in its address
    field: Status                      # with the columns; default Status
`,
	Defaults: proposalSettings{Options: proposal.Defaults},
	Open: func(s proposalSettings, env ingest.Environment) (ingest.Connector[struct{}], error) {
		layout, err := s.Layout()
		return &proposalConnector{s, env, layout}, err
	},
}

// Sync implements ingest.Connector. There is no state: every run lists the
// whole repository, most of it from the cache, because the meaning of a merged
// or renamed pull request depends on all the others.
func (c *proposalConnector) Sync(ctx context.Context, none struct{}, out ingest.Sink) (
	struct{}, ingest.Outcome, error,
) {
	api := newClient(c.opts.access, c.env, out.Warn)
	r := &proposalRun{
		reading: reading{client: api, out: &sink{Sink: out}}, proposalConnector: c, branch: c.opts.Branch,
		complete: !api.missing,
	}
	err := r.read(ctx)
	if err != nil {
		if fatal := r.fatal(ctx, err); fatal != nil {
			return none, ingest.Outcome{}, fatal
		}
		limit, ok := errors.AsType[*limitError](err)
		if !ok {
			return none, ingest.Outcome{}, fmt.Errorf("%s: %w", c.opts.Repository, err)
		}
		out.Warn(c.opts.Repository, limit.Error()+"; the next run continues from here"+advice(r.token))
		r.complete = false
	}
	r.cache.prune()
	return none, ingest.Outcome{Complete: r.complete}, nil
}

// proposalRun is one reading of a repository of proposals.
type proposalRun struct {
	reading
	*proposalConnector
	complete bool // everything that exists was seen

	branch string
	page   string // the repository's address
	pulls  map[int]*pull
}

func (r *proposalRun) path(rest string) string { return "/repos/" + r.opts.Repository + rest }

func (r *proposalRun) read(ctx context.Context) error {
	repo, err := r.repository(ctx)
	if err != nil {
		return err
	}
	result, err := proposal.Read(ctx, repo, r.layout, r.env.Network, r.out)
	if err != nil {
		return err
	}
	return r.comments(ctx, result.Pulls)
}

// repository returns what the forge knows. If an earlier source reads the same
// repository with git, it owns the records, and only aliases, links and the facts
// of pull requests are added. Attachments cost a request each and are left to git.
func (r *proposalRun) repository(ctx context.Context) (*proposal.Repository, error) {
	var info repository
	if err := r.object(ctx, call{path: r.path("")}, &info); err != nil {
		return nil, err
	}
	r.page, r.branch = info.HTMLURL, cmp.Or(r.branch, info.DefaultBranch, "main")
	to := &proposal.Repository{Name: r.opts.Repository, Pulls: map[int]*proposal.Pull{}, URL: r.fileURL,
		Content: r.content}
	var err error
	if to.Files, err = r.readTree(ctx); err != nil {
		return nil, err
	}
	if err := r.readPulls(ctx); err != nil {
		return nil, err
	}
	column, err := r.readBoard(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range slices.Sorted(maps.Keys(r.pulls)) {
		p := r.request(r.pulls[n])
		if column != nil {
			p.Forge.Column = new(column[n])
		}
		if to.Pulls[n] = p; p.State == "merged" {
			to.Steps = append(to.Steps, proposal.Step{Pull: n, At: p.Updated, Changes: p.Changes})
		}
	}
	slices.SortStableFunc(to.Steps, func(a, b proposal.Step) int { return a.At.Compare(b.At) })
	if index, ok := to.Files[r.layout.Index]; ok { // without it proposals would lose what it says of them
		_, err = r.content(ctx, index, ingest.MaxText)
	}
	if errors.Is(err, outbound.ErrTooLarge) {
		err = nil
	}
	return to, err
}

// fileURL returns the address of a file of the branch.
func (r *proposalRun) fileURL(file, _ string) string {
	if r.page == "" {
		return ""
	}
	return r.page + webaddress.Fill("/blob/{path}", map[string]string{"{path}": path.Join(r.branch, file)})
}

// comments yields the comments on the proposals, in the conversation and in
// reviews of their texts. The whole lists are read, which only the rate limit
// with a token allows.
func (r *proposalRun) comments(ctx context.Context, of map[int]catalog.Ref) error {
	if r.token == "" {
		return nil
	}
	for _, list := range []string{"/issues/comments", "/pulls/comments"} {
		q := url.Values{"sort": {"created"}, "direction": {"asc"}}
		seen := map[int64]bool{}
		err := r.list(ctx, call{path: r.path(list), query: q}, func(raw json.RawMessage) error {
			var c comment
			if err := json.Unmarshal(raw, &c); err != nil || c.ID == 0 {
				r.complete = false
				r.out.Skip(r.opts.Repository+": a comment", errUnread)
				return nil
			}
			_, number := c.subject()
			parent, ok := of[number]
			if seen[c.ID] || !ok {
				return nil
			}
			seen[c.ID] = true
			return r.comment(ctx, c, r.opts.Repository, parent)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

var errUnread = errors.New("cannot be read: is this API of another version?")

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

const boardQuery = `query($owner: String!, $number: Int!, $field: String!, $after: String) {
  repositoryOwner(login: $owner) {
    ... on ProjectV2Owner {
      projectV2(number: $number) {
        items(first: 100, after: $after) {
          pageInfo { hasNextPage endCursor }
          nodes {
            isArchived
            content { ... on PullRequest { number repository { nameWithOwner } } }
            fieldValueByName(name: $field) {
              ... on ProjectV2ItemFieldSingleSelectValue { name }
              ... on ProjectV2ItemFieldTextValue { text }
            }
          }
        }
      }
    }
  }
}`

// boardItem is a card of a board. Its content is empty for a note, an issue, or
// an item that the token may not see.
type boardItem struct {
	Archived bool `json:"isArchived"`
	Content  struct {
		Number     int `json:"number"`
		Repository struct {
			Name string `json:"nameWithOwner"`
		} `json:"repository"`
	} `json:"content"`
	Value struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"fieldValueByName"`
}

type boardAnswer struct {
	Owner *struct {
		Project *struct {
			Items connection[*boardItem] `json:"items"`
		} `json:"projectV2"`
	} `json:"repositoryOwner"`
}

// readBoard returns the column of each pull request on the board, nil if it is not
// read.
func (r *proposalRun) readBoard(ctx context.Context) (map[int]string, error) {
	column := map[int]string{}
	b := r.opts.Board
	if b == nil || r.token == "" {
		return nil, nil
	}
	variables := map[string]any{"owner": b.Owner, "number": b.Number, "field": b.Field}
	for range maxPages {
		var answer boardAnswer
		err := r.ask(ctx, boardQuery, variables, &answer)
		graph, ok := errors.AsType[*graphError](err)
		if ok && graph.is("NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES") {
			r.out.Warn("option board", graph.Error()+"; the token needs the scope read:project")
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("board: %w", err)
		}
		if answer.Owner == nil || answer.Owner.Project == nil {
			r.out.Warn("option board", fmt.Sprintf("%s has no project %d that the token may see", b.Owner, b.Number))
			return nil, nil
		}
		items := answer.Owner.Project.Items
		for _, item := range items.Nodes {
			if item == nil || !strings.EqualFold(item.Content.Repository.Name, r.opts.Repository) {
				continue
			}
			status := item.Value.Name + item.Value.Text
			if _, twice := column[item.Content.Number]; status != "" && (!twice || !item.Archived) {
				column[item.Content.Number] = status
			}
		}
		if !items.PageInfo.HasNext {
			return column, nil
		}
		if items.PageInfo.End == "" || items.PageInfo.End == variables["after"] {
			return nil, fmt.Errorf("board: %w", errEndless)
		}
		variables["after"] = items.PageInfo.End
	}
	return nil, fmt.Errorf("board: %w", errEndless)
}
