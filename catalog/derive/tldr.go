package derive

import (
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"almanac/text/markdown"
)

// TLDRRules is the version of how TLDR summarises. With a new one, connectors read everything
// again that they read with it.
const TLDRRules = "tldr1 "

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

	atxHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:\s+(.*?))?\s*#*\s*$`)
	underline  = regexp.MustCompile(`^(?:={3,}|-{3,}|~{3,}|\^{3,}|"{3,})\s*$`)
	boldTitle  = regexp.MustCompile(`^(?:\*\*|__)([^*_]{3,80}?):?(?:\*\*|__):?$`)
	listItem   = regexp.MustCompile(`^\s*(?:[-*+•]|\d{1,3}[.)])\s+(.*)$`)
	keyValue   = regexp.MustCompile(`^(?:\*\*|__)?[\pL][\pL /()-]{1,30}(?::(?:\*\*|__)|(?:\*\*|__):|:\s)\s*\S`)
	directive  = regexp.MustCompile(`^\s*(?:\.\. |:\w+:|import\s.*from\s|export\s|\{[%/*]|<!--|\[[^\]]+\]:\s)`)
	htmlOnly   = regexp.MustCompile(`^\s*</?[A-Za-z][^>]*>\s*$`)
	preOpen    = regexp.MustCompile(`(?i)<(pre|script|style|table|svg)\b[^>]*>`)
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// split divides a text into sections and drops everything that is not prose.
// Prose may span lines; a blank line or any other construct ends a paragraph.
func split(body string) []section {
	s := &splitter{sections: []section{{rank: rankProse}}}
	body = comment.ReplaceAllString(strings.ToValidUTF8(body, "\uFFFD"), "")
	for line := range strings.Lines(body) {
		s.line(strings.TrimRight(line, " \t\r\n"))
	}
	s.end()
	return s.sections
}

type splitter struct {
	sections []section
	open     strings.Builder // the paragraph or item being read
	item     bool            // open is a list item
	fence    markdown.Fence
	until    string // end of a raw HTML element
	level    int    // level of the heading whose rank is inherited
}

func (s *splitter) line(line string) {
	trimmed := strings.TrimSpace(line)
	if s.until != "" {
		if strings.Contains(strings.ToLower(trimmed), s.until) {
			s.until = ""
		}
		return
	}
	if s.fence.Next(line) != markdown.Text {
		s.end()
		return
	}
	if strings.IndexByte(line, '<') >= 0 {
		if m := preOpen.FindStringSubmatch(line); m != nil {
			s.end()
			if end := "</" + strings.ToLower(m[1]); !strings.Contains(strings.ToLower(line), end) {
				s.until = end
			}
			return
		}
	}
	switch m := match(atxHeading, line, trimmed, "#"); {
	case m != nil:
		s.end()
		s.heading(len(m[1]), m[2])
		return
	case s.open.Len() == 0 && match(boldTitle, trimmed, trimmed, "*_") != nil:
		s.heading(6, boldTitle.FindStringSubmatch(trimmed)[1])
		return
	case match(underline, trimmed, trimmed, "=-~^\"") != nil:
		if title := s.open.String(); title != "" && !s.item && utf8.RuneCountInString(title) < 120 {
			s.open.Reset()
			s.heading(2, title)
		}
		s.end()
		return
	}
	item := match(listItem, line, trimmed, "-*+\xe20123456789") // \xe2 starts the bullet •
	switch {
	case trimmed == "", trimmed[0] == '|', match(directive, line, trimmed, ".:ie{<[") != nil,
		match(htmlOnly, line, trimmed, "<") != nil,
		s.open.Len() == 0 && (strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")) && item == nil:
		s.end()
	case item != nil:
		s.end()
		s.item = true
		s.open.WriteString(item[1])
	default:
		if s.open.Len() > 0 {
			s.open.WriteByte(' ')
		}
		s.open.WriteString(strings.TrimLeft(trimmed, "> "))
	}
}

// match applies an expression to a line only if its first visible byte is in
// first; most lines are prose and need no match.
func match(re *regexp.Regexp, line, trimmed, first string) []string {
	if trimmed == "" || strings.IndexByte(first, trimmed[0]) < 0 {
		return nil
	}
	return re.FindStringSubmatch(line)
}

// heading opens a section. A heading below an abstract belongs to it.
func (s *splitter) heading(level int, title string) {
	name := sectionMark.ReplaceAllString(Inline(title), "")
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

// end closes the open paragraph or item.
func (s *splitter) end() {
	text := strings.TrimSpace(s.open.String())
	item := s.item
	s.open.Reset()
	s.item = false
	if text == "" {
		return
	}
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
		for _, s := range Sentences(Inline(p)) {
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

var (
	image     = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?`)
	link      = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\])`)
	footnote  = regexp.MustCompile(`\[\^[^\]]+\]`)
	role      = regexp.MustCompile(":[a-z:]+:`([^`<]*?)(?:\\s*<[^>]*>)?`")
	autolink  = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)
	tag       = regexp.MustCompile(`</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)
	strong    = regexp.MustCompile(`\*\*([^*]+)\*\*|__([^_]+)__`)
	emphasis  = regexp.MustCompile(`(^|[\s("'“‘])[*_]([^*_\s](?:[^*_]*[^*_\s])?)[*_]($|[\s.,;:!?)"'”’])`)
	escape    = regexp.MustCompile("\\\\([\\\\`*_{}\\[\\]()#+.!&|<>~$-])")
	blanks    = regexp.MustCompile(`\s+`)
	lineBreak = regexp.MustCompile(`(?i)\\?<br\s*/?>|\\$`)
)

// Inline strips inline markdown and HTML from a paragraph.
func Inline(s string) string {
	s = lineBreak.ReplaceAllString(s, " ")
	s = image.ReplaceAllString(s, "")
	s = footnote.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = role.ReplaceAllString(s, "$1")
	s = autolink.ReplaceAllString(s, "$1")
	s = tag.ReplaceAllString(s, "")
	s = strings.ReplaceAll(s, "`", "")
	s = strong.ReplaceAllString(s, "$1$2")
	s = emphasis.ReplaceAllString(s, "$1$2$3")
	s = escape.ReplaceAllString(s, "$1")
	s = strings.ReplaceAll(html.UnescapeString(s), "**", "")
	s = strings.ReplaceAll(s, "\u00a0", " ")
	return strings.TrimSpace(blanks.ReplaceAllString(s, " "))
}
