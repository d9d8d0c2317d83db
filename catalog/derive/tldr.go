package derive

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/text/markdown"
)

// maxTLDR is the length of a TL;DR in characters.
const maxTLDR = 400

// TLDR summarises a Markdown text in its own words: the first sentences of its
// abstract or summary, else of its first prose, in plain text. It uses only
// whole sentences, at most 400 characters, and skips headings, tables, code,
// figures and licence notes. It is empty if no sentence fits.
func TLDR(body string) string {
	sections := split(body)
	for _, rank := range []int{rankAbstract, rankOverview, rankProse} {
		for _, s := range sections {
			if s.rank != rank {
				continue
			}
			if t := summarise(s.prose); t != "" {
				return t
			}
			if t := summarise(s.items); t != "" {
				return t
			}
		}
	}
	return ""
}

// How promising a section is, by its heading.
const (
	rankAbstract = iota
	rankOverview
	rankProse
	rankNone // licences, contents, change logs
)

// section is a heading's own text: its paragraphs and its list items.
type section struct {
	rank  int
	prose []string
	items []string
}

var (
	abstractName = regexp.MustCompile(`(?i)^(?:(?:project|proposal|executive)\s+)?(?:abstract|summary|tl;?\s?dr)\b`)
	overviewName = regexp.MustCompile(`(?i)^(?:(?:project|proposal)\s+)?(?:overview|introduction|description|` +
		`about this .*|what is .*)$`)
	skippedName = regexp.MustCompile(`(?i)^(?:copyright|licen[sc]e|licensing|(?:table of )?contents|references|` +
		`change ?log|history|author.*|contact.*|links|prerequisites?)\b`)
	sectionMark = regexp.MustCompile(`^(?:(?:section\s+)?[\divxIVX]+(?:\.\d+)*[.):]*\s+)`)

	boldTitle = regexp.MustCompile(`^(?:\*\*|__)([^*_]{3,80}?):?(?:\*\*|__):?$`)
	keyValue  = regexp.MustCompile(`^(?:\*\*|__)?[\pL][\pL /()-]{1,30}(?::(?:\*\*|__)|(?:\*\*|__):|:\s)\s*\S`)
	directive = regexp.MustCompile(`^\s*(?:\.\. |:\w+:|import\s.*from\s|export\s|\{[%/*]|<!--|\[[^\]]+\]:\s)`)
	htmlOnly  = regexp.MustCompile(`^\s*</?[A-Za-z][^>]*>\s*$`)
	preOpen   = regexp.MustCompile(`(?i)<(pre|script|style|table|svg)\b[^>]*>`)
)

// split divides a text into sections and drops everything that is not prose.
func split(body string) []section {
	s := &splitter{sections: []section{{rank: rankProse}}}
	for b := range markdown.Blocks(markdown.WithoutComments(strings.ToValidUTF8(body, "\uFFFD"), false)) {
		s.block(b)
	}
	return s.sections
}

type splitter struct {
	sections []section
	until    string // end of a raw HTML element
	level    int    // level of the heading whose rank is inherited
}

func (s *splitter) block(b markdown.Block) {
	prose := b.Kind == markdown.Paragraph && b.Indent <= 3 || b.Kind == markdown.Item
	if s.until == "" && b.Kind != markdown.Heading && !prose {
		return
	}
	item := b.Kind == markdown.Item
	for _, lines := range s.visible(b.Text, item) {
		if b.Kind == markdown.Heading {
			s.heading(b.Level, lines[0])
			return
		}
		for !item && len(lines) > 0 && match(boldTitle, lines[0], "*_") != nil {
			s.heading(6, boldTitle.FindStringSubmatch(lines[0])[1])
			lines = lines[1:]
		}
		if text := strings.Join(lines, " "); prose && text != "" {
			s.add(text, item)
			item = false
		}
	}
}

