package forge

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"strings"

	"almanac/catalog"
	"almanac/catalog/derive"
)

// versionTag finds the version in a tag: v1.2.3, sdk-v2.10.0-rc1,
// @scope/name@0.1.0, release/3.4.5+build.7.
var versionTag = regexp.MustCompile(`(?i)(?:^|[^0-9.])(\d+\.\d+(?:\.\d+){0,2}(?:-[0-9a-z.-]+)?(?:\+[0-9a-z.-]+)?)$`)

// version returns the version that a tag names, "" for none.
func version(tag string) string {
	if m := versionTag.FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return ""
}

var (
	errNoTag    = errors.New("has no tag_name")
	commitHash  = regexp.MustCompile(`^[0-9a-f]{40}$`)
	earlyOne    = regexp.MustCompile(`^\d+(?:\.\d+)*-`)
	onlyVersion = regexp.MustCompile(`(?i)^(?:release\s+)?v?\d+(?:\.\d+)+\S*$`)
)

// releases reads all releases: their list cannot be requested from a time on,
// but most of it comes from the cache.
func (r *run) releases(ctx context.Context) error {
	seen := map[string]bool{}
	return r.list(ctx, call{path: "/repos/" + r.name + "/releases"}, func(raw json.RawMessage) error {
		var rel release
		if err := json.Unmarshal(raw, &rel); err != nil {
			r.bad("", err)
			return nil
		}
		switch {
		case rel.Tag == "":
			r.bad("", errNoTag)
			return nil
		case rel.Draft || seen[rel.Tag]: // not published; or moved to another page meanwhile
			return nil
		}
		seen[rel.Tag] = true
		return r.release(ctx, rel)
	})
}

func (r *run) release(ctx context.Context, rel release) error {
	data := catalog.Release{Version: version(rel.Tag), Tag: rel.Tag, Format: "markdown", Licence: r.info.License.SPDX}
	data.Prerelease = rel.Prerelease || earlyOne.MatchString(data.Version)
	if commitHash.MatchString(rel.Commitish) {
		data.Commit = rel.Commitish
	}
	body := text(rel.Body)
	published := newer(rel.CreatedAt, rel.PublishedAt)
	updated := later(published, rel.UpdatedAt)
	rec := catalog.Record{
		Kind: catalog.KindRelease, Key: r.name + "@" + rel.Tag, Title: releaseTitle(r.name, rel), URL: rel.HTMLURL,
		Container: r.name, Category: path.Base(r.name), Author: r.access.author(rel.Author),
		CreatedAt: published, UpdatedAt: updated, LastActivityAt: updated, Votes: rel.Reactions.Total, Body: body,
		Summary: derive.TLDR(body),
		Tags:    derive.ReleaseTags(data, body),
	}
	return r.put(ctx, catalog.Entry{Record: rec}, data)
}

// releaseTitle returns the title of a release; a name that is only a version
// follows the repository's.
func releaseTitle(repository string, rel release) string {
	switch name := strings.TrimSpace(rel.Name); {
	case name == "":
		return path.Base(repository) + " " + rel.Tag
	case onlyVersion.MatchString(name):
		return path.Base(repository) + " " + name
	default:
		return name
	}
}
