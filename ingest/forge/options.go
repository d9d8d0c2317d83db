package forge

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"almanac/ingest/proposal"
	"almanac/text/options"
)

// publicAPI is the address of GitHub's own API.
const publicAPI = "https://api.github.com"

// access is the options that both kinds have.
type access struct {
	API      string   `yaml:"api" format:"base"`
	TokenEnv string   `yaml:"token_env" format:"env"`
	Bots     []string `yaml:"bots"` // logins of programs with ordinary accounts
}

// Check completes the address of the API.
func (a *access) Check() error {
	a.API = cmp.Or(a.API, publicAPI)
	if u, err := url.Parse(a.API); err != nil || u.User != nil || u.RawQuery != "" {
		return options.Errorf("api", "want the web address of a REST API, without a user or a query")
	}
	return nil
}

// settings are the options of a source of kind forge.
type settings struct {
	access `yaml:",inline"`

	Repositories []string `yaml:"repositories" required:"true" format:"repository" unique:"true"`
	// Proposals and Grants are repositories whose pull requests are proposals.
	Proposals []string `yaml:"proposals" format:"repository"`
	Grants    string   `yaml:"grants" format:"repository"`
}

// pulls reports whether the pull requests of a repository are ordinary ones.
func (s settings) pulls(name string) bool {
	return name != s.Grants && !slices.Contains(s.Proposals, name)
}

// proposalSettings are the options of a source of kind forge-proposals. Those
// that package proposals has too mean the same there.
type proposalSettings struct {
	access           `yaml:",inline"`
	proposal.Options `yaml:",inline"`

	Repository string `yaml:"repository" required:"true" format:"repository"`
	Branch     string `yaml:"branch"` // default: the repository's
	// Board is the project whose field is the progress of a proposal.
	Board *board `yaml:"board"`
}

type board struct {
	Owner  string `yaml:"owner" required:"true"`
	Number int    `yaml:"number" required:"true" min:"1"`
	Field  string `yaml:"field"` // default Status
}

// Check completes the board.
func (b *board) Check() error {
	b.Field = cmp.Or(b.Field, "Status")
	return nil
}

// graph returns the address of the GraphQL API. It is next to the REST API's
// /api/v3 on Enterprise servers, and below the root on GitHub.
func (a access) graph() string {
	if root, ok := strings.CutSuffix(a.API, "/api/v3"); ok {
		return root + "/api/graphql"
	}
	return a.API + "/graphql"
}
