package markup

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTitle is the longest title in characters; longer ones are cut at a word.
const maxTitle = 160

// generic titles tell nothing without the page's surroundings.
var generic = set("index", "overview", "introduction", "intro", "readme", "read me", "release notes", "releases", "release",
	"release note", "table of contents", "contents", "toc", "home", "main", "reference", "references", "tutorial", "tutorials", "guide",
	"guides", "details", "detail", "details and history", "summary", "changelog", "license", "about", "documentation", "docs", "page", "untitled", "title",
	"how-tos", "howtos", "how-to", "explanations", "explanation", "concepts", "examples", "example", "notes", "background",
	"setup", "installation", "install", "configuration", "configure", "operate", "usage", "faq", "glossary", "quickstart",
	"getting started", "get started", "prerequisites", "requirements", "troubleshooting", "manage", "download", "optimize",
	"secure", "monitor", "observe", "recover", "upgrade", "template", "contributing", "maintenance", "overview and assumptions",
	"architecture", "security", "testing", "development", "what's new", "whats new")

// structural directories say how a tree is laid out, not what it is about.
var structural = set("", ".", "/", "docs", "doc", "src", "source", "sources", "content", "pages", "main", "master", "index", "sphinx",
	"en", "md", "rst", "mdx", "overview", "reference", "howtos", "how-tos", "tutorials", "tutorial", "explanations", "explanation",
	"guides", "guide", "sdk", "operations", "release-notes", "readmes", "generated", "files", "rdoc")

var (
	versionTitle = regexp.MustCompile(`^[vV]?\d+([.-]\d+)+([.-]?(rc|alpha|beta|snapshot|dev)[.\d-]*)?(\s*[—–-]+\s*\d{4}-\d\d-\d\d)?$`)
	markupLink   = regexp.MustCompile(`!?\[([^\[\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)`)
	headingID    = regexp.MustCompile(`\s*\{#[\w-]+\}\s*$`)
	markupTag    = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)
)

// title chooses what a page is called: what its front matter says, else its
// first heading that says something, else its file name. A title that many
// pages share, or that is only a version, is replaced by a heading or
// description that contains it and says more, or else preceded by the
// directory it lies in.
func title(named, description string, hs []Heading, file string) string {
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
		name = fileTitle(file)
	}
	if isGeneric(name) || versionTitle.MatchString(name) {
		name = specific(name, description, hs, file)
	}
	return cutTitle(name)
}

func specific(name, description string, hs []Heading, file string) string {
	low := strings.ToLower(name)
	for i, h := range hs {
		if i < 2 && h.Level == 1 && strings.Contains(strings.ToLower(h.Text), low) && len(h.Text) > len(name) {
			return h.Text
		}
	}
	if d := strings.TrimRight(description, ". "); strings.Contains(strings.ToLower(d), low) && len(d) <= 100 &&
		versionTitle.MatchString(name) {
		return d
	}
	if own := fileTitle(file); !isGeneric(own) && !versionTitle.MatchString(own) && len(own) > 4 && !strings.EqualFold(own, name) {
		return own + ": " + name
	}
	if dir := directoryTitle(file, name); dir != "" {
		return dir + ": " + name
	}
	return name
}

// versions counts the headings that are versions: more than one makes a page
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

// fileTitle makes a file's name readable; an index is called after its
// directory.
func fileTitle(file string) string {
	base := path.Base(file)
	if format := Format(base); format != "" {
		base = strings.TrimSuffix(base, path.Ext(base))
	}
	if versionTitle.MatchString(base) {
		return base
	}
	return readable(base)
}

// directoryTitle is the nearest directory above file that is about something
// and not already in the title.
func directoryTitle(file, title string) string {
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		base := strings.ToLower(path.Base(dir))
		if structural[base] || versionTitle.MatchString(base) || generic[strings.ReplaceAll(base, "-", " ")] {
			continue
		}
		if name := readable(path.Base(dir)); !strings.EqualFold(name, title) {
			return name
		}
	}
	return ""
}

// readable turns a file or label name into words: "kms_key-rotation" into
// "Kms key rotation".
func readable(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
	if name == "" {
		return "Untitled"
	}
	if strings.ToUpper(name) == name && len(name) > 4 {
		name = strings.ToLower(name)
	}
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

// plainText takes inline markup off one line.
func plainText(s string) string {
	s = headingID.ReplaceAllString(s, "")
	s = markupLink.ReplaceAllString(s, "$1")
	s = markupTag.ReplaceAllString(s, "")
	s = strings.NewReplacer("**", "", "__", "", "`", "", `\`, "").Replace(s)
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 2 && s[0] == '*' && s[len(s)-1] == '*' {
		s = s[1 : len(s)-1]
	}
	return strings.TrimSpace(strings.TrimRight(s, "#"))
}

func cutTitle(s string) string {
	if utf8.RuneCountInString(s) <= maxTitle {
		return s
	}
	cut := string([]rune(s)[:maxTitle])
	if at := strings.LastIndexByte(cut, ' '); at > maxTitle/2 {
		cut = cut[:at]
	}
	return cut + "…"
}

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}
