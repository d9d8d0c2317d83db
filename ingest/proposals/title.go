package proposals

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// genericWord are the words that a form, a template or a heading of any
// proposal is made of. A title of nothing else names no proposal.
var genericWord = wordSet(`proposal proposals template draft grant grants fund funding funds development dev
	ecosystem application submission request form document documentation title readme tbd untitled joint
	improvement process network protocol foundation number final version revised new name project phase
	abstract summary specification motivation introduction overview xxxx
	the a an of for to and on by in at with`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// placeholder is a number, or what stands for one not yet assigned.
var placeholder = regexp.MustCompile(`(?i)^(?:v?\d*x*|\?+)$`)

// generic says whether a title consists of generic words, numbers and the
// names given (of the network, of its proposals) alone.
func generic(title string, names map[string]bool) bool {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, w := range words {
		if !genericWord[w] && !names[w] && !placeholder.MatchString(w) {
			return false
		}
	}
	return true
}

var (
	titleBreak = regexp.MustCompile(`\s*[:|—–]\s*|\s+--?\s+|-\s+|\s+(?:for|to)\s+`)
	formName   = regexp.MustCompile(`(?i)\b(?:proposal|request|application|submission|template)$`)
)

// stripGeneric removes the generic part a title begins with ("Grant Proposal:
// ", "CIP-0056 — "). A title that is generic as a whole becomes empty.
func stripGeneric(title string, names map[string]bool) string {
	title = strings.TrimSpace(title)
	if generic(title, names) {
		return ""
	}
	for {
		cut := false
		for _, at := range titleBreak.FindAllStringIndex(title, -1) {
			left, mark := title[:at[0]], strings.TrimSpace(title[at[0]:at[1]])
			if mark != "" && unicode.IsLetter(rune(mark[0])) && !formName.MatchString(left) {
				continue // "Process for …" is a title, "Proposal for …" is a form's
			}
			if left != "" && generic(left, names) && !generic(title[at[1]:], names) {
				title, cut = upperFirst(title[at[1]:]), true
				break
			}
		}
		if !cut {
			return strings.Trim(title, " :|—–")
		}
	}
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || strings.IndexFunc(s[n:min(len(s), n+8)], unicode.IsUpper) >= 0 {
		return s // an identifier such as dApp or iOS keeps its case
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// maxTitle is the longest title kept, in bytes; a paragraph marked as a
// heading is no title.
const maxTitle = 240

// title finds the best name of a proposal: the header's, else that of the
// index table, else the first heading above the first section that says
// something, else the file's name; at last a generic heading.
func (r Reader) title(h Header, in File) string {
	names := r.names()
	headings := topHeadings(in.Text)
	for _, c := range append([]string{h.Fields["Title"], in.Index.Title}, headings...) {
		if c = plain(c); strings.HasPrefix(c, "<") || len(c) > maxTitle {
			continue
		}
		if t := stripGeneric(c, names); t != "" {
			return t
		}
	}
	name := readableName(in.Path)
	if t := stripGeneric(name, names); t != "" {
		return upperFirst(t)
	}
	if len(headings) > 0 && len(headings[0]) <= maxTitle {
		name = cmp.Or(plain(headings[0]), name)
	}
	return upperFirst(name)
}

// topHeadings returns the headings above the first section; a paragraph set
// in bold that opens the text passes for one.
func topHeadings(text string) []string {
	var found []string
	fenced := false
	for i, line := range strings.Split(normalise(text), "\n") {
		if fenceLine.MatchString(line) {
			fenced = !fenced
		}
		m := heading.FindStringSubmatch(line)
		switch {
		case fenced:
		case m != nil && isSection(line):
			return found
		case m != nil:
			found = append(found, m[2])
		case len(found) == 0 && i < maxHeaderLines && boldLine.MatchString(line):
			found = append(found, line)
		}
		if len(found) == 4 {
			break
		}
	}
	return found
}

var boldLine = regexp.MustCompile(`^\s*\*\*[^*:]{4,}\*\*\s*$`)

var fileDate = regexp.MustCompile(`^\s*\d{4}(?:[-_ ]\d{1,2}){1,2}[-_ ]+`)

// readableName makes words of a file name: without date, extension and
// separators.
func readableName(file string) string {
	base := path.Base(file)
	base = strings.TrimSuffix(base, path.Ext(base))
	return strings.Join(strings.FieldsFunc(fileDate.ReplaceAllString(base, ""), func(r rune) bool {
		return r == '-' || r == '_' || unicode.IsSpace(r)
	}), " ")
}
