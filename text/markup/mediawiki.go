package markup

import (
	"regexp"
	"strings"
)

// mediawiki converts the markup of MediaWiki to Markdown: headings, lists,
// emphasis, links, tables, and code between tags or behind a blank. HTML is left
// to the reader of Markdown; templates stay text. Source: mediawiki.org,
// Help:Formatting, Help:Links and Help:Tables.
type mediawiki struct {
	lines []string
	last  map[string]int // the last line with the end tag of a block of code
	out   strings.Builder
}

var (
	wikiComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	wikiSwitch  = regexp.MustCompile(`__[A-Z]{3,}__`)
	wikiCode    = regexp.MustCompile(`(?i)^\s*<(pre|source|syntaxhighlight)\b([^<>]*)>`)
	wikiLang    = regexp.MustCompile(`(?i)\blang\s*=\s*["']?([\w+#-]+)`)
	// wikiEnds are the end tags of code, footnotes and text without markup.
	wikiEnds  = map[string]*regexp.Regexp{}
	wikiInner = regexp.MustCompile(`\[\[([^\[\]|]+)((?:\|[^\[\]|]*)*)\]\]`)
	wikiOuter = regexp.MustCompile(`\[((?:https?|ftp|ircs?|mailto):[^\s\[\]]+)(?:\s+([^\[\]]*))?\]`)
	wikiImage = regexp.MustCompile(`(?i)^(?:file|image):`)
	// wikiCell matches the attributes in front of a cell's text.
	wikiCell = regexp.MustCompile(`^\s*(?:[a-zA-Z-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s|"']+)\s*)+\|`)
)

func init() {
	for name := range strings.FieldsSeq("pre source syntaxhighlight code tt math nowiki ref") {
		wikiEnds[name] = regexp.MustCompile(`(?i)</` + name + `\s*>`)
	}
}

func newMediawiki(text string) *mediawiki {
	w := &mediawiki{last: map[string]int{}}
	w.lines = strings.Split(wikiComment.ReplaceAllString(text, ""), "\n")
	for i, line := range w.lines {
		if !strings.Contains(line, "</") {
			continue
		}
		for _, name := range []string{"pre", "source", "syntaxhighlight"} {
			if wikiEnds[name].MatchString(line) {
				w.last[name] = i
			}
		}
	}
	return w
}

func (w *mediawiki) convert() string {
	for i := 0; i < len(w.lines); {
		line := w.lines[i]
		text := strings.TrimSpace(line)
		if next := w.code(i); next > i {
			i = next
			continue
		}
		level, title := wikiHeading(text)
		switch {
		case level > 0:
			w.out.WriteString("\n" + strings.Repeat("#", level) + " " + w.inline(title) + "\n\n")
		case strings.HasPrefix(text, "----"):
			w.out.WriteString("\n---\n\n")
		case strings.HasPrefix(text, "{|"):
			i = w.table(i)
			continue
		case strings.IndexAny(line, "*#:;") == 0:
			w.item(line)
		case strings.HasPrefix(line, " ") && text != "" && !strings.HasPrefix(text, "<"):
			end := i + 1
			for end < len(w.lines) && strings.HasPrefix(w.lines[end], " ") && strings.TrimSpace(w.lines[end]) != "" {
				end++
			}
			writeFence(&w.out, "", w.lines[i:end])
			i = end
			continue
		default:
			w.out.WriteString(w.inline(wikiSwitch.ReplaceAllString(text, "")) + "\n")
		}
		i++
	}
	return w.out.String()
}

// code writes the block of code that begins at a line and returns the index of
// the line after it, or i if there is none or it is never closed.
func (w *mediawiki) code(i int) int {
	m := wikiCode.FindStringSubmatch(w.lines[i])
	if m == nil {
		return i
	}
	name := strings.ToLower(m[1])
	last, closed := w.last[name]
	if !closed || last < i {
		return i
	}
	language := ""
	if l := wikiLang.FindStringSubmatch(m[2]); l != nil {
		language = strings.ToLower(l[1])
	}
	var code []string
	rest := w.lines[i][len(m[0]):]
	for end := wikiEnds[name].FindStringIndex(rest); ; end = wikiEnds[name].FindStringIndex(rest) {
		if end != nil {
			code, rest = append(code, rest[:end[0]]), rest[end[1]:]
			break
		}
		code = append(code, rest)
		i++
		rest = w.lines[i]
	}
	if name == "pre" {
		for n := range code {
			code[n] = decode(code[n])
		}
	}
	writeFence(&w.out, language, code)
	if rest = strings.TrimSpace(rest); rest != "" {
		w.out.WriteString(w.inline(rest) + "\n")
	}
	return i + 1
}

// wikiHeading reads "== title ==".
func wikiHeading(text string) (level int, title string) {
	title = strings.TrimLeft(text, "=")
	level = len(text) - len(title)
	short := strings.TrimRight(title, "=")
	if level = min(level, len(title)-len(short)); level == 0 || level > 6 || strings.TrimSpace(short) == "" {
		return 0, ""
	}
	return level, strings.TrimSpace(short)
}

