package passage

import (
	"strings"
	"unicode"
)

// valid makes text valid UTF-8 without NUL.
func valid(text string) string {
	text = strings.ToValidUTF8(text, " ")
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", " ")
	}
	return text
}

// ruler reports whether a line only draws: a thematic break, the underline of
// a heading, the divider of a table.
func ruler(line string) bool {
	return strings.Trim(line, "-=*_|:+ \t") == "" && len(line) >= 3
}

// cutAnchor cuts an explicit anchor, {#name}, off a heading.
func cutAnchor(heading string) (text, anchor string) {
	i := strings.LastIndex(heading, "{#")
	if i <= 0 || !strings.HasSuffix(heading, "}") || strings.ContainsAny(heading[i:len(heading)-1], " \t}") {
		return heading, ""
	}
	return strings.TrimSpace(heading[:i]), heading[i+2 : len(heading)-1]
}

// inline drops what is not text from a line of prose: link targets, image
// marks, HTML tags, marks of emphasis. Code between backticks stays as it is.
func inline(line string) string {
	if !strings.ContainsAny(line, "[<*`") {
		return line
	}
	if definition(line) {
		return ""
	}
	var b strings.Builder
	var closes []int // closing brackets of the open links
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && strings.IndexByte("[]<>*`", line[i+1]) >= 0:
			b.WriteString(line[i : i+2])
			i += 2
		case c == '`':
			end := codeEnd(line, i)
			b.WriteString(line[i:end])
			i = end
		case c == '!' && i+1 < len(line) && line[i+1] == '[' && linkClose(line, i+1) > 0:
			i++
		case c == '[' && linkClose(line, i) > 0:
			closes = append(closes, linkClose(line, i))
			i++
		case c == ']' && len(closes) > 0 && closes[len(closes)-1] == i:
			closes = closes[:len(closes)-1]
			i = target(line, i)
		case c == '<' && tag(line, i) > 0:
			i = tag(line, i)
			b.WriteByte(' ')
		case c == '*' && i+1 < len(line) && line[i+1] == '*':
			i += 2
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// definition reports whether a line defines the target of a link: [name]: url.
func definition(line string) bool {
	bare := strings.TrimLeft(line, " ")
	i := strings.Index(bare, "]:")
	return i > 1 && bare[0] == '[' && !strings.ContainsAny(bare[1:i], "[]") && len(strings.Fields(bare[i+2:])) <= 1
}

// codeEnd returns the end of the code between backticks that starts at i, or
// of the backticks alone when nothing closes it.
func codeEnd(line string, i int) int {
	n := i
	for n < len(line) && line[n] == '`' {
		n++
	}
	if end := strings.Index(line[n:], line[i:n]); end >= 0 {
		return n + end + n - i
	}
	return n
}

// The bounds of a link: how far apart, in bytes, its ends can be, and how
// deep brackets nest in its text.
const (
	maxLink  = 1000
	maxDepth = 4
)

// linkClose returns the bracket that closes the link text that starts at i, 0 if it is not a link.
func linkClose(line string, i int) int {
	depth := 0
	for j := i; j < len(line) && j < i+maxLink; j++ {
		switch line[j] {
		case '[':
			if depth++; depth > maxDepth {
				return 0
			}
		case ']':
			if depth--; depth > 0 {
				continue
			}
			if target(line, j) > 0 {
				return j
			}
			return 0
		}
	}
	return 0
}

// target returns the end of the link target, (url) or (url "title"), after the
// bracket at i; 0 for none.
func target(line string, i int) int {
	if i+1 >= len(line) || line[i+1] != '(' {
		return 0
	}
	depth := 0
	for j := i + 1; j < min(len(line), i+maxLink); j++ {
		switch line[j] {
		case '(':
			depth++
		case ')':
			if depth--; depth > 0 {
				continue
			}
			url, title, titled := strings.Cut(strings.TrimSpace(line[i+2:j]), " ")
			if title = strings.TrimSpace(title); strings.ContainsAny(url, " \t") ||
				titled && strings.IndexByte("\"'(", title[0]) < 0 {
				return 0
			}
			return j + 1
		}
	}
	return 0
}

// tags are the HTML elements that are dropped from prose; other names
// between angle brackets are placeholders or types.
var tags = map[string]bool{}

func init() {
	for _, name := range strings.Fields(`a abbr article aside b blockquote br center code dd del details div dl dt em
		figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i iframe img ins kbd li main mark nav ol p picture pre
		q s samp section small source span strike strong sub summary sup table tbody td tfoot th thead tr tt
		u ul var video`) {
		tags[name] = true
	}
}

// tag returns the end of the HTML tag at i, 0 for anything else.
func tag(line string, i int) int {
	j := i + 1
	if j < len(line) && line[j] == '/' {
		j++
	}
	start := j
	for j < len(line) && (unicode.IsLetter(rune(line[j])) || unicode.IsDigit(rune(line[j]))) {
		j++
	}
	if !tags[strings.ToLower(line[start:j])] || j == len(line) || strings.IndexByte(" \t/>", line[j]) < 0 {
		return 0
	}
	end := strings.IndexAny(line[j:min(len(line), j+maxLink)], "<>")
	if end < 0 || line[j+end] == '<' {
		return 0
	}
	return j + end + 1
}
