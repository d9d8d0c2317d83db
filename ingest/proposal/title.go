package proposal

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/catalog/derive"
	"almanac/text/markdown"
	"almanac/text/markup"
)

// genericWord are the words that a form, a template or a heading of any
// proposal is made of. A title of only these names no proposal.
var genericWord = wordSet(`proposal proposals template draft grant grants fund funding funds development dev
	ecosystem application submission request form document documentation title readme tbd untitled joint
	improvement process network protocol foundation number final version revised new name project phase
	abstract summary specification motivation introduction overview xxxx demo demos outline pr filled
	the a an of for to and on by in at with`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}

// placeholder is a number, or a placeholder for one not yet assigned.
var placeholder = regexp.MustCompile(`(?i)^(?:v?\d*x*|\?+)$`)

// generic reports whether a title consists only of generic words, numbers and
// the given names (of the network, of its proposals).
func generic(title string, names map[string]bool) bool {
	return !slices.ContainsFunc(markdown.Words(title), func(w string) bool {
		return !genericWord[w] && !names[w] && !placeholder.MatchString(w)
	})
}

var (
	titleBreak = regexp.MustCompile(`\s*[:|—–]\s*|\s+--?\s+|-\s+|\s+(?:for|to)\s+`)
	formName   = regexp.MustCompile(`(?i)\b(?:proposal|request|application|submission|template)$`)
	bracketed  = regexp.MustCompile(`^\[([^\[\]]*)\]\s*`)
)

// stripGeneric removes the generic parts at the start ("Grant Proposal: ",
// "CIP-0056 — ", "[Proposal] ") and the end (" — Fund Proposal") of a title. A
// completely generic title becomes empty.
func stripGeneric(title string, names map[string]bool) string {
	return strings.Trim(stripForm(stripStart(title, names), names), " :|—–")
}

// stripStart is stripGeneric without the end.
func stripStart(title string, names map[string]bool) string {
	title = strings.TrimSpace(title)
	if m := bracketed.FindStringSubmatch(title); m != nil && generic(m[1], names) {
		title = title[len(m[0]):]
	}
	if generic(title, names) {
		return ""
	}
	for cut := true; cut; {
		title, cut = stripFirst(title, names)
	}
	return strings.Trim(title, " :|—–")
}

// stripFirst removes one generic part from the start.
func stripFirst(title string, names map[string]bool) (string, bool) {
	for _, at := range titleBreak.FindAllStringIndex(title, -1) {
		left, mark := title[:at[0]], strings.TrimSpace(title[at[0]:at[1]])
		if first, _ := utf8.DecodeRuneInString(mark); unicode.IsLetter(first) && !formName.MatchString(left) {
			continue // "Process for …" is a title, "Proposal for …" is a form's
		}
		if left != "" && generic(left, names) && !generic(title[at[1]:], names) {
			return upperFirst(title[at[1]:]), true
		}
	}
	return title, false
}

