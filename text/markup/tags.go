package markup

import (
	"cmp"
	"html"
	"strings"

	"almanac/text/markdown"
)

// tagRule is how a tag is converted.
type tagRule int

const (
	ruleInline  tagRule = iota + 1 // nothing
	ruleBlock                      // a separate line
	ruleHeading                    // a "#" line
	ruleBreak                      // end of line
	ruleItem                       // "- "
	ruleCell                       // " | "
	ruleTerm                       // "- term: "
	rulePre                        // a fence
	ruleCode                       // `…`
	ruleSkip                       // dropped with its content
	ruleImage                      // its alternative text
	ruleTitle                      // the page's title
)

var tagRules = map[string]tagRule{
	"h1": ruleHeading, "h2": ruleHeading, "h3": ruleHeading, "h4": ruleHeading, "h5": ruleHeading, "h6": ruleHeading,
	"br": ruleBreak, "li": ruleItem, "td": ruleCell, "th": ruleCell, "dt": ruleTerm, "pre": rulePre, "code": ruleCode,
	"img": ruleImage, "title": ruleTitle,
}

func init() {
	for rule, names := range map[tagRule]string{
		ruleBlock: "html head body p div section article aside header footer main nav table thead tbody tfoot tr ul " +
			"ol dl dd hr " +
			"details summary blockquote figure figcaption center picture form fieldset",
		ruleInline: "a span b i em strong u s small sub sup kbd samp var mark abbr cite q font label ins del time " +
			"wbr tt " +
			"input link meta source button nobr",
		ruleSkip: "script style svg iframe video audio noscript object template",
	} {
		for _, name := range strings.Fields(names) {
			tagRules[name] = rule
		}
	}
}

// Limits of lookahead in bytes, so that text full of unclosed openings is read
// in linear time.
const (
	maxTag        = 4 << 10
	maxSpan       = 2 << 10
	maxNestedTags = 16
)

// scanner converts tags, components, expressions and entities in text without
// fences to plain Markdown.
type scanner struct {
	m       *converter
	src     string
	at      int
	out     strings.Builder
	depth   int             // open HTML blocks, in which indentation has no meaning
	head    bool            // inside <h1>…: line ends are blanks
	join    bool            // after a term: the next text continues its line
	missing map[string]bool // end tags that do not occur anymore
	ends    map[string]bool // components of Markdown: whether they have an end tag
}

func (m *converter) tags(src string) string {
	if !strings.ContainsAny(src, "<&{\\") && !strings.Contains(src, "``") {
		return src
	}
	s := &scanner{m: m, src: src, missing: map[string]bool{}, ends: map[string]bool{}}
	s.out.Grow(len(src))
	for s.at < len(src) {
		switch src[s.at] {
		case '`':
			s.code()
		case '\\':
			if s.at+1 < len(src) && strings.IndexByte("<{}>", src[s.at+1]) >= 0 {
				s.at++
			}
			s.out.WriteByte(src[s.at])
			s.at++
		case '<':
			s.tag()
		case '{':
			s.expression()
		case '\n':
			s.at++
			switch {
			case s.join:
			case s.head:
				s.out.WriteByte(' ')
			default:
				s.out.WriteByte('\n')
			}
			if s.depth > 0 || s.head {
				s.at += indentOf(src[s.at:])
			}
		default:
			n := strings.IndexAny(src[s.at:], "`\\<{\n")
			if n < 0 {
				n = len(src) - s.at
			}
			s.text(src[s.at : s.at+n])
			s.at += n
		}
	}
	return s.out.String()
}

// text writes text with its entities decoded.
func (s *scanner) text(t string) {
	if strings.IndexByte(t, '&') >= 0 {
		t = decode(t)
	}
	if s.join {
		if t = strings.TrimLeft(t, " \t"); t == "" {
			return
		}
		s.join = false
	}
	s.out.WriteString(t)
}

// decode replaces entities by their characters, as plain text.
func decode(s string) string { return Clean(html.UnescapeString(s)) }

// code copies a code span; backticks without a partner are text.
func (s *scanner) code() {
	s.join = false
	rest := s.src[s.at:]
	n := len(rest) - len(strings.TrimLeft(rest, "`"))
	for at := n; at < min(len(rest), maxSpan); {
		next := strings.IndexAny(rest[at:], "`\n")
		if next < 0 {
			break
		}
		at += next
		if rest[at] == '\n' {
			if strings.HasPrefix(rest[at+1:], "\n") {
				break
			}
			at++
			continue
		}
		run := 0
		for at+run < len(rest) && rest[at+run] == '`' && run <= maxSpan {
			run++
		}
		at += run
		if run == n {
			span := rest[:at]
			if inner := span[n : at-n]; n == 2 && strings.TrimSpace(inner) != "" && !strings.Contains(inner, "`") {
				span = span[1 : at-1] // one backtick suffices
			}
			s.out.WriteString(span)
			s.at += at
			return
		}
	}
	s.out.WriteString(rest[:n])
	s.at += n
}

