package markup

import (
	"cmp"
	"regexp"
	"strings"

	"almanac/text/markdown"
)

// converter reads one Markdown, MDX or HTML file. It walks the lines once,
// copies code fences unchanged and passes the text between them to tags.
type converter struct {
	load    *loader
	path    string
	format  string
	imports map[string]string // component → path of its import
	values  map[string]string // of the constants that the file exports, and of its properties
	title   string            // of an HTML head

	out   strings.Builder
	prose strings.Builder // text since the last fence
}

var (
	importLine = regexp.MustCompile(`^import\s+([A-Za-z_$][\w$]*)?[^'"]*\bfrom\s+['"]([^'"]+)['"]`)
	importBare = regexp.MustCompile(`^import\s+(?:['"]|\{)`)
	exportLine = regexp.MustCompile(`^export\s+(?:const|default|function|let|var|async|class|type|interface)\b`)
)

func (m *converter) convert(text string) string {
	if m.format == formatMarkdown {
		text = m.snippets(text)
	}
	text = markdown.WithoutComments(text, m.format == formatMDX)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		if fence, ok := markdown.Open(line); ok && m.format != formatHTML {
			i = m.fence(lines, i, fence)
			continue
		}
		if note, ok := m.note(lines, i); ok {
			m.prose.WriteString(note + "\n")
			i++
			continue
		}
		if m.format == formatMDX && (strings.HasPrefix(line, "import") || strings.HasPrefix(line, "export")) {
			if next := m.module(lines, i); next > i {
				i = next
				continue
			}
		}
		if level := underlined(lines, i); level > 0 {
			m.prose.WriteString("##"[:level] + " " + strings.TrimSpace(line) + "\n")
			i += 2
			continue
		}
		m.prose.WriteString(line)
		m.prose.WriteByte('\n')
		i++
	}
	m.flush()
	return m.out.String()
}

func (m *converter) flush() {
	if m.prose.Len() > 0 {
		m.out.WriteString(m.tags(m.prose.String()))
		m.prose.Reset()
	}
}

// fence copies the fence that opens at lines[i] and returns the index of the
// line after it.
func (m *converter) fence(lines []string, i int, fence markdown.Fence) int {
	m.flush()
	language, caption := fenceInfo(fence.Info)
	indent := indentOf(lines[i])
	end := i + 1
	for end < len(lines) && !fence.Closes(lines[end]) {
		end++
	}
	code := make([]string, 0, end-i-1)
	for _, line := range lines[i+1 : end] {
		code = append(code, cutIndent(line, indent))
	}
	if caption != "" && len(code) > 0 {
		m.out.WriteString("\n**" + caption + "**\n")
	}
	writeFence(&m.out, language, code)
	return min(end+1, len(lines))
}

var (
	fenceTitle  = regexp.MustCompile(`\b(?:title|caption|filename)=(?:"([^"]*)"|'([^']*)')`)
	fenceOption = regexp.MustCompile(`\{[^{}]*\}|[\w.-]+=(?:"[^"]*"|'[^']*'|\S*)|\b(?:expandable|wrap|lines|copy|` +
		`showLineNumbers|linenums|noline|focus|icon|theme)\b`)
)

// fenceInfo splits the text after an opening fence into the language and the
// caption that a reader sees above the code: a title, or whatever is not an
// option.
func fenceInfo(info string) (language, caption string) {
	if strings.HasPrefix(info, "{") { // attributes only
		return "", ""
	}
	language, rest, _ := strings.Cut(info, " ")
	if m := fenceTitle.FindStringSubmatch(rest); m != nil {
		return language, strings.TrimSpace(m[1] + m[2])
	}
	rest = strings.Join(strings.Fields(fenceOption.ReplaceAllString(rest, " ")), " ")
	return language, strings.ReplaceAll(rest, "*", "")
}

// module reads the import or export statement at lines[i] and returns the index
// of the line after it, or i if it is text that begins with the word.
func (m *converter) module(lines []string, i int) int {
	if match := importLine.FindStringSubmatch(lines[i]); match != nil {
		if match[1] != "" {
			m.imports[match[1]] = match[2]
		}
		return i + 1
	}
	if importBare.MatchString(lines[i]) {
		for end := i; end < min(i+50, len(lines)); end++ {
			if strings.ContainsAny(lines[end], `'"`) {
				return end + 1
			}
		}
		return i
	}
	if !exportLine.MatchString(lines[i]) {
		return i
	}
	end := statementEnd(lines, i)
	m.constant(strings.Join(lines[i:end], "\n"))
	return end
}

var (
	constant = regexp.MustCompile(`(?s)^export\s+(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*=\s*(.*?)\s*;?\s*$`)
	member   = regexp.MustCompile(`[{,\s]['"]?([\w$-]+)['"]?\s*:\s*("[^"]*"|'[^']*'|-?[\d.]+)\s*[,}\n]`)
	number   = regexp.MustCompile(`^-?[\d.]+$`)
)

// constant keeps the value of an exported constant that is a string or a number,
// and those of an object without others in it.
func (m *converter) constant(statement string) {
	match := constant.FindStringSubmatch(statement)
	if match == nil {
		return
	}
	set := func(name, literal string) {
		if value, ok := unquote(literal); ok || number.MatchString(literal) {
			m.values[name] = cmp.Or(value, literal)
		}
	}
	name, value := match[1], match[2]
	set(name, value)
	if strings.HasPrefix(value, "{") && strings.Count(value, "{") == 1 {
		for rest := value; ; {
			at := member.FindStringSubmatchIndex(rest)
			if at == nil {
				return
			}
			set(name+"."+rest[at[2]:at[3]], rest[at[4]:at[5]])
			rest = rest[at[5]:]
		}
	}
}

// maxStatement is the maximum length of an export statement, in lines.
const maxStatement = 2000

// statementEnd returns the index of the line after a JavaScript statement:
// where its brackets are closed, else the next empty line.
func statementEnd(lines []string, i int) int {
	depth := 0
	for end := i; end < min(i+maxStatement, len(lines)); end++ {
		line := lines[end]
		depth += strings.Count(line, "{") + strings.Count(line, "(") + strings.Count(line, "[") -
			strings.Count(line, "}") - strings.Count(line, ")") - strings.Count(line, "]")
		if t := strings.TrimRight(line, " \t"); depth <= 0 && !strings.HasSuffix(t, "=") &&
			!strings.HasSuffix(t, "=>") {
			return end + 1
		}
	}
	end := i
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" {
		end++
	}
	return end
}

// underlined returns the level of a heading written as a line of text above a
// line of = or -, after an empty line.
func underlined(lines []string, i int) int {
	if i+1 >= len(lines) || i > 0 && strings.TrimSpace(lines[i-1]) != "" {
		return 0
	}
	under := strings.TrimRight(lines[i+1], " \t")
	text := strings.TrimSpace(lines[i])
	if len(under) < 3 || text == "" || len(text) > 300 || strings.ContainsRune("#-*>|=<`+", rune(text[0])) ||
		indentOf(lines[i]) > 3 {
		return 0
	}
	switch under {
	case strings.Repeat("=", len(under)):
		return 1
	case strings.Repeat("-", len(under)):
		return 2
	}
	return 0
}
