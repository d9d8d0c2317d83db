package forge

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/proposal"
)

// publicAPI is the address of GitHub's own API.
const publicAPI = "https://api.github.com"

// access is the options that both connectors have.
type access struct {
	API      string
	TokenEnv string
	Bots     []string // logins of programs with ordinary accounts
}

// options are the options of a source of kind forge.
type options struct {
	API          string   `yaml:"api"`
	TokenEnv     string   `yaml:"token_env" format:"env"`
	Bots         []string `yaml:"bots"`
	Repositories []string `yaml:"repositories"`
	// Proposals and Grants are repositories whose pull requests are proposals.
	Proposals []string `yaml:"proposals"`
	Grants    string   `yaml:"grants"`
}

// pulls reports whether the pull requests of a repository are ordinary ones.
func (o options) pulls(name string) bool {
	return name != o.Grants && !slices.Contains(o.Proposals, name)
}

// proposalOptions are the options of a source of kind forge-proposals. Those
// that package proposals has too mean the same there.
type proposalOptions struct {
	API        string   `yaml:"api"`
	TokenEnv   string   `yaml:"token_env" format:"env"`
	Bots       []string `yaml:"bots"`
	Repository string   `yaml:"repository"`
	Branch     string   `yaml:"branch"` // default: the repository's

	proposal.Options `yaml:",inline"`

	// Board is the project whose field is the progress of a proposal.
	Board *board `yaml:"board"`
}

type board struct {
	Owner  string `yaml:"owner"`
	Number int    `yaml:"number"`
	Field  string `yaml:"field"` // default Status
}

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

func readOptions(src network.Source) (options, error) {
	var o options
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if err := checkAPI(&o.API); err != nil {
		return o, err
	}
	if len(o.Repositories) == 0 {
		return o, errors.New("option repositories: want a list of owner/name")
	}
	for i, name := range o.Repositories {
		if err := checkName("repositories", name); err != nil {
			return o, err
		}
		if slices.Contains(o.Repositories[:i], name) {
			return o, fmt.Errorf("option repositories: %s is a duplicate", name)
		}
	}
	for _, name := range o.Proposals {
		if err := checkName("proposals", name); err != nil {
			return o, err
		}
	}
	if o.Grants != "" {
		return o, checkName("grants", o.Grants)
	}
	return o, nil
}

func readProposalOptions(src network.Source) (proposalOptions, error) {
	o := proposalOptions{Options: proposal.Defaults}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	if err := checkAPI(&o.API); err != nil {
		return o, err
	}
	if b := o.Board; b != nil {
		if b.Owner == "" || b.Number <= 0 {
			return o, errors.New("option board: want owner and number of the project")
		}
		if b.Field == "" {
			b.Field = "Status"
		}
	}
	return o, checkName("repository", o.Repository)
}

func checkName(option, name string) error {
	if !repositoryName.MatchString(name) || strings.HasSuffix(name, "/.") || strings.HasSuffix(name, "/..") {
		return fmt.Errorf("option %s: %q; want owner/name", option, name)
	}
	return nil
}

func (o options) access() access { return access{o.API, o.TokenEnv, o.Bots} }

func (o proposalOptions) access() access { return access{o.API, o.TokenEnv, o.Bots} }

// checkAPI validates the address of an API and fills in the default.
func checkAPI(address *string) error {
	if *address == "" {
		*address = publicAPI
	}
	u, err := url.Parse(*address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" {
		return errors.New("option api: want the web address of a REST API, without a user or a query")
	}
	*address = strings.TrimRight(*address, "/")
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