// tag handles a "<".
func (s *scanner) tag() {
	t, ok := parseTag(s.src[s.at:])
	if !ok {
		rest := s.src[s.at:]
		if s.m.format == formatMDX && (strings.HasPrefix(rest, "<>") || strings.HasPrefix(rest, "</>")) {
			s.at += strings.IndexByte(rest, '>') + 1
			return
		}
		if s.m.format == formatHTML && strings.HasPrefix(rest, "<!") {
			if end := strings.IndexByte(rest[:min(len(rest), maxTag)], '>'); end > 0 {
				s.at += end + 1
				return
			}
		}
		s.out.WriteByte('<')
		s.at++
		return
	}
	upper := t.name[0] >= 'A' && t.name[0] <= 'Z'
	if upper && (s.m.format == formatMDX || s.m.format == formatMarkdown && s.isComponent(t)) {
		s.at += t.size
		s.component(t)
		return
	}
	rule := tagRules[strings.ToLower(t.name)]
	if rule == 0 || upper && len(t.name) == 1 {
		if s.m.format == formatHTML {
			s.at += t.size
			return
		}
		s.out.WriteByte('<') // a placeholder: <your-party>
		s.at++
		return
	}
	s.at += t.size
	s.element(t, rule)
}

// maxComponents is how many names of components are looked for in a Markdown text.
const maxComponents = 100

// isComponent reports whether a tag in Markdown is that of a component, which some
// generators take there, and no placeholder: it ends itself or has an end.
func (s *scanner) isComponent(t tag) bool {
	ends, known := s.ends[t.name]
	if !known && len(s.ends) < maxComponents {
		ends = strings.Contains(s.src, "</"+t.name+">")
		s.ends[t.name] = ends
	}
	return len(t.name) > 1 && (t.void || ends)
}

func (s *scanner) element(t tag, rule tagRule) {
	switch rule {
	case ruleHeading:
		s.join = false
		s.head = !t.closing
		s.newLine()
		if !t.closing {
			s.out.WriteString("\n" + strings.Repeat("#", int(t.name[1]-'0')) + " ")
		} else {
			s.out.WriteByte('\n')
		}
	case ruleBlock:
		s.join = s.join && !(t.closing && t.name == "dl")
		s.newLine()
		if t.closing {
			s.depth = max(s.depth-1, 0)
		} else if !t.void && t.name != "hr" && t.name != "p" {
			s.depth++
		}
	case ruleBreak:
		if s.head || s.inTableRow() {
			s.out.WriteByte(' ')
		} else {
			s.newLine()
		}
	case ruleItem:
		s.newLine()
		if !t.closing {
			s.out.WriteString("- ")
		}
	case ruleCell:
		if t.closing {
			s.out.WriteString(" | ")
		}
	case ruleTerm:
		if t.closing {
			s.out.WriteString(": ")
			s.join = true
		} else {
			s.join = false
			s.newLine()
			s.out.WriteString("- ")
		}
	case rulePre, ruleCode, ruleSkip, ruleTitle:
		if !t.closing && !t.void {
			s.whole(t, rule)
		}
	case ruleImage:
		s.text(t.attrs["alt"])
	}
}

// whole handles elements whose content is consumed as a whole.
func (s *scanner) whole(t tag, rule tagRule) {
	s.join = false
	limit := len(s.src)
	if rule == ruleCode {
		limit = maxTag
	}
	content, ok := s.until("</"+strings.ToLower(t.name), limit)
	switch {
	case !ok:
	case rule == ruleTitle:
		s.m.title = plainText(decode(content))
	case rule == rulePre:
		s.newLine()
		code := decode(markupTag.ReplaceAllString(content, ""))
		writeFence(&s.out, "", strings.Split(code, "\n"))
	case rule == ruleCode:
		code := strings.TrimSpace(decode(markupTag.ReplaceAllString(content, "")))
		switch {
		case code == "" || strings.Contains(code, "`"):
			s.out.WriteString(code)
		case strings.Contains(code, "\n"):
			writeFence(&s.out, "", strings.Split(code, "\n"))
		default:
			s.out.WriteString("`" + strings.Trim(code, "{}\"") + "`")
		}
	}
}

