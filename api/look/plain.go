package look

import (
	"strings"

	"golang.org/x/net/html"
)

// wordsOfHTML returns the text of HTML without what is not read: scripts,
// styles and comments.
func wordsOfHTML(raw string) string {
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
			b.WriteByte(' ')
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden {
				hidden = ""
			}
			b.WriteByte(' ')
		case html.TextToken:
			if hidden == "" {
				b.Write(z.Text())
			}
		}
	}
}

var unread = map[string]bool{"script": true, "style": true, "template": true, "svg": true, "iframe": true, "math": true}
