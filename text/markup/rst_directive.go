package markup

import (
	"cmp"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
)

// directive is ".. name:: argument", its options and its content.
type directive struct {
	name     string
	argument string
	options  map[string]string
	content  []string // without the common indentation
}

var optionLine = regexp.MustCompile(`^\s*:([A-Za-z][\w-]*):(?:\s+(.*))?$`)

// readDirective splits the block below a directive's first line into
// continued argument, options and content.
func readDirective(name, argument string, block []string) directive {
	d := directive{name: strings.ToLower(name), argument: strings.TrimSpace(argument), options: map[string]string{}}
	indent := commonIndent(block)
	i := 0
	for i < len(block) && len(d.options) == 0 && strings.TrimSpace(block[i]) != "" &&
		!optionLine.MatchString(block[i]) {
		d.content = append(d.content, cutIndent(block[i], indent)) // of the argument or, for a note, its text
		i++
	}
	for i < len(block) {
		m := optionLine.FindStringSubmatch(block[i])
		if m == nil {
			break
		}
		d.options[m[1]] = strings.TrimSpace(m[2])
		i++
	}
	for _, line := range block[i:] {
		d.content = append(d.content, cutIndent(line, indent))
	}
	return d
}

// How directives are converted; others become their argument in bold, followed
// by their content.
type directiveRule int

const (
	dirSkip directiveRule = iota + 1
	dirNote
	dirCode    // the content is code, the argument its language
	dirCommand // the argument is code
	dirSection // the argument becomes a heading above the content
	dirFigure
	dirInclude
	dirLiteralInclude
	dirListTable
	dirCSVTable
	dirContents
	dirMath
	dirRaw
	dirInner // only the content
)

var directiveRules = map[string]directiveRule{}

func init() {
	for rule, names := range map[directiveRule]string{
		dirSkip: "todo wip hidden contents default-role index meta openapi youtube highlight assert generatedinclude " +
			"remoteliteralinclude " +
			"role tabularcolumns sectionauthor codeauthor sectnum target-notes replace unicode todolist raw-html",
		dirNote: "note warning important hint tip caution danger attention error seealso admonition deprecated " +
			"versionadded " +
			"versionchanged versionremoved",
		dirCode: "code code-block sourcecode parsed-literal prompt highlight-code mermaid graphviz uml " +
			"digraph doctest testcode ipython console",
		dirCommand:        "shell success failure command",
		dirSection:        "release-notes rubric topic sidebar",
		dirFigure:         "image figure",
		dirInclude:        "include mdinclude",
		dirLiteralInclude: "literalinclude",
		dirListTable:      "list-table",
		dirCSVTable:       "csv-table",
		dirContents:       "toctree",
		dirMath:           "math",
		dirRaw:            "raw",
		dirInner: "snippet container class rst-class only ifconfig compound tabs tabbed grid epigraph " +
			"glossary cssclass centered div",
	} {
		for _, name := range strings.Fields(names) {
			directiveRules[name] = rule
		}
	}
}

func (r *rst) directive(file string, d directive, depth int) {
	switch directiveRules[d.name] {
	case dirSkip:
	case dirNote:
		r.note(file, d, depth)
	case dirCode:
		r.bold(d.options["caption"])
		language := d.argument
		if d.name == "parsed-literal" {
			language = ""
		}
		writeFence(&r.out, strings.ToLower(language), d.content)
	case dirCommand:
		writeFence(&r.out, "", append([]string{d.argument}, d.content...))
	case dirSection:
		level := min(r.level+1, 6)
		if d.argument != "" {
			r.out.WriteString("\n" + strings.Repeat("#", level) + " " + r.inline(d.argument) + "\n\n")
		}
		r.blocks(file, d.content, depth+1)
	case dirFigure:
		r.bold(d.options["alt"])
		r.blocks(file, d.content, depth+1)
	case dirInclude:
		r.include(file, d, depth)
	case dirLiteralInclude:
		r.literalInclude(file, d)
	case dirListTable:
		r.bold(d.argument)
		r.listTable(d.content)
	case dirCSVTable:
		r.bold(d.argument)
		r.csvTable(d)
	case dirContents:
		r.contents(d)
	case dirMath:
		writeFence(&r.out, "math", append([]string{d.argument}, d.content...))
	case dirRaw:
		if strings.EqualFold(d.argument, "html") {
			body, _ := r.load.convert(file, strings.Join(d.content, "\n"), formatHTML, nil)
			r.out.WriteString("\n" + body + "\n")
		}
	case dirInner:
		r.blocks(file, d.content, depth+1)
	default:
		r.bold(d.argument)
		r.blocks(file, d.content, depth+1)
	}
	r.out.WriteByte('\n')
}

