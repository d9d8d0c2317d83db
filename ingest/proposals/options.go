package proposals

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/proposal"
)

// options are the source's options in the network file.
type options struct {
	// Repository is a path to a bundle or a local clone, or a URL.
	Repository string `yaml:"repository" format:"path"`
	// Name is the repository's name in the catalog (owner/name); default: the
	// last two parts of the URL, or the file's name.
	Name   string `yaml:"name"`
	Branch string `yaml:"branch"` // default: the one that the repository's HEAD names
	// TokenEnv is the environment variable with a private repository's token.
	TokenEnv string `yaml:"token_env" format:"env"`
	Kind     string `yaml:"kind"` // cip (default) or grant
	// Paths are patterns of the files that are proposals (** matches any
	// directories); default: all. Exclude removes files again: templates,
	// directories of people.
	Paths   []string `yaml:"paths"`
	Exclude []string `yaml:"exclude"`
	// Index is the file with the index table; default: README.md.
	Index string      `yaml:"index"`
	URL   urlTemplate `yaml:"url"`
	// BulkPulls are pull requests that edit many proposals at once and are not
	// proposals themselves.
	BulkPulls []int `yaml:"bulk_pulls"`

	tells bool // its host has references of what it would merge
}

// urlTemplate holds templates of the repository's addresses; a known forge
// needs none. In File, {repo}, {branch}, {commit} and {path} are replaced, in
// Pull {repo} and {number}; {source_path} and {n} are aliases of {path} and
// {number}.
type urlTemplate struct {
	File string `yaml:"file"` // https://forge.example/o/r/blob/{commit}/{path}
	Pull string `yaml:"pull"` // https://forge.example/o/r/pull/{number}

	repo, branch string
}

var variable = regexp.MustCompile(`\{[^{}]*\}`)

// check rejects unknown placeholders.
func (t urlTemplate) check() error {
	for _, c := range []struct {
		name, template string
		known          []string
	}{
		{"file", t.File, []string{"{repo}", "{branch}", "{commit}", "{path}", "{source_path}"}},
		{"pull", t.Pull, []string{"{repo}", "{number}", "{n}"}},
	} {
		for _, p := range variable.FindAllString(c.template, -1) {
			if !slices.Contains(c.known, p) {
				return fmt.Errorf("option url: %s: unknown %s; known are %s", c.name, p, strings.Join(c.known, ", "))
			}
		}
	}
	return nil
}

// file returns the address of a file at a commit.
func (t urlTemplate) file(commit, file string) string {
	return proposal.Address(t.File, "{repo}", t.repo, "{commit}", commit, "{branch}", t.branch, "{path}", file,
		"{source_path}", file)
}

// pull returns the address of a pull request.
func (t urlTemplate) pull(number int) string {
	n := strconv.Itoa(number)
	return proposal.Address(t.Pull, "{repo}", t.repo, "{number}", n, "{n}", n)
}

func readOptions(src network.Source, env ingest.Environment) (options, error) {
	o := options{Kind: "cip", Index: "README.md"}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	switch {
	case o.Repository == "":
		return o, errors.New("option repository: want a path or a URL")
	case o.Branch != "" && !gitrepo.IsBranch(o.Branch):
		return o, fmt.Errorf("option branch: %q is not a branch name", o.Branch)
	}
	if err := o.URL.check(); err != nil {
		return o, err
	}
	o.tells = true
	if forge, ok := gitrepo.Forge(o.Repository); ok {
		o.tells = forge.Merges
		o.URL.File, o.URL.Pull = cmp.Or(o.URL.File, forge.File), cmp.Or(o.URL.Pull, forge.Pull)
	}
	o.Repository = gitrepo.Place(o.Repository, env.Local)
	if o.Name == "" {
		o.Name = gitrepo.Name(o.Repository)
	}
	o.URL.repo = o.Name
	return o, nil
}