// stripForm removes the name of a form from the end: the text after the last
// break, or, in a title without one, the words.
func stripForm(title string, names map[string]bool) string {
	if !formName.MatchString(title) {
		return title
	}
	breaks := titleBreak.FindAllStringIndex(title, -1)
	if len(breaks) > 0 {
		last := breaks[len(breaks)-1]
		if generic(title[last[1]:], names) {
			return title[:last[0]]
		}
		return title
	}
	words := strings.Fields(title)
	for len(words) > 1 && generic(words[len(words)-1], names) {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 || strings.IndexFunc(s[n:min(len(s), n+8)], unicode.IsUpper) >= 0 {
		return s // an identifier such as dApp or iOS keeps its case
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// maxTitle is the maximum length of a title, in bytes; a paragraph marked as a
// heading is not a title.
const maxTitle = 240

// maxSentence is the maximum length of a sentence that serves as a title, in
// bytes.
const maxSentence = 100

// title finds the best name of a proposal: from the header, else the index
// table, else the first meaningful heading above the first section, else, if it is
// numbered, the header's though generic, else the file name as spelled in the text
// or, if the text does not contain it, the text's name of its subject; finally its
// first sentence if that is short, a generic heading, or its key.
func (r Reader) title(h Header, in File) string {
	names := r.names()
	headings := topHeadings(in.Text)
	given := "" // a numbered proposal's title is no form's, however generic
	if h.Number != "" && len(h.Title) <= maxTitle {
		given = h.Title
	}
	if t := stripStart(given, names); t != "" {
		return t
	}
	for _, c := range append([]string{h.Fields["Title"], in.Index.Title}, headings...) {
		if c = plain(c); strings.HasPrefix(c, "<") || len(c) > maxTitle {
			continue
		}
		if t := stripGeneric(c, names); t != "" {
			return t
		}
	}
	if given != "" {
		return given
	}
	name := r.readableName(in.Path)
	spelled, known := markup.Respell(stripGeneric(withoutForm(name), names), h.Body)
	if !known {
		spelled = cmp.Or(namedIn(h.Body, spelled, names), spelled)
	}
	if spelled != "" {
		return spelled
	}
	s := derive.Sentences(derive.TLDR(h.Body))
	if len(s) > 0 && len(s[0]) <= maxSentence && !strings.Contains(s[0], "://") { // "moved to https://…"
		return strings.TrimSuffix(s[0], ".")
	}
	if h.Number != "" {
		name = r.Key(h.Number)
	}
	if len(headings) > 0 && len(headings[0]) <= maxTitle {
		name = cmp.Or(plain(headings[0]), name)
	}
	return upperFirst(name)
}

// topHeadings returns the headings above the first section; a bold paragraph at
// the start of the text counts as one.
func topHeadings(text string) []string {
	var found []string
	var fence markdown.Fence
	for i, line := range strings.Split(normalise(text), "\n") {
		part := fence.Next(line)
		m := heading.FindStringSubmatch(line)
		switch {
		case part != markdown.Text:
		case m != nil && isSection(line):
			return found
		case m != nil:
			found = append(found, m[2])
		case len(found) == 0 && i < maxHeaderLines && boldLine.MatchString(line):
			if sectionName.MatchString(plain(line)) {
				return nil
			}
			found = append(found, line)
		}
		if len(found) == 4 {
			break
		}
	}
	return found
}

var boldLine = regexp.MustCompile(`^\s*\*\*[^*:]{4,}\*\*\s*$`)

var (
	fileDate = regexp.MustCompile(`^[\s_]*\d{4}(?:[-_ ]\d{1,2}){1,2}[-_ ]+`)
	fileMark = regexp.MustCompile(`(?i)\s+\(\d+\)$|\bproposal(?:\s+v\d+$|\b)|[<>]`) // marks of forms and copies
)

// readableName turns a file name into words, without date, extension and
// separators, and without a number in front of words. That of a main file is its
// folder's.
func (r Reader) readableName(file string) string {
	base := stem(file)
	if dir := path.Base(path.Dir(file)); isMain(file) && dir != "." {
		base = dir
	}
	words := strings.FieldsFunc(fileDate.ReplaceAllString(base, ""), func(r rune) bool {
		return r == '-' || r == '_' || unicode.IsSpace(r)
	})
	rest := words
	if len(rest) > 1 && r.isPrefix(rest[0]) {
		rest = rest[1:]
	}
	if len(rest) > 1 && isNumber(rest[0]) && len(rest[0]) > 1 {
		words = rest[1:]
	}
	return strings.Join(words, " ")
}

// withoutForm removes from a file name that it is a proposal, and the number of
// the copy ("proposal-with-pier (1)": "pier").
func withoutForm(name string) string {
	words := strings.Fields(fileMark.ReplaceAllString(name, " "))
	for len(words) > 1 && joining[strings.ToLower(words[0])] {
		words = words[1:]
	}
	return strings.Join(words, " ")
}

var joining = wordSet("a an and by for in of on the to with")

// nameText is how many bytes of a text are searched for its subject.
const nameText = 3000

var (
	boldSpan = regexp.MustCompile(`\*\*([^*\n]{3,80})\*\*(:?)`)
	// properName matches words with capital letters and their connectives.
	properName = regexp.MustCompile(`^\p{Lu}[^\s]*(?:\s+(?:(?:&|and|of|for|on|the)\s+)?[\p{Lu}(][^\s]*){0,7}$`)
	// definition matches how a text introduces its subject: "The Pilot Chart
	// (PC) is an …".
	definition = regexp.MustCompile(`^(?:The\s+)?(\p{L}[\pL\d'.&/-]*(?:\s+(?:for|of|on|and|&|` +
		`\p{Lu}[\pL\d'.&/-]*)){0,6}(?:\s+\([^()]{2,60}\))?)\s+(?:is|are)\s+(?:a|an|the)\s`)
	// coined matches a word like PilotChart.
	coined = regexp.MustCompile(`(?:^|\s)\p{Lu}\p{Ll}+\p{Lu}`)
	// partName matches a part of a proposal, which may be in bold like a name.
	partName = regexp.MustCompile(`(?i)^(?:milestone|phase|total|problem|note|objective|goal|step|stage|table|why|` +
		`what|how|who|key|current|existing|no|not|our|this|these|all|part|team|status|open[- ]source|live)\b`)
)

// namedIn returns the name of the proposed thing from the start of a text: a
// proper name in bold, or one that it defines ("Name is a …"). Texts also start
// by describing what exists: so the name must contain half the words of the
// file name, or look coined, unless the file has no name. It is empty if no
// name says more than the file name.
func namedIn(body, fileName string, names map[string]bool) string {
	words := telling(fileName, names)
	fits := func(name string) bool {
		if !isName(name, names) {
			return false
		}
		own, shared := telling(name, names), 0
		for _, w := range own {
			if slices.Contains(words, w) {
				shared++
			}
		}
		return len(words) == 0 || shared < len(own) && 2*shared >= len(words) || shared == 0 && coined.MatchString(name)
	}
	body = cutBytes(body, nameText)
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if heading.MatchString(line) {
			continue
		}
		for _, m := range boldSpan.FindAllStringSubmatch(line, -1) {
			if name := strings.Trim(plain(m[1]), " .,"); len(m[0]) < len(line) && m[2] == "" && fits(name) {
				return name
			}
		}
		if m := definition.FindStringSubmatch(plain(line)); m != nil && fits(m[1]) {
			return m[1]
		}
	}
	return ""
}

// isName reports whether a phrase can be a proposal's name.
func isName(name string, names map[string]bool) bool {
	return properName.MatchString(name) && !strings.ContainsAny(name, ",:;/") && !partName.MatchString(name) &&
		!sectionName.MatchString(name) && !generic(name, names)
}

// telling returns the words of a name that are not generic, in lower case.
func telling(name string, names map[string]bool) []string {
	words := markdown.Words(name)
	return slices.DeleteFunc(words, func(w string) bool { return generic(w, names) })
}

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
