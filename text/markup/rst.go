package markup

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// rst converts a reStructuredText page with its includes. Sources: docutils'
// reStructuredText markup specification, and Sphinx for roles and directives.
// The conversion is by blocks of equal indentation, the only structure the
// format has.
type rst struct {
	load   *loader
	levels []string          // adornment styles in order of first use; the index is the level of a title
	subs   map[string]string // substitutions
	out    strings.Builder
	para   []string // the paragraph being read
	level  int      // of the last heading
	begun  bool     // text was written: field lists no longer belong to the page
}

// maxNested is the maximum nesting of directives; deeper ones are text.
const maxNested = 24

// maxSubstitution is the maximum length of the HTML of a substitution, in
// lines.
const maxSubstitution = 20

var (
	substitution = regexp.MustCompile(`^\s*\.\. \|([^|]+)\|\s+([\w-]+)::\s*(.*)$`)
	directiveRe  = regexp.MustCompile(`^\.\.\s+([A-Za-z][\w:+.-]*?)::(?:\s+(.*))?$`)
	footnote     = regexp.MustCompile(`^\.\.\s+(\[[^\]]+\])\s*(.*)$`)
	gridBorder   = regexp.MustCompile(`^\s*\+[-=+]{2,}\+\s*$`)
	simpleBorder = regexp.MustCompile(`^\s*=+(?: +=+)+\s*$`)
	fieldLine    = regexp.MustCompile(`^:[A-Za-z][\w -]*:(?:\s|$)`)
)

func (l *loader) rst(name, text string) string {
	r := &rst{load: l, subs: map[string]string{}}
	lines := strings.Split(text, "\n")
	r.define(lines)
	r.blocks(name, lines, 0)
	r.flush()
	return r.out.String()
}

// define collects the substitutions of a file before they are used.
func (r *rst) define(lines []string) {
	for i, line := range lines {
		m := substitution.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[2] {
		case "replace", "unicode":
			r.subs[m[1]] = m[3]
		case "image":
			r.subs[m[1]] = ""
		case "raw":
			below := lines[i+1 : min(i+1+maxSubstitution, len(lines))]
			html := strings.Join(below[:blockEnd(below, 0, indentOf(line))], " ")
			r.subs[m[1]] = strings.Join(strings.Fields(decode(markupTag.ReplaceAllString(html, ""))), " ")
		}
	}
}

// blocks converts lines whose common indentation is zero.
func (r *rst) blocks(file string, lines []string, depth int) {
	for i := 0; i < len(lines); {
		line := lines[i]
		text := strings.TrimSpace(line)
		switch {
		case text == "":
			literal, indent := r.endsLiteral()
			r.flush()
			r.out.WriteByte('\n')
			i++
			if literal {
				i = r.literal(lines, i, indent)
			}
		case text == ".." || strings.HasPrefix(text, ".. "):
			r.flush()
			i = r.explicit(file, lines, i, depth)
		case strings.HasPrefix(text, "__ "), gridBorder.MatchString(line), simpleBorder.MatchString(line):
			r.flush()
			i++
		case fieldLine.MatchString(line) && !r.begun && len(r.para) == 0:
			i++ // belongs to the page, not its text
		default:
			if size := r.heading(lines, i); size > 0 {
				i += size
				continue
			}
			r.para = append(r.para, line)
			i++
		}
	}
	r.flush()
}

// flush writes the paragraph read so far.
func (r *rst) flush() {
	if len(r.para) == 0 {
		return
	}
	for i, line := range r.para {
		t := strings.TrimLeft(line, " \t")
		switch {
		case strings.HasPrefix(t, "| ") && !strings.HasSuffix(t, "|"): // line block
			r.para[i] = t[2:]
		case strings.HasPrefix(t, "#. "):
			r.para[i] = line[:indentOf(line)] + "1. " + t[3:]
		}
	}
	text := r.inline(strings.Join(r.para, "\n"))
	if rest, ok := strings.CutSuffix(text, "::"); ok {
		text = strings.TrimRight(rest, " \n")
		if text == rest && text != "" {
			text += ":"
		}
	}
	r.begun = true
	r.out.WriteString(text)
	r.out.WriteByte('\n')
	r.para = r.para[:0]
}

