package markdown

import (
	"html"
	"regexp"
	"strings"
)

var (
	image     = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?`)
	link      = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])`)
	footnote  = regexp.MustCompile(`\[\^[^\]]+\]`)
	role      = regexp.MustCompile(":[a-z:]+:`([^`<]*?)(?:\\s*<[^>]*>)?`")
	autolink  = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)
	tag       = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)
	strong    = regexp.MustCompile(`\*\*([^*]+)\*\*|__([^_]+)__`)
	emphasis  = regexp.MustCompile(`(^|[\s("'“‘])[*_]([^*_\s](?:[^*_]*[^*_\s])?)[*_]($|[\s.,;:!?)"'”’])`)
	escape    = regexp.MustCompile("\\\\([\\\\`*_{}\\[\\]()#+.!&|<>~$-])")
	blanks    = regexp.MustCompile(`\s+`)
	lineBreak = regexp.MustCompile(`(?i)\\?<br\s*/?>|\\$`)
)

// codes are spans of code; a span may be marked by several.
var codes = regexp.MustCompile("`+[^`]+`+")

// Prose is Inline with spans of code as they are, each between single marks.
func Prose(s string) string {
	const private = 0xe000 // characters that stand for the spans
	var spans []string
	s = codes.ReplaceAllStringFunc(role.ReplaceAllString(s, "$1"), func(span string) string {
		if len(spans) == 6_000 {
			return span
		}
		spans = append(spans, "`"+strings.TrimSpace(strings.Trim(span, "`"))+"`")
		return string(rune(private + len(spans) - 1))
	})
	s = Inline(s)
	for i, span := range spans {
		s = strings.ReplaceAll(s, string(rune(private+i)), span)
	}
	return s
}

// Inline returns a paragraph as plain text on one line: without the inline marks
// of Markdown, images and HTML.
func Inline(s string) string {
	s = lineBreak.ReplaceAllString(s, " ")
	s = image.ReplaceAllString(s, "")
	s = footnote.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = role.ReplaceAllString(s, "$1")
	s = autolink.ReplaceAllString(s, "$1")
	s = tag.ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "`", "")
	s = strong.ReplaceAllString(s, "$1$2")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	s = escape.ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(html.UnescapeString(s), "**", "")
	s = strings.ReplaceAll(s, "\u00a0", " ")
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}
