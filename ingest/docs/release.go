package docs

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"almanac/catalog"
	"almanac/catalog/derive"
	"almanac/text/dates"
	"almanac/text/markdown"
	"almanac/text/markup"
)

const versionPattern = `v?(\d+\.\d+(?:\.\d+){0,2}(?:[-.]?(?:rc|alpha|beta|snapshot|dev|pre)[.\w-]*)?)`

var (
	versionName    = regexp.MustCompile(`(?i)^` + versionPattern + `$`)
	versionHeading = regexp.MustCompile(`(?i)^#{1,4}\s+(?:.{0,60}?[\s(])??` + versionPattern +
		`(?:[\s,):—–-].{0,40})?$`)
	versionDashes = regexp.MustCompile(`^v?\d+-\d+-\d+`)
	isoDate       = regexp.MustCompile(`\b(\d{4}-\d{2}-\d{2})\b`)
	anyVersion    = regexp.MustCompile(`(?i)(?:^|\b)` + versionPattern)
	anyDate       = regexp.MustCompile(`\(?\b\d{4}-\d{2}-\d{2}\b\)?`)
	releaseWords  = regexp.MustCompile(`(?i)\brelease(?: candidate)? of\b|\b(?:release notes?|` +
		`change ?log)\b(?: (?:of|for)\b)?|\bnotes?\s*$`)
	releasedOn = regexp.MustCompile(`(?i)\breleased(?:\s+on)?:?\s+([A-Z][a-z]+ \d{1,2}(?:st|nd|rd|th)?,? \d{4})\b`)
)

// Releases makes the record of a release note, keyed by its path. Its version is the
// file name or else its only version heading. On request, a page of many releases
// becomes one record for each, keyed path#version; otherwise it has no version, like a
// note about no particular release. A file about the repository of the notes is a page
// of documentation.
func (t Text) Releases(split bool) ([]catalog.Entry, error) {
	version, p := VersionOf(t.Path), t.page()
	sections := splitReleases(p.Body)
	if version == "" && len(sections) == 0 && aboutRepository(t.Path) {
		e, err := t.doc(p)
		return []catalog.Entry{e}, err
	}
	page := t.record(catalog.KindRelease, t.Path, p)
	page.Category = product(t.Path)
	page.Tags = stub(p.Body == "" || markup.IsTemplate(t.Path)) // few words can fully describe a small release
	data := catalog.Release{Format: p.Format, Commit: t.Commit, Licence: t.Licence}
	if version == "" && len(sections) == 1 {
		version = sections[0].version
	}
	if version != "" {
		page.Title = releaseTitle(p.Title, t.Path, version)
		e, err := release(page, data, version, p.Title+"\n"+p.Body)
		return []catalog.Entry{e}, err
	}
	if isProduct(p.Title, t.Path) {
		page.Title += pageOfNotes
	}
	if split && len(sections) > 0 {
		return splitPage(page, data, p, sections)
	}
	e, err := page.With(data)
	return []catalog.Entry{e}, err
}

