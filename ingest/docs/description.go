package docs

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"almanac/ingest"
	"almanac/ingest/endpoint"
)

// descriptionOf reports whether a file is a selected description of an API. Unlike
// pages, descriptions are known by their content alone, so that every file of the
// formats is looked into; one that was a description and cannot be read still is.
func (r *run) descriptionOf(file string) (p page, ok bool, err error) {
	p, ok = r.placed(file)
	if !ok || !endpoint.Named(file) || aside(p.below) {
		return p, false, nil
	}
	p.api = true
	if was := r.known.Pages[file]; was.Endpoints != nil && was.Inputs[file] == r.tree.version(file) {
		return p, true, nil
	}
	text, err := r.text(file, map[string]string{})
	if !unreadable(err) {
		return p, endpoint.Likely(text), err
	}
	r.unread = r.unread || errors.Is(err, errUnread)
	known := r.known.Pages[file].Endpoints != nil
	if name := strings.ToLower(path.Base(file)); !known && (strings.Contains(name, "openapi") ||
		strings.Contains(name, "swagger")) {
		r.out.Skip(r.key(file), err)
	}
	return p, known, nil
}

// aside reports whether a path is in a hidden directory or one of other people's files.
func aside(below string) bool {
	return slices.ContainsFunc(strings.Split(below, "/"), func(name string) bool {
		return name == "" || name[0] == '.' || name == "node_modules"
	})
}

// description reads a description of an API and puts a record of each endpoint.
func (r *run) description(ctx context.Context, p page, text string, made remembered) error {
	key, at := r.key(p.file), r.file
	if at == "" && strings.Contains(p.root.URL, "path}") {
		at = p.root.URL
	}
	entries, err := r.textOf(p, text, made, at, "").Endpoints(r.out.Warn)
	switch {
	case r.broken != nil:
		return r.broken
	case errors.Is(err, endpoint.ErrOther): // it only looks like one
		return nil
	case err != nil:
		r.out.Skip(key, fmt.Errorf("looks like a description of an API, but: %w", err))
		return nil
	}
	made.Endpoints = []string{}
	for _, e := range entries {
		if err := r.out.Put(ctx, e); err != nil {
			return err
		}
		made.Endpoints = append(made.Endpoints, e.Record.Key)
	}
	if len(entries) == 0 {
		r.out.Skip(key, fmt.Errorf("%w: it describes an API without an endpoint", ingest.ErrNoItem))
	}
	r.remember(p, made)
	return nil
}
