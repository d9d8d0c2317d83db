package proposal

import (
	"path"
	"slices"
	"strings"

	"almanac/text/markdown"
	"almanac/text/markup"
)

// trial are words that name test content.
var trial = wordSet("test tests testing dummy sample placeholder ignore")

// maxEmpty is the maximum length of a text without a body, in bytes: a longer
// one has more than a header above its first section.
const maxEmpty = 800

// isStub reports whether a file proposes nothing: it has no text, is a form
// without a title, or is called a test both in its title and in its path.
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
	words := markdown.Words(title)
	return len(words) > 0 && trial[words[0]] && hasTrial(in.Path)
}

// hasTrial reports whether the last two parts of a path have a word of trial.
func hasTrial(file string) bool {
	words := markdown.Words(path.Base(path.Dir(file)) + " " + path.Base(file))
	return slices.ContainsFunc(words, func(w string) bool { return trial[w] })
}
