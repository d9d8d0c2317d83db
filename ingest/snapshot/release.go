package snapshot

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/ingest/markup"
)

const versionPattern = `v?(\d+\.\d+(?:\.\d+){0,2}(?:[-.]?(?:rc|alpha|beta|snapshot|dev|pre)[.\w-]*)?)`

var (
	versionName    = regexp.MustCompile(`(?i)^` + versionPattern + `$`)
	versionHeading = regexp.MustCompile(`(?i)^#{1,4}\s+(?:.{0,60}?[\s(])??` + versionPattern + `(?:[\s,):—–-].{0,40})?$`)
	versionDashes  = regexp.MustCompile(`^v?\d+-\d+-\d+`)
	prerelease     = regexp.MustCompile(`(?i)(?:rc|alpha|beta|snapshot|dev|pre)[.\d-]*`)
	isoDate        = regexp.MustCompile(`\b(\d{4}-\d{2}-\d{2})\b`)
	releasedOn     = regexp.MustCompile(`(?i)\breleased(?:\s+on)?:?\s+([A-Z][a-z]+ \d{1,2})(?:st|nd|rd|th)?,? (\d{4})\b`)
)

// release reads a release note, keyed by its path. Its version is the file's
// name or else its only version heading; a page of many releases and a note
// of none in particular have no version.
func (r *run) release(row row) []item {
	if slices.Contains(r.options.ReleaseData, path.Base(row.Path)) || markup.Format(row.Path) == "" {
		return nil
	}
	p, err := r.page(row)
	if err != nil {
		return failed(catalog.KindRelease, row.Path, err)
	}
	rec := r.record(catalog.KindRelease, row.Path, row, p)
	rec.Page = "/releases/" + row.Path
	rec.Category = product(row.Path)
	sections := splitReleases(p.Body)
	version := nameVersion(row.Path)
	if version == "" && len(sections) == 1 {
		version = sections[0].version
	}
	data := catalog.Release{Version: version, Format: p.Format, Prerelease: prerelease.MatchString(version), Commit: row.Commit, Licence: row.Licence}
	if version != "" {
		rec.CreatedAt = releaseDate(p.Title + "\n" + p.Body)
	}
	rec.UpdatedAt, rec.LastActivityAt = rec.CreatedAt, rec.CreatedAt
	rec.Data = encode(data)
	items := []item{{entry: catalog.Entry{Record: rec}}}
	if r.options.SplitReleases && version == "" && len(sections) > 1 {
		items[0].entry.Record.Body = strings.TrimSpace(p.Body[:sections[0].start])
		for _, s := range sections {
			items = append(items, item{entry: catalog.Entry{Record: sectionRecord(rec, data, s), Parent: rec.Ref()}})
		}
	}
	return items
}

// releaseSection is the part of a page that tells of one release.
type releaseSection struct {
	version string
	start   int // offset of its heading
	text    string
}

// splitReleases cuts a page at the headings that name a version. Of several
// levels of such headings the highest counts; a version that comes twice is
// one release.
func splitReleases(body string) []releaseSection {
	var found []releaseSection
	top := 7
	fenced := false
	for at := 0; at < len(body); {
		line, _, _ := strings.Cut(body[at:], "\n")
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if m := versionHeading.FindStringSubmatch(line); m != nil && !fenced {
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if level < top {
				top, found = level, nil
			}
			if level == top && !slices.ContainsFunc(found, func(s releaseSection) bool { return s.version == m[1] }) {
				found = append(found, releaseSection{version: m[1], start: at})
			}
		}
		at += len(line) + 1
	}
	for i := range found {
		end := len(body)
		if i+1 < len(found) {
			end = found[i+1].start
		}
		found[i].text = strings.TrimSpace(body[found[i].start:end])
	}
	return found
}

// sectionRecord is the record of one release of a page of many.
func sectionRecord(page catalog.Record, data catalog.Release, s releaseSection) catalog.Record {
	rec := page
	rec.Key += "#" + s.version
	rec.Page += "#" + s.version
	rec.Title = page.Title + " " + s.version
	rec.Body = s.text
	rec.Summary = derive.TLDR(s.text)
	rec.CreatedAt = releaseDate(s.text)
	rec.UpdatedAt, rec.LastActivityAt = rec.CreatedAt, rec.CreatedAt
	data.Version, data.Prerelease = s.version, prerelease.MatchString(s.version)
	rec.Data = encode(data)
	return rec
}

// nameVersion is the version a file is called after: 3.4.5.md, 3-4-5.mdx.
func nameVersion(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if versionDashes.MatchString(base) {
		base = strings.Replace(base, "-", ".", 2)
	}
	if m := versionName.FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return ""
}

// product is what a release note's directory is called after: the notes of
// "wallet-releases" are of the wallet.
func product(name string) string {
	base := strings.TrimSuffix(path.Base(path.Dir(name)), "-releases")
	if base == "release-notes" || base == "releases" {
		base = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	return base
}

// releaseDate finds when a note says its release was: in the first kilobyte,
// "released on May 3, 2031" or a date beside the version.
func releaseDate(text string) time.Time {
	text = text[:min(len(text), 1024)]
	if m := releasedOn.FindStringSubmatch(text); m != nil {
		for _, layout := range []string{"January 2 2006", "Jan 2 2006"} {
			if t, err := time.Parse(layout, m[1]+" "+m[2]); err == nil {
				return t.UTC()
			}
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	if m := isoDate.FindString(line); m != "" {
		if t, err := time.Parse(time.DateOnly, m); err == nil {
			return t
		}
	}
	return time.Time{}
}
