package proposal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/text/glob"
)

// Kind is the kind of sources that network files call proposals.
var Kind = ingest.Kind[settings, string]{
	Name: "proposals",
	Summary: "Reads a git repository of improvement proposals, or of grant proposals, with its whole history: " +
		"the files of the main branch, the drafts of unmerged pull requests, every change of status, and " +
		"the files next to a proposal.",
	Example: `sources:
  - name: proposals
    kind: proposals
    every: 15m
    options:
      repository: https://forge.example.org/harbour/lips  # or ssh, git, a path, a bundle
      name: harbour/lips        # default: the end of the address
      branch: main              # default: the one that its HEAD names
      drafts: [draft/**]        # further branches, whose new files are proposals too; default none
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
	Defaults: settings{Options: Defaults},
	Open:     open,
}

// connector reads one repository. A run fetches it and, if anything in it or in
// the network changed since, reads all of it: that takes seconds,
// has one code path, and handles rewritten history. The catalog does not
// rewrite unchanged records.
type connector struct {
	opts   settings
	env    ingest.Environment
	token  string
	layout Layout
	drafts glob.Set
	tells  bool   // the host has references of what it would merge
	head   string // the branch that was fetched
}

func open(s settings, env ingest.Environment) (ingest.Connector[string], error) {
	layout, err := s.Layout()
	if err != nil {
		return nil, err
	}
	c := &connector{env: env, layout: layout, tells: true}
	if c.drafts, err = glob.Fold(s.Drafts); err != nil {
		return nil, err
	}
	if s.TokenEnv != "" {
		if c.token = env.Secret(s.TokenEnv); c.token == "" {
			return nil, fmt.Errorf("option token_env: the environment variable %s is not set", s.TokenEnv)
		}
	}
	if forge, ok := gitrepo.Forge(s.Repository); ok {
		c.tells = forge.Merges
		s.URL.File, s.URL.Pull = cmp.Or(s.URL.File, forge.File), cmp.Or(s.URL.Pull, forge.Pull)
	}
	s.Repository = gitrepo.Place(s.Repository, env.Local)
	s.Name = cmp.Or(s.Name, gitrepo.Name(s.Repository))
	c.opts = s
	return c, nil
}

// Advice implements ingest.Advised.
func (c *connector) Advice(context.Context) []string {
	if c.opts.URL.File != "" && c.opts.URL.Pull != "" {
		return nil
	}
	return []string{"without the options url.file and url.pull its records link to this service, not to the repository"}
}

// Sync implements ingest.Connector. The state is a digest of everything that the
// records depend on besides the options.
func (c *connector) Sync(ctx context.Context, known string, out ingest.Sink) (
	now string, outcome ingest.Outcome, err error,
) {
	dir := filepath.Join(c.env.WorkDir, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository, Branch: c.opts.Branch, Token: c.token, Pulls: true,
		Branches: len(c.opts.Drafts) > 0}
	survey := c.env.Survey && !c.layout.Grants // these are known by their pull requests
	if survey {
		from.Depth, from.Pulls, from.Branches = 1, false, false
	}
	err = gitrepo.Read(ctx, c.env.HTTP, dir, from, func(repo *gitrepo.Repository) error {
		of := *c
		of.head = repo.Branch
		if now = of.state(repo); now == known {
			return nil // nothing to write and nothing deleted: no listing is needed
		}
		to, err := of.branch(repo)
		if err == nil && !survey {
			err = of.history(ctx, repo, to, out)
		}
		if err != nil {
			return err
		}
		result, err := Read(ctx, to, of.layout, of.env.Network, out)
		if result.Records == 0 {
			now = "" // whoever named the repository expects something of it, on every run
		}
		outcome.Complete = true
		return err
	})
	return now, outcome, err
}

func (c *connector) state(repo *gitrepo.Repository) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{c.head, c.env.Network.Proposals, c.env.Network.Name, c.env.Network.Title})
	for _, name := range slices.Sorted(maps.Keys(repo.Refs)) {
		// A host's merge commits change with every push to the branch; only
		// their existence matters.
		hash := repo.Refs[name]
		if strings.HasSuffix(name, "/merge") {
			hash = ""
		}
		_, _ = fmt.Fprintln(h, name, hash)
	}
	_, _ = fmt.Fprintln(h, repo.Head)
	return hex.EncodeToString(h.Sum(nil)[:12])
}
