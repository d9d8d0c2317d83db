package markup

import (
	"path"
	"regexp"
	"strings"
)

// inlineMarkup finds, leftmost first: a literal, a role, a link with its
// address, a reference, a substitution. \x60 is the backtick.
var inlineMarkup = regexp.MustCompile(`(?s)\x60\x60.+?\x60\x60|:[A-Za-z][\w:+.-]*:\x60[^\x60]+\x60|` +
	`\x60[^\x60<>]*<[^\x60<>]*>\x60_{0,2}|\x60[^\x60]+\x60_{1,2}|\|[^|\s][^|\n]{0,60}\|_{0,2}`)

// buildValue matches the name of a substitution that is only defined when the
// pages are built: "download_link".
var buildValue = regexp.MustCompile(`^[a-z]\w*(?:[_-]\w+)+$`)

// inline converts the inline markup of a paragraph to Markdown.
func (r *rst) inline(text string) string {
	if !strings.ContainsAny(text, "`|\\") {
		return text
	}
	var b strings.Builder
	at := 0
	for _, m := range inlineMarkup.FindAllStringIndex(text, -1) {
		b.WriteString(unescape(text[at:m[0]]))
		b.WriteString(r.span(text[m[0]:m[1]]))
		at = m[1]
	}
	b.WriteString(unescape(text[at:]))
	return b.String()
}

// escaped matches a backslash and the escaped character; an escaped blank only
// ends markup, so both are dropped.
var escaped = regexp.MustCompile(`\\(?:[ \n]|([!-/:-@\[-\x60{-~]))`)

func unescape(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	return escaped.ReplaceAllString(text, "$1")
}

func (r *rst) span(s string) string {
	switch {
	case strings.HasPrefix(s, "``"):
		code := strings.TrimSuffix(strings.TrimPrefix(s, "``"), "``")
		if strings.Contains(code, "`") {
			return s
		}
		return "`" + strings.ReplaceAll(code, "\n", " ") + "`"
	case s[0] == ':':
		role, content, _ := strings.Cut(s[1:], ":`")
		return roleText(role, strings.TrimSuffix(content, "`"))
	case s[0] == '|':
		name := strings.Trim(s, "|_")
		if value, ok := r.subs[name]; ok {
			return value
		}
		if buildValue.MatchString(name) {
			return label(name)
		}
		return s
	}
	linked := strings.HasSuffix(s, "_")
	content := strings.Trim(strings.TrimRight(s, "_"), "`")
	if text, target, ok := cutTarget(content); ok {
		text = unescape(text)
		if strings.HasPrefix(target, "http") {
			return "[" + text + "](" + target + ")"
		}
		return text
	}
	if linked {
		return content
	}
	return s
}

// cutTarget splits "text <target>".
func cutTarget(s string) (text, target string, ok bool) {
	open := strings.LastIndexByte(s, '<')
	if open < 0 || !strings.HasSuffix(strings.TrimSpace(s), ">") {
		return s, "", false
	}
	target = strings.TrimSuffix(strings.TrimSpace(s[open+1:]), ">")
	if text = strings.Join(strings.Fields(s[:open]), " "); text == "" {
		text = target
	}
	return text, target, true
}

// roleText returns the visible text of :role:`content`.
func roleText(role, content string) string {
	if i := strings.LastIndexByte(role, ':'); i >= 0 {
		role = role[i+1:] // the domain: py:class
	}
	text, _, titled := cutTarget(content)
	switch role {
	case "math", "code", "kbd", "command", "file", "samp", "envvar", "program", "option":
		return "`" + content + "`"
	case "sub", "sup", "subscript", "superscript", "term", "abbr", "guilabel", "menuselection", "strong", "emphasis":
		return text
	}
	if titled {
		return text
	}
	text = strings.TrimLeft(strings.Join(strings.Fields(text), " "), "!~")
	switch {
	case strings.HasSuffix(role, "doc") || strings.HasSuffix(role, "ref") || role == "download" || role == "numref":
		return label(text)
	case strings.HasPrefix(content, "~"):
		return text[strings.LastIndexByte(text, '.')+1:]
	}
	return text
}

// label makes a cross-reference without text readable: the last part of its
// path, or its words.
func label(target string) string {
	if strings.Contains(target, "/") {
		dir, base := path.Split(strings.TrimRight(target, "/"))
		if base == "index" && path.Base(dir) != "." && path.Base(dir) != "/" {
			base = path.Base(dir)
		}
		target = base
	}
	if Format(target) != "" {
		target = strings.TrimSuffix(target, path.Ext(target))
	}
	target = strings.NewReplacer("-", " ", "_", " ").Replace(target)
	return strings.TrimSpace(target)
}
