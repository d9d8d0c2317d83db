package markup

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"almanac/text/markdown"
)

// maxTitle is the maximum length of a title in characters; longer ones are cut
// at a word.
const maxTitle = 160

// generic titles mean nothing without the page's context.
var generic = set("index", "overview", "introduction", "intro", "readme", "read me", "release notes", "releases",
	"release", "release note", "table of contents", "contents", "toc", "home", "main", "reference", "references",
	"tutorial", "tutorials", "guide", "guides", "details", "detail", "details and history", "summary", "changelog",
	"license", "about", "documentation", "docs", "page", "untitled", "title", "how-tos", "howtos", "how-to",
	"explanations", "explanation", "concepts", "examples", "example", "notes", "background",
	"setup", "installation", "install", "configuration", "configure", "operate", "usage", "faq", "glossary",
	"quickstart", "getting started", "get started", "prerequisites", "requirements", "troubleshooting", "manage",
	"download", "optimize", "secure", "monitor", "observe", "recover", "upgrade", "template", "contributing",
	"maintenance",
	"overview and assumptions", "architecture", "security", "testing", "development", "what's new", "whats new")

// structural directories describe the layout of a tree, not its subject.
var structural = set("", ".", "/", "docs", "doc", "src", "source", "sources", "content", "pages", "main", "master",
	"index", "sphinx", "en", "md", "rst", "mdx", "overview", "reference", "howtos", "how-tos", "tutorials", "tutorial",
	"explanations",
	"explanation", "guides", "guide", "sdk", "operations", "release-notes", "readmes", "generated", "files", "rdoc")

var (
	versionTitle = regexp.MustCompile(`^[vV]?\d+([.-]\d+)+([.-]?(rc|alpha|beta|snapshot|` +
		`dev)[.\d-]*)?(\s*(?:[—–-]+\s*\d{4}-\d\d-\d\d|\(\d{4}-\d\d-\d\d\)))?$`)
	markupLink = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)`)
	headingID  = regexp.MustCompile(`\s*\{#[\w-]+\}\s*$`)
	markupTag  = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
)

// titler chooses what a page is called.
type titler struct {
	file string
	body string // for the spelling of names
}

// title returns the title of a page: from its front matter, else its first
// meaningful heading, else its file name. A title that many pages share, or
// that is only a version, is replaced by a heading or description that contains
// it and says more, or else prefixed with its directory.
func (t titler) title(named, description string, hs []Heading) string {
	name := named
	for _, h := range hs {
		if name != "" {
			break
		}
		if !isContents(h.Text) {
			name = h.Text
		}
	}
	if name == "" || named == "" && versionTitle.MatchString(name) && versions(hs) > 1 {
		name = t.fromFile()
	}
	switch {
	case isGeneric(name) || versionTitle.MatchString(name):
		name = t.specific(name, description, hs)
	case !strings.Contains(name, " ") && t.fileSaysMore(name):
		name = t.fromFile()
	case isOperation(name):
		if dir := t.fromDirectory(name); dir != "" {
			name = dir + ": " + name
		}
	}
	return markdown.Clip(name, maxTitle)
}

// specific adds the subject to a generic name.
func (t titler) specific(name, description string, hs []Heading) string {
	low := strings.ToLower(name)
	for i, h := range hs {
		if i < 2 && h.Level == 1 && strings.Contains(strings.ToLower(h.Text), low) && len(h.Text) > len(name) &&
			!versionTitle.MatchString(h.Text) {
			return h.Text
		}
	}
	if d := strings.TrimRight(description, ". "); strings.Contains(strings.ToLower(d), low) && len(d) <= 100 &&
		versionTitle.MatchString(name) {
		return d
	}
	own, dir := t.fromFile(), t.fromDirectory(name)
	switch informs := !isGeneric(own) && !versionTitle.MatchString(own) && len(own) > 4; {
	case informs && strings.Contains(strings.ToLower(own), low):
		return own
	case informs:
		return own + ": " + name
	case dir == "":
		return name
	case isIndex(name):
		return dir
	}
	return dir + ": " + name
}

