package kb

import (
	"fmt"
	"strings"

	"almanac/api/op"
)

// Markdown is a record as a Markdown document.
type Markdown struct {
	Title, URL string
	Text       string // if it starts with a heading, that replaces the title
}

// Markdowner is an answer that can be written as a Markdown document.
type Markdowner interface{ Markdown() Markdown }

// MarkdownForm writes answers of the type as Markdown documents.
func MarkdownForm[T Markdowner]() op.Form {
	return op.Form{Type: "text/markdown; charset=utf-8", Write: func(answer any) ([]byte, error) {
		m := answer.(T).Markdown()
		text := strings.TrimSpace(m.Text)
		if !strings.HasPrefix(text, "# ") {
			text = "# " + m.Title + "\n\n" + text
		}
		return fmt.Appendf(nil, "%s\n\nSource: <%s>\n", text, m.URL), nil
	}}
}
