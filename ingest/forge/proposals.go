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

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/outbound"
	"almanac/ingest/proposal"
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
	Rules:    proposal.Rules + "1",
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
		Content: r.content, Hand: r.env.Hand}
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