// item writes a line of a list. Its marks are those of the lists around it.
func (w *mediawiki) item(line string) {
	text := strings.TrimLeft(line, "*#:;")
	marks := line[:len(line)-len(text)]
	indent := 0
	for _, c := range marks[:min(len(marks)-1, maxNested)] {
		switch c {
		case '*':
			indent += len("- ")
		case '#':
			indent += len("1. ")
		}
	}
	text = w.inline(strings.TrimSpace(text))
	switch marks[len(marks)-1] {
	case '*':
		text = "- " + text
	case '#':
		text = "1. " + text
	case ';':
		term, meaning, _ := strings.Cut(text, " : ")
		text = strings.TrimSpace("**" + strings.TrimSpace(term) + "** " + strings.TrimSpace(meaning))
	}
	w.out.WriteString(strings.Repeat(" ", indent) + text + "\n")
}

// table writes the table that begins at a line, a row a line, and returns the
// index of the line after it.
func (w *mediawiki) table(i int) int {
	var row [][]string // the lines of each cell
	endRow := func() {
		for _, cell := range row {
			w.out.WriteString("| " + strings.Join(cell, " ") + " ")
		}
		if len(row) > 0 {
			w.out.WriteString("|\n")
		}
		row = nil
	}
	w.out.WriteByte('\n')
	for i++; i < len(w.lines); i++ {
		text := strings.TrimSpace(w.lines[i])
		switch {
		case strings.HasPrefix(text, "|}"):
			endRow()
			w.out.WriteByte('\n')
			return i + 1
		case strings.HasPrefix(text, "|-"):
			endRow()
		case strings.HasPrefix(text, "|+"):
			if caption := w.cell(text[2:]); caption != "" {
				w.out.WriteString("**" + caption + "**\n\n")
			}
		case strings.HasPrefix(text, "!"):
			for cell := range strings.SplitSeq(strings.ReplaceAll(text[1:], "!!", "||"), "||") {
				row = append(row, []string{w.cell(cell)})
			}
		case strings.HasPrefix(text, "|"):
			for cell := range strings.SplitSeq(text[1:], "||") {
				row = append(row, []string{w.cell(cell)})
			}
		case text != "" && len(row) > 0:
			row[len(row)-1] = append(row[len(row)-1], w.cell(text))
		}
	}
	endRow()
	return i
}

// cell returns the text of a cell, without its attributes.
func (w *mediawiki) cell(text string) string {
	text = text[len(wikiCell.FindString(text)):]
	return strings.ReplaceAll(w.inline(strings.TrimSpace(text)), "|", `\|`)
}

// inline converts the markup within a line, except in code.
func (w *mediawiki) inline(text string) string {
	if !strings.ContainsAny(text, "'[<") {
		return text
	}
	var b strings.Builder
	missing := map[string]bool{} // end tags that the rest of the line lacks
	done := 0
	for at := 0; ; {
		next := strings.IndexByte(text[at:], '<')
		if next < 0 {
			break
		}
		at += next
		t, ok := parseTag(text[at:])
		name := strings.ToLower(t.name)
		end := wikiEnds[name]
		if !ok || t.closing || end == nil || missing[name] {
			if ok && name == "references" {
				b.WriteString(wikiMarkup(text[done:at]))
				done = at + t.size
			}
			at++
			continue
		}
		rest := text[at+t.size:]
		span := []int{0, 0}
		if !t.void {
			if span = end.FindStringIndex(rest); span == nil {
				missing[name] = true
				at++
				continue
			}
		}
		b.WriteString(wikiMarkup(text[done:at]))
		b.WriteString(wikiSpan(name, strings.TrimSpace(rest[:span[0]])))
		at += t.size + span[1]
		done = at
	}
	b.WriteString(wikiMarkup(text[done:]))
	return b.String()
}

// wikiSpan returns the content of a tag within a line.
func wikiSpan(name, content string) string {
	switch {
	case content == "" || name == "nowiki":
		return content
	case name == "ref":
		return " (" + wikiMarkup(content) + ")"
	}
	return "<code>" + content + "</code>" // which the reader of Markdown knows
}

var wikiEmphasis = strings.NewReplacer("'''''", "***", "'''", "**", "''", "*")

// wikiMarkup converts links and emphasis.
func wikiMarkup(text string) string {
	text = wikiInner.ReplaceAllStringFunc(text, func(link string) string {
		m := wikiInner.FindStringSubmatch(link)
		target, label := strings.TrimSpace(m[1]), m[2][strings.LastIndexByte(m[2], '|')+1:]
		switch {
		case wikiImage.MatchString(target):
			target = wikiImage.ReplaceAllString(target, "")
			return "![" + strings.TrimSpace(label) + "](" + strings.ReplaceAll(target, " ", "%20") + ")"
		case strings.TrimSpace(label) == "":
			label = target
		}
		return "[" + strings.TrimSpace(label) + "](" + strings.ReplaceAll(target, " ", "%20") + ")"
	})
	text = wikiOuter.ReplaceAllStringFunc(text, func(link string) string {
		m := wikiOuter.FindStringSubmatch(link)
		if label := strings.TrimSpace(m[2]); label != "" {
			return "[" + label + "](" + m[1] + ")"
		}
		return m[1]
	})
	return wikiEmphasis.Replace(text)
}
