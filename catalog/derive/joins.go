package derive

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"almanac/catalog"
)

// Joins ties projects to their repositories and featured apps: by the names in
// the project, by the targets of its links, by the project that an app names,
// and by the title of an app that names none. It returns, for each project that
// has any, its reference and the links to add. It stops with the error of a
// context that is done.
func Joins(ctx context.Context, projects, repos, apps []catalog.Record) ([]catalog.Entry, error) {
	repoOf := map[string]catalog.Ref{} // folded owner/name
	for _, r := range repos {
		repoOf[catalog.Fold(r.Key)] = r.Ref()
		if d, err := catalog.Decode[catalog.Repo](r); err == nil && d.FullName != "" {
			repoOf[catalog.Fold(d.FullName)] = r.Ref()
		}
	}
	known := map[string]bool{}
	appsOf := map[string][]catalog.Ref{} // by key of the project
	byName := map[string][]string{}      // folded title → keys of projects
	for _, p := range projects {
		byName[catalog.Fold(p.Title)] = append(byName[catalog.Fold(p.Title)], p.Key)
	}
	for _, a := range apps {
		known[a.Key] = true
		d, err := catalog.Decode[catalog.App](a)
		if err != nil {
			continue
		}
		if d.Project != "" {
			appsOf[d.Project] = append(appsOf[d.Project], a.Ref())
		} else if keys := byName[catalog.Fold(a.Title)]; len(keys) == 1 {
			appsOf[keys[0]] = append(appsOf[keys[0]], a.Ref())
		}
	}
	var out []catalog.Entry
	for _, p := range projects {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, err := catalog.Decode[catalog.Project](p)
		if err != nil {
			continue
		}
		var to []catalog.Ref
		for _, name := range repositories(p, d) {
			if ref, ok := repoOf[name]; ok {
				to = append(to, ref)
			}
		}
		for _, key := range d.Apps {
			if known[key] {
				to = append(to, catalog.Ref{Kind: catalog.KindApp, Key: key})
			}
		}
		if links := references(append(to, appsOf[p.Key]...)); len(links) > 0 {
			out = append(out, addition(p, links))
		}
	}
	return out, nil
}

// repositories returns the folded names, owner/name, of the possible
// repositories of a project: those it lists and those its addresses lead to.
func repositories(p catalog.Record, d catalog.Project) []string {
	addresses := append(slices.Clone(d.Repos), p.URL)
	for _, l := range d.Links {
		addresses = append(addresses, l.URL)
	}
	var names []string
	for _, a := range addresses {
		if u, err := url.Parse(a); err == nil {
			a = u.Path
		}
		parts := strings.Split(strings.Trim(a, "/"), "/")
		if len(parts) >= 2 {
			names = append(names, catalog.Fold(parts[0]+"/"+strings.TrimSuffix(parts[1], ".git")))
		}
	}
	return names
}

// references returns links to distinct references, in order.
func references(to []catalog.Ref) []catalog.Link {
	var links []catalog.Link
	linked := map[catalog.Ref]bool{}
	for _, ref := range to {
		if !linked[ref] {
			linked[ref] = true
			links = append(links, catalog.Link{Relation: catalog.References, To: ref})
		}
	}
	return links
}

// addition is an entry that adds links to a record of another source.
func addition(r catalog.Record, links []catalog.Link) catalog.Entry {
	return catalog.Entry{Record: catalog.Record{Kind: r.Kind, Key: r.Key}, Links: links, Addition: true}
}
