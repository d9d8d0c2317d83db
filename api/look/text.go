package look

import (
	"html/template"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Quoted is a snippet as it is shown: its spans of code as such, its matches marked,
// and what stands on lines of its own in one.
func Quoted(snippet string, matches [][2]int) template.HTML {
	var b strings.Builder
	code, mark := false, false
	set := func(on *bool, to bool, name string) {
		if *on == to {
			return
		}
		if *on = to; to {
			b.WriteString("<" + name + ">")
		} else {
			b.WriteString("</" + name + ">")
		}
	}
	for i, r := range snippet {
		if mark && i >= matches[0][1] {
			set(&mark, false, "mark")
			matches = matches[1:]
		}
		if !mark && len(matches) > 0 && i >= matches[0][0] {
			set(&mark, true, "mark")
		}
		line, _, _ := strings.Cut(snippet[i:], "\n")
		switch {
		case r == '\n':
			set(&code, false, "code")
			b.WriteString(between(snippet[:i]))
		case r != '`':
			template.HTMLEscape(&b, []byte(string(r)))
		case code || strings.Contains(line[1:], "`"):
			if !mark {
				set(&code, !code, "code")
			}
		}
	}
	set(&mark, false, "mark")
	set(&code, false, "code")
	return template.HTML(b.String())
}

// between is what joins a line to the next: nothing after a sentence.
func between(before string) string {
	if r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(before, "`")); strings.ContainsRune(".!?:;,…", r) {
		return " "
	}
	return " · "
}

// Legible is a snippet as text in one line.
func Legible(snippet string) string {
	var b strings.Builder
	for i, line := range strings.Split(strings.ReplaceAll(snippet, "`", ""), "\n") {
		if i > 0 {
			b.WriteString(between(b.String()))
		}
		b.WriteString(line)
	}
	return b.String()
}

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
