package docs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"almanac/catalog"
	"almanac/ingest"
	"almanac/ingest/endpoint"
	"almanac/ingest/folder"
	"almanac/ingest/gitrepo"
	"almanac/text/markdown"
	"almanac/text/markup"
	"almanac/text/webaddress"
	"almanac/text/webpage"
)

// page reads a page and puts its record, unless its inputs are unchanged.
func (r *run) page(ctx context.Context, p page, made remembered) error {
	key := r.key(p.file)
	was, known := r.known.Pages[p.file]
	if known && r.same(was, made) {
		r.now.Pages[p.file] = was
		if was.Hidden {
			r.skip(p.file, errHidden)
		} else {
			r.keep(p, was)
		}
		return nil
	}
	made.Inputs = map[string]string{}
	text, err := r.text(p.file, made.Inputs)
	if err == nil {
		err = r.out.Begin([]byte(text))
	}
	if errors.Is(err, errUnread) {
		r.unread = true
		r.keep(p, was)
	}
	if unreadable(err) {
		r.out.Skip(key, err) // the next run tries again
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.file, err)
	}
	if p.api {
		return r.description(ctx, p, text, made)
	}
	f := readFront(text)
	if made.Hidden = f.Hidden; f.Hidden {
		r.skip(p.file, errHidden)
	} else {
		e, err := r.textOf(p, text, made, p.root.URL, p.address(f)).Doc()
		if err := cmp.Or(r.broken, err); err != nil {
			return err
		}
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
	}
	r.remember(p, made)
	return nil
}

// keep keeps the records that were made of a file.
func (r *run) keep(p page, was remembered) {
	if !p.api {
		r.out.Keep(catalog.Ref{Kind: catalog.KindDoc, Key: r.key(p.file)})
	}
	for _, key := range was.Endpoints {
		r.out.Keep(catalog.Ref{Kind: catalog.KindEndpoint, Key: key})
	}
}

func (r *run) remember(p page, made remembered) {
	if utf8.ValidString(p.file) { // a state is JSON: another name would not be found again
		r.now.Pages[p.file] = made
	}
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
	errBinary  = errors.New("is not text")
	errPointer = errors.New("is stored outside the repository (Git LFS)")
	errUnread  = errors.New("could not be read")
)

// unreadable reports whether an error is about the file and not about the tree.
func unreadable(err error) bool {
	_, large := errors.AsType[folder.TooLarge](err)
	return large || errors.Is(err, errBinary) || errors.Is(err, errPointer) || errors.Is(err, errUnread) ||
		errors.Is(err, gitrepo.ErrTooLarge) || errors.Is(err, ingest.ErrKilled)
}

// text reads a file of the tree and records the lookup.
func (r *run) text(file string, inputs map[string]string) (string, error) {
	inputs[file] = r.tree.version(file)
	data, err := r.tree.read(file)
	switch {
	case err != nil:
		return "", err
	case bytes.HasPrefix(data, []byte("version https://git-lfs.github.com/spec/")):
		return "", errPointer
	case bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 &&
		!bytes.HasPrefix(data, []byte("\xff\xfe")) && !bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "", errBinary // git's definition, except for UTF-16, which has zeros too
	}
	return webpage.Decode(data, "text/plain; charset=utf-8"), nil
}

// textOf returns a text with what its record needs. Its address is made of a template
// and the page's name.
func (r *run) textOf(p page, text string, made remembered, template, name string) Text {
	return Text{
		File: endpoint.File{
			Path: r.key(p.file), Former: made.Aliases, URL: r.address(template, p, made, name), Container: r.opts.Container,
			Commit: made.Origin.Commit, Licence: r.opts.Licence, Created: made.Origin.Created,
			Updated: made.Origin.Updated, Other: made.Other,
		},
		Content: text, Section: markup.Files.Section(path.Dir(p.below)), Version: r.version(p), Resolve: r.resolve(made),
	}
}

// resolve returns the text of another file that a page or a description names, and
// records the lookup.
func (r *run) resolve(made remembered) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		file, ok := strings.CutPrefix(name, r.opts.Prefix+"/")
		if !ok {
			return "", false
		}
		if r.tree.version(file) == "" {
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
	}
}

func (r *run) version(p page) string {
	return cmp.Or(p.root.Version, markup.Files.Version(path.Dir(p.file)))
}

// address fills in a template of addresses.
func (r *run) address(template string, p page, made remembered, name string) string {
	return webaddress.Fill(template, map[string]string{
		"{repo}": r.opts.Repository.Name, "{branch}": r.opts.Repository.Branch, "{commit}": made.Origin.Commit,
		"{path}": p.file, "{source_path}": p.file, "{page}": name, "{version}": r.version(p),
	}, "{page}") // which is empty for the home page of a site
}

// front is the front matter about a page's publication; title and description
// are read with the text.
type front struct {
	// Slug is where the page is published: relative to the site's root if it
	// begins with a slash, otherwise instead of the file's name.
	Slug string
	// Hidden means that readers must not find the page.
	Hidden bool
}

const maxSlug = 300

// readFront reads the front matter of a page as Docusaurus, Hugo, Jekyll and
// Mintlify do. What cannot be read, and what nothing closes, is ignored.
func readFront(text string) front {
	block, _, _ := markdown.CutFront(markup.Clean(text[:min(len(text), markdown.MaxFront)]))
	meta, err := block.Values()
	if err != nil || !block.Closed {
		return front{}
	}
	f := front{
		Hidden: isTrue(meta["draft"]) || isTrue(meta["hidden"]) || isTrue(meta["unlisted"]) || isTrue(meta["noindex"]),
	}
	if shown, ok := meta["published"].(bool); ok && !shown {
		f.Hidden = true
	}
	for _, key := range []string{"slug", "permalink", "id"} {
		slug, _ := meta[key].(string)
		slug = strings.TrimSpace(slug)
		usable := slug != "" && len(slug) <= maxSlug &&
			!strings.ContainsAny(slug, ":?#\\\n") // not a URL, not a pattern
		if usable && (key != "permalink" || slug[0] == '/') && (key != "id" || !strings.Contains(slug, "/")) {
			f.Slug = slug
			break
		}
	}
	return f
}

func isTrue(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return strings.EqualFold(v, "true")
	}
	return false
}
