package web

import (
	"fmt"
	"html/template"
	"regexp"
	"strconv"
	"strings"

	"almanac/api/library"
	"almanac/text/webaddress"
)

// file is what a text was extracted from.
type file struct {
	URL       string
	PDF       bool
	Pages     float64
	Bytes     float64
	MediaType string
	Text      bool // it has a text layer
}

// preparePaper renders the text of a file.
func preparePaper(h *Handler, v *view) error {
	data := v.Record.Data
	f := file{URL: v.Record.URL}
	f.Pages, _ = data["pages"].(float64)
	f.Bytes, _ = data["bytes"].(float64)
	f.Text, _ = data["text_layer"].(bool)
	f.MediaType, _ = data["media_type"].(string)
	if paper, ok := answerOf[library.FullPaper](v); ok {
		f.MediaType = "application/pdf"
		if webaddress.Check(paper.PDF) == nil {
			f.URL = paper.PDF
		}
	}
	f.PDF = f.MediaType == "application/pdf"
	v.Extra = f
	if err := prepareText(h, v); err != nil || v.Text == nil {
		return err
	}
	switch part := v.Text.Part; {
	case f.PDF:
		v.Text = v.render(printed(v.Text.Markdown, v.Record.Title, v.Record.Author, int(f.Pages)))
		v.Text.HTML = template.HTML(pageMark.ReplaceAllString(string(v.Text.HTML), //nolint:gosec // digits
			`<p class="leaf" id="page-$1"><a href="#page-$1">page $1</a></p>`))
		v.Text.Markdown = strings.ReplaceAll(v.Text.Markdown, leaf, "page ")
		v.Text.Part = part
	case f.MediaType == "text/plain":
		v.Text = v.render("    " + strings.ReplaceAll(strings.TrimRight(v.Text.Markdown, "\n"), "\n", "\n    "))
	}
	return nil
}

// leaf begins the paragraph that stands where a page of a file begins. It is for private
// use, so that no text has it.
const leaf = "\ue000"

var (
	pageMark = regexp.MustCompile("<p>" + leaf + "([0-9]+)</p>")
	// 2. Model, or 2.1 Senders
	numberedLine = regexp.MustCompile(`^(?:([0-9]{1,2})\.|[0-9]{1,2}(?:\.[0-9]{1,2})+\.?) \p{Lu}`)
	named        = regexp.MustCompile(`^(?i:abstract|introduction|conclusions?|acknowledge?ments|references|summary)$`)
	empty        = regexp.MustCompile(`\\?\n{2,}`)                              // with a break of a line before it
	block        = regexp.MustCompile(`^(?:#|>|[-+*] |[0-9]+[.)] |=+$|-+$|\|)`) // begins a block of Markdown
)

// headingSize is the maximum of a line that is a heading, in bytes.
const headingSize = 80

// printed makes Markdown of the lines that were extracted from a PDF: headings of
// numbered and usual names, paragraphs that end where a line ends early, page numbers as
// marks. The title and the authors at the beginning are left out: the page has them.
func printed(text, title, author string, pages int) string {
	lines := strings.Split(strings.ReplaceAll(text, leaf, ""), "\n")
	width := 0
	for _, line := range lines {
		width = max(width, min(len(line), 120))
	}
	known := strings.Count(text, "\n\n")+1 == pages // each is a page
	first, _, _ := strings.Cut(author, ",")
	var b strings.Builder
	page, section, head := 1, 0, true
	for i, line := range lines {
		line = strings.TrimSpace(line)
		next := ""
		if i+1 < len(lines) {
			next = strings.TrimSpace(lines[i+1])
		}
		number, err := strconv.Atoi(line)
		isNumber := err == nil && next == "" && (number == page || i > 0 && strings.TrimSpace(lines[i-1]) != "")
		switch {
		case head && (strings.EqualFold(line, title) || first != "" && strings.HasPrefix(line, first)):
			continue
		case isNumber:
			page = number
			continue
		case line == "":
			before := ""
			if i > 0 {
				before = strings.TrimSpace(lines[i-1])
			}
			b.WriteString("\n\n")
			if _, err := strconv.Atoi(before); next != "" && (known || err == nil) {
				page++
				fmt.Fprintf(&b, "%s%d\n\n", leaf, page)
			}
			continue
		}
		head = false
		if level, n := headingOf(line, section); level > 0 {
			section = max(section, n)
			b.WriteString("\n\n" + strings.Repeat("#", level) + " " + line + "\n\n")
			continue
		}
		if at := block.FindString(line); at != "" { // text, whatever it looks like
			line = strings.TrimRight(at, ".)+-*=|#> ") + `\` + line[len(strings.TrimRight(at, ".)+-*=|#> ")):]
		}
		b.WriteString(line)
		switch early := len(line) < width*3/4; {
		case early && strings.ContainsAny(line[len(line)-1:], ".?!:"):
			b.WriteString("\n\n")
		case early && next != "": // a row of a table, a line of a list
			b.WriteString("\\\n")
		default:
			b.WriteString("\n")
		}
	}
	out := empty.ReplaceAllString(b.String(), "\n\n")
	return strings.TrimSuffix(strings.TrimSpace(out), `\`) + "\n"
}

// headingOf is the level of a line that is a heading behind a section, 0 for another,
// and the number of its section.
func headingOf(line string, section int) (level, number int) {
	if len(line) > headingSize || strings.ContainsAny(line[len(line)-1:], ".,;:") {
		return 0, 0
	}
	if named.MatchString(line) {
		return 2, 0
	}
	switch m := numberedLine.FindStringSubmatch(line); {
	case m == nil:
		return 0, 0
	case m[1] == "":
		return 3, 0
	default:
		number, _ = strconv.Atoi(m[1])
		if number != section+1 && section > 0 { // of a list
			return 0, 0
		}
		return 2, number
	}
}