// bold writes a caption or title as a separate paragraph.
func (r *rst) bold(text string) {
	text = strings.ReplaceAll(strings.TrimSpace(r.inline(text)), "**", "")
	if text != "" {
		r.out.WriteString("\n**" + text + "**\n\n")
	}
}

// note writes an admonition: its name, then its text.
func (r *rst) note(file string, d directive, depth int) {
	name := Readable(d.name)
	switch d.name {
	case "seealso":
		name = "See also"
	case "admonition":
		name = d.argument
	case "versionadded", "versionchanged", "versionremoved", "deprecated":
		name = Readable(strings.TrimPrefix(d.name, "version")) + " in " + d.argument
	}
	content := d.content
	if d.argument != "" && !strings.HasSuffix(name, d.argument) {
		content = append([]string{d.argument}, content...)
		for i := 1; i < len(content) && strings.TrimSpace(content[i]) != ""; i++ {
			content[i] = strings.TrimSpace(content[i]) // continues the first line
		}
	}
	r.out.WriteString("\n**" + r.inline(name) + ":**\n")
	r.blocks(file, content, depth+1)
}

// include inserts the text of a file, as it is told to be read.
func (r *rst) include(file string, d directive, depth int) {
	name, text, ok := r.load.open(file, d.argument)
	if !ok {
		return
	}
	text = between(text, d.options)
	language, code := d.options["code"]
	_, literal := d.options["literal"]
	switch parser := strings.ToLower(d.options["parser"]); {
	case code || literal:
		writeFence(&r.out, strings.ToLower(language), strings.Split(text, "\n"))
	case strings.Contains(parser, "myst"), strings.Contains(parser, "markdown"), d.name == "mdinclude":
		r.load.within(name, func() {
			body, _ := r.load.convert(name, text, formatMarkdown, nil)
			r.out.WriteString("\n" + body + "\n")
		})
	default:
		lines := strings.Split(text, "\n")
		r.define(lines)
		r.load.within(name, func() { r.blocks(name, lines, depth+1) })
	}
}

// between applies the options of include: start-line and end-line count from 0,
// from the end if they are negative; start-after and end-before are texts that
// are looked for in what these leave. A text that is not there leaves nothing.
func between(text string, options map[string]string) string {
	lines := strings.SplitAfter(text, "\n")
	line := func(option string, fallback int) int {
		n, err := strconv.Atoi(options[option])
		if err != nil {
			return fallback
		}
		if n < 0 {
			n += len(lines)
		}
		return min(max(n, 0), len(lines))
	}
	start, end := line("start-line", 0), line("end-line", len(lines))
	text = strings.Join(lines[start:max(start, end)], "")
	if mark := options["start-after"]; mark != "" {
		_, text, _ = strings.Cut(text, mark)
	}
	if mark := options["end-before"]; mark != "" {
		before, _, found := strings.Cut(text, mark)
		if text = before; !found {
			return ""
		}
	}
	return text
}

// literalInclude writes the selected lines of a file as code.
func (r *rst) literalInclude(file string, d directive) {
	_, text, ok := r.load.open(file, d.argument)
	if !ok {
		r.bold(d.options["caption"])
		return
	}
	r.bold(d.options["caption"])
	writeFence(&r.out, strings.ToLower(d.options["language"]), chosenLines(strings.Split(text, "\n"), d.options))
}