// visible returns the lines of a block that are prose, in paragraphs: raw HTML,
// directives and lines of nothing but a tag end one. The mark of an item is in
// front of its first line.
func (s *splitter) visible(text string, item bool) (all [][]string) {
	var open []string
	for line := range strings.SplitSeq(text, "\n") {
		switch lower := strings.ToLower(line); {
		case s.until != "":
			if strings.Contains(lower, s.until) {
				s.until = ""
			}
		case strings.Contains(line, "<") && preOpen.MatchString(line):
			if end := "</" + preOpen.FindStringSubmatch(lower)[1]; !strings.Contains(lower, end) {
				s.until = end
			}
		case match(directive, line, ".:ie{<[") != nil && !item, match(htmlOnly, line, "<") != nil && !item:
		default:
			open, item = append(open, line), false
			continue
		}
		if item = false; len(open) > 0 {
			all, open = append(all, open), nil
		}
	}
	if len(open) > 0 {
		all = append(all, open)
	}
	return all
}

// match applies an expression to a line only if its first byte is in first; most
// lines are prose and need no match.
func match(re *regexp.Regexp, line, first string) []string {
	if line == "" || strings.IndexByte(first, line[0]) < 0 {
		return nil
	}
	return re.FindStringSubmatch(line)
}

// heading opens a section. A heading below an abstract belongs to it.
func (s *splitter) heading(level int, title string) {
	name := sectionMark.ReplaceAllString(markdown.Inline(title), "")
	rank := rankProse
	switch {
	case abstractName.MatchString(name):
		rank = rankAbstract
	case overviewName.MatchString(name):
		rank = rankOverview
	case skippedName.MatchString(name):
		rank = rankNone
	}
	if last := s.sections[len(s.sections)-1].rank; rank == rankProse && level > s.level && last != rankProse {
		rank = last
	} else {
		s.level = level
	}
	s.sections = append(s.sections, section{rank: rank})
}

// add adds a paragraph or an item to the open section.
func (s *splitter) add(text string, item bool) {
	last := &s.sections[len(s.sections)-1]
	if item {
		last.items = append(last.items, text)
	} else if !keyValue.MatchString(text) || utf8.RuneCountInString(text) > 160 {
		last.prose = append(last.prose, text)
	}
}

var boilerplate = regexp.MustCompile(`(?i)licen[sc]ed under|all rights reserved|^see (?:also )?\S+(?: \S+){0,4}$|` +
	`make a copy of this|more information can be found|placeholder|lorem ipsum|^\(?\d+[ -]word|^a short \(`)

// summarise joins the first informative sentences that fit.
func summarise(paragraphs []string) string {
	var out strings.Builder
	length := 0
	for _, p := range paragraphs {
		for _, s := range Sentences(markdown.Inline(p)) {
			if !informs(s) {
				continue
			}
			if !closed(s) {
				s += "."
			} else if strings.HasSuffix(s, "..") && !strings.HasSuffix(s, "...") {
				s = s[:len(s)-1]
			}
			n := utf8.RuneCountInString(s)
			switch {
			case length == 0 && n > maxTLDR:
				continue // an endless sentence; the next may fit
			case length > 0 && length+1+n > maxTLDR:
				return out.String()
			case length > 0:
				out.WriteByte(' ')
				length++
			}
			out.WriteString(s)
			length += n
		}
	}
	return out.String()
}

// closed reports whether a sentence ends with its punctuation, which may be
// inside quotes or parentheses.
func closed(s string) bool {
	s = strings.TrimRight(s, `"'”’)]»`)
	return strings.HasSuffix(s, "…") || s != "" && strings.ContainsAny(s[len(s)-1:], ".!?")
}

// informs reports whether a sentence is meaningful alone: it has at least four
// words (three if it ends with punctuation), does not introduce a list and is
// not boilerplate.
func informs(s string) bool {
	words := 0
	for _, w := range strings.Fields(s) {
		if strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			words++
		}
	}
	if closed(s) {
		words++
	}
	return words >= 4 && !strings.HasSuffix(s, ":") && !boilerplate.MatchString(s)
}
