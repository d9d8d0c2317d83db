package sample

import (
	"bytes"
	"fmt"
	"strings"

	"almanac/text/markdown"
)

// typeset is a line of a page.
type typeset struct {
	font string
	size int
	text string
	skip int // points above it
}

const (
	pageTop    = 800
	pageBottom = 52
	lineLength = 92 // of ordinary text, in characters
	lineSkip   = 14 // within a paragraph
)

// typesetPaper breaks a paper into lines. Its text is Markdown of headings (##), paragraphs and code blocks, which
// tables are written as.
func typesetPaper(title, authors, text string) []typeset {
	lines := []typeset{{"F2", 17, title, 0}, {"F1", 10, authors, 18}}
	var fence markdown.Fence
	var paragraph []string
	flush := func() {
		skip := 28
		for _, l := range wrap(strings.Join(paragraph, " "), lineLength) {
			lines = append(lines, typeset{"F1", 10, l, skip})
			skip = lineSkip
		}
		paragraph = nil
	}
	skip := 28
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		part := fence.Next(line)
		switch {
		case part == markdown.Opening, part == markdown.Closing:
			flush()
			skip = 28
		case part == markdown.Code:
			lines = append(lines, typeset{"F3", 9, line, skip})
			skip = lineSkip
		case strings.HasPrefix(line, "## "):
			flush()
			lines = append(lines, typeset{"F2", 12, strings.TrimPrefix(line, "## "), 30})
		case strings.TrimSpace(line) == "":
			flush()
		default:
			paragraph = append(paragraph, strings.TrimSpace(line))
		}
	}
	flush()
	return lines
}

// wrap breaks a paragraph into lines.
func wrap(text string, length int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > length {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// writePDF makes a file with the fonts that every reader has. It has what
// tools for documents write into a small PDF and no more: no compression, one
// stream a page.
func writePDF(title, authors, text string) string {
	var pages []string
	var page strings.Builder
	y := pageTop
	for i, l := range typesetPaper(title, authors, text) {
		if y -= l.skip; y < pageBottom {
			pages, y = append(pages, page.String()), pageTop-20
			page.Reset()
		}
		if page.Len() == 0 {
			fmt.Fprintf(&page, "1 0 0 1 56 %d Tm\n", y)
		} else if l.skip > lineSkip { // a blank line, for those who read the text alone
			fmt.Fprintf(&page, "%d TL T*\n%d TL T*\n", lineSkip, l.skip-lineSkip)
		} else if i > 0 {
			fmt.Fprintf(&page, "%d TL T*\n", l.skip)
		}
		fmt.Fprintf(&page, "/%s %d Tf (%s) Tj\n", l.font, l.size, escapePDF(l.text))
	}
	pages = append(pages, page.String())
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 7+2*i))
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(pages)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
		fmt.Sprintf("<< /Title (%s) /Author (%s) >>", escapePDF(title), escapePDF(authors)),
	}
	for i, p := range pages {
		stream := fmt.Sprintf("BT\n%sET\nBT\nT* /F1 8 Tf 1 0 0 1 290 30 Tm (%d) Tj\nET\n", p, i+1)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "+
				"/Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> >> /Contents %d 0 R >>", 8+2*i),
			fmt.Sprintf("<< /Length %d >>\nstream\n%sendstream", len(stream), stream))
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF", len(objects)+1, xref)
	return out.String()
}

var pdfEscapes = strings.NewReplacer(`\`, `\\`, `(`, `\(`, `)`, `\)`)

// escapePDF writes a string of Latin letters; others have no place in the fonts.
func escapePDF(s string) string {
	var b strings.Builder
	for _, r := range pdfEscapes.Replace(s) {
		if r > 0xFF {
			r = '?'
		}
		b.WriteByte(byte(r))
	}
	return b.String()
}
