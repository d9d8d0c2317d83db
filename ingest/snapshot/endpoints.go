package snapshot

import (
	"errors"
	"path"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest"
	"almanac/ingest/endpoint"
	"almanac/text/markup"
)

// endpoints reads a description of an API. A file that is none yields nothing.
func (r *run) endpoints(row row) []item {
	if !endpoint.Named(row.Path) {
		return nil
	}
	text, err := r.item(row.Path, ingest.MaxText)
	if err != nil {
		return failed(catalog.KindEndpoint, "", err)
	}
	if !endpoint.Likely(text) {
		return nil
	}
	api, err := endpoint.Read(endpoint.Input{Path: row.Path, Text: text, Resolve: r.include})
	switch {
	case errors.Is(err, endpoint.ErrOther):
		return nil
	case err != nil:
		return failed(catalog.KindEndpoint, "", err)
	}
	for _, note := range api.Notes {
		r.out.Warn(row.Path, note)
	}
	version, of := versioned(row)
	entries, err := api.Entries(endpoint.File{
		Path: row.Path, URL: r.options.fileURL(row), Container: row.Repo, Commit: row.Commit, Licence: row.Licence,
		Other: version != r.newest[of],
	})
	if err != nil {
		return failed(catalog.KindEndpoint, "", err)
	}
	items := make([]item, len(entries))
	for i, e := range entries {
		items[i] = made(e, nil)
	}
	return items
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