// chosenLines applies the options start-after, start-at, end-before, end-at and
// lines. An option without a match selects nothing.
func chosenLines(lines []string, options map[string]string) []string {
	find := func(text string, from int) int {
		for i := from; i < len(lines); i++ {
			if strings.Contains(lines[i], text) {
				return i
			}
		}
		return -1
	}
	start, end := 0, len(lines)
	if text := cmp.Or(options["start-after"], options["start-at"]); text != "" {
		if start = find(text, 0); start < 0 {
			return nil
		}
		if options["start-after"] != "" {
			start++
		}
	}
	if text := cmp.Or(options["end-before"], options["end-at"]); text != "" {
		if end = find(text, start); end < 0 {
			return nil
		}
		if options["end-before"] == "" {
			end++
		}
	}
	lines = lines[start:end]
	if options["lines"] == "" {
		return lines
	}
	var chosen []string
	for span := range strings.SplitSeq(options["lines"], ",") {
		from, to, isSpan := strings.Cut(strings.TrimSpace(span), "-")
		a, err := strconv.Atoi(strings.TrimSpace(from))
		if err != nil {
			continue
		}
		b := a
		if isSpan {
			if b, err = strconv.Atoi(strings.TrimSpace(to)); err != nil {
				b = len(lines)
			}
		}
		if a = max(a, 1); len(chosen) <= len(lines) && a <= min(b, len(lines)) {
			chosen = append(chosen, lines[a-1:min(b, len(lines))]...)
		}
	}
	return chosen
}

// listTable writes a two-level list as table rows.
func (r *rst) listTable(lines []string) {
	var row, cell []string
	endCell := func() {
		if cell != nil {
			row = append(row, strings.Join(strings.Fields(r.inline(strings.Join(cell, " "))), " "))
		}
		cell = nil
	}
	endRow := func() {
		if endCell(); len(row) > 0 {
			r.out.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
		row = nil
	}
	r.out.WriteByte('\n')
	for _, line := range lines {
		text := strings.TrimSpace(line)
		switch {
		case indentOf(line) == 0 && strings.HasPrefix(line, "* "):
			endRow()
			text = strings.TrimSpace(line[2:])
			if rest, ok := strings.CutPrefix(text, "-"); ok {
				text = strings.TrimSpace(rest)
			}
			cell = []string{text}
		case indentOf(line) <= 3 && (strings.HasPrefix(text, "- ") || text == "-"):
			endCell()
			cell = []string{strings.TrimPrefix(strings.TrimPrefix(text, "-"), " ")}
		case text != "" && !strings.HasPrefix(text, ".. "):
			cell = append(cell, text)
		}
	}
	endRow()
}

// csvTable writes comma-separated content as table rows.
func (r *rst) csvTable(d directive) {
	lines := d.content
	if header := d.options["header"]; header != "" {
		lines = append([]string{header}, lines...)
	}
	reader := csv.NewReader(strings.NewReader(strings.Join(lines, "\n")))
	reader.FieldsPerRecord, reader.LazyQuotes, reader.TrimLeadingSpace = -1, true, true
	for {
		row, err := reader.Read()
		if err != nil {
			return
		}
		r.out.WriteString("| " + strings.Join(strings.Fields(r.inline(strings.Join(row, " | "))), " ") + " |\n")
	}
}

// contents writes the entries of a table of contents as a list.
func (r *rst) contents(d directive) {
	r.bold(d.options["caption"])
	if _, hidden := d.options["hidden"]; hidden {
		return
	}
	for _, line := range d.content {
		entry := strings.TrimSpace(line)
		if entry == "" || strings.HasPrefix(entry, "..") {
			continue
		}
		text, target, titled := cutTarget(entry)
		if !titled {
			text, target = label(entry), entry
		}
		r.out.WriteString("- [" + text + "](" + target + ")\n")
	}
}
