package docs

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/text/markup"
)

type options struct {
	// Folder is a directory of pages on this machine, instead of a repository.
	Folder     string     `yaml:"folder" format:"path"`
	Repository repository `yaml:"repository"`
	Roots      []root     `yaml:"roots"`
	Include    []string   `yaml:"include"`
	Exclude    []string   `yaml:"exclude"`
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
	Depth  int    `yaml:"depth"`
	// TokenEnv is the environment variable with a private repository's token.
	TokenEnv string `yaml:"token_env" format:"env"`
}

// root is a directory of pages.
type root struct {
	Dir     string `yaml:"dir"`
	Version string `yaml:"version"`
	URL     string `yaml:"url"`
}

func readOptions(src network.Source, env ingest.Environment) (options, error) {
	o := options{
		Extensions: []string{".md", ".markdown", ".mdx", ".rst"},
	}
	if err := ingest.DecodeOptions(src, &o); err != nil {
		return o, err
	}
	switch {
	case o.Folder != "" && o.Repository != repository{Name: o.Repository.Name}:
		return o, errors.New("options folder and repository: want one of them")
	case o.Folder == "" && o.Repository.URL == "":
		return o, errors.New("option repository: url: want the repository's address, such as " +
			"https://forge.example.org/harbour/handbook, or a path; or option folder: a directory of pages")
	case o.Repository.Branch != "" && !gitrepo.IsBranch(o.Repository.Branch):
		return o, fmt.Errorf("option repository: branch: %q is not a branch name", o.Repository.Branch)
	case o.Repository.Depth < 0:
		return o, fmt.Errorf("option repository: depth: %d; want a number of commits, or 0 for all", o.Repository.Depth)
	case len(o.Extensions) == 0:
		return o, errors.New("option extensions: want extensions of pages, such as [.md, .rst]")
	}
	if err := o.place(env); err != nil {
		return o, err
	}
	for _, e := range o.Extensions {
		if !strings.HasPrefix(e, ".") || markup.Format("page"+e) == "" {
			return o, fmt.Errorf("option extensions: files that end in %q cannot be read; "+
				"known are .md, .markdown, .mdx, .rst, .mediawiki, .txt, .html, .htm", e)
		}
	}
	if err := o.checkTemplate(o.URL); err != nil {
		return o, fmt.Errorf("option url: %w", err)
	}
	if forge, ok := gitrepo.Forge(o.Repository.URL); ok && o.URL == "" {
		o.URL = forge.File
	}
	if o.Container == "" {
		o.Container = o.Repository.Name
	}
	if o.Prefix == "" {
		o.Prefix = o.Repository.Name
	}
	if o.Prefix = strings.Trim(path.Clean("/"+o.Prefix), "/"); o.Prefix == "" {
		return o, errors.New("option repository: name: want owner/name")
	}
	return o, o.readRoots()
}

// place resolves the location of the tree, on this machine or elsewhere, and its
// name.
func (o *options) place(env ingest.Environment) error {
	at := o.Repository.URL
	if o.Folder != "" {
		if o.Folder = env.Local(o.Folder); !filepath.IsAbs(o.Folder) {
			return fmt.Errorf("option folder: %q; the network has no folder on this machine: want an absolute path",
				o.Folder)
		}
		at = filepath.ToSlash(o.Folder)
	} else if err := gitrepo.CheckRemote(at); err != nil {
		return fmt.Errorf("option repository: url: %w", err)
	} else {
		at = gitrepo.Place(at, env.Local)
		o.Repository.URL = at
	}
	o.Repository.Name = cmp.Or(o.Repository.Name, gitrepo.Name(at))
	return nil
}

func (o *options) readRoots() error {
	if len(o.Roots) == 0 {
		o.Roots = []root{{}}
	}
	seen := map[string]bool{}
	for i := range o.Roots {
		r := &o.Roots[i]
		dir := path.Clean("/" + r.Dir)[1:]
		switch {
		case strings.HasPrefix(r.Dir, "/") || slices.Contains(strings.Split(r.Dir, "/"), ".."):
			return fmt.Errorf("option roots: dir: %q; want a directory of the repository, such as docs", r.Dir)
		case seen[dir]:
			return fmt.Errorf("option roots: %q appears twice", r.Dir)
		}
		seen[dir] = true
		r.Dir = dir
		if r.URL == "" {
			r.URL = o.URL
		} else if err := o.checkTemplate(r.URL); err != nil {
			return fmt.Errorf("option roots: %s: url: %w", dir, err)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// placeholders are the variables of an address.
var placeholders = []string{"{repo}", "{path}", "{page}", "{version}", "{source_path}", "{branch}", "{commit}"}

func (o *options) checkTemplate(template string) error {
	known := placeholders
	if o.Folder != "" {
		known = known[:5] // a folder has neither branches nor commits
	}
	for _, p := range placeholder.FindAllString(template, -1) {
		if !slices.Contains(known, p) {
			return fmt.Errorf("unknown %s; known are %s", p, strings.Join(known, ", "))
		}
	}
	u, err := url.Parse(placeholder.ReplaceAllString(template, "x"))
	if template != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return errors.New("want a web address, such as https://docs.example.org/{page}")
	}
	return nil
}

// fill puts values into a template, escaped as path segments. If a value is
// missing, there is no address rather than a wrong one; only the page may be
// empty, which is the home page of a site.
func fill(template string, values map[string]string) string {
	missing := false
	address := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		value := values[p]
		missing = missing || value == "" && p != "{page}"
		segments := strings.Split(value, "/")
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		return strings.Join(segments, "/")
	})
	if missing {
		return ""
	}
	return address
}
