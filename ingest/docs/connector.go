package docs

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/catalog/network"
	"almanac/ingest"
	"almanac/ingest/gitrepo"
	"almanac/ingest/markup"
	"almanac/ingest/webpage"
)

// rules is the version of what this package makes of a repository. A change
// of it makes every page be read again.
const rules = "1"

// maxPage is the size in bytes of the largest file that is read.
const maxPage = 8 << 20

type connector struct {
	opts             options
	include, exclude gitrepo.Globs
	extensions       map[string]bool
	current          string // version
	token            string
	env              ingest.Environment
}

// New makes the connector of a source; it is a Constructor of kind "docs".
func New(src network.Source, env ingest.Environment) (ingest.Connector, error) {
	o, err := readOptions(src, env)
	if err != nil {
		return nil, err
	}
	if env.WorkDir == "" {
		return nil, errors.New("docs: a working directory is needed for the clone")
	}
	c := &connector{opts: o, include: gitrepo.NewGlobs(o.Include), exclude: gitrepo.NewGlobs(o.Exclude), extensions: map[string]bool{}, env: env}
	if name := o.Repository.TokenEnv; name != "" {
		if c.token = env.Secret(name); c.token == "" {
			return nil, fmt.Errorf("option repository: token_env: the environment variable %s is not set", name)
		}
	}
	for _, e := range o.Extensions {
		c.extensions[strings.ToLower(e)] = true
	}
	for _, r := range o.Roots {
		c.current = cmp.Or(c.current, r.Version)
	}
	return c, nil
}

// Advice implements ingest.Advised.
func (c *connector) Advice() []string {
	if c.opts.Folder != "" {
		return gitrepo.Advice(c.opts.Folder)
	}
	advice := gitrepo.Advice(c.opts.Repository.URL)
	for _, r := range c.opts.Roots {
		if r.URL == "" {
			return append(advice, "without the option url its pages link to this service, not to where they are published")
		}
	}
	return advice
}

// settings is a digest of all that decides how pages are read.
func (c *connector) settings() (string, error) {
	raw, err := json.Marshal([]any{rules, c.opts})
	if err != nil {
		return "", fmt.Errorf("options: %w", err)
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12]), nil
}

// Sync implements ingest.Connector. The cursor is the state of the tree (the
// commit of the branch's head) and the digest of the options.
func (c *connector) Sync(ctx context.Context, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	if c.opts.Folder != "" {
		tree, err := openFolder(ctx, c.opts.Folder, out.Warn)
		if err != nil {
			return ingest.Outcome{}, fmt.Errorf("docs: %w", err)
		}
		defer tree.Close()
		outcome, err := c.read(ctx, tree, cursor, out)
		if err != nil {
			return ingest.Outcome{}, fmt.Errorf("docs: %w", err)
		}
		return outcome, nil
	}
	dir := filepath.Join(c.env.WorkDir, "repository.git")
	from := gitrepo.Source{Remote: c.opts.Repository.URL, Branch: c.opts.Repository.Branch, Token: c.token, Depth: c.opts.Repository.Depth}
	branch, err := gitrepo.Fetch(ctx, c.env.HTTP, dir, from)
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("docs: fetch: %w", err)
	}
	of := *c
	of.opts.Repository.Branch = branch
	outcome, err := of.mirrored(ctx, dir, cursor, out)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		_ = os.RemoveAll(dir) // the mirror is damaged: the next run makes another
	}
	if err != nil {
		return ingest.Outcome{}, fmt.Errorf("docs: %w", err)
	}
	return outcome, nil
}

// mirrored reads what was fetched.
func (c *connector) mirrored(ctx context.Context, dir, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	repo, err := gitrepo.Open(dir, c.opts.Repository.Branch)
	if err != nil {
		return ingest.Outcome{}, err
	}
	defer func() { _ = repo.Close() }()
	tree, err := newClone(repo)
	if err != nil {
		return ingest.Outcome{}, err
	}
	return c.read(ctx, tree, cursor, out)
}

// read yields the pages of a tree.
func (c *connector) read(ctx context.Context, tree tree, cursor string, out ingest.Sink) (ingest.Outcome, error) {
	settings, err := c.settings()
	if err != nil {
		return ingest.Outcome{}, err
	}
	head := tree.head()
	now := head + " " + settings
	if now == cursor {
		// Nothing to write and nothing gone: no listing is needed.
		return ingest.Outcome{Cursor: cursor}, nil
	}
	r := &run{
		connector: c, tree: tree, out: out, known: recall(c.env.WorkDir, cursor, settings),
		now: pages{Head: head, Pages: map[string]remembered{}},
	}
	if err := r.pagesOf(ctx); err != nil {
		return ingest.Outcome{}, err
	}
	if r.unread {
		now = ""
	}
	if err := r.now.remember(c.env.WorkDir, now, cursor); err != nil {
		return ingest.Outcome{}, err
	}
	return ingest.Outcome{Cursor: now, Complete: true}, nil
}

// run is one reading of a tree.
type run struct {
	*connector
	tree       tree
	out        ingest.Sink
	known, now pages
	pages      map[string]page // by path
	unread     bool            // a page could not be read, and may be again without a change
	broken     error           // of the repository, met while a page was read
}

