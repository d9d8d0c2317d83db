package markup

import (
	"regexp"
	"strconv"
	"strings"

	"almanac/text/markdown"
)

// What MkDocs adds to Markdown, by the documentation of Python-Markdown's
// admonitions and of pymdownx: details, tabs and snippets.

var (
	indentedNote = regexp.MustCompile(`^[ \t]*(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+[\w-]+)*(?:[ \t]+"(.*)")?[ \t]*$`)
	indentedTab  = regexp.MustCompile(`^[ \t]*===[!+]{0,2}[ \t]+"(.*)"[ \t]*$`)
)

// note reads the first line of a note or tab and returns what stands in its
// place. What is indented below it loses its indentation.
func (m *converter) note(lines []string, i int) (string, bool) {
	line := lines[i]
	switch {
	case m.format == formatHTML:
	case strings.Contains(line, ":::"), strings.Contains(line, "[!"):
		if n, ok := markdown.ReadNote(line); ok {
			if n.Fenced {
				return "\n" + n.String(), true
			}
			return n.String(), true
		}
	case strings.Contains(line, "!!!"), strings.Contains(line, "???"), strings.Contains(line, "==="):
		n := markdown.Note{}
		if match := indentedTab.FindStringSubmatch(line); match != nil {
			n.Title = match[1]
		} else if match := indentedNote.FindStringSubmatch(line); match != nil {
			n.Kind, n.Title = Readable(match[1]), match[2]
			if strings.HasSuffix(strings.TrimSpace(line), `""`) {
				n.Kind = "" // without a title
			}
		} else {
			return "", false
		}
		if dedent(lines[i+1:], indentOf(line)+1) {
			return "\n" + n.String(), true
		}
	}
	return "", false
}

// dedent takes one indentation, of four blanks or a tab, off the lines that have
// at least least blanks, up to one that has fewer. It reports whether there is one.
func dedent(lines []string, least int) (found bool) {
	for i, line := range lines {
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case indentOf(line) < least || line[0] != '\t' && indentOf(line) < 4:
			return found
		case line[0] == '\t':
			lines[i] = line[1:]
		default:
			lines[i] = line[4:]
		}
		found = true
	}
	return found
}

var (
	snippetLine = regexp.MustCompile(`^([ \t]*)(;*)-+8<-+(?:[ \t]+("[^"]+"|'[^']+'))?[ \t]*$`)
	snippetPart = regexp.MustCompile(`-+8<-+[ \t]*\[[ \t]*(start|end)[ \t]*:[ \t]*([\w-]+)[ \t]*\]`)
)

// snippetDirs are the directories below a site's root that snippets usually are
// in.
var snippetDirs = []string{"/", "/includes/", "/snippets/", "/_includes/", "/_snippets/", "/.snippets/"}

// snippets puts in the files that lines of a page name, also within code: whole,
// a named part, or some lines of them. A file that is not found leaves nothing.
func (m *converter) snippets(text string) string {
	if !strings.Contains(text, "8<-") {
		return text
	}
	var b strings.Builder
	block := false // of names of files, a line each
	for line := range strings.SplitSeq(text, "\n") {
		mark := snippetLine.FindStringSubmatch(line)
		switch {
		case snippetPart.MatchString(line):
			continue
		case mark == nil && block:
			if name := strings.TrimSpace(line); name != "" && name[0] != ';' {
				b.WriteString(m.snippet(name, line[:indentOf(line)]))
			}
			continue
		case mark == nil:
		case mark[2] != "": // it stands for itself
			line = mark[1] + strings.TrimLeft(line, " \t;")
		case mark[3] == "":
			block = !block
			continue
		default:
			b.WriteString(m.snippet(strings.Trim(mark[3], `"'`), mark[1]))
			continue
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// snippet returns what is put in place of a name, "file", "file:part" or
// "file:3:5".
func (m *converter) snippet(target, indent string) string {
	file, part, _ := strings.Cut(target, ":")
	var name, text string
	for _, dir := range snippetDirs {
		ok := false
		if name, text, ok = m.load.open(m.path, dir+strings.TrimLeft(file, "/")); ok {
			break
		}
	}
	if name == "" || text == "" {
		return ""
	}
	if Format(name) == formatMarkdown {
		_, text, _ = markdown.CutFront(text)
	}
	lines := chosenPart(strings.Split(strings.TrimRight(text, "\n"), "\n"), part)
	m.load.within(name, func() { text = m.snippets(strings.Join(lines, "\n")) })
	text = strings.TrimRight(text, "\n")
	if m.load.budget -= len(indent) * strings.Count(text, "\n"); m.load.budget <= 0 {
		return ""
	}
	return indent + strings.ReplaceAll(text, "\n", "\n"+indent) + "\n"
}

// chosenPart returns the lines of a named part, or those from one number to
// another.
func chosenPart(lines []string, part string) (chosen []string) {
	from, to, numbers := strings.Cut(part, ":")
	first, err := strconv.Atoi(from)
	if part == "" || err != nil && from != "" {
		inside := part == ""
		for _, line := range lines {
			if mark := snippetPart.FindStringSubmatch(line); mark != nil && mark[2] == part {
				inside = mark[1] == "start"
			} else if inside {
				chosen = append(chosen, line)
			}
		}
		return chosen
	}
	last, err := strconv.Atoi(to)
	if err != nil || !numbers {
		last = len(lines)
	}
	first = min(max(first-1, 0), len(lines))
	return lines[first:max(first, min(last, len(lines)))]
}
