package read

import (
	"fmt"
	"strings"

	"almanac/api/op"
)

// Markdown writes answers of a type as Markdown documents; a heading that begins the text replaces the title.
func Markdown[T any](parts func(T) (title, url, text string)) op.Form {
	return op.Form{Type: "text/markdown; charset=utf-8", Write: func(answer any) ([]byte, error) {
		title, url, text := parts(answer.(T))
		text = strings.TrimSpace(text)
		if !strings.HasPrefix(text, "# ") {
			text = "# " + title + "\n\n" + text
		}
		return fmt.Appendf(nil, "%s\n\nSource: <%s>\n", text, url), nil
	}}
}