// endsLiteral reports whether the paragraph introduces a literal block, and the
// indentation that the block must exceed.
func (r *rst) endsLiteral() (bool, int) {
	if len(r.para) == 0 {
		return false, 0
	}
	last := r.para[len(r.para)-1]
	return strings.HasSuffix(strings.TrimRight(last, " \t"), "::"), indentOf(last)
}

// literal writes the indented block at lines[i] as a fence.
func (r *rst) literal(lines []string, i, indent int) int {
	end := blockEnd(lines, i, indent)
	writeFence(&r.out, "", lines[i:end])
	return end
}

// blockEnd returns the line after the block indented by more than indent.
func blockEnd(lines []string, i, indent int) int {
	end := i
	for ; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" {
			continue
		}
		if indentOf(lines[i]) <= indent {
			break
		}
		end = i + 1
	}
	return end
}

// heading writes the title at lines[i] and returns how many lines it takes,
// or 0 if there is none.
func (r *rst) heading(lines []string, i int) int {
	if len(r.para) > 0 {
		return 0
	}
	over := adornment(lines[i])
	switch {
	case over != 0 && i+2 < len(lines) && adornment(lines[i+2]) == over && strings.TrimSpace(lines[i+1]) != "" &&
		adornment(lines[i+1]) == 0:
		r.writeHeading(string([]byte{over, over}), lines[i+1])
		return 3
	case over != 0:
		return 1 // a transition, or the rest of a broken title
	case i+1 < len(lines) && indentOf(lines[i]) == 0:
		under := adornment(lines[i+1])
		size := utf8.RuneCountInString(strings.TrimRight(lines[i], " \t"))
		if length := len(strings.TrimSpace(lines[i+1])); under != 0 && (length >= size || length >= 4) {
			r.writeHeading(string(rune(under)), lines[i])
			return 2
		}
	}
	return 0
}

// adornment returns the character that makes up a whole line, or 0.
func adornment(line string) byte {
	line = strings.TrimRight(line, " \t")
	if len(line) < 3 || !strings.ContainsRune("=-~^\"'`#*+.:_<>!$%&,/;?@\\|(){}[]", rune(line[0])) {
		return 0
	}
	if strings.Trim(line, line[:1]) != "" {
		return 0
	}
	return line[0]
}

func (r *rst) writeHeading(style, text string) {
	level := 0
	for level < len(r.levels) && r.levels[level] != style {
		level++
	}
	if level == len(r.levels) {
		r.levels = append(r.levels, style)
	}
	r.level, r.begun = min(level+1, 6), true
	r.out.WriteString("\n" + strings.Repeat("#", r.level) + " " + strings.TrimSpace(r.inline(strings.TrimSpace(text))) +
		"\n\n")
}

// explicit handles the explicit markup (".. ") at lines[i]: directives,
// targets, footnotes, substitutions, comments. It returns the index of the line
// after it.
func (r *rst) explicit(file string, lines []string, i, depth int) int {
	base := indentOf(lines[i])
	text := strings.TrimSpace(lines[i])
	end := max(blockEnd(lines, i+1, base), i+1)
	if m := directiveRe.FindStringSubmatch(text); m != nil && depth < maxNested {
		r.directive(file, readDirective(m[1], m[2], lines[i+1:end]), depth)
		return end
	}
	if m := footnote.FindStringSubmatch(text); m != nil && depth < maxNested {
		note := []string{m[1] + " " + m[2]}
		indent := commonIndent(lines[i+1 : end])
		for _, line := range lines[i+1 : end] {
			note = append(note, cutIndent(line, indent))
		}
		r.blocks(file, note, depth+1)
		return end
	}
	if strings.HasPrefix(text, ".. _") {
		return i + 1 // a target; what follows it is not its content
	}
	return end
}
