package options

import (
	"io/fs"
	"path/filepath"
	"regexp"

	"almanac/text/dates"
	"almanac/text/glob"
	"almanac/text/webaddress"
)

// format is the form of a text.
type format struct {
	want    string // what a problem asks for
	pattern string // in a schema
	schema  string // format in a schema
	ok      func(string) bool
	hidden  bool // a problem does not repeat the text, which may hold a secret
	bare    bool // the text loses the slashes at its end
}

var slugForm, repositoryForm = regexp.MustCompile(slugPattern), regexp.MustCompile(repositoryPattern)

const (
	wantAddress       = "web address: want one that begins with https:// and has no user"
	addressPattern    = `^https?://`
	slugPattern       = `^[a-z0-9]+(?:[._-][a-z0-9]+)*$`
	repositoryPattern = `^[A-Za-z0-9][\w-]*/\.*[\w-][\w.-]*$`
)

// formats are the values of the tag format. A file is one, or a directory, in the
// network's folder or at an absolute path; a path is that of anything else, such as
// a repository. A base is an address before the paths of an API; an env is the name
// of an environment variable, whose value is no part of what determines how a source
// is read.
var formats = map[string]format{
	"address": {want: wantAddress, pattern: addressPattern, schema: "uri", ok: isAddress, hidden: true},
	"base":    {want: wantAddress, pattern: addressPattern, schema: "uri", ok: isAddress, hidden: true, bare: true},
	"date":    {want: "date: want one such as 2031-06-17", pattern: `^\d{4}-\d{2}-\d{2}$`, schema: "date", ok: isDate},
	"slug": {want: "slug: want lower-case letters, digits and hyphens", pattern: slugPattern,
		ok: slugForm.MatchString},
	"repository": {want: "repository: want owner/name", pattern: repositoryPattern, ok: repositoryForm.MatchString},
	"glob": {want: "pattern of paths such as docs/**", ok: func(s string) bool {
		_, err := glob.Exact([]string{s})
		return err == nil
	}},
	"file": {want: "path in the network's folder: want a relative one that stays inside, or an absolute one",
		ok: func(s string) bool { return fs.ValidPath(s) || filepath.IsAbs(s) }},
	"path": {ok: func(string) bool { return true }},
	"env":  {ok: func(string) bool { return true }},
}

func isAddress(s string) bool { return webaddress.Check(s) == nil }

func isDate(s string) bool { return !dates.At(s, dates.Day).IsZero() }
