package web

import (
	"html"
	"html/template"
	"regexp"
	"strings"
)

// quotedWords is how many words of the first message of a thread a quote has at least that
// is folded.
const quotedWords = 25

var (
	quoteMark = regexp.MustCompile(`</?blockquote>`)
	anyTag    = regexp.MustCompile(`<[^>]*>`)
)

// wordsOf are the words of rendered HTML, in which blocks end lines, each between blanks.
func wordsOf(rendered string) string {
	return " " + strings.Join(strings.Fields(html.UnescapeString(anyTag.ReplaceAllString(rendered, ""))), " ") + " "
}

// foldQuotes folds the quotes in a post that repeat the first message of its thread.
func foldQuotes(post, first template.HTML) template.HTML {
	var b strings.Builder
	known, text := wordsOf(string(first)), string(post)
	at, begin, depth := 0, 0, 0
	for _, m := range quoteMark.FindAllStringIndex(text, -1) {
		if text[m[0]+1] != '/' {
			if depth++; depth == 1 {
				begin = m[0]
			}
			continue
		}
		if depth--; depth != 0 {
			continue
		}
		quote := text[begin:m[1]]
		words := wordsOf(quote)
		if strings.Count(words, " ")-1 < quotedWords || !strings.Contains(known, words) {
			continue
		}
		b.WriteString(text[at:begin] + `<details class="fold"><summary>Quotes the first message</summary>` + quote +
			"</details>")
		at = m[1]
	}
	return template.HTML(b.String() + text[at:]) //nolint:gosec // rendered before
}
