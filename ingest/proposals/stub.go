package proposals

import (
	"path"
	"strings"
	"unicode"

	"almanac/ingest/markup"
)

// trial are the words that name what was made to try something out.
var trial = wordSet("test tests testing dummy sample placeholder ignore")

// maxEmpty is the longest text without a body, in bytes: what a longer one has
// above its first section is more than a header.
const maxEmpty = 800

// isStub says whether a file proposes nothing: it has no text, is a form whose
// title was not filled in, or calls itself a test in its title and in its path.
func (r Reader) isStub(h Header, in File) bool {
	if len(in.Text) < maxEmpty && markup.IsStub(h.Body) {
		return true
	}
	named := strings.TrimSpace(h.Fields["Title"])
	if strings.HasPrefix(named, "<") && strings.HasSuffix(named, ">") {
		return true
	}
	title := plain(named)
	if title == "" {
		if top := topHeadings(in.Text); len(top) > 0 {
			title = plain(top[0])
		}
	}
	words := fields(title)
	return len(words) > 0 && trial[words[0]] && hasTrial(in.Path)
}

// hasTrial reports a trial's word in the last two parts of a path.
func hasTrial(file string) bool {
	for _, w := range fields(path.Base(path.Dir(file)) + " " + path.Base(file)) {
		if trial[w] {
			return true
		}
	}
	return false
}

// fields splits at all that is neither letter nor digit, in lower case.
func fields(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
