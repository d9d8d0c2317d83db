package docs

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/text/markup"
	"almanac/text/options"
	"almanac/text/webaddress"
)

type settings struct {
	// Folder is a directory of pages on this machine, instead of a repository.
	Folder     string     `yaml:"folder" format:"path"`
	Repository repository `yaml:"repository"`
	Roots      []root     `yaml:"roots"`
	Include    []string   `yaml:"include" format:"glob"`
	Exclude    []string   `yaml:"exclude" format:"glob"`
	Extensions []string   `yaml:"extensions"`
	URL        string     `yaml:"url"`
	Licence    string     `yaml:"licence"`
	Container  string     `yaml:"container"`
	Prefix     string     `yaml:"prefix"`
}

type repository struct {
	URL    string `yaml:"url" format:"path"`
	Branch string `yaml:"branch"`
	Name   string `yaml:"name"`
	Depth  int    `yaml:"depth" min:"0"`
	// TokenEnv is the environment variable with a private repository's token.
	TokenEnv string `yaml:"token_env" format:"env"`
}

// root is a directory of pages.
type root struct {
	Dir     string `yaml:"dir"`
	Version string `yaml:"version"`
	URL     string `yaml:"url"`
}

// Check checks what the tags cannot say.
func (r *repository) Check() error {
	if r.Branch != "" && !gitrepo.IsBranch(r.Branch) {
		return options.Errorf("branch", "%q is not a branch name", r.Branch)
	}
	if err := gitrepo.CheckRemote(r.URL); err != nil && r.URL != "" {
		return options.Errorf("url", "%w", err)
	}
	return nil
}

// Check cleans the directory.
func (r *root) Check() error {
	if strings.HasPrefix(r.Dir, "/") || slices.Contains(strings.Split(r.Dir, "/"), "..") {
		return options.Errorf("dir", "%q; want a directory of the repository, such as docs", r.Dir)
	}
	r.Dir = path.Clean("/" + r.Dir)[1:]
	return nil
}

// Check checks what the tags cannot say.
func (s *settings) Check() error {
	switch {
	case s.Folder != "" && s.Repository != repository{Name: s.Repository.Name}:
		return errors.New("options folder and repository: want one of them")
	case s.Folder == "" && s.Repository.URL == "":
		return options.Errorf("repository", "want its url, such as https://forge.example.org/harbour/handbook, or a path; "+
			"or option folder: a directory of pages")
	case len(s.Extensions) == 0:
		return options.Errorf("extensions", "want extensions of pages, such as [.md, .rst]")
	}
	for i, e := range s.Extensions {
		if !strings.HasPrefix(e, ".") || markup.Format("page"+e) == "" {
			return options.Errorf(options.Item("extensions", i), "files that end in %q cannot be read; "+
				"known are .md, .markdown, .mdx, .rst, .mediawiki, .txt, .html, .htm", e)
		}
	}
	if len(s.Roots) == 0 {
		s.Roots = []root{{}}
	}
	err := s.checkTemplate("url", s.URL)
	seen := map[string]bool{}
	for i, r := range s.Roots {
		at := options.Item("roots", i)
		if seen[r.Dir] {
			err = cmp.Or(err, options.Errorf(at, "%q appears twice", r.Dir))
		}
		seen[r.Dir] = true
		err = cmp.Or(err, s.checkTemplate(at+".url", r.URL))
	}
	return err
}

// place resolves the location of the tree, on this machine or elsewhere, and the
// names that come from it.
func (s *settings) place(env ingest.Environment) error {
	at := s.Repository.URL
	if s.Folder != "" {
		if s.Folder = env.Local(s.Folder); !filepath.IsAbs(s.Folder) {
			return fmt.Errorf("option folder: %q; the network has no folder on this machine: want an absolute path",
				s.Folder)
		}
		at = filepath.ToSlash(s.Folder)
	} else {
		if forge, ok := gitrepo.Forge(at); ok {
			s.URL = cmp.Or(s.URL, forge.File)
		}
		at = gitrepo.Place(at, env.Local)
		s.Repository.URL = at
	}
	for i := range s.Roots {
		s.Roots[i].URL = cmp.Or(s.Roots[i].URL, s.URL)
	}
	s.Repository.Name = cmp.Or(s.Repository.Name, gitrepo.Name(at))
	s.Container = cmp.Or(s.Container, s.Repository.Name)
	s.Prefix = strings.Trim(path.Clean("/"+cmp.Or(s.Prefix, s.Repository.Name)), "/")
	if s.Prefix == "" {
		return errors.New("option repository: name: want owner/name")
	}
	return nil
}

// placeholders are the variables of an address.
var placeholders = []string{"{repo}", "{path}", "{page}", "{version}", "{source_path}", "{branch}", "{commit}"}

func (s *settings) checkTemplate(field, template string) error {
	known := placeholders
	if s.Folder != "" {
		known = known[:5] // a folder has neither branches nor commits
	}
	if err := webaddress.CheckTemplate(template, known...); err != nil {
		return options.Errorf(field, "%w", err)
	}
	if err := webaddress.Check(strings.NewReplacer("{", "", "}", "").Replace(template)); template != "" && err != nil {
		return options.Errorf(field, "%w, such as https://docs.example.org/{page}", err)
	}
	return nil
}
