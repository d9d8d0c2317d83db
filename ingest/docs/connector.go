package docs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/text/glob"
)

type connector struct {
	opts             settings
	include, exclude glob.Set
	extensions       map[string]bool
	current          string // version
	file             string // template of the addresses of files at the forge; "" = not known
	token            string
	env              ingest.Environment
}

// Kind is the kind of sources that network files call docs.
var Kind = ingest.Kind[settings, pages]{
	Name: "docs",
	Summary: "Reads documentation trees in git repositories and in plain folders: pages in Markdown, MDX and " +
		"reStructuredText with their includes, and the endpoints of OpenAPI and Swagger descriptions.",
	Example: `sources:
  - name: handbook
    kind: docs
    every: 6h
    options:
      repository:                 # or folder
        url: https://forge.example.org/harbour/handbook  # or ssh, git, a path, a bundle
        branch: main              # default: the branch of its HEAD
        name: harbour/handbook    # default: the end of the url
        token_env: FORGE_TOKEN    # variable with the token of a private repository
        depth: 500                # commits to fetch; default all. Older pages have no date
      folder: handbook            # in place of repository: a directory of pages that is none
      roots:                      # directories of pages; default the whole repository
        - dir: docs               # below the repository's root
          version: "3.4"          # of the documented product, the current one first; default none
        - dir: versions/2.10
          version: "2.10"
          url: https://docs.example.org/2.10/{page}  # of its pages; default the url below
      include: [docs/**, versions/**]  # patterns of paths in the repository; default all
      exclude: ["**/contributing/**"]  # patterns of paths to leave out; default none
      extensions: [.md, .markdown, .mdx, .rst]  # the default; also .mediawiki, .txt, .html, .htm
      url: https://docs.example.org/{page}      # of a page
      licence: CC-BY-4.0          # of the pages, kept with each; default none
      container: harbour/handbook # default the repository's name
      prefix: harbour/handbook    # in front of paths in keys; default the repository's name
`,
	Defaults: settings{Extensions: []string{".md", ".markdown", ".mdx", ".rst"}},
	Open:     open,
}

func open(s settings, env ingest.Environment) (ingest.Connector[pages], error) {
	include, err1 := glob.Fold(s.Include)
	exclude, err2 := glob.Fold(s.Exclude)
	if err := errors.Join(err1, err2, s.place(env)); err != nil {
		return nil, err
	}
	c := &connector{opts: s, include: include, exclude: exclude, extensions: map[string]bool{}, env: env}
	forge, _ := gitrepo.Forge(s.Repository.URL)
	c.file = forge.File
	if name := s.Repository.TokenEnv; name != "" {
		if c.token = env.Secret(name); c.token == "" {
			return nil, fmt.Errorf("option repository: token_env: the environment variable %s is not set", name)
		}
	}
	for _, e := range s.Extensions {
		c.extensions[strings.ToLower(e)] = true
	}
	for _, r := range s.Roots {
		c.current = cmp.Or(c.current, r.Version)
	}
	return c, nil
}

// Advice implements ingest.Advised.
func (c *connector) Advice(context.Context) []string {
	for _, r := range c.opts.Roots {
		if r.URL == "" && c.opts.Folder == "" {
			return []string{"without the option url its pages link to this service, not to their published form"}
		}
	}
	return nil
}

// pages is what one run passes to the next: the state of the tree, and what its
// pages were made from.
type pages struct {
	Head   string                `json:"head"`             // empty: a page is to be read again
	Branch string                `json:"branch,omitempty"` // that was read
	Pages  map[string]remembered `json:"pages"`            // by path in the repository
}

// remembered is what a page was made from.
type remembered struct {
	// Inputs are the files that were looked up, with the hashes of their content:
	// the page's own and its includes, even those that do not exist.
	Inputs  map[string]string `json:"inputs"`
	Origin  origin            `json:"origin"`
	Other   bool              `json:"other,omitempty"`   // belongs to another version
	Aliases []string          `json:"aliases,omitempty"` // its former keys
	Hidden  bool              `json:"hidden,omitempty"`  // it has no record
	// Endpoints are the keys of its records, if it describes an API.
	Endpoints []string `json:"endpoints,omitempty"`
}

