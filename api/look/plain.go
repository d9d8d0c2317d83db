package look

import (
	"strings"

	"golang.org/x/net/html"
)

// Plain returns the words of Markdown on one line, as lists and previews quote them.
func Plain(text string) string {
	out, _ := Markdown(Text{Markdown: text})
	words := strings.ReplaceAll(html.UnescapeString(wordsIn(string(out), "")), "|", " ")
	return strings.Join(strings.Fields(words), " ")
}

// wordsOfHTML returns the text of HTML without what is not read: scripts,
// styles and comments.
func wordsOfHTML(raw string) string { return wordsIn(raw, " ") }

// wordsIn is wordsOfHTML with what stands for a tag.
func wordsIn(raw, gap string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(raw))
	hidden := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken:
			if name, _ := z.TagName(); hidden == "" && unread[string(name)] {
				hidden = string(name)
			}
			b.WriteString(gap)
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden {
				hidden = ""
			}
			b.WriteString(gap)
		case html.TextToken:
			if hidden == "" {
				b.Write(z.Text())
			}
		}
	}
}

var unread = map[string]bool{"script": true, "style": true, "template": true, "svg": true, "iframe": true, "math": true}
