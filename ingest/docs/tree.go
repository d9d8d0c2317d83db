package docs

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"almanac/ingest"
)

// page is a file of the repository that may be a page.
type page struct {
	file  string
	root  root
	below string // the file's path below its root
	api   bool   // it is a description of an API
}

// Why a selected file has no record.
var (
	errPart = errors.New("by its name or directory it is hidden, a menu or a part of pages, " +
		"and no page includes it")
	errNothing = errors.New("there is no page in this directory: no file has one of the option extensions and is included")
	errHidden  = errors.New("its front matter says that readers must not find it")
)

// pageOf reports whether a file is a selected page.
func (c *connector) pageOf(file string) (page, bool) {
	p, ok := c.selected(file)
	return p, ok && published(p.below)
}

// skipParts skips the selected files that are neither pages nor in one.
func (r *run) skipParts() {
	included := map[string]bool{}
	for _, p := range r.now.Pages {
		for file := range p.Inputs {
			included[file] = true
		}
	}
	for _, file := range slices.Sorted(r.tree.files()) {
		if p, ok := r.selected(file); ok && !published(p.below) && !included[file] {
			r.skip(file, errPart)
		}
	}
}

// skipOdd skips what the options name and that is no file, or no directory that can
// be read.
func (r *run) skipOdd() {
	odd := r.tree.odd()
	for _, name := range slices.Sorted(maps.Keys(odd)) {
		below := name
		if path.Ext(name) == "" { // or a directory
			below = path.Join(name, "x"+r.opts.Extensions[0])
		}
		_, ok := r.selected(below)
		switch err := odd[name]; {
		case ok && errors.Is(err, errUnread):
			r.unread = true
			r.out.Skip(r.key(name), err)
		case ok:
			r.skip(name, err)
		}
	}
}

// skip counts a selected file that has no record.
func (r *run) skip(file string, why error) {
	r.out.Skip(r.key(file), fmt.Errorf("%w: %w", ingest.ErrNoItem, why))
}

// selected reports whether the options name a file with a page.
func (c *connector) selected(file string) (page, bool) {
	p, ok := c.placed(file)
	return p, ok && c.extensions[strings.ToLower(path.Ext(file))]
}

// placed reports whether the options name a file, whatever it is.
func (c *connector) placed(file string) (page, bool) {
	p := page{file: file}
	found := false
	for _, r := range c.opts.Roots {
		below, ok := file, true
		if r.Dir != "" {
			below, ok = strings.CutPrefix(file, r.Dir+"/")
		}
		if ok && (!found || len(r.Dir) > len(p.root.Dir)) { // the nearest root above it
			p.root, p.below, found = r, below, true
		}
	}
	return p, found && (len(c.include) == 0 || c.include.Match(file)) && !c.exclude.Match(file)
}

// navigation names files that list pages for a menu.
var navigation = []string{"summary", "_sidebar", "_navbar", "_footer", "_coverpage"}

// published reports whether site generators would make a page from a file:
// directories of pages also have partial, hidden and generated files.
func published(below string) bool {
	segments := strings.Split(below, "/")
	last := len(segments) - 1
	for _, dir := range segments[:last] {
		if dir == "" || dir[0] == '_' || dir[0] == '.' || dir == "snippets" || dir == "node_modules" {
			return false
		}
	}
	stem := strings.ToLower(strings.TrimSuffix(segments[last], path.Ext(segments[last])))
	return stem != "" && (stem[0] != '_' && stem[0] != '.' || stem == "_index") && !slices.Contains(navigation, stem)
}

// name is a page's name in addresses below its root: its path without extension
// and without the name of an index file. It is the same in all versions.
func (p page) name() string {
	if p.api {
		return p.below // beside a page that may have the same name
	}
	stem := strings.TrimSuffix(p.below, path.Ext(p.below))
	switch strings.ToLower(path.Base(stem)) {
	case "index", "_index", "readme":
		if stem = path.Dir(stem); stem == "." {
			return ""
		}
	}
	return stem
}

// address is the name as changed by the front matter.
func (p page) address(f front) string {
	switch {
	case strings.HasPrefix(f.Slug, "/"):
		return strings.Trim(path.Clean(f.Slug), "/")
	case f.Slug != "":
		return path.Join("/", path.Dir(p.below), f.Slug)[1:]
	}
	return p.name()
}

// other reports whether a page belongs to another version than the current one,
// which has the page too.
func (c *connector) other(p page, current map[string]bool) bool {
	return p.root.Version != "" && p.root.Version != c.current && current[p.name()]
}
