package docs

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/markup"
)

type options struct {
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
	URL    string `yaml:"url"`
	Branch string `yaml:"branch"`
	Name   string `yaml:"name"`
	Depth  int    `yaml:"depth"`
	// TokenEnv is the environment variable with a private repository's token.
	TokenEnv string `yaml:"token_env"`
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
	case o.Repository.URL == "":
		return o, errors.New("option repository: url: want the repository's address, such as https://forge.example.org/harbour/handbook, or a path")
	case o.Repository.Branch != "" && !gitrepo.IsBranch(o.Repository.Branch):
		return o, fmt.Errorf("option repository: branch: %q is not a branch name", o.Repository.Branch)
	case o.Repository.Depth < 0:
		return o, fmt.Errorf("option repository: depth: %d; want a number of commits, or 0 for all", o.Repository.Depth)
	case len(o.Extensions) == 0:
		return o, errors.New("option extensions: want extensions of pages, such as [.md, .rst]")
	}
	if err := gitrepo.CheckRemote(o.Repository.URL); err != nil {
		return o, fmt.Errorf("option repository: url: %w", err)
	}
	o.Repository.URL = gitrepo.Place(o.Repository.URL, env.Local)
	for _, e := range o.Extensions {
		if !strings.HasPrefix(e, ".") || markup.Format("page"+e) == "" {
			return o, fmt.Errorf("option extensions: files that end in %q cannot be read; known are .md, .markdown, .mdx, .rst, .txt, .html, .htm", e)
		}
	}
	if err := checkTemplate(o.URL); err != nil {
		return o, fmt.Errorf("option url: %w", err)
	}
	if o.Repository.Name == "" {
		o.Repository.Name = gitrepo.Name(o.Repository.URL)
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
			return fmt.Errorf("option roots: %q stands there twice", r.Dir)
		}
		seen[dir] = true
		r.Dir = dir
		if r.URL == "" {
			r.URL = o.URL
		} else if err := checkTemplate(r.URL); err != nil {
			return fmt.Errorf("option roots: %s: url: %w", dir, err)
		}
	}
	return nil
}

var placeholder = regexp.MustCompile(`\{[^{}]*\}`)

// placeholders are what an address may hold.
var placeholders = []string{"{repo}", "{branch}", "{commit}", "{source_path}", "{page}", "{version}"}

func checkTemplate(template string) error {
	for _, p := range placeholder.FindAllString(template, -1) {
		if !slices.Contains(placeholders, p) {
			return fmt.Errorf("unknown %s; known are %s", p, strings.Join(placeholders, ", "))
		}
	}
	u, err := url.Parse(placeholder.ReplaceAllString(template, "x"))
	if template != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return errors.New("want a web address, such as https://docs.example.org/{page}")
	}
	return nil
}

// fill puts values into a template, escaped as path segments. A template with
// a value that is missing gives no address rather than a wrong one; only the
// page may be empty, which is the front of a site.
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