func (r *run) pagesOf(ctx context.Context) error {
	r.pages = map[string]page{}
	current := map[string]bool{} // names of pages
	count := map[string]int{}    // of pages, by root
	for file := range r.tree.files() {
		if p, ok := r.pageOf(file); ok {
			r.pages[file] = p
			count[p.root.Dir]++
			if p.root.Version == r.current {
				current[p.name()] = true
			}
		}
	}
	for _, root := range r.opts.Roots {
		if count[root.Dir] == 0 {
			r.out.Warn(cmp.Or(root.Dir, r.opts.Repository.Name), "there is no page in this directory")
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
	return nil
}

func (r *run) key(file string) string { return r.opts.Prefix + "/" + file }

// formerKeys are the keys a page had that no other page has now.
func (r *run) formerKeys(o origin) []string {
	var keys []string
	for _, file := range o.Former {
		if _, taken := r.pages[file]; !taken {
			keys = append(keys, r.key(file))
		}
	}
	return keys
}

// page reads a page and hands its record over, unless it would be made of the
// same as before.
func (r *run) page(ctx context.Context, p page, made remembered) error {
	key := r.key(p.file)
	if was, ok := r.known.Pages[p.file]; ok && r.same(was, made) {
		r.now.Pages[p.file] = was
		if !was.Hidden {
			r.out.Keep(catalog.Ref{Kind: catalog.KindDoc, Key: key})
		}
		return nil
	}
	made.Inputs = map[string]string{}
	text, err := r.text(p.file, made.Inputs)
	if errors.Is(err, errUnread) {
		r.unread = true
		r.out.Keep(catalog.Ref{Kind: catalog.KindDoc, Key: key})
	}
	if unreadable(err) {
		r.out.Skip(key, err) // and is tried again by the next run
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.file, err)
	}
	f := readFront(text)
	if made.Hidden = f.Hidden; !f.Hidden {
		e := r.entry(p, f, text, made)
		if r.broken != nil {
			return r.broken
		}
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
	}
	r.now.Pages[p.file] = made
	return nil
}

func (r *run) same(was, made remembered) bool {
	for file, hash := range was.Inputs {
		if r.tree.version(file) != hash {
			return false
		}
	}
	return was.Origin.equal(made.Origin) && was.Other == made.Other && slices.Equal(was.Aliases, made.Aliases)
}

var (
	errBinary  = errors.New("is not a text")
	errPointer = errors.New("is stored outside the repository (Git LFS)")
	errUnread  = errors.New("could not be read")
)

// unreadable says whether an error is of the file and not of the tree.
func unreadable(err error) bool {
	return errors.Is(err, errBinary) || errors.Is(err, errPointer) || errors.Is(err, errUnread) ||
		errors.Is(err, gitrepo.ErrTooLarge)
}

// text reads a file of the tree and notes that it was looked up.
func (r *run) text(file string, inputs map[string]string) (string, error) {
	inputs[file] = r.tree.version(file)
	data, err := r.tree.read(file)
	switch {
	case err != nil:
		return "", err
	case bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")):
		return "", errPointer
	case bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 && !bytes.HasPrefix(data, []byte("\xff\xfe")) && !bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "", errBinary // what git calls so; UTF-16 has zeros as well
	}
	return webpage.Decode(data, "text/plain; charset=utf-8"), nil
}

// entry makes a page's record.
func (r *run) entry(p page, f front, text string, made remembered) catalog.Entry {
	key := r.key(p.file)
	m := markup.Parse(markup.Input{Path: key, Text: text, Resolve: func(name string) (string, bool) {
		file, ok := strings.CutPrefix(name, r.opts.Prefix+"/")
		if !ok {
			return "", false
		}
		if !r.tree.has(file) {
			made.Inputs[file] = ""
			return "", false
		}
		included, err := r.text(file, made.Inputs)
		switch {
		case unreadable(err):
			r.out.Warn(name, "cannot be included: "+err.Error())
		case err != nil:
			r.broken = fmt.Errorf("%s: %w", file, err)
		}
		return included, err == nil
	}})
	version := cmp.Or(p.root.Version, Version(p.file))
	rec := catalog.Record{
		Kind: catalog.KindDoc, Key: key, Title: m.Title, Path: key, Container: r.opts.Container,
		URL: fill(p.root.URL, map[string]string{
			"{repo}": r.opts.Repository.Name, "{branch}": r.opts.Repository.Branch, "{commit}": made.Origin.Commit,
			"{path}": p.file, "{source_path}": p.file, "{page}": p.address(f), "{version}": version,
		}),
		Category: Section(p.below), CreatedAt: made.Origin.Created, UpdatedAt: made.Origin.Updated,
		Body: m.Body, Summary: cmp.Or(m.Description, derive.TLDR(m.Body)),
	}
	if m.Stub {
		rec.Tags = append(rec.Tags, catalog.TagStub)
	}
	if made.Other {
		rec.Tags = append(rec.Tags, catalog.TagOtherVersion)
	}
	data, err := catalog.Encode(catalog.Doc{
		Format: m.Format, Section: rec.Category, Version: version, Description: m.Description,
		Commit: made.Origin.Commit, Licence: r.opts.Licence, Includes: m.Includes, Stub: m.Stub,
	})
	if err != nil {
		panic("docs: encoding plain data: " + err.Error()) // no field of it can fail
	}
	rec.Data = data
	return catalog.Entry{Record: rec, Aliases: made.Aliases}
}
