package proposal

import (
	"strconv"

	"almanac/ingest/gitrepo"
	"almanac/text/options"
	"almanac/text/webaddress"
)

// settings are the source's options in the network file.
type settings struct {
	// Repository is a path to a bundle or a local clone, or a URL.
	Repository string `yaml:"repository" required:"true" format:"path"`
	// Name is the repository's name in the catalog (owner/name); default: the
	// last two parts of the URL, or the file's name.
	Name   string `yaml:"name"`
	Branch string `yaml:"branch"` // default: the one that the repository's HEAD names
	// Drafts are patterns of further branches, whose new files are proposals too;
	// default: none.
	Drafts []string `yaml:"drafts" format:"glob"`
	// TokenEnv is the environment variable with a private repository's token.
	TokenEnv string `yaml:"token_env" format:"env"`

	Options `yaml:",inline"`

	URL urlTemplate `yaml:"url"`
}

// Check checks the branches.
func (s *settings) Check() error {
	if len(s.Drafts) > 0 && s.Kind == "grant" {
		return options.Errorf("drafts", "grant proposals are pull requests, not branches")
	}
	if s.Branch != "" && !gitrepo.IsBranch(s.Branch) {
		return options.Errorf("branch", "%q is not a branch name", s.Branch)
	}
	return nil
}

// urlTemplate holds templates of the repository's addresses; a known forge
// needs none. In File, {repo}, {branch}, {commit} and {path} are replaced, in
// Pull {repo} and {number}; {source_path} and {n} are aliases of {path} and
// {number}.
type urlTemplate struct {
	File string `yaml:"file"` // https://forge.example/o/r/blob/{commit}/{path}
	Pull string `yaml:"pull"` // https://forge.example/o/r/pull/{number}
}

// Check rejects unknown placeholders.
func (t *urlTemplate) Check() error {
	err := webaddress.CheckTemplate(t.File, "{repo}", "{branch}", "{commit}", "{path}", "{source_path}")
	if err != nil {
		return options.Errorf("file", "%w", err)
	}
	if err = webaddress.CheckTemplate(t.Pull, "{repo}", "{number}", "{n}"); err != nil {
		return options.Errorf("pull", "%w", err)
	}
	return nil
}

// fileURL returns the address of a file at a commit.
func (c *connector) fileURL(commit, file string) string {
	return webaddress.Fill(c.opts.URL.File, map[string]string{"{repo}": c.opts.Name, "{commit}": commit,
		"{branch}": c.head, "{path}": file, "{source_path}": file})
}

// pullURL returns the address of a pull request.
func (c *connector) pullURL(number int) string {
	n := strconv.Itoa(number)
	return webaddress.Fill(c.opts.URL.Pull, map[string]string{"{repo}": c.opts.Name, "{number}": n, "{n}": n})
}
