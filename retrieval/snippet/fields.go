package snippet

import (
	"regexp"
	"strings"
)

// field matches a line that begins with the name of a field: of front matter, of the
// header of a proposal, of a generated text, of reStructuredText.
var field = regexp.MustCompile(`^\s*([-*+] )?(?:\*\*|:)?` +
	`([A-Za-z][A-Za-z0-9_()/-]*(?: [A-Za-z0-9_()/-]+){0,2}):(?:\*\*)?(?:\s+(.*))?$`)

// headers are fields that the head of a text has and no other list of fields.
var headers = map[string]bool{"author": true, "authors": true, "author(s)": true, "status": true, "created": true,
	"license": true, "licence": true, "discussions-to": true}

// fieldWords is how many words a field of a generated text has on average, at most:
// what two people say to each other has more.
const fieldWords = 8

// isFields reports whether the lines of a paragraph are fields and their values.
func isFields(lines []string) bool {
	fields, listed, words, head := readFields(lines)
	return fields >= 2 && (head || !listed && words <= fieldWords*fields)
}

// isHeader reports whether they are the head of a text.
func isHeader(lines []string) bool {
	fields, _, _, head := readFields(lines)
	return fields >= 2 && head
}

// readFields counts the fields, none if there are other lines, and says whether they
// are the items of a list, how many words their values have, and whether one is of the
// head of a text.
func readFields(lines []string) (fields int, listed bool, words int, head bool) {
	open := false // a field whose value is on the next lines
	for _, line := range lines {
		m := field.FindStringSubmatch(line)
		bare := strings.TrimSpace(line)
		switch {
		case open && (line != strings.TrimLeft(line, " \t") || strings.HasPrefix(bare, "- ")):
			// an item of its value
		case m != nil:
			fields++
			listed = listed || m[1] != ""
			words += len(strings.Fields(m[3]))
			head = head || headers[strings.ToLower(m[2])]
			open = m[3] == ""
		case strings.Trim(bare, "-+=.") == "", line != strings.TrimLeft(line, " \t") && fields > 0:
			// a mark around them, or more of a value
		default:
			return 0, false, 0, false
		}
	}
	return fields, listed, words, head
}

// headerBlocks is how many paragraphs of a text are looked at for its head.
const headerBlocks = 3

// withoutHeader returns a text without the fields at its head, which are told beside
// it.
func withoutHeader(text string) string {
	at := 0
	for range headerBlocks {
		block, _, more := strings.Cut(text[at:], "\n\n")
		if isHeader(strings.Split(strings.TrimRight(block, "\n"), "\n")) {
			rest := strings.TrimLeft(text[at+len(block):], "\n")
			if rest == "" {
				return text
			}
			return text[:at] + rest
		}
		if !more {
			break
		}
		at += len(block) + 2
	}
	return text
}