// splitPage makes a record for each release on a page of many, and one of the
// text above the first, or of the page's description.
func splitPage(page catalog.Record, data catalog.Release, p markup.Page, sections []releaseSection) (
	entries []catalog.Entry, err error,
) {
	name := productName(p.Title, page.Path)
	page.Body = cmp.Or(strings.TrimSpace(p.Body[:sections[0].start]), p.Description)
	page.Summary = cmp.Or(p.Description, derive.TLDR(page.Body))
	if page.Body != "" {
		e, err := page.With(data)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	for _, s := range sections {
		rec := page
		rec.Key, rec.Title = page.Key+"#"+s.version, name+" "+s.version
		rec.Body, rec.Summary = s.text, derive.TLDR(s.text)
		e, err := release(rec, data, s.version, s.text)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// release completes the record of a release. Its date is in dated, which is its text,
// perhaps with the title.
func release(rec catalog.Record, data catalog.Release, version, dated string) (catalog.Entry, error) {
	v, _ := derive.ParseVersion(version)
	data.Version, data.Prerelease = version, v.Prerelease()
	rec.CreatedAt = releaseDate(dated)
	rec.UpdatedAt, rec.LastActivityAt = rec.CreatedAt, rec.CreatedAt
	rec.Tags = append(slices.Clone(rec.Tags), derive.ReleaseTags(data, rec.Body)...)
	return rec.With(data)
}

// releaseSection is the part of a page about one release.
type releaseSection struct {
	version string
	start   int // offset of its heading
	text    string
}

// splitReleases cuts a page at the headings that name a version. If such
// headings have several levels, the highest counts; two parts about the same
// version become one section.
func splitReleases(body string) []releaseSection {
	var found []releaseSection
	top := 7
	var fence markdown.Fence
	for at := 0; at < len(body); {
		line, _, _ := strings.Cut(body[at:], "\n")
		part := fence.Next(line)
		if m := versionHeading.FindStringSubmatch(line); m != nil && part == markdown.Text {
			level := len(line) - len(strings.TrimLeft(line, "#"))
			if level < top {
				top, found = level, nil
			}
			if level == top {
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
	return mergeVersions(found)
}

// mergeVersions joins the sections of each version in place of the first.
func mergeVersions(found []releaseSection) []releaseSection {
	at := map[string]int{}
	merged := found[:0]
	for _, s := range found {
		if i, ok := at[s.version]; ok {
			merged[i].text += "\n\n" + s.text
			continue
		}
		at[s.version] = len(merged)
		merged = append(merged, s)
	}
	return merged
}

// releaseTitle returns the title of a release: product and version. A title
// that says more is kept.
func releaseTitle(title, file, version string) string {
	name := productName(title, file)
	if strings.Contains(title, version) && len(strings.Fields(name)) > maxProduct {
		return title
	}
	return name + " " + version
}

// maxProduct is the maximum length of a product's name, in words.
const maxProduct = 5

// productName returns a note's title without version, date and the usual words
// of release notes; else the directory's name.
func productName(title, file string) string {
	for _, less := range []*regexp.Regexp{anyVersion, anyDate, releaseWords} {
		title = less.ReplaceAllString(title, " ")
	}
	title = strings.Trim(strings.Join(strings.Fields(title), " "), " :,()—–-")
	if !strings.ContainsFunc(title, unicode.IsLetter) {
		title = markup.Readable(product(file))
	}
	return title
}

// pageOfNotes completes the title of a page of releases that is only the
// product's name.
const pageOfNotes = " release notes"

// isProduct reports whether the title of a file among release notes is the
// product's name.
func isProduct(title, file string) bool {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return name == product(file) && !strings.Contains(name, "release") &&
		strings.EqualFold(title, strings.ReplaceAll(name, "-", " "))
}

// VersionOf returns the version in the file name of a release note: 3.4.5.md, 3-4-5.mdx.
func VersionOf(name string) string {
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if versionDashes.MatchString(base) {
		base = strings.Replace(base, "-", ".", 2)
	}
	if m := versionName.FindStringSubmatch(base); m != nil {
		return m[1]
	}
	return ""
}

// aboutRepository reports whether a file tells of a repository and how to work on it, by
// its name or that of a folder.
func aboutRepository(file string) bool {
	for name := range strings.SplitSeq(strings.ToLower(file), "/") {
		switch strings.TrimSuffix(name, path.Ext(name)) {
		case "readme", "contributing", "contribute", "maintenance", "maintaining", "development", "security", "support",
			"governance", "code_of_conduct", "code-of-conduct", "licence", "license":
			return true
		}
	}
	return false
}

// product returns the product in the name of a release note's directory:
// "wallet" for "wallet-releases".
func product(name string) string {
	base := strings.TrimSuffix(path.Base(path.Dir(name)), "-releases")
	if base == "release-notes" || base == "releases" {
		base = strings.TrimSuffix(path.Base(name), path.Ext(name))
	}
	return base
}

// releaseDate finds the date of a release in its note: in the first kilobyte,
// "released on May 3, 2031" or a date next to the version.
func releaseDate(text string) time.Time {
	text = text[:min(len(text), 1024)]
	if m := releasedOn.FindStringSubmatch(text); m != nil {
		if at := dates.At(m[1], dates.Day|dates.Free); !at.IsZero() {
			return at
		}
	}
	line, _, _ := strings.Cut(text, "\n")
	return dates.At(isoDate.FindString(line), dates.Day)
}