// until returns the content up to an end tag at most limit bytes away and moves
// past it. It only matches end tags in lower case, as nearly all are.
func (s *scanner) until(end string, limit int) (string, bool) {
	if s.missing[end] {
		return "", false
	}
	rest := s.src[s.at:]
	n := strings.Index(rest[:min(limit, len(rest))], end)
	if n < 0 {
		s.missing[end] = limit >= len(rest)
		return "", false
	}
	s.at += n + len(end)
	if gt := strings.IndexByte(s.src[s.at:min(len(s.src), s.at+maxSpan)], '>'); gt >= 0 {
		s.at += gt + 1
	}
	return rest[:n], true
}

// newLine ends the current line unless it is empty.
func (s *scanner) newLine() {
	if s.join {
		return
	}
	if out := s.out.String(); len(out) > 0 && out[len(out)-1] != '\n' {
		s.out.WriteByte('\n')
	}
}

// inTableRow reports whether the current line is a Markdown table row, which a
// line end would break.
func (s *scanner) inTableRow() bool {
	line := s.tail()
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return strings.HasPrefix(strings.TrimLeft(line, " "), "|") || strings.Count(line, " | ") > 1
}

// atLineStart reports whether nothing but blanks was written to the line.
func (s *scanner) atLineStart() bool {
	out := strings.TrimRight(s.tail(), " \t")
	return out == "" || out[len(out)-1] == '\n'
}

// tail is the end of the output, as far as decisions may look back.
func (s *scanner) tail() string {
	out := s.out.String()
	return out[max(0, len(out)-maxNestedTags*32):]
}

// callouts are the components whose name is meaningful to the reader.
var callouts = set("Note", "Warning", "Tip", "Info", "Caution", "Danger", "Important")

// component writes the visible content of a JSX component: the file it was
// imported from, or its title and description, followed by its children.
func (s *scanner) component(t tag) {
	if s.include(t) {
		return
	}
	if s.atLineStart() {
		s.newLine()
	}
	if t.closing {
		return
	}
	name := cmp.Or(t.attrs["title"], t.attrs["label"], t.attrs["header"], t.attrs["name"], t.attrs["path"],
		t.attrs["query"])
	if name == "" {
		if callouts[t.name] {
			s.out.WriteString("**" + t.name + ":** ")
			s.join = true
		}
		s.text(cmp.Or(t.attrs["alt"], t.attrs["tip"]))
		return
	}
	s.newLine()
	s.out.WriteString("**")
	s.join = false
	s.text(strings.Join(strings.Fields(name), " "))
	s.out.WriteString("**")
	if kind := t.attrs["type"]; kind != "" {
		s.text(" (" + kind + ")")
	}
	s.out.WriteByte('\n')
	if d := t.attrs["description"]; d != "" {
		s.text(d + "\n")
	}
}

// include replaces a component by its imported file.
func (s *scanner) include(t tag) bool {
	target := s.m.imports[t.name]
	if target == "" || t.closing {
		return false
	}
	format := Format(target)
	if format == "" {
		return false
	}
	name, text, ok := s.m.load.openImport(s.m.path, target)
	if !ok {
		return false
	}
	_, text, _ = markdown.CutFront(text)
	s.join = false
	values := map[string]string{}
	for key, value := range t.attrs {
		values["props."+key] = value
	}
	s.m.load.within(name, func() {
		body, _ := s.m.load.convert(name, text, format, values)
		s.out.WriteString("\n\n" + body + "\n\n")
	})
	return true
}

// expression handles {…} in MDX: a string and a value that the page exports are
// written, another value or code is dropped. Anything else is text with braces.
func (s *scanner) expression() {
	end := 0
	if s.m.format == formatMDX {
		end = braces(s.src[s.at:])
	}
	if end == 0 {
		s.out.WriteByte('{')
		s.at++
		return
	}
	inner := strings.TrimSpace(s.src[s.at+1 : s.at+end-1])
	text, known := unquote(inner)
	if value, ok := s.m.values[inner]; ok {
		text, known = value, true
	}
	switch {
	case known:
		s.out.WriteString(text)
	case strings.Contains(inner, "=>") || strings.Contains(inner, "<") || isValuePath(inner):
	default:
		s.out.WriteByte('{')
		s.at++
		return
	}
	s.at += end
}

// isValuePath reports whether s is a JavaScript value such as
// networks.main.version.
func isValuePath(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.IndexByte("_$.?[]()'\"", c) >= 0) {
			return false
		}
	}
	return strings.ContainsAny(s, ".(")
}