// Sync implements ingest.Connector.
func (c *connector) Sync(ctx context.Context, known pages, out ingest.Sink) (
	now pages, outcome ingest.Outcome, err error,
) {
	if c.opts.Folder != "" {
		tree, err := openFolder(ctx, c.opts.Folder)
		if err != nil {
			return pages{}, ingest.Outcome{}, err
		}
		defer tree.Close()
		return c.read(ctx, tree, known, out)
	}
	dir := filepath.Join(c.env.WorkDir, "repository.git")
	repository := c.opts.Repository
	from := gitrepo.Source{Remote: repository.URL, Branch: repository.Branch, Token: c.token, Depth: repository.Depth}
	if c.env.Survey {
		from.Depth = 1
	}
	err = gitrepo.Read(ctx, c.env.HTTP, dir, from, func(repo *gitrepo.Repository) error {
		blobs, others, err := repo.Files(repo.Head)
		if err != nil {
			return err
		}
		of := *c
		of.opts.Repository.Branch = repo.Branch
		now, outcome, err = of.read(ctx, clone{repo, blobs, others}, known, out)
		return err
	})
	return now, outcome, err
}

// read yields the pages of a tree.
func (c *connector) read(ctx context.Context, tree tree, known pages, out ingest.Sink) (
	pages, ingest.Outcome, error,
) {
	head, branch := tree.head(), c.opts.Repository.Branch
	if known.Branch != branch {
		known = pages{} // of which addresses have the name
	}
	if known.Head == head {
		// Nothing to write or remove: no listing is needed.
		return known, ingest.Outcome{}, nil
	}
	r := &run{connector: c, tree: tree, out: out, known: known,
		now: pages{Head: head, Branch: branch, Pages: map[string]remembered{}}}
	err := r.pagesOf(ctx)
	if r.unread {
		r.now.Head = ""
	}
	return r.now, ingest.Outcome{Complete: true}, err
}

// run is one reading of a tree.
type run struct {
	*connector
	tree       tree
	out        ingest.Sink
	known, now pages
	pages      map[string]page // by path
	unread     bool            // a page could not be read, but may be readable later without a change
	broken     error           // of the repository, while a page was read
}

func (r *run) pagesOf(ctx context.Context) error {
	r.pages = map[string]page{}
	current := map[string]bool{} // names of pages
	count := map[string]int{}    // of pages, by root
	for file := range r.tree.files() {
		p, ok := r.pageOf(file)
		if !ok {
			var err error
			if p, ok, err = r.descriptionOf(file); err != nil {
				return err
			}
		}
		if ok {
			r.pages[file] = p
			count[p.root.Dir]++
			if p.root.Version == r.current {
				current[p.name()] = true
			}
		}
	}
	for _, root := range r.opts.Roots {
		if count[root.Dir] == 0 {
			r.out.Skip(cmp.Or(root.Dir, r.opts.Repository.Name), fmt.Errorf("%w: %w", ingest.ErrNoItem, errNothing))
		}
	}
	origins, err := r.tree.origins(ctx, r)
	if err != nil {
		return err
	}
	for i, file := range slices.Sorted(maps.Keys(r.pages)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		p := r.pages[file]
		made := remembered{Origin: origins[file], Other: r.other(p, current), Aliases: r.formerKeys(origins[file])}
		if err := r.page(ctx, p, made); err != nil {
			return err
		}
		r.out.Progress(i+1, len(r.pages))
	}
	r.skipParts()
	r.skipOdd()
	return nil
}

func (r *run) key(file string) string { return r.opts.Prefix + "/" + file }

// formerKeys returns the former keys of a page that no other page has now.
func (r *run) formerKeys(o origin) []string {
	var keys []string
	for _, file := range o.Former {
		if _, taken := r.pages[file]; !taken {
			keys = append(keys, r.key(file))
		}
	}
	return keys
}