// fileSaysMore reports whether the file name extends a title of one word:
// "tug_backup" extends "Backups".
func (t titler) fileSaysMore(word string) bool {
	own := strings.Fields(strings.ToLower(t.fromFile()))
	singular := strings.TrimSuffix(strings.ToLower(word), "s")
	return len(own) > 1 && !strings.ContainsAny(strings.Join(own, ""), "0123456789.") &&
		slices.ContainsFunc(own, func(w string) bool { return strings.TrimSuffix(w, "s") == singular })
}

// isOperation reports whether a title is a lower-case identifier: a call
// ("signMessage") that several interfaces may have.
func isOperation(name string) bool {
	return strings.IndexFunc(name, unicode.IsLower) == 0 && !strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
}

// isIndex reports whether a title only says that the page links to others.
func isIndex(name string) bool {
	switch strings.ToLower(name) {
	case "index", "readme", "toc", "contents", "table of contents", "home", "main":
		return true
	}
	return false
}

// versions counts the headings that are versions: more than one makes it a page
// of many releases.
func versions(hs []Heading) (n int) {
	for _, h := range hs {
		if versionTitle.MatchString(h.Text) {
			n++
		}
	}
	return n
}

func isGeneric(s string) bool { return generic[strings.ToLower(strings.Trim(s, " .:!"))] }

func isContents(s string) bool {
	switch strings.ToLower(s) {
	case "table of contents", "contents", "toc":
		return true
	}
	return false
}

// leadingNumber orders files in a directory: "03-sails".
var leadingNumber = regexp.MustCompile(`^\d{1,3}[-_. ]+`)

// fromFile returns the readable form of the file name.
func (t titler) fromFile() string {
	base := path.Base(t.file)
	if Format(base) != "" {
		base = strings.TrimSuffix(base, path.Ext(base))
	}
	if versionTitle.MatchString(base) {
		return strings.Join(strings.Fields(base), " ")
	}
	if rest := leadingNumber.ReplaceAllString(base, ""); strings.ContainsFunc(rest, unicode.IsLetter) {
		base = rest
	}
	name, _ := Respell(Readable(base), t.body)
	return name
}

// fromDirectory returns the nearest parent directory that is meaningful and not
// already in the title.
func (t titler) fromDirectory(title string) string {
	for dir := path.Dir(t.file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		base := strings.ToLower(path.Base(dir))
		if structural[base] || versionTitle.MatchString(base) || generic[strings.ReplaceAll(base, "-", " ")] {
			continue
		}
		if name, _ := Respell(Readable(path.Base(dir)), t.body); !strings.EqualFold(name, title) {
			return name
		}
	}
	return ""
}

// Readable turns the name of a file or label into words: "kms_key-rotation"
// into "Kms key rotation".
func Readable(name string) string {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, ""), func(r rune) bool {
		return r == '-' || r == '_' || unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if name == "" {
		return "Untitled"
	}
	if strings.ToUpper(name) == name && len(name) > 4 {
		name = strings.ToLower(name)
	}
	return upperFirst(name)
}

// plainText removes inline markup from a line.
func plainText(s string) string {
	s = headingID.ReplaceAllString(s, "")
	s = markupLink.ReplaceAllString(s, "$1")
	s = markupTag.ReplaceAllString(s, "")
	s = strings.NewReplacer("**", "", "__", "", "`", "", `\`, "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 2 && s[0] == '*' && s[len(s)-1] == '*' {
		s = s[1 : len(s)-1]
	}
	if rest := strings.TrimRight(s, "#"); rest == "" || strings.HasSuffix(rest, " ") { // not C#
		s = rest
	}
	return strings.TrimSpace(s)
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
