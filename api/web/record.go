package web

import (
	"cmp"
	"html/template"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"almanac/api/look"
)

// Sizes of a text on one page, in bytes.
const (
	textSize = 30_000 // of Markdown
	pageSize = 40_000 // of the HTML made of it
)

// sectionPrefix begins the ids of a text's headings: no text can name a part of
// the page itself.
const sectionPrefix = "s-"

// Text is the text of a record, or the part of it that one page holds.
type Text struct {
	HTML     template.HTML
	Markdown string
	Outline  []look.Heading
	Part     bool // it does not begin at the beginning
}

// prepareText renders the text of a record.
func prepareText(_ *Handler, v *view) error {
	for _, a := range v.answers[1:] {
		content, ok := field(a.answer, "Content").(string)
		if !ok {
			continue
		}
		shown, next := v.fit(content, text(a.answer, "NextCursor"))
		if next != "" {
			v.next = v.With("cursor", next)
		}
		v.Text = v.render(shown)
		return nil
	}
	return nil
}

// fit returns the part of a content that one page holds, and the cursor of the
// next; more is the cursor of what the content leaves out.
func (v *view) fit(content, more string) (shown, next string) {
	size := textSize
	for {
		shown = cutBlock(content, size)
		if html, _ := look.Markdown(look.Text{Markdown: shown}); len(html) <= pageSize || size < 1000 {
			break
		}
		size /= 2
	}
	if len(shown) == len(content) {
		return shown, more
	}
	start, _ := strconv.Atoi(v.Param("cursor"))
	return shown, strconv.Itoa(start + len(shown))
}

// cutBlock returns at most n bytes of Markdown: if it can, up to an empty line
// outside of code.
func cutBlock(s string, n int) string {
	if len(s) <= n {
		return s
	}
	best, fenced := 0, false
	for at := 0; at < n; {
		end := strings.IndexByte(s[at:], '\n')
		if end < 0 || at+end >= n {
			break
		}
		line := strings.TrimSpace(s[at : at+end])
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		at += end + 1
		if line == "" && !fenced {
			best = at
		}
	}
	if best < n/4 {
		for best = n; !utf8.RuneStart(s[best]); best-- {
		}
	}
	return s[:best]
}

func (v *view) render(markdown string) *Text {
	part := v.Param("cursor") != ""
	markdown = withoutFrontMatter(markdown)
	html, outline := look.Markdown(look.Text{
		Markdown: markdown, Base: text(v.Main, "URL"), Prefix: sectionPrefix, Title: text(v.Main, "Title"),
	})
	return &Text{HTML: html, Markdown: markdown, Outline: outline, Part: part}
}

// withoutFrontMatter cuts the block of fields that many files begin with: the
// page shows them as facts.
func withoutFrontMatter(s string) string {
	for _, mark := range [][2]string{{"---\n", "\n---\n"}, {"<pre>", "</pre>"}} {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(s, "\n"), mark[0]); ok {
			if fields, body, ok := strings.Cut(rest, mark[1]); ok && strings.Contains(fields, ":") {
				return body
			}
		}
	}
	return s
}

// Post is one text of a thread.
type Post struct {
	Number   string
	Author   string
	Role     string
	Date     any
	URL      string
	Likes    int
	Accepted bool
	ReplyTo  int
	HTML     template.HTML
	Markdown string
}

// prepareThread renders the texts of a thread, as many as a page holds.
func prepareThread(_ *Handler, v *view) error {
	thread := v.answers[1].answer
	first, _, _ := strings.Cut(v.Param("cursor"), "~") // in the text of a post
	start, _ := strconv.Atoi(first)
	var posts []Post
	if content := text(thread, "Content"); content != "" { // a forge discussion begins with its own text
		posts = append(posts, v.post(thread, cutBlock(content, textSize), "0"))
	}
	items := reflect.ValueOf(field(thread, "Items"))
	size, shown := 0, 0
	if len(posts) > 0 {
		size = len(posts[0].Markdown)
	}
	for ; shown < items.Len(); shown++ {
		item := items.Index(shown).Interface()
		content := text(item, "Content")
		if size += len(content); size > textSize && len(posts) > 0 {
			break
		}
		number := strconv.Itoa(start + shown + 1)
		if n, ok := field(item, "Number").(int); ok {
			number = strconv.Itoa(n)
		}
		posts = append(posts, v.post(item, cutBlock(content, textSize), number))
	}
	v.Extra = posts
	switch next := text(thread, "NextCursor"); {
	case shown < items.Len():
		v.next = v.With("cursor", strconv.Itoa(start+shown))
	case next != "":
		v.next = v.With("cursor", next)
	}
	v.Text = &Text{Part: v.Param("cursor") != ""}
	return nil
}

func (v *view) post(item any, content, number string) Post {
	html, _ := look.Markdown(look.Text{
		Markdown: content, Base: cmp.Or(text(item, "URL"), text(v.Main, "URL")), Prefix: "p" + number + "-",
	})
	p := Post{
		Number: number, Author: text(item, "Author"), Role: text(item, "Role"), Date: field(item, "Date"),
		URL: text(item, "URL"), HTML: html, Markdown: content,
	}
	p.Likes, _ = field(item, "Likes").(int)
	if up, ok := field(item, "Upvotes").(int64); ok {
		p.Likes = int(up)
	}
	p.ReplyTo, _ = field(item, "ReplyTo").(int)
	accepted, _ := field(item, "Accepted").(bool)
	answer, _ := field(item, "Answer").(bool)
	p.Accepted = accepted || answer
	return p
}

// prepareTalk renders the transcript of a talk; its headings are its times.
func prepareTalk(_ *Handler, v *view) error {
	transcript := text(v.answers[1].answer, "Transcript")
	if transcript != "" {
		v.Text = v.render(cutBlock(transcript, textSize))
	}
	return nil
}

// prepareCIP renders the text of a proposal.
func prepareCIP(h *Handler, v *view) error { return prepareText(h, v) }

// Tab is a further page of a proposal.
type Tab struct {
	Name, Path string
	Current    bool
}

// tabsOf lists the pages of a proposal.
func tabsOf(v *view) []Tab {
	base := strings.TrimSuffix(v.Path, "/"+tabOf(v.row.template))
	tabs := []Tab{{"Text", base, tabOf(v.row.template) == ""}}
	for _, name := range []string{"history", "votes", "mentions", "implementation", "attachments"} {
		label := map[string]string{"mentions": "Mentioned in"}[name]
		if label == "" {
			label = strings.ToUpper(name[:1]) + name[1:]
		}
		tabs = append(tabs, Tab{label, base + "/" + name, tabOf(v.row.template) == name})
	}
	return tabs
}

// prepareList finds the address of a list's next part.
func prepareList(h *Handler, v *view) error {
	a := v.answers[0]
	next, ok := a.op.Next(a.in, a.answer)
	if !ok {
		return nil
	}
	target, _ := a.op.Target(next)
	if a.op.Path == "" {
		for _, word := range a.op.Line(next) {
			if offset, ok := strings.CutPrefix(word, "offset="); ok {
				target = "?" + url.Values{"offset": {offset}}.Encode()
			}
		}
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	v.next = v.With("offset", u.Query().Get("offset"))
	return nil
}
