package markdown

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
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

// mark is an inline mark with what stays of it. Every one has one of the signs: most
// texts have none, and that is found faster than by the pattern.
type mark struct {
	signs   string
	pattern *regexp.Regexp
	stays   string
}

// Marks in the order in which they are taken away, before and after those of code.
var (
	beforeCode = []mark{{`<\`, lineBreak, " "}, {"!", image, ""}, {"^", footnote, ""}, {"[", link, "$1"},
		{"`", role, "$1"}, {"<", autolink, "$1"}, {"<", tag, ""}}
	afterCode = []mark{{"*_", strong, "$1$2"}, {"*_", emphasis, "$1$2$3"}, {`\`, escape, "$1"}}
)

func without(s string, marks []mark) string {
	for _, m := range marks {
		if strings.ContainsAny(s, m.signs) {
			s = m.pattern.ReplaceAllString(s, m.stays)
		}
	}
	return s
}

// codes are spans of code; a span may be marked by several.
var codes = regexp.MustCompile("`+[^`]+`+")

// Prose is Inline with spans of code as they are, each between single marks.
func Prose(s string) string {
	if !strings.Contains(s, "`") {
		return Inline(s)
	}
	// A byte that no text has, not even as an entity, and a character of the span's number stand for a span.
	const sign, first = "\xff", 0x100000
	var spans []string
	s = strings.ToValidUTF8(s, "")
	s = codes.ReplaceAllStringFunc(role.ReplaceAllString(s, "$1"), func(span string) string {
		if len(spans) == 6_000 {
			return span
		}
		spans = append(spans, "`"+strings.TrimSpace(strings.Trim(span, "`"))+"`")
		return sign + string(rune(first+len(spans)-1))
	})
	parts := strings.Split(Inline(s), sign)
	for i, part := range parts[1:] {
		r, size := utf8.DecodeRuneInString(part)
		if at := int(r) - first; at >= 0 && at < len(spans) {
			parts[i+1] = spans[at] + part[size:]
		}
	}
	return strings.Join(parts, "")
}

// Inline returns a paragraph as plain text on one line: without the inline marks
// of Markdown, images and HTML.
func Inline(s string) string {
	s = without(s, beforeCode)
	s = without(strings.ReplaceAll(s, "`", ""), afterCode)
	s = strings.ReplaceAll(html.UnescapeString(s), "**", "")
	s = strings.ReplaceAll(s, "\u00a0", " ")
	if strings.ContainsAny(s, "\t\n\f\r") || strings.Contains(s, "  ") {
		s = blanks.ReplaceAllString(s, " ")
	}
	return strings.TrimSpace(s)
}
