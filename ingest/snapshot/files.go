package snapshot

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest/docs"
	"almanac/ingest/endpoint"
	"almanac/text/markup"
)

// files puts the records of pages, release notes, readmes and descriptions of APIs.
func (r *run) files(ctx context.Context, kind catalog.Kind, rows []row) error {
	newest := newest(rows)
	for _, row := range rows {
		entries, err := r.records(kind, row, newest)
		ref := catalog.Ref{Kind: kind, Key: row.Path}
		if kind == catalog.KindRepo {
			ref.Key = row.Repo
		}
		if err := r.put(ctx, row.Path, ref, entries, err); err != nil {
			return err
		}
		r.step(1)
	}
	return nil
}

// records makes the records of a file. One that is none of its kind, such as
// configuration among pages, has none.
func (r *run) records(kind catalog.Kind, row row, newest map[string]string) ([]catalog.Entry, error) {
	if !r.named(kind, row.Path) {
		return nil, nil
	}
	text, err := r.item(row.Path)
	if err != nil {
		// Without the page its releases are unknown, so this run cannot tell
		// which ones were removed.
		r.partial = r.partial || kind == catalog.KindRelease && r.options.SplitReleases && docs.VersionOf(row.Path) == ""
		return nil, err
	}
	t := docs.Text{
		File: endpoint.File{
			Path: row.Path, URL: r.options.fileURL(row), Container: row.Repo, Commit: row.Commit, Licence: row.Licence,
		},
		Content: text, Section: markup.Files.Section(path.Dir(row.SourcePath)),
		Version: cmp.Or(markup.Files.Version(path.Dir(row.SourcePath)), markup.Files.Version(path.Dir(row.Path))),
		Resolve: r.include,
	}
	var e catalog.Entry
	switch kind {
	case catalog.KindRelease:
		return t.Releases(r.options.SplitReleases)
	case catalog.KindEndpoint:
		if !endpoint.Likely(text) {
			return nil, nil
		}
		version, of := versioned(row)
		t.Other = version != newest[of]
		entries, err := t.Endpoints(r.out.Warn)
		if errors.Is(err, endpoint.ErrOther) {
			err = nil
		}
		return entries, err
	case catalog.KindRepo:
		e, err = t.Readme()
	default:
		e, err = t.Doc()
	}
	return []catalog.Entry{e}, err
}

// named reports whether a file may be of a kind, by its name.
func (r *run) named(kind catalog.Kind, file string) bool {
	switch kind {
	case catalog.KindRepo:
		return true
	case catalog.KindEndpoint:
		return endpoint.Named(file)
	case catalog.KindRelease:
		return markup.Format(file) != "" && !slices.Contains(r.options.ReleaseData, path.Base(file))
	}
	return markup.Format(file) != ""
}

// include opens an included file. A damaged one is reported and skipped, like a
// missing one.
func (r *run) include(name string) (string, bool) {
	if _, ok := r.at[name]; !ok {
		return "", false
	}
	text, err := r.text(name, maxFile)
	if err != nil {
		r.out.Warn(name, "cannot be included: "+err.Error())
	}
	return text, err == nil
}

// versioned returns the version in the path of a file, and the path without it, which
// files have in common that are versions of one another.
func versioned(row row) (version, of string) {
	if version = markup.Files.Version(path.Dir(row.Path)); version == "" {
		return "", row.Path
	}
	return version, strings.Replace(row.Path, version, "", 1)
}

// newest returns the newest version of files that have several.
func newest(rows []row) map[string]string {
	all := map[string]string{}
	for _, row := range rows {
		version, of := versioned(row)
		if v, ok := derive.ParseVersion(version); ok {
			if w, _ := derive.ParseVersion(all[of]); v.Compare(w) >= 0 {
				all[of] = version
			}
		}
	}
	return all
}
