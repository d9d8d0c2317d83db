package proposals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
)

// rules is the version of how this package reads a repository. A new version
// makes the next run read every source again.
const rules = "7"

// connector reads one repository. A run fetches it and, if anything in it or in
// the options changed since the cursor, reads all of it: that takes seconds,
// has one code path, and handles rewritten history. The catalog does not
// rewrite unchanged records.
type connector struct {
	opts   options
	env    ingest.Environment
	token  string
	layout proposal.Layout
}

// Kind is the kind of sources that network files call proposals.
var Kind = ingest.Described{
	Name: "proposals",
	Summary: "Reads a git repository of improvement proposals, or of grant proposals, with its whole history: " +
		"the files of the main branch, the drafts of unmerged pull requests, every change of status, and " +
		"the files next to a proposal.",
	Constructor: New,
	Example: `sources:
  - name: proposals
    kind: proposals
    every: 15m
    options:
      repository: https://forge.example.org/harbour/lips  # or ssh, git, a path, a bundle
      name: harbour/lips        # default: the end of the address
      branch: main              # default: the one that its HEAD names
      token_env: FORGE_TOKEN    # variable with the token of a private repository
      kind: cip                 # or grant: one proposal for each pull request
      paths: [proposals/**]     # patterns of the files that are proposals; default: all
      exclude: ["**/_template.md"]  # of those files, the ones that are none; default none
      index: README.md          # the file with a table of all proposals
      bulk_pulls: [17]          # pull requests that edit many proposals and are not proposals themselves
      url:                      # not needed for a known forge
        file: https://forge.example.org/{repo}/blob/{commit}/{path}  # of a file; {branch} is known too
        pull: https://forge.example.org/{repo}/pull/{number}         # of a pull request
`,
}

// New makes the connector of a source; it is a Constructor of kind
// "proposals".
func New(src network.Source, env ingest.Environment) (ingest.Cursored, error) {
	opts, err := readOptions(src, env)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errors.New("proposals: needs a working directory for the clone")
	}
	layout, err := proposal.NewLayout(opts.Kind, opts.Paths, opts.Exclude, opts.Index, opts.BulkPulls)
	if err != nil {
		return nil, err
	}
	c := &connector{opts: opts, env: env, layout: layout}
	if opts.TokenEnv != "" {
		if c.token = env.Secret(opts.TokenEnv); c.token == "" {
			return nil, fmt.Errorf("option token_env: the environment variable %s is not set", opts.TokenEnv)
		}
	}
	return c, nil
}

// Advice implements ingest.Advised.
func (c *connector) Advice(ctx context.Context) []string {
	advice := gitrepo.Advice(c.opts.Repository)
	if len(advice) == 0 && gitrepo.IsPath(c.opts.Repository) && !c.layout.Grants {
		advice = c.advise(ctx)
	}
	if c.opts.URL.File == "" || c.opts.URL.Pull == "" {
		advice = append(advice, "without the options url.file and url.pull its records link to this service, "+
			"not to the repository")
	}
	return advice
}

// Sync implements ingest.Cursored. The cursor names the commit of the
// branch's head and a digest of everything else the records depend on.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	dir := filepath.Join(c.env.WorkDir, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository, Branch: c.opts.Branch, Token: c.token, Pulls: true}
	branch, err := gitrepo.Fetch(ctx, c.env.HTTP, dir, from)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: fetch: %w", err)
	}
	repo, err := gitrepo.Open(dir, branch)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: %w", err)
	}
	defer func() { _ = repo.Close() }()
	of := *c
	of.opts.URL.branch = branch
	return of.read(ctx, repo, cursor, out)
}

// read puts what was fetched.
func (c *connector) read(
	ctx context.Context, repo *gitrepo.Repository, cursor string, out ingest.Sink,
) (ingest.Outcome, error) {
	now := c.cursor(repo)
	if now == cursor {
		// Nothing to write and nothing deleted: no listing is needed.
		return ingest.Outcome{Cursor: cursor}, nil
	}
	from, err := c.repository(ctx, repo, out)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: %w", err)
	}
	result, err := proposal.Read(ctx, from, c.layout, c.env.Network, out)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("proposals: %w", err)
	}
	if result.Records == 0 {
		now = "" // whoever named the repository expects something of it, on every run
	}
	return ingest.Outcome{Cursor: now, Complete: true}, nil
}

func (c *connector) cursor(repo *gitrepo.Repository) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{rules, c.opts, c.opts.URL.branch, c.env.Network.Proposals, c.env.Network.Name,
		c.env.Network.Title})
	for _, name := range slices.Sorted(maps.Keys(repo.Refs)) {
		// A host's merge commits change with every push to the branch; only
		// their existence matters.
		hash := repo.Refs[name].String()
		if strings.HasSuffix(name, "/merge") {
			hash = ""
		}
		_, _ = fmt.Fprintln(h, name, hash)
	}
	return repo.Head.Hash.String() + " " + hex.EncodeToString(h.Sum(nil)[:12])
}
