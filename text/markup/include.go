package markup

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Limits of the includes of one page, so that including itself or a snippet a
// million times stays cheap.
const (
	maxIncludeDepth = 8
	maxIncluded     = 4 << 20 // bytes per page, over all includes
	includeCost     = 256     // minimum bytes charged per include
)

// loader opens included files for one page.
type loader struct {
	resolve  func(string) (string, bool)
	stack    []string // the page and the open files around the current one
	included []string
	budget   int // bytes that may still be included
}

// open finds the file that target refers to on the page from. A relative target
// starts at that page's directory, an absolute one at the root of the
// documentation tree: the nearest parent directory that has the file.
func (l *loader) open(from, target string) (name, text string, ok bool) {
	target = strings.TrimSpace(target)
	if l.resolve == nil || target == "" || len(l.stack) > maxIncludeDepth || strings.Contains(target, "://") {
		return "", "", false
	}
	dir := path.Dir(path.Clean(from))
	rest, absolute := strings.CutPrefix(target, "/")
	for {
		name = path.Join(dir, rest)
		if l.budget -= includeCost; l.budget <= 0 {
			return "", "", false
		}
		if !slices.Contains(l.stack, name) && name != ".." && !strings.HasPrefix(name, "../") {
			if text, ok = l.resolve(name); ok {
				break
			}
		}
		if !absolute || dir == "." || dir == "/" {
			return "", "", false
		}
		dir = path.Dir(dir)
	}
	if l.budget -= len(text); l.budget <= 0 {
		return "", "", false
	}
	if !slices.Contains(l.included, name) {
		l.included = append(l.included, name)
	}
	return name, Clean(text), true
}

// alias is what the name of an imported file may begin with in place of a path:
// "@site/" of Docusaurus, "@/", "~/" and names that a site defines.
var alias = regexp.MustCompile(`^(?:@([\w-]*)|~)/`)

// openImport finds an imported file. An alias stands for the root of the site,
// its sources or a directory of that name.
func (l *loader) openImport(from, target string) (name, text string, ok bool) {
	m := alias.FindStringSubmatch(target)
	if m == nil {
		return l.open(from, target)
	}
	rest := target[len(m[0]):]
	for _, root := range []string{"/", "/src/", path.Join("/", m[1]) + "/"} {
		if name, text, ok = l.open(from, root+rest); ok {
			break
		}
	}
	return name, text, ok
}

// within runs f with name on the stack of open files.
func (l *loader) within(name string, f func()) {
	l.stack = append(l.stack, name)
	f()
	l.stack = l.stack[:len(l.stack)-1]
}

// convert turns one file's text into Markdown-like text; named is the title in
// an HTML head. The values are what expressions in MDX may name.
func (l *loader) convert(name, text, format string, values map[string]string) (body, named string) {
	switch format {
	case formatText:
		return tidy(text), ""
	case formatRST:
		return tidy(l.rst(name, text)), ""
	case formatMediawiki:
		text, format = newMediawiki(text).convert(), formatMarkdown
		fallthrough
	default:
		m := &converter{load: l, path: name, format: format, imports: map[string]string{}, values: map[string]string{}}
		maps.Copy(m.values, values)
		return tidy(m.convert(text)), m.title
	}
}
