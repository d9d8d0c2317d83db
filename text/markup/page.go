// Package markup reads documentation pages (Markdown, MDX, reStructuredText,
// MediaWiki, HTML and plain text) into one clean form: Markdown-like text with "#"
// headings and ``` fences, which a single passage cutter can read.
//
// It handles only syntax. It imports only leaves of this module, opens no files
// (included files come through Input.Resolve) and never fails: what it cannot
// parse stays text. Its running time is linear in the size of the page
// and its includes, which is bounded.
package markup

import (
	"cmp"
	"path"
	"strings"
	"unicode/utf8"

	"almanac/text/markdown"
)

// Input is a page as stored by its source.
type Input struct {
	// Path is the path of the page, with slashes. Its extension selects the
	// format; relative includes start from its directory.
	Path string
	Text string
	// Resolve returns the text of an included file by its path in the tree of
	// Path. If it is nil, nothing is included.
	Resolve func(path string) (string, bool)
}

// Page is what a reader sees of an Input.
type Page struct {
	Format      string    // markdown, mdx, rst, mediawiki, html, text
	Title       string    // never empty; not just "Overview" or "1.2.3" if the page says more
	Description string    // from the front matter
	Body        string    // Markdown-like text
	Headings    []Heading // the first ones in Body
	Includes    []string
	Stub        bool // hardly any text of its own: a title, a to-do list, a table of contents; or a template
}

// Formats of pages.
const (
	formatMarkdown  = "markdown"
	formatMDX       = "mdx"
	formatRST       = "rst"
	formatMediawiki = "mediawiki"
	formatHTML      = "html"
	formatText      = "text"
)

var formats = map[string]string{
	".md": formatMarkdown, ".markdown": formatMarkdown, ".mdx": formatMDX,
	".rst": formatRST, ".inc": formatRST, ".mediawiki": formatMediawiki,
	".html": formatHTML, ".htm": formatHTML, ".txt": formatText,
}

// Format returns the page format for a path's extension, or "" if it is not a
// page.
func Format(name string) string { return formats[strings.ToLower(path.Ext(name))] }

// Parse reads a page. A path of unknown extension is read as plain text.
func Parse(in Input) Page {
	format := Format(in.Path)
	if format == "" {
		format = formatText
	}
	text := Clean(in.Text)
	l := &loader{resolve: in.Resolve, stack: []string{path.Clean(in.Path)}, budget: maxIncluded}
	p := Page{Format: format}
	title := ""
	if format != formatRST && format != formatMediawiki && format != formatText {
		var front markdown.Front
		front, text, _ = markdown.CutFront(text)
		title, p.Description = plainText(front.Text("title")), plainText(front.Text("description"))
	}
	body, named := l.convert(in.Path, text, format, nil)
	p.Body = body
	p.Includes = l.included
	p.Headings = headings(p.Body)
	p.Title = titler{in.Path, p.Body}.title(cmp.Or(title, named), p.Description, p.Headings)
	p.Stub = IsStub(p.Body) || IsTemplate(in.Path)
	return p
}

// Clean turns any bytes into plain text: valid UTF-8 without byte-order mark,
// NUL and other control characters, with \n line ends and ordinary blanks and
// hyphens in place of non-breaking ones.
func Clean(s string) string {
	s = strings.TrimPrefix(s, "\ufeff")
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.ContainsFunc(s, isControl) {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.Map(func(r rune) rune {
			switch {
			case r == '\r' || r == '\v' || r == '\f' || r == '\u2028':
				return '\n'
			case r == '\u00a0':
				return ' '
			case r == '\u2011':
				return '-'
			case isControl(r):
				return -1
			}
			return r
		}, s)
	}
	return s
}

// isControl reports whether Clean replaces a character: control characters
// other than tab and newline, separators, invisible marks left by editors, and
// non-breaking characters.
func isControl(r rune) bool {
	if r < 0x7f {
		return r < ' ' && r != '\n' && r != '\t'
	}
	switch r {
	case 0x7f, '\u00a0', '\u00ad', '\u2011', '\u2028', '\u200b', '\u2060', '\ufeff':
		return true
	}
	return false
}

// tidy trims trailing space and keeps at most one consecutive empty line,
// except inside fences.
func tidy(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var fence markdown.Fence
	blank := true
	for line := range strings.SplitSeq(s, "\n") {
		part := fence.Next(line)
		line = strings.TrimRight(line, " \t")
		if line == "" && part == markdown.Text {
			if !blank {
				b.WriteByte('\n')
			}
			blank = true
			continue
		}
		blank = false
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), "\n")
}

// Heading is one "#" line of a Page's body, without inline markup.
type Heading struct {
	Level int // 1 to 6
	Text  string
}

// maxHeadings is the number of headings that a page's title is chosen from.
const maxHeadings = 500

// headings lists the first headings of a converted page.
func headings(body string) []Heading {
	var hs []Heading
	for b := range markdown.Blocks(body) {
		if len(hs) == maxHeadings {
			break
		}
		if b.Kind != markdown.Heading || b.Underlined {
			continue
		}
		if text := plainText(b.Text); text != "" {
			hs = append(hs, Heading{b.Level, text})
		}
	}
	return hs
}
