package proposal

import (
	"errors"
	"slices"
	"strconv"

	"almanac/ingest/gitrepo"
	"almanac/text/glob"
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

// Layout says which files of a repository are proposals.
type Layout struct {
	Grants           bool   // each pull request is a grant proposal
	Index            string // the file with a table of all proposals
	bulk             []int
	include, exclude glob.Set
}

// Options are the options of a source that say which files are proposals, inline in
// those of its kind.
type Options struct {
	Kind string `yaml:"kind" enum:"cip|grant"` // grant: each pull request is a proposal
	// Paths are patterns of the files that are proposals; default: all. Exclude
	// removes files again: templates, directories of people.
	Paths   []string `yaml:"paths" format:"glob"`
	Exclude []string `yaml:"exclude" format:"glob"`
	Index   string   `yaml:"index"`
	// BulkPulls are pull requests that edit many proposals at once and are not
	// proposals themselves.
	BulkPulls []int `yaml:"bulk_pulls"`
}

// Defaults are the default Options.
var Defaults = Options{Kind: "cip", Index: "README.md"}

// Layout returns what the options say.
func (o Options) Layout() (Layout, error) {
	include, err1 := glob.Fold(o.Paths)
	exclude, err2 := glob.Fold(o.Exclude)
	return Layout{o.Kind == "grant", o.Index, o.BulkPulls, include, exclude}, errors.Join(err1, err2)
}

// named reports whether the operator said which files are proposals.
func (l Layout) named() bool { return len(l.include) > 0 }

// included reports whether a file is where proposals belong.
func (l Layout) included(file string) bool { return !l.named() || l.include.Match(file) }

// allowed reports whether a file is neither excluded nor the index.
func (l Layout) allowed(file string) bool { return file != l.Index && !l.exclude.Match(file) }

// isText reports whether a file can be a proposal.
func (l Layout) isText(file string) bool { return IsText(file) && l.allowed(file) }

func (l Layout) isBulk(pull int) bool { return slices.Contains(l.bulk, pull) }

// choose returns the proposal among the files that a pull request adds or
// changes: one where proposals belong before others, an added one before a
// changed one, a proposal before a readme.
func (l Layout) choose(r Reader, changes []gitrepo.Change) (gitrepo.Change, bool) {
	best, bestRank := gitrepo.Change{}, -1
	for _, c := range changes {
		if c.New == "" || c.Same || c.Blob == "" || !l.isText(c.New) {
			continue
		}
		rank := r.likelihood(c.New)
		if l.included(c.New) {
			rank += 6
		}
		if c.Old == "" {
			rank += 3
		}
		if rank > bestRank {
			best, bestRank = c, rank
		}
	}
	return best, bestRank >= 0
}
